//! Attempts that were lost with their worker, and jobs that are set aside.

use riverrun_store::{Change, JobState, Settled, Steer};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

fn lost() -> Settled {
    Settled::Lost { error: wrong() }
}

pub async fn losses_are_counted_apart_from_attempts(store: S) {
    add(&store, [job("j1")]).await;
    let seen = |job: &riverrun_store::ClaimedJob| (job.attempt, job.losses, job.losses_in_row);
    let first = only(&store, T0).await;
    assert_eq!(seen(&first), (1, 0, 0));
    must(settle(&store, &first.lease, T0, lost()).await);
    assert_eq!(read(&store, "j1").await.state, JobState::Waiting);
    let second = only(&store, T0).await;
    assert_eq!(seen(&second), (2, 1, 1));
    must(settle(&store, &second.lease, T0, lost()).await);
    // A released attempt does not end the row of losses.
    let third = only(&store, T0).await;
    must(settle(&store, &third.lease, T0, Settled::Released).await);
    let third = only(&store, T0).await;
    assert_eq!(seen(&third), (3, 2, 2));
    let again = Settled::Retry {
        at_ms: T0,
        error: wrong(),
    };
    must(settle(&store, &third.lease, T0, again).await);
    assert_eq!(seen(&only(&store, T0).await), (4, 2, 0));
}

pub async fn a_parked_job_waits_until_it_is_released(store: S) {
    add(&store, [job("j1"), keyed("j2", "k"), job("j3")]).await;
    let claimed = claim_jobs(&store, T0, 3).await;
    for job in claimed.iter().filter(|job| job.lease.id != id("j3")) {
        let parked = Settled::Parked { error: wrong() };
        must(settle(&store, &job.lease, T0 + 5, parked).await);
    }
    // An active job, too.
    let park = Steer::Park { error: wrong() };
    must(steer(&store, "j3", park, T0 + 6).await);
    let held = claimed.iter().find(|job| job.lease.id == id("j3"));
    let held = held.expect("all three were claimed");
    assert_eq!(
        refusal(settle(&store, &held.lease, T0, done("1")).await),
        ErrorCode::JobLost
    );
    let record = read(&store, "j1").await;
    assert_eq!(
        (record.state, record.at_ms),
        (JobState::Parked, Some(T0 + 5))
    );
    assert_eq!(record.error, Some(wrong()));
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 0]);
    assert_eq!(queue(&store).await.parked, 3);
    assert!(claim_jobs(&store, T0 + 1_000_000, 10).await.is_empty());
    must(store.stalled_jobs(T0 + 1_000_000, 10).await);
    must(steer(&store, "j1", Steer::Promote, T0 + 10).await);
    must(steer(&store, "j2", Steer::Retry { at_ms: 0 }, T0 + 10).await);
    assert_eq!(queue(&store).await.parked, 1);
    let mut released = claim_jobs(&store, T0 + 10, 10).await;
    released.sort_by_key(|job| job.lease.place);
    assert_eq!(ids_of(&released), ["j1", "j2"]);
    let seen = |job: &riverrun_store::ClaimedJob| (job.attempt, job.losses, job.losses_in_row);
    assert!(released.iter().all(|job| seen(job) == (2, 1, 0)));
    assert_eq!(read(&store, "j1").await.error, None);
}

pub async fn a_parked_job_can_be_listed_cancelled_and_removed(store: S) {
    add(&store, ["j1", "j2", "j3", "j4"].map(job)).await;
    for job in ["j1", "j2", "j3"] {
        let park = Steer::Park { error: wrong() };
        must(steer(&store, job, park, T0).await);
    }
    assert_eq!(list(&store, &[JobState::Parked]).await, ["j1", "j2", "j3"]);
    assert_eq!(list(&store, &[]).await.len(), 4);
    must(steer(&store, "j1", Steer::Cancel { reason: None }, T0).await);
    must(steer(&store, "j2", Steer::Remove, T0).await);
    assert_eq!(list(&store, &[JobState::Parked]).await, ["j3"]);
    assert_eq!(queue(&store).await.parked, 1);
    let park = Steer::Park { error: wrong() };
    assert_eq!(
        refusal(steer(&store, "j1", park, T0).await),
        ErrorCode::JobState
    );
}

pub async fn a_dropped_job_is_gone_though_somebody_holds_it(store: S) {
    add(&store, [job("j1")]).await;
    let lease = only(&store, T0).await.lease;
    let gone = |name: &str| Change::DropJob {
        job: id(name),
        now_ms: T0,
    };
    must(change(&store, gone("j1")).await);
    assert_eq!(must(store.job(&id("j1")).await), None);
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 0]);
    assert_eq!(
        refusal(settle(&store, &lease, T0, done("1")).await),
        ErrorCode::JobLost
    );
    must(change(&store, gone("never")).await);
    add(&store, [job("j1")]).await;
    assert_eq!(only(&store, T0).await.attempt, 1);
}
