//! The job changes of a decision: jobs to add, jobs to remove.

use riverrun_engine::{Decision, Plan, Queued, VisitKey};
use riverrun_store::{Change, NewJob};
use riverrun_types::{Json, Millis, Name, RunId};

use super::Runs;
use crate::{
    awaits::over,
    queues::{KeptOptions, StepPlace, job_id},
};

impl Runs {
    /// The changes that belong in the same commit as a decision's events. `after` is the length of
    /// the run's stream by then, if known.
    pub(super) fn orders(
        &self,
        run: &RunId,
        plan: &Plan,
        tenant: Option<&Name>,
        decision: &Decision,
        after: Option<u64>,
        now: Millis,
    ) -> Vec<Change> {
        let settled = decision.settled.iter();
        let mut changes: Vec<Change> = settled.flat_map(|ended| over(run, ended, now)).collect();
        for visit in &decision.dequeued {
            changes.push(Change::Abandon {
                job: job_id(run, visit),
                now_ms: now,
            });
        }
        for visit in &decision.parked {
            changes.push(Change::DropJob {
                job: job_id(run, visit),
                now_ms: now,
            });
        }
        let gone = |visit: &VisitKey| decision.dequeued.contains(visit);
        let jobs: Vec<NewJob> = decision
            .queued
            .iter()
            .filter(|queued| !gone(&queued.visit))
            .filter_map(|queued| self.step_job(run, plan, tenant, queued, after, now))
            .collect();
        if !jobs.is_empty() {
            changes.push(Change::Enqueue(jobs.into()));
        }
        changes
    }

    fn step_job(
        &self,
        run: &RunId,
        plan: &Plan,
        tenant: Option<&Name>,
        queued: &Queued,
        after: Option<u64>,
        now: Millis,
    ) -> Option<NewJob> {
        let Queued {
            visit,
            at_ms,
            before,
        } = queued;
        let process = plan.step(&visit.step)?.process.clone()?;
        let queue = self.dispatcher().queue_of(&process);
        let options = KeptOptions {
            tenant_id: tenant.map(ToString::to_string),
            step: Some(StepPlace {
                run: run.clone(),
                step: visit.step.clone(),
                visit: visit.visit,
                process,
                before: *before,
                after,
            }),
            ..KeptOptions::default()
        };
        Some(NewJob {
            id: job_id(run, visit),
            is_named: false,
            queue,
            name: Some(visit.step.clone()),
            data: Json::null(),
            priority: 0,
            at_ms: at_ms.filter(|at| *at > now),
            created_ms: now,
            // Tenants take turns if a step's queue is shared.
            key: tenant.cloned(),
            unique: None,
            correlation: None,
            options: Some(Json::of(&options)),
        })
    }
}

/// The jobs that a decision made obsolete.
pub(super) fn unwanted_jobs(run: &RunId, decision: &Decision) -> Vec<RunId> {
    let visits = decision.dequeued.iter().chain(&decision.parked);
    visits.map(|visit| job_id(run, visit)).collect()
}
