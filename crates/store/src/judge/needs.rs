//! The rows that a group of commits may read, known before it is judged.

use std::collections::BTreeSet;

use riverrun_types::{Name, RunId, StreamName};

use crate::{Awaited, Change, Commit, NewRun};

/// An idempotency key, which is unique within a flow and a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey<'a> {
    pub key: &'a Name,
    pub flow: &'a Name,
    pub tenant: Option<&'a Name>,
}

impl<'a> RunKey<'a> {
    pub(super) fn of(new: &'a NewRun) -> Option<Self> {
        Some(Self {
            key: new.idempotency_key.as_ref()?,
            flow: &new.flow,
            tenant: new.tenant.as_ref(),
        })
    }
}

/// The rows to load and lock before a group is judged, in a fixed order, so that two groups do not
/// deadlock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs<'a> {
    pub runs: BTreeSet<RunId>,
    /// Runs whose leases fence a commit.
    pub run_jobs: BTreeSet<&'a RunId>,
    pub run_keys: BTreeSet<RunKey<'a>>,
    pub event_keys: BTreeSet<&'a Name>,
    /// Flows by id and version.
    pub flows: BTreeSet<(&'a Name, &'a Name)>,
    /// Streams other than runs'. A job's stream comes with the job's own columns ([`crate::Life`]).
    pub streams: BTreeSet<(&'a Name, &'a Name)>,
    /// Jobs by id. A job comes with its queue and its lane.
    pub jobs: BTreeSet<&'a RunId>,
    /// Jobs by place, and the tokens of their leases.
    pub job_leases: BTreeSet<(i64, u64)>,
    /// Tokens of leases whose expiry is read.
    pub leases: BTreeSet<u64>,
    pub queues: BTreeSet<&'a Name>,
    /// Lanes of queues, by queue and key.
    pub lanes: BTreeSet<(&'a Name, &'a Name)>,
    /// Unique names of jobs, by queue and name, with the jobs that have them.
    pub names: BTreeSet<(&'a Name, &'a Name)>,
    /// Awaits by id. An await comes with the task of its run.
    pub awaits: BTreeSet<&'a Name>,
    /// Kinds of events whose open awaits and listeners are read.
    pub kinds: BTreeSet<&'a Name>,
    /// Kinds whose kept events are read, by awaits that look back.
    pub emitted: BTreeSet<&'a Name>,
    /// Signals of the outbox by number.
    pub signals: BTreeSet<u64>,
    pub triggers: BTreeSet<&'a Name>,
    pub routes: BTreeSet<&'a Name>,
}

impl<'a> Needs<'a> {
    pub fn of(group: &'a [Commit]) -> Self {
        let mut needs = Self::default();
        for commit in group {
            if let Some(lease) = &commit.lease {
                needs.run_jobs.insert(&lease.run);
            }
            if let Some(take) = &commit.take {
                needs.leases.insert(take.token);
                needs
                    .queues
                    .extend(take.rooms.iter().map(|room| &room.queue));
            }
            for change in &commit.changes {
                needs.add(change);
            }
        }
        needs
    }

    fn add(&mut self, change: &'a Change) {
        match change {
            Change::Create(new) => {
                self.runs.insert(new.id.clone());
                self.run_keys.extend(RunKey::of(new));
            }
            Change::Advance(change) => {
                self.runs.insert(change.run.clone());
                self.run_jobs.insert(&change.run);
            }
            Change::Append(change) => self.add_stream(&change.stream),
            Change::Trim { stream, .. } => self.add_stream(stream),
            Change::Wake(run) | Change::Delete(run) => {
                self.runs.insert(run.clone());
                self.run_jobs.insert(run);
            }
            Change::Register(flow) => {
                self.flows.insert((&flow.id, &flow.version));
            }
            Change::Once(once) => {
                self.event_keys.insert(&once.key);
            }
            Change::Enqueue(jobs) => {
                for job in jobs.iter() {
                    let queue = &job.queue;
                    self.queues.insert(queue);
                    self.jobs.insert(&job.id);
                    self.lanes.extend(job.key.as_ref().map(|key| (queue, key)));
                    let name = job.unique.as_ref().map(|unique| &unique.key);
                    self.names.extend(name.map(|name| (queue, name)));
                }
            }
            Change::Settle(settle) => {
                let lease = &settle.lease;
                self.queues.insert(&lease.queue);
                self.job_leases.insert((lease.place, lease.token));
                self.leases.extend(settle.if_expired.then_some(lease.token));
            }
            Change::Note(note) => {
                let lease = &note.lease;
                self.job_leases.insert((lease.place, lease.token));
            }
            Change::Steer { job, .. }
            | Change::Abandon { job, .. }
            | Change::DropJob { job, .. } => {
                self.jobs.insert(job);
            }
            Change::Pause { queue, .. } => {
                self.queues.insert(queue);
            }
            Change::Await(new) => {
                self.runs.insert(new.run.clone());
                self.awaits.insert(&new.id);
                if let Awaited::Event {
                    kind, lookback_ms, ..
                } = &new.what
                {
                    self.kinds.insert(kind);
                    self.emitted.extend(lookback_ms.map(|_| kind));
                }
            }
            Change::Unawait(id) | Change::Expire { id, .. } => {
                self.awaits.insert(id);
            }
            Change::Fire(fire) => {
                self.awaits.insert(&fire.id);
            }
            Change::Signal(signal) => {
                self.kinds.insert(&signal.kind);
            }
            Change::Listen { kind, .. } => {
                self.kinds.insert(kind);
            }
            Change::RemoveSignal(no) => {
                self.signals.insert(*no);
            }
            Change::Trigger(new) => {
                self.triggers.insert(&new.id);
                self.routes.extend(&new.route);
            }
            Change::Untrigger { id, .. } => {
                self.triggers.insert(id);
            }
            Change::Fired(firing) => {
                self.triggers.insert(&firing.trigger);
            }
        }
    }

    fn add_stream(&mut self, stream: &'a StreamName) {
        match stream.run() {
            Some(run) => {
                self.runs.insert(run);
            }
            None => {
                self.streams.insert((&stream.kind, &stream.id));
            }
        }
    }
}
