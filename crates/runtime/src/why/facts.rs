//! The facts of a judgement beside the run's state.

use std::collections::HashMap;

use riverrun_contract::Holder;
use riverrun_engine::{RunState, VisitKey};
use riverrun_protocol::WorkError;
use riverrun_store::{AwaitRecord, JobRecord, QueueRecord};
use riverrun_types::{Millis, Name, QueueLimits, RunId};

use super::Why;
use crate::awaits::{Trouble, resumed_times};

#[derive(Default)]
pub(super) struct Facts {
    /// When the run was paused, and why.
    pub paused: Option<(Millis, Option<String>)>,
    /// When awaits were fired that the run has not judged yet.
    pub fired: HashMap<Name, Millis>,
    /// How often callbacks that wait for more were resumed, and how often they must be, if that is
    /// known.
    pub opened: HashMap<Name, (u32, Option<u32>)>,
    /// Awaits whose expression could not be judged.
    pub troubles: HashMap<Name, Trouble>,
    /// Events of the kinds that awaits with an expression wait for, which are yet to be judged.
    pub judging: HashMap<Name, usize>,
    /// The jobs of visits; visits that were not read have none.
    pub jobs: HashMap<VisitKey, JobFacts>,
    pub children: HashMap<RunId, Why>,
    /// Visits that were not read.
    pub unseen: usize,
    /// This server drives as many runs as it may.
    pub busy: bool,
    /// The public URL of the server.
    pub public_url: Option<String>,
}

impl Facts {
    /// Adds an await that was fired. A callback for many may wait for more.
    pub(super) fn fired(&mut self, record: &AwaitRecord, state: &RunState) {
        let key = VisitKey {
            step: record.step.clone(),
            visit: record.visit,
        };
        let taken = state.visit(&key).map_or(0, |visit| visit.taken(&record.id));
        let count = resumed_times(&record.what).and_then(|count| u32::try_from(count).ok());
        let (id, fired) = (record.id.clone(), record.fired);
        if fired < count.unwrap_or(taken + 1) {
            self.opened.insert(id, (fired, count));
        } else if let Some(ms) = record.fired_ms {
            self.fired.insert(id, ms);
        }
    }
}

/// The facts about a visit's job.
#[derive(Clone)]
pub(super) struct JobFacts {
    /// None if it has just ended, or was dropped because the run is paused.
    pub job: Option<JobRecord>,
    pub queue: QueueRecord,
    pub ahead: Option<u64>,
    /// How many jobs of its key are active, if it waits and has one.
    pub active_of_key: Option<u64>,
    /// The process that should run it.
    pub process: Option<Name>,
    /// The worker that takes it here.
    pub taker: Option<Taker>,
    /// Why no worker does, if the process exists and does not load.
    pub broken: Option<WorkError>,
    /// The remote worker that has it.
    pub holder: Option<Holder>,
}

#[derive(Clone)]
pub(super) struct Taker {
    /// Jobs that this server runs at once.
    pub concurrency: u32,
    pub limits: QueueLimits,
    /// Whether connected workers have room, where they do the work.
    pub room: Option<bool>,
}
