//! The messages between riverrun and the programs that run work, free of sockets.
//!
//! `docs/protocol.md` is their meaning. A message is one line of JSON: a [`Message`] is what such a
//! line says, [`Lines`] cuts a stream of bytes into lines, and the other types are what stands in
//! `params`, `result` and `error`.

mod lines;
mod message;
mod work;

pub use lines::{LineTooLong, Lines};
pub use message::{BadMessage, Message, RpcError, code};
pub use work::{
    Cancel, CancelReason, Credit, Drain, Drained, Fault, Frame, Initialise, Initialised, Invoke,
    JobInput, JournalEntry, Limits, Load, Loaded, LoadedProcess, LogLevel, MadeFlow, Reply,
    ReplyItem, Running, Sdk, Server, Suspended, Welcome, Whose, WorkError, WorkerInfo,
};

/// The version that this program speaks.
pub const PROTOCOL: u32 = 1;
/// The longest line that either side may send.
pub const MESSAGE_BYTES: usize = 16 << 20;
