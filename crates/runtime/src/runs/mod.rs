//! Runs from their start to their end.

mod cache;
mod claim;
mod control;
mod copy;
mod declared;
mod drive;
mod import;
mod leases;
mod load;
mod mailbox;
mod orders;
mod reads;
mod request;
mod shown;
mod start;

pub(crate) use cache::{CachedRun, News, RunCache};
pub(crate) use claim::{MOST, claim};
pub use drive::projection;
pub(crate) use drive::{Driver, damage};
pub use import::{Exported, ExportedAwait, ExportedEvent, ExportedRun};
pub(crate) use leases::{Leases, heartbeat, lease_ms};
pub use load::Loaded;
pub(crate) use mailbox::{Fence, Mailboxes, Message};
pub use reads::{At, RunView};
pub use request::TRIGGER_KEYS;
pub use shown::Shown;
pub use start::{StartRequest, Started};
