//! One worker, over all of its connections.

use riverrun_types::ErrorCode;
use std::{collections::HashMap, sync::Arc, time::SystemTime};

use parking_lot::Mutex;
use riverrun_contract::{Brought, MadeFlows};
use riverrun_protocol::{
    Initialised, LoadedProcess, MadeFlow, NotLoaded, Running, Welcome, WorkError,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::link::Link;

pub(super) struct Member {
    pub id: u64,
    pub name: String,
    /// Identifies the worker over all its connections, if it sent an id.
    pub instance: Option<String>,
    pub link: Arc<Link>,
    pub state: Mutex<State>,
    /// Fires when it is to leave.
    leaving: CancellationToken,
    /// Notified of everything that may free a credit.
    changed: watch::Sender<()>,
}

pub(super) struct State {
    pub tags: Vec<String>,
    pub sdk: String,
    pub processes: Vec<LoadedProcess>,
    /// What it could not load.
    broken: Vec<NotLoaded>,
    /// How many invocations it takes at once.
    pub window: u32,
    pub taken: u32,
    pub is_leaving: bool,
    /// When it connected last.
    pub since: SystemTime,
    /// What it offers that the server has itself.
    pub shadowed: Vec<String>,
    /// What became of the flows that its processes make; none before they are registered.
    pub made: Option<MadeFlows>,
    /// Ends the connection that it has; none while it is away.
    pub connection: Option<CancellationToken>,
    /// Whether its last connection was given up because the worker did not answer.
    is_lost: bool,
    absences: u32,
    /// Since when it has no connection.
    away_since: Option<SystemTime>,
    /// What it runs, by the id of the invocation.
    running: HashMap<u64, Running>,
}

impl Member {
    pub fn new(
        id: u64,
        link: Arc<Link>,
        said: &Initialised,
        changed: watch::Sender<()>,
    ) -> Arc<Self> {
        let worker = said.worker.as_ref();
        Arc::new(Self {
            id,
            name: worker.map_or_else(|| format!("worker-{id}"), |worker| worker.name.clone()),
            instance: worker.and_then(|worker| worker.instance.clone()),
            link,
            state: Mutex::new(State {
                tags: Vec::new(),
                sdk: String::new(),
                processes: Vec::new(),
                broken: Vec::new(),
                window: 0,
                taken: 0,
                is_leaving: false,
                since: SystemTime::now(),
                shadowed: Vec::new(),
                made: None,
                connection: None,
                is_lost: false,
                absences: 0,
                away_since: None,
                running: HashMap::new(),
            }),
            leaving: CancellationToken::new(),
            changed,
        })
    }

    /// Takes in what the worker says of itself over a new connection. The old one, if it is still
    /// there, is ended.
    pub fn connect(&self, said: Initialised, shadowed: Vec<String>) -> CancellationToken {
        let connection = CancellationToken::new();
        let mut state = self.state.lock();
        if let Some(old) = state.connection.replace(connection.clone()) {
            old.cancel();
        }
        state.tags = said.worker.map(|worker| worker.tags).unwrap_or_default();
        state.sdk = format!("{} {}", said.sdk.language, said.sdk.version);
        let broken = match said.broken_files.is_empty() {
            false => said.broken_files,
            true => said.broken.into_iter().map(unknown).collect(),
        };
        if state.processes != said.processes || state.broken != broken {
            state.made = None;
        }
        state.processes = said.processes;
        state.broken = broken;
        state.window = said.credits.unwrap_or(1);
        state.since = SystemTime::now();
        state.shadowed = shadowed;
        state.is_lost = false;
        state.away_since = None;
        drop(state);
        self.changed.send_replace(());
        connection
    }

    /// What it has, if the flows of that have yet to be registered.
    pub fn to_make(&self) -> Option<Brought> {
        let state = self.state.lock();
        state.made.is_none().then(|| Brought {
            processes: state.processes.clone(),
            broken: state.broken.clone(),
        })
    }

    pub fn note_made(&self, made: MadeFlows) {
        self.state.lock().made = Some(made);
    }

    /// A flow that it has steps of is made of this version now.
    pub fn note_shared(&self, flow: &MadeFlow, processes: &[String]) {
        let mut state = self.state.lock();
        if !processes.iter().any(|process| state.has(process)) {
            return;
        }
        if let Some(made) = &mut state.made {
            made.note_shared(flow);
        }
    }

    /// What the welcome says of itself.
    pub fn welcome(&self) -> Welcome {
        let state = self.state.lock();
        let made = state.made.clone().unwrap_or_default();
        Welcome {
            worker_id: self.id,
            shadowed: state.shadowed.clone(),
            flows: made.flows,
            faults: made.faults,
        }
    }

    /// It is away, unless another connection has taken the place of this one already.
    pub fn disconnect(&self, connection: &CancellationToken) {
        let mut state = self.state.lock();
        // One that was replaced was cancelled.
        if !connection.is_cancelled() {
            state.connection = None;
            state.absences += 1;
            state.away_since = Some(SystemTime::now());
        }
    }

    /// How often it has been away.
    pub fn absences(&self) -> u32 {
        self.state.lock().absences
    }

    /// Whether it is away and has not been back since it was away for the n-th time.
    pub fn is_still_away(&self, absences: u32) -> bool {
        let state = self.state.lock();
        state.connection.is_none() && state.absences == absences
    }

    /// Gives its connection up as broken. It gets nothing more until it is back.
    pub fn lose(&self) {
        let mut state = self.state.lock();
        if let Some(connection) = state.connection.take() {
            state.is_lost = true;
            state.absences += 1;
            state.away_since = Some(SystemTime::now());
            connection.cancel();
        }
    }

    pub fn is_lost(&self) -> bool {
        self.state.lock().is_lost
    }

    /// Ends its connection.
    pub fn hang_up(&self) {
        if let Some(connection) = self.state.lock().connection.take() {
            connection.cancel();
        }
    }

    /// Whether it has a job, and since when it is away with it.
    pub fn holds(&self, job: &str) -> Option<Option<SystemTime>> {
        let state = self.state.lock();
        let is_held = state.running.values().any(|own| own.job_id == job);
        is_held.then_some(state.away_since)
    }

    pub fn runs(&self, running: &[Running]) -> bool {
        let state = self.state.lock();
        state
            .running
            .values()
            .any(|own| running.iter().any(|other| is_same(own, other)))
    }

    /// What is open here but not there any more is lost; what is open there but not here is
    /// returned.
    pub fn compare(&self, running: &[Running]) -> Vec<Running> {
        let mut state = self.state.lock();
        let lost: Vec<u64> = state
            .running
            .iter()
            .filter(|(_, own)| !running.iter().any(|other| is_same(own, other)))
            .map(|(id, _)| *id)
            .collect();
        let unknown = running
            .iter()
            .filter(|other| !state.running.values().any(|own| is_same(own, other)));
        let unknown = unknown.cloned().collect();
        for id in lost {
            state.running.remove(&id);
            self.link.fail_one(id, &gone(&self.name));
        }
        unknown
    }

    /// A credit for an invocation of `process`, if there is one.
    pub fn take(self: &Arc<Self>, process: &str) -> Option<Credit> {
        let mut state = self.state.lock();
        if !state.is_open() || !state.has(process) {
            return None;
        }
        state.taken += 1;
        Some(Credit {
            member: self.clone(),
            id: None,
        })
    }

    pub fn add_credits(&self, credits: u32) {
        let mut state = self.state.lock();
        state.window = state.window.saturating_add(credits);
        drop(state);
        self.changed.send_replace(());
    }

    /// It gets no more invocations.
    pub fn stop_taking(&self) {
        self.state.lock().is_leaving = true;
        self.changed.send_replace(());
    }

    /// It gets no more invocations, and ends when it has none.
    pub fn leave(&self) {
        self.stop_taking();
        self.leaving.cancel();
    }

    pub fn is_leaving(&self) -> bool {
        self.state.lock().is_leaving
    }

    /// Returns when it wants to leave.
    pub async fn left(&self) {
        self.leaving.cancelled().await;
    }

    /// Whether it runs `process` now, or may again soon.
    pub fn serves(&self, process: &str) -> bool {
        let state = self.state.lock();
        !state.is_leaving && state.has(process)
    }

    pub fn is_connected(&self) -> bool {
        self.state.lock().connection.is_some()
    }

    /// How many invocations of `process` it takes now.
    pub fn free(&self, process: &str) -> u32 {
        let state = self.state.lock();
        match state.is_open() && state.has(process) {
            true => state.window.saturating_sub(state.taken),
            false => 0,
        }
    }
}

impl State {
    fn is_open(&self) -> bool {
        self.connection.is_some() && !self.is_leaving && self.taken < self.window
    }

    pub fn has(&self, process: &str) -> bool {
        let mut ids = self
            .processes
            .iter()
            .filter_map(|process| process.id.as_deref());
        ids.any(|id| id == process)
    }
}

/// Whether both mean the same invocation.
fn is_same(one: &Running, other: &Running) -> bool {
    one.job_id == other.job_id && one.lease == other.lease
}

pub(super) fn gone(name: &str) -> WorkError {
    WorkError::new(
        ErrorCode::WorkerLost,
        format!("worker {name} is gone and did not come back in time"),
    )
}

/// The right to run one invocation; given back when it is dropped.
pub(super) struct Credit {
    pub member: Arc<Member>,
    id: Option<u64>,
}

impl Credit {
    /// Says what it is used for, so that a worker that comes back can say that it still runs it.
    pub fn note(&mut self, id: u64, running: Running) {
        self.member.state.lock().running.insert(id, running);
        self.id = Some(id);
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        let mut state = self.member.state.lock();
        state.taken -= 1;
        if let Some(id) = self.id {
            state.running.remove(&id);
        }
        drop(state);
        self.member.changed.send_replace(());
    }
}

/// A worker of an older version does not say which process it was: it may belong to every flow.
fn unknown(why: String) -> NotLoaded {
    NotLoaded {
        id: None,
        why,
        mentions: Vec::new(),
    }
}
