//! Reading durable data, beside the writer.

mod await_lists;
mod awaits;
mod emits;
mod events;
mod flows;
mod lists;
mod locate;
mod log;
mod pool;
mod queues;
mod run_tasks;
mod runs;
mod snapshots;
mod story;
mod streams;
mod triggers;
mod walk;

use rusqlite::Connection;

use crate::names::Names;

pub(crate) use crate::{marker::get as marker, once::find as once};
pub(crate) use await_lists::list_awaits;
pub(crate) use awaits::{await_by, await_stats, awaits_of, candidates};
pub(crate) use emits::{signals, signals_for, unheard};
pub(crate) use events::events;
pub(crate) use flows::{flow, flows};
pub(crate) use lists::list_runs;
pub(crate) use locate::locate;
pub(crate) use log::log;
pub(crate) use pool::Pool;
pub(crate) use queues::{active_of_key, job, jobs_ahead, list_jobs, newest_job, queues};
pub(crate) use run_tasks::{next_due, stats};
pub(crate) use runs::{chunked_len, run, runs};
pub(crate) use snapshots::snapshot;
pub(crate) use story::story;
pub(crate) use streams::list_streams;
pub(crate) use triggers::{due_triggers, list_triggers, trigger, trigger_version};

/// The connection and the caches of a read.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) conn: &'a Connection,
    pub(crate) names: &'a Names,
}
