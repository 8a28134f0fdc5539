//! The real binary, as people use it: real processes, real ports, real folders.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

mod as_data;
mod backup;
mod browser;
mod crashes;
mod deployment;
mod dev;
mod documents;
mod expressions;
mod flows;
mod fuzz;
mod inputs;
mod layers;
mod local;
mod losses;
mod poison;
mod queues;
mod run;
mod runs;
mod schemas;
mod serve;
mod shop;
mod snippets;
mod support;
mod top;
mod torture;
mod triggers;
mod typescript;
mod waiting;
mod work;
mod workers;
