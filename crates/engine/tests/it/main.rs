//! The engine from outside: tables of scripts, properties, recorded streams.

// Tests may look at the clock; the engine may not.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod awaits;
mod control;
mod envelope;
mod events;
mod facts;
mod fixtures;
mod fork;
mod history;
mod inputs;
mod limits;
mod lost;
mod map;
mod measure;
mod parallel;
mod park;
mod properties;
mod recorded_events;
mod retries;
mod run;
mod script;
mod sdk_types;
mod steps;
mod subflow;
mod waits;
