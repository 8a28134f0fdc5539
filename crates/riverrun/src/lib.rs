//! riverrun as a library: durable flows inside your own program.
//!
//! ```
//! use riverrun::{Riverrun, function, json};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Greet { name: String }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> riverrun::Result<()> {
//! let river = Riverrun::builder()
//!     .memory()
//!     .handler(function("greet", |input: Greet| async move {
//!         Ok(format!("Hello, {}!", input.name))
//!     }))
//!     .open()
//!     .await?;
//! river.register(json!({
//!     "id": "hello", "version": "1.0.0", "initialStepId": "greet",
//!     "steps": { "greet": { "type": "greet", "outputKey": "message" } },
//! })).await?;
//! let run = river.run("hello", json!({"name": "World"})).await?;
//! assert_eq!(run.state["message"], "Hello, World!");
//! river.shutdown().await
//! # }
//! ```
//!
//! With [`Builder::clock`] a test moves time: a flow that waits for a month ends in milliseconds.
//!
//! With [`Builder::data`] instead of `memory` what was acknowledged survives a crash, and a run
//! that was under way goes on when the folder is opened again.

/// Runs the examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/testing-rust.md")]
struct TestingGuide;

mod builder;
mod error;
mod river;
mod run;
mod store;

pub use builder::Builder;
pub use error::{Error, Result};
pub use river::Riverrun;
pub use run::Run;

pub use riverrun_engine::{Failure, Issue, Outcome, Severity};
pub use riverrun_expr::{Isolation as ExprIsolation, Limits as ExprLimits};
pub use riverrun_handlers::{AllowRule, HttpOptions, Options as HandlerOptions};
pub use riverrun_runtime::{
    Action, At, Begin, Call, Clock, Delivery, Effects, Handler, OnKind, Options, RegisteredFlow,
    Runtime, SimulatedClock, StartRequest, Started, Subject, Tail, Tailed, Unsettled, function,
};
pub use riverrun_store::{Logged, Page, Retention, RunFilter, RunRecord, Store};
pub use riverrun_triggers::{
    Backfill, Backfilled, Kind as TriggerKind, ManualFire, Origin as TriggerOrigin,
    Put as PutTrigger, ShownTrigger, Synced, Trigger, Triggers,
};
pub use riverrun_types::{Event, EventId, EventType, Flow, Json, RunId, RunStatus, StreamName};
pub use serde_json::json;
