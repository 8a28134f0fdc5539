//! The traits that an adapter implements: one for each subject, in a file of its own. [`Store`] is
//! all of them; the runtime works with it.

mod awaits;
mod commits;
mod flows;
mod health;
mod queues;
mod runs;
mod streams;
mod triggers;
mod upkeep;

pub use awaits::AwaitStore;
pub use commits::CommitStore;
pub use flows::FlowStore;
pub use health::HealthStore;
pub use queues::QueueStore;
pub use runs::RunStore;
pub use streams::StreamStore;
pub use triggers::TriggerStore;
pub use upkeep::UpkeepStore;

/// Durable data. Every method of its parts may be called from any task at any time.
pub trait Store:
    CommitStore
    + RunStore
    + StreamStore
    + QueueStore
    + AwaitStore
    + TriggerStore
    + FlowStore
    + UpkeepStore
    + HealthStore
{
}

impl<S> Store for S where
    S: CommitStore
        + RunStore
        + StreamStore
        + QueueStore
        + AwaitStore
        + TriggerStore
        + FlowStore
        + UpkeepStore
        + HealthStore
{
}
