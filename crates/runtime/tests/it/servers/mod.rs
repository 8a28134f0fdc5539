//! Two servers on one store: what one of them does while the other knows nothing of it.

mod entries;
mod once;
mod pair;
mod wait;
mod wake;
