//! Jobs that begin where they are added.

use riverrun_store::{
    Change, ClaimJobs, Commit, Error, JobState, NewJob, QueueRoom, Receipt, Settle, Settled, Steer,
    TakeJobs,
};

use super::given::*;
use crate::given::*;

async fn lease(store: &S) -> u64 {
    must(store.lease_jobs(&"w1".into(), T0 + 30_000).await)
}

fn room(jobs: usize) -> QueueRoom {
    QueueRoom {
        queue: "mail".into(),
        jobs,
        concurrency: None,
    }
}

async fn take(store: &S, token: u64, rooms: Vec<QueueRoom>, jobs: Vec<NewJob>) -> Receipt {
    let mut adding = Commit::of(Change::Enqueue(jobs.into()));
    adding.take = Some(TakeJobs {
        token,
        now_ms: T0,
        rooms,
    });
    must(commit(store, adding).await)
}

fn taken(receipt: &Receipt) -> Vec<&str> {
    let taken = receipt.taken.iter();
    taken.map(|job| job.lease.id.as_str()).collect()
}

async fn claimed(store: &S) -> Vec<String> {
    let claim = ClaimJobs {
        owner: "w2".into(),
        ..asking(T0, 10)
    };
    let jobs = must(store.claim_jobs(claim).await).jobs;
    ids_of(&jobs).into_iter().map(str::to_owned).collect()
}

pub async fn a_job_begins_where_it_is_added(store: S) {
    let token = lease(&store).await;
    let receipt = take(&store, token, vec![room(1)], vec![job("a"), job("b")]).await;
    assert_eq!(taken(&receipt), ["a"]);
    let first = &receipt.taken[0];
    assert_eq!((first.attempt, first.data.as_str()), (1, r#"{"to":"a"}"#));
    let record = must(store.job(&id("a")).await).expect("it is there");
    assert_eq!((record.state, record.attempt), (JobState::Active, 1));
    assert_eq!(record.started_ms, Some(T0));
    assert_eq!(claimed(&store).await, ["b"], "it is nobody else's");
    let completed = Settled::Completed { result: json("1") };
    let settle = Settle::new(&first.lease, completed, T0 + 5);
    must(change(&store, settle.clone().into()).await);
    let again = change(&store, settle.into()).await;
    assert!(matches!(again, Err(Error::JobLost(_))));
    let queue = must(store.queue("mail").await).expect("it is there");
    assert_eq!((queue.waiting, queue.active, queue.completed), (0, 1, 1));
}

pub async fn what_waits_goes_before_what_is_added(store: S) {
    let token = lease(&store).await;
    let none = take(&store, token, Vec::new(), vec![job("a")]).await;
    assert_eq!(taken(&none), [""; 0]);
    let later = take(&store, token, vec![room(5)], vec![job("b")]).await;
    assert_eq!(taken(&later), [""; 0], "a waits");
    assert_eq!(claimed(&store).await, ["a", "b"]);
    let delayed = NewJob {
        at_ms: Some(T0 + 10),
        ..job("c")
    };
    let receipt = take(&store, token, vec![room(5)], vec![delayed, job("d")]).await;
    assert_eq!(taken(&receipt), [""; 0], "c may be due first");
}

pub async fn nothing_is_taken_beyond_what_a_queue_allows(store: S) {
    let token = lease(&store).await;
    let limited = QueueRoom {
        concurrency: Some(2),
        ..room(5)
    };
    let jobs = vec![job("a"), job("b"), job("c")];
    let receipt = take(&store, token, vec![limited], jobs).await;
    assert_eq!(taken(&receipt), ["a", "b"]);
    must(steer(&store, "c", Steer::Remove, T0).await);
    let pause = Change::Pause {
        queue: "mail".into(),
        paused: true,
        now_ms: T0,
    };
    must(change(&store, pause).await);
    let receipt = take(&store, token, vec![room(5)], vec![job("d")]).await;
    assert_eq!(taken(&receipt), [""; 0], "the queue is paused");
    let other = NewJob {
        queue: "other".into(),
        ..job("e")
    };
    let receipt = take(&store, token, vec![room(5)], vec![other]).await;
    assert_eq!(taken(&receipt), [""; 0], "the room is another queue's");
}

pub async fn room_that_was_taken_in_parts_is_used_once(store: S) {
    let token = lease(&store).await;
    let jobs = ["a", "b", "c", "d"].map(job).to_vec();
    let receipt = take(&store, token, vec![room(1), room(2)], jobs).await;
    assert_eq!(taken(&receipt), ["a", "b", "c"]);
}

pub async fn a_job_that_is_there_already_is_not_taken(store: S) {
    let token = lease(&store).await;
    let receipt = take(&store, token, vec![room(5)], vec![job("a"), job("a")]).await;
    assert_eq!(taken(&receipt), ["a"]);
    assert_eq!(
        receipt.added.iter().filter(|added| added.created).count(),
        1
    );
}

pub async fn a_lease_that_is_gone_takes_nothing(store: S) {
    let receipt = take(&store, 77, vec![room(5)], vec![job("a")]).await;
    assert_eq!(taken(&receipt), [""; 0], "nobody gave that lease");
    assert_eq!(claimed(&store).await, ["a"]);
    let short = must(store.lease_jobs(&"w1".into(), T0).await);
    let receipt = take(&store, short, vec![room(5)], vec![job("b")]).await;
    assert_eq!(taken(&receipt), [""; 0], "it has run out");
}

pub async fn what_was_taken_stalls_with_its_lease(store: S) {
    let token = lease(&store).await;
    take(&store, token, vec![room(5)], vec![job("a"), job("b")]).await;
    let (stalled, next) = must(store.stalled_jobs(T0 + 29_999, 10).await);
    assert!(stalled.is_empty());
    assert_eq!(next, Some(T0 + 30_000));
    let beats = must(store.keep_jobs(&[token], T0 + 60_000).await);
    assert!(beats.lost.is_empty());
    assert!(must(store.stalled_jobs(T0 + 30_000, 10).await).0.is_empty());
    let (stalled, _) = must(store.stalled_jobs(T0 + 60_000, 10).await);
    assert_eq!(stalled.len(), 2);
}
