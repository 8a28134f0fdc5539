//! Operating system processes: start, read and end them.

mod environment;
mod group;
mod guard;
mod lines;
mod output;
mod rss;
mod spawn;
mod stopped;
mod timer;

pub use environment::Environment;
pub(crate) use group::Group;
pub(crate) use guard::Leash;
pub(crate) use output::{HeldLine, LINE_BYTES, LINES_PER_SECOND, Line, Output, Printed, Tail};
pub(crate) use rss::{group_rss_bytes, rss_bytes};
pub(crate) use spawn::{SOCKET_FD, Spawned, find_program, spawn};
pub(crate) use stopped::is_stopped;
pub(crate) use timer::timer;
