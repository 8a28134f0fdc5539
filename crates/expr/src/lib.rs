//! The sandboxed expression language: JavaScript over JSON text.
//!
//! An [`Expr`] is compiled once and evaluated against named JSON documents. Plain lookups and
//! equalities (`input.user.name`, `(e, ctx) => e.data.orderId === ctx.input.orderId`) are read
//! straight from the text; everything else runs in a [`Sandbox`], in QuickJS with bounded memory,
//! time, stack and output: in child processes that can be killed, or on threads ([`Isolation`]).
//!
//! Expressions are deterministic and leave nothing behind: no I/O, no clock, no randomness, no
//! dynamic code, and nothing that one evaluation does is visible to the next.
//!
//! **Numbers.** A native path answers with the document's own text, so 64-bit integers survive
//! untouched. Whatever goes through QuickJS is a double, as in any JavaScript: integers beyond
//! 2^53 are rounded.
//!
//! This crate knows nothing of flows, runs or events: text comes in, text goes out.

mod error;
mod expr;
mod isolation;
mod limits;
mod native;
mod older_names;
#[cfg(unix)]
mod processes;
mod realm;
mod sandbox;
mod stats;
mod syntax;
mod threads;

pub use error::Error;
pub use expr::{Arg, Evaluated, Expr, MAX_SOURCE_BYTES};
pub use isolation::Isolation;
pub use limits::Limits;
pub use sandbox::Sandbox;
pub use stats::Stats;
