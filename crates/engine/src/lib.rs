//! The pure core: no clock, no randomness, no I/O.
//!
//! A run is a [`RunState`], the reduction of its [`Fact`]s. [`decide`] judges one [`Input`] (a step
//! ended, time passed, a cancel request) against the flow's [`Plan`] and returns the resulting
//! events; the state changes only by applying them. So replaying a stream gives the state, and the
//! whole life of a run can be tested without a server.

mod context;
mod decide;
mod diagram;
mod find;
mod history;
mod meant;
mod outcome;
mod plan;
pub mod retry;
mod run;
mod schema;
mod select;
mod template;
mod trigger_state;
mod validate;
mod versions;

pub use context::View;
pub use decide::{Child, Decision, Entry, How, Input, Over, Queued, Start, decide, start};
pub use diagram::{
    EdgeKind, FlowAwait, FlowDiagram, FlowEdge, FlowNode, FlowOutside, FlowSubscription, Ink,
    NodeKind, OutsideKind,
};
pub use find::Finder;
pub use history::{
    History, HistoryCursor, HistoryEntry, HistoryOutcome, HistoryPage, HistoryRetry, history,
};
pub use meant::meant;
pub use outcome::{Outcome, SubFlow};
pub use plan::{PROCESS, Plan, PlanError, PlanStep};
/// Event data is declared with its types; it is the vocabulary of the engine.
pub use riverrun_types::{
    Cancellation, Failure, Lineage, Operation, Parked, Thrown, VisitKey,
    event::{BranchSpec, Fact, Fork, OpKind, StateOp, in_run},
};
pub use run::{
    AwaitFor, Awaiting, Branch, BranchStatus, Branches, EntryState, HeldEvent, InBranch, Memo,
    MemoRetry, ParkedVisits, RunState, StepSummary, ToEmit, Undo, Visit, Visits, Wait,
};
pub use schema::{Schema, SchemaError, SchemaIssue};
pub use select::Select;
pub use template::{Template, TemplateError, TemplateTooLarge};
pub use trigger_state::{TriggerState, TriggerStatus};
pub use validate::{
    Bounds, Catalog, Issue, MAX_FLOW_STEPS, MAX_ISSUES, Severity, errors, flow_schema, is_function,
    too_many_steps, validate, validate_within,
};
pub use versions::{Versions, compare_versions};
