//! Where engine, store, bus, handlers and workers meet.

mod handler;

pub use handler::{Action, Call, Effects, FlowLookup, Handler, Services, function};
