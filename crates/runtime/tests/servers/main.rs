//! Two servers on one store: what one of them does while the other knows nothing of it.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

mod entries;
mod once;
mod pair;
mod wait;
mod wake;
