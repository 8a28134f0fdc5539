//! The messages between riverrun and the programs that run work, free of sockets.
//!
//! `docs/reference/protocol.md` describes them. A message is one line of JSON: [`Message`] is one
//! message, [`Lines`] splits a stream of bytes into lines, and the other types are the contents of
//! `params`, `result` and `error`.

mod error;
mod frame;
mod invoke;
mod lines;
mod load;
mod message;
mod reply;
mod session;

pub use error::WorkError;
pub use frame::{Frame, FrameParams, LogLevel, Whose};
pub use invoke::{Cancel, CancelReason, Invoke, JobInput, JournalEntry, PendingRetry, TryAgain};
pub use lines::{LineTooLong, Lines};
pub use load::{Load, Loaded, LoadedProcess};
pub use message::{BadMessage, Message, RpcError, code};
pub use reply::{Reply, ReplyItem, Suspended};
pub use session::{
    Credit, Drain, Drained, Fault, Initialise, Initialised, Limits, MadeFlow, NotLoaded, Running,
    Sdk, Server, Welcome, WorkerInfo,
};

/// The version that this program speaks.
pub const PROTOCOL: u32 = 1;
/// The longest line that either side may send.
pub const MESSAGE_BYTES: usize = 16 << 20;
