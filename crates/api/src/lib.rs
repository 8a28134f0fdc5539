//! riverrun over HTTP: flows, runs, events and their live streams.
//!
//! This crate turns requests into calls of [`riverrun_runtime::Runtime`] and answers into JSON. It
//! decides nothing about runs. Every failure, from an unknown route to a full disk, leaves in one
//! shape with an [`ErrorCode`](riverrun_types::ErrorCode); the OpenAPI document is generated from the
//! handlers.

mod app;
mod awaits;
mod call_socket;
mod callbacks;
mod calls;
mod compression;
mod connection;
mod cross_site;
mod dead_letters;
mod docs_page;
mod document;
mod edge;
mod errors;
mod event_socket;
mod event_source;
mod events;
mod executions;
mod extract;
mod flows;
mod handlers;
mod headers;
mod health;
mod hooks;
mod hosts;
mod html;
mod jobs;
mod kinds;
mod live;
mod page;
mod queues;
mod read_on;
mod reply;
mod routes;
mod run_actions;
mod run_history;
mod run_reads;
pub mod schemas;
mod serve;
mod socket;
mod sse;
mod start;
mod stories;
mod triggers;
mod unheard;
mod unread;
mod workers;

pub use app::ApiOptions;
pub use hosts::Hosts;
pub use routes::{openapi, router};
pub use serve::serve;
