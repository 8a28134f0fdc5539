//! Types that every riverrun crate shares: ids, the event envelope and its vocabulary, statuses,
//! JSON kept as text, and flow definitions. No I/O, no clock, no policy.

pub mod error_code;
pub mod event;
pub mod failure;
pub mod flow;
pub mod id;
pub mod json;
pub mod label;
pub mod normalise;
pub mod path;
pub mod queue;
pub mod run;
pub mod state;
pub mod status;
pub mod time;
pub mod words;

pub use error_code::{Code, ErrorCode};
pub use event::{Draft, Event, EventType, StepRef};
pub use failure::{Failure, Thrown};
pub use flow::{
    Await, AwaitType, Compensation, Delay, Flow, Join, Limits, OnFailure, Retry, Selector, Step,
    Subscription, Transitions, TriggerType,
};
pub use id::{EventId, Namespace, RunId, StreamName};
pub use json::Json;
pub use path::Path;
pub use queue::{Gather, QueueLimits, Rate, StartRules};
pub use run::{Cancellation, Lineage, Operation, Parked, VisitKey};
pub use state::State;
pub use status::{RunStatus, VisitStatus};
pub use time::Millis;

/// A name that is cloned often: of a flow, a step, a tag.
pub type Name = std::sync::Arc<str>;

/// For a number that is left out if it is zero.
pub fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}
