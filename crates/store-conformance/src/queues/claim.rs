//! Which jobs a claim takes: by priority, by time, and every key in its turn.

use riverrun_store::{JobState, NewJob, Purge, Reclaimed, Settled, Steer};

use super::given::*;
use crate::given::*;

/// Leases outlive what they held for a while: they are no jobs.
pub async fn reclaim_names_the_jobs_that_were_held(store: S) {
    add(&store, ["j1", "j2", "j3", "j4"].map(job)).await;
    let ended = claim_jobs(&store, T0, 1).await;
    must(settle(&store, &ended[0].lease, T0, done("1")).await);
    must(store.lease_jobs(&"w1".into(), T0 + 30_000).await);
    assert_eq!(claim_jobs(&store, T0, 2).await.len(), 2);
    let reclaimed = must(store.reclaim().await);
    let none = Reclaimed::default();
    let held = Reclaimed {
        runs: Vec::new(),
        jobs: vec![id("j2"), id("j3")],
    };
    assert!([none, held].contains(&reclaimed));
}

pub async fn higher_priority_goes_first(store: S) {
    let with = |text: &str, priority| NewJob {
        priority,
        ..job(text)
    };
    add(
        &store,
        [with("low", -5), with("a", 0), with("high", 9), with("b", 0)],
    )
    .await;
    let claimed = claim_jobs(&store, T0, 10).await;
    assert_eq!(ids_of(&claimed), ["high", "a", "b", "low"]);
}

pub async fn a_delayed_job_waits_for_its_time(store: S) {
    let later = NewJob {
        at_ms: Some(T0 + 1_000),
        ..job("later")
    };
    add(&store, [later]).await;
    assert_eq!(counts(&store).await, [0, 1, 0, 0, 0, 0]);
    assert_eq!(read(&store, "later").await.at_ms, Some(T0 + 1_000));
    let early = must(store.claim_jobs(asking(T0 + 999, 10)).await);
    assert_eq!((early.jobs.len(), early.next_ms), (0, Some(T0 + 1_000)));
    assert_eq!(only(&store, T0 + 1_000).await.lease.id.as_str(), "later");
}

pub async fn a_delay_is_over_though_nobody_claims(store: S) {
    let later = |text: &str| NewJob {
        at_ms: Some(T0 + 10),
        ..job(text)
    };
    add(&store, [later("j1"), later("j2")]).await;
    must(store.stalled_jobs(T0 + 9, 10).await);
    assert_eq!(read(&store, "j1").await.state, JobState::Delayed);
    must(store.stalled_jobs(T0 + 10, 10).await);
    assert_eq!(read(&store, "j1").await.state, JobState::Waiting);
    assert_eq!(counts(&store).await, [2, 0, 0, 0, 0, 0]);
    // A purge of a queue removes them too.
    add(&store, [later("j3")]).await;
    let purge = Purge {
        queue: "mail".into(),
        state: JobState::Waiting,
        before_ms: T0 + 10,
        limit: 10,
        spare: None,
    };
    assert_eq!(must(store.purge_jobs(&purge).await), 3);
}

pub async fn a_time_that_is_over_is_no_waiting(store: S) {
    let past = NewJob {
        at_ms: Some(T0 - 86_400_000),
        ..job("past")
    };
    add(&store, [past]).await;
    assert_eq!(only(&store, T0 + 5).await.ready_ms, T0);
}

pub async fn a_claim_says_since_when_a_job_could_begin(store: S) {
    let later = NewJob {
        at_ms: Some(T0 + 500),
        ..job("later")
    };
    add(&store, [later]).await;
    let claimed = only(&store, T0 + 900).await;
    assert_eq!((claimed.created_ms, claimed.ready_ms), (T0, T0 + 500));
    let again = Settled::Retry {
        at_ms: T0 + 2_000,
        error: wrong(),
    };
    must(settle(&store, &claimed.lease, T0 + 1_000, again).await);
    let claimed = only(&store, T0 + 2_100).await;
    assert_eq!(claimed.ready_ms, T0 + 2_000);
    let error = wrong();
    must(
        settle(
            &store,
            &claimed.lease,
            T0 + 2_200,
            Settled::Failed { error },
        )
        .await,
    );
    must(steer(&store, "later", Steer::Retry { at_ms: 0 }, T0 + 5_000).await);
    assert_eq!(only(&store, T0 + 5_100).await.ready_ms, T0 + 5_000);
}

pub async fn a_key_with_many_jobs_starves_nobody(store: S) {
    add(
        &store,
        (0..200).map(|n| keyed(&format!("big{n:03}"), "big")),
    )
    .await;
    add(&store, (0..3).map(|n| keyed(&format!("small{n}"), "small"))).await;
    add(&store, (0..3).map(|n| job(&format!("own{n}")))).await;
    let claimed = claim_jobs(&store, T0, 12).await;
    let of = |prefix: &str| {
        let ids = ids_of(&claimed);
        ids.iter().filter(|id| id.starts_with(prefix)).count()
    };
    assert_eq!(
        (of("small"), of("own"), of("big")),
        (3, 3, 6),
        "{claimed:#?}"
    );
    // One at a time they take turns as well.
    add(&store, (3..6).map(|n| keyed(&format!("small{n}"), "small"))).await;
    let mut turns = Vec::new();
    for _ in 0..6 {
        turns.extend(claim_jobs(&store, T0, 1).await);
    }
    let small = ids_of(&turns)
        .iter()
        .filter(|id| id.starts_with("small"))
        .count();
    assert_eq!(small, 3, "{:?}", ids_of(&turns));
}

pub async fn many_claimers_share_a_queue_without_a_job_twice(store: S) {
    add(
        &store,
        (0..300).map(|n| keyed(&format!("j{n}"), &format!("k{}", n % 7))),
    )
    .await;
    let claimers = (0..4).map(|_| async {
        let mut mine = Vec::new();
        loop {
            let jobs = claim_jobs(&store, T0, 7).await;
            if jobs.is_empty() {
                return mine;
            }
            mine.extend(jobs.into_iter().map(|job| job.lease.id.to_string()));
        }
    });
    let mut all: Vec<String> = futures::future::join_all(claimers)
        .await
        .into_iter()
        .flatten()
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 300);
    assert_eq!(queue(&store).await.active, 300);
}
