//! The engine from outside: tables of scripts, properties, recorded streams.

#![allow(clippy::unwrap_used)]

mod control;
mod fixtures;
mod fork;
mod history;
mod limits;
mod lost;
mod map;
mod measure;
mod parallel;
mod properties;
mod retries;
mod run;
mod script;
mod steps;
mod subflow;
mod waits;
