//! Rows that [`Needs`] names before they are read. Debug builds judge every commit on these, so
//! every test of every adapter shows that an adapter may load all rows of a group at once.

use std::ops::ControlFlow;

use riverrun_types::{Json, Millis, Name, RunId, StreamName};

use super::{
    AwaitRows, JobRow, JobRows, KeyRows, Needs, Read, Rows, RunKey, RunRow, RunRows, RunTask,
    StreamRow, StreamRows, TriggerRow, TriggerRows,
};
use crate::{AwaitRecord, JobLease, Life};

pub(super) struct Named<'a, 'r, R> {
    pub(super) needs: Needs<'a>,
    pub(super) rows: &'r mut R,
}

impl<R: Rows> Read for Named<'_, '_, R> {
    type Error = R::Error;
}

impl<R: Rows> RunRows for Named<'_, '_, R> {
    const INSERT_REFUSES: bool = R::INSERT_REFUSES;

    fn run(&mut self, id: &RunId) -> Result<Option<RunRow>, R::Error> {
        assert!(self.needs.runs.contains(id), "run {id}");
        self.rows.run(id)
    }

    fn run_task(&mut self, run: &RunId) -> Result<Option<RunTask>, R::Error> {
        assert!(self.needs.run_jobs.contains(run), "task of run {run}");
        self.rows.run_task(run)
    }
}

impl<R: Rows> StreamRows for Named<'_, '_, R> {
    fn stream(&mut self, name: &StreamName) -> Result<Option<StreamRow>, R::Error> {
        let key = (&name.kind, &name.id);
        assert!(self.needs.streams.contains(&key), "stream {name:?}");
        self.rows.stream(name)
    }

    fn job_life(&mut self, id: &str) -> Result<Option<Life>, R::Error> {
        let mut streams = self.needs.streams.iter();
        assert!(streams.any(|(_, stream)| ***stream == *id), "life of {id}");
        self.rows.job_life(id)
    }
}

impl<R: Rows> KeyRows for Named<'_, '_, R> {
    fn run_with_key(&mut self, key: &RunKey<'_>) -> Result<Option<RunId>, R::Error> {
        let mut keys = self.needs.run_keys.iter();
        assert!(keys.any(|named| named == key), "{key:?}");
        self.rows.run_with_key(key)
    }

    fn has_event_key(&mut self, key: &Name) -> Result<bool, R::Error> {
        assert!(self.needs.event_keys.contains(key), "key {key}");
        self.rows.has_event_key(key)
    }

    fn flow(&mut self, id: &Name, version: &Name) -> Result<Option<Json>, R::Error> {
        assert!(self.needs.flows.contains(&(id, version)), "flow {id}");
        self.rows.flow(id, version)
    }
}

impl<R: Rows> JobRows for Named<'_, '_, R> {
    fn job_under(&mut self, lease: &JobLease) -> Result<Option<JobRow>, R::Error> {
        let key = (lease.place, lease.token);
        assert!(self.needs.job_leases.contains(&key), "{lease:?}");
        self.rows.job_under(lease)
    }

    fn job(&mut self, id: &RunId) -> Result<Option<JobRow>, R::Error> {
        assert!(self.needs.jobs.contains(id), "job {id}");
        self.rows.job(id)
    }

    fn queue_of_job(&mut self, id: &RunId) -> Result<Option<Name>, R::Error> {
        assert!(self.needs.jobs.contains(id), "job {id}");
        self.rows.queue_of_job(id)
    }

    fn lease_end(&mut self, token: u64) -> Result<Option<Millis>, R::Error> {
        assert!(self.needs.leases.contains(&token), "lease {token}");
        self.rows.lease_end(token)
    }
}

impl<R: Rows> AwaitRows for Named<'_, '_, R> {
    fn await_by(&mut self, id: &Name) -> Result<Option<AwaitRecord>, R::Error> {
        assert!(self.needs.awaits.contains(id), "await {id}");
        self.rows.await_by(id)
    }

    fn has_unjudged(&mut self, id: &Name, judged: u64) -> Result<bool, R::Error> {
        assert!(self.needs.awaits.contains(id), "await {id}");
        self.rows.has_unjudged(id, judged)
    }

    fn each_emitted(
        &mut self,
        kind: &Name,
        from_ms: Millis,
        visit: impl FnMut(Option<Name>, Json) -> ControlFlow<()>,
    ) -> Result<(), R::Error> {
        assert!(self.needs.emitted.contains(kind), "events of {kind}");
        self.rows.each_emitted(kind, from_ms, visit)
    }
}

impl<R: Rows> TriggerRows for Named<'_, '_, R> {
    fn trigger(&mut self, id: &Name) -> Result<TriggerRow, R::Error> {
        assert!(self.needs.triggers.contains(id), "trigger {id}");
        self.rows.trigger(id)
    }

    fn trigger_of_route(&mut self, route: &Name) -> Result<Option<Name>, R::Error> {
        assert!(self.needs.routes.contains(route), "route {route}");
        self.rows.trigger_of_route(route)
    }
}
