//! Deaths at every moment of an await's life, on a real embedded store.
//!
//! Each story is run again and again: the first time its process dies at the first moment at which
//! something is written, then at the second, and so on until it comes to its end alive. After a
//! death it is continued by another process on the same folder, which dies soon after, and by a
//! third that does not. Whatever the moment, what was acknowledged is true in the end.

mod code;
mod life;
mod sound;
mod stories;
mod world;
