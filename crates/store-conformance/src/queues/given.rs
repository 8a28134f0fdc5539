//! Jobs of the queue `mail`, and the least words for what is done to them.

use riverrun_store::{
    Added, Change, ClaimJobs, ClaimedJob, ClaimedJobs, JobFilter, JobLease, JobRecord, JobState,
    Lasts, NewJob, QueueRecord, Result, Settle, Settled, Steer, Unique,
    judge::{ErrorChange, JobEffect},
};
use riverrun_types::{Json, Millis, QueueLimits};

use crate::given::*;

pub use crate::given::queued as job;

pub fn keyed(text: &str, key: &str) -> NewJob {
    NewJob {
        key: Some(key.into()),
        ..job(text)
    }
}

pub fn unique(text: &str, lasts: Lasts, replace: bool) -> NewJob {
    NewJob {
        unique: Some(Unique {
            key: "k".into(),
            lasts,
            replace,
        }),
        ..job(text)
    }
}

pub async fn add(store: &S, jobs: impl IntoIterator<Item = NewJob>) -> Vec<Added> {
    let jobs: Vec<NewJob> = jobs.into_iter().collect();
    must(change(store, Change::Enqueue(jobs.into())).await).added
}

pub async fn added(store: &S, job: NewJob) -> Added {
    let mut added = add(store, [job]).await;
    added.pop().expect("one receipt for one job")
}

pub fn asking(now_ms: Millis, limit: usize) -> ClaimJobs {
    ClaimJobs {
        queue: "mail".into(),
        owner: "w1".into(),
        limit,
        now_ms,
        until_ms: now_ms + 30_000,
        limits: QueueLimits::default(),
    }
}

pub async fn claim_jobs(store: &S, now_ms: Millis, limit: usize) -> Vec<ClaimedJob> {
    must(store.claim_jobs(asking(now_ms, limit)).await).jobs
}

pub async fn claim_within(store: &S, now_ms: Millis, limits: QueueLimits) -> ClaimedJobs {
    let claim = ClaimJobs {
        limits,
        ..asking(now_ms, 100)
    };
    must(store.claim_jobs(claim).await)
}

pub async fn only(store: &S, now_ms: Millis) -> ClaimedJob {
    let mut jobs = claim_jobs(store, now_ms, 10).await;
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    jobs.remove(0)
}

pub fn ids_of(jobs: &[ClaimedJob]) -> Vec<&str> {
    jobs.iter().map(|job| job.lease.id.as_str()).collect()
}

pub async fn settle(store: &S, lease: &JobLease, now_ms: Millis, outcome: Settled) -> Result<()> {
    let settle = Settle::new(lease, outcome, now_ms);
    change(store, settle.into()).await.map(drop)
}

pub fn done(text: &str) -> Settled {
    Settled::Completed { result: json(text) }
}

pub fn wrong() -> Json {
    json(r#"{"code":"SMTP","message":"refused"}"#)
}

pub async fn steer(store: &S, job: &str, steer: Steer, now_ms: Millis) -> Result<()> {
    let steer = Change::Steer {
        job: id(job),
        steer,
        now_ms,
    };
    change(store, steer).await.map(drop)
}

pub async fn read(store: &S, job: &str) -> JobRecord {
    must(store.job(&id(job)).await).expect("the job is there")
}

pub async fn queue(store: &S) -> QueueRecord {
    must(store.queue("mail").await).expect("the queue is there")
}

/// Waiting, delayed, active, completed, failed, cancelled.
pub async fn counts(store: &S) -> [u64; 6] {
    let queue = queue(store).await;
    [
        queue.waiting,
        queue.delayed,
        queue.active,
        queue.completed,
        queue.failed,
        queue.cancelled,
    ]
}

pub async fn list(store: &S, states: &[JobState]) -> Vec<String> {
    let mut filter = JobFilter {
        queue: "mail".into(),
        states: states.to_vec(),
        limit: 3,
        ..JobFilter::default()
    };
    let mut found = Vec::new();
    loop {
        let page = must(store.list_jobs(&filter).await);
        found.extend(page.items.iter().map(|job| job.id.to_string()));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return found,
        }
    }
}

/// Lets the only job that waits fail and wait again: its row has an attempt and an error.
pub async fn fail_once(store: &S) {
    let claimed = only(store, T0).await;
    let error = json(r#"{"code":"EARLIER","message":"the first time"}"#);
    let again = Settled::Retry { at_ms: T0, error };
    must(settle(store, &claimed.lease, T0, again).await);
}

/// Checks that a job's row is what the rules made of it ([`JobEffect`]).
pub async fn is_as_ruled(store: &S, before: &JobRecord, effect: &JobEffect<'_>, what: &str) {
    let after = must(store.job(&before.id).await);
    let error = |change: &ErrorChange<'_>| match change.keeps() {
        true => before.error.clone(),
        false => change.value().cloned(),
    };
    let Some(after) = after else {
        assert_eq!(*effect, JobEffect::Removed, "{what}");
        return;
    };
    let expected = match effect {
        JobEffect::Ends {
            state,
            ended_ms,
            error: change,
            result,
            ..
        } => JobRecord {
            state: *state,
            ended_ms: Some(*ended_ms),
            error: error(change),
            result: result.cloned(),
            cancelling: false,
            ..before.clone()
        },
        JobEffect::Waits {
            state,
            at_ms,
            error: change,
            is_uncounted,
            ..
        } => JobRecord {
            state: *state,
            at_ms: Some(*at_ms),
            error: error(change),
            attempt: before.attempt - u32::from(*is_uncounted),
            ..before.clone()
        },
        JobEffect::BeginsAnew {
            state,
            at_ms,
            keeps_checkpoint,
        } => JobRecord {
            state: *state,
            at_ms: Some(*at_ms),
            attempt: 0,
            started_ms: None,
            ended_ms: None,
            progress: None,
            result: None,
            checkpoint: before.checkpoint.clone().filter(|_| *keeps_checkpoint),
            ..before.clone()
        },
        JobEffect::Stops { error: change, .. } => JobRecord {
            cancelling: true,
            error: error(change),
            ..before.clone()
        },
        JobEffect::Ranks(priority) => JobRecord {
            priority: *priority,
            ..before.clone()
        },
        JobEffect::Removed => panic!("{what}: it is still there"),
    };
    // A time that means nothing in its state, and who had the lease, are not compared.
    let shown = |job: JobRecord| JobRecord {
        at_ms: job
            .at_ms
            .filter(|_| matches!(job.state, JobState::Delayed | JobState::Parked)),
        owner: None,
        until_ms: None,
        ..job
    };
    assert_eq!(shown(after), shown(expected), "{what}");
}
