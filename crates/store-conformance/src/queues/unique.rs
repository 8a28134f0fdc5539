//! Unique names: which job is there already, for how long, and what replaces it.

use riverrun_store::{Lasts, NewJob, Retention, Settled, Steer};

use super::given::*;
use crate::given::*;

pub async fn a_unique_name_is_taken_until_the_job_ends(store: S) {
    assert!(
        added(&store, unique("j1", Lasts::UntilEnd, false))
            .await
            .created
    );
    let second = added(&store, unique("j2", Lasts::UntilEnd, false)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, done("1")).await);
    assert!(
        added(&store, unique("j3", Lasts::UntilEnd, false))
            .await
            .created
    );
    must(steer(&store, "j3", Steer::Cancel { reason: None }, T0).await);
    assert!(
        added(&store, unique("j4", Lasts::UntilEnd, false))
            .await
            .created
    );
}

pub async fn a_job_that_is_tried_again_has_its_name_back_unless_another_had_it(store: S) {
    let retry = async |id: &str| {
        let retry = Steer::Retry { at_ms: T0 + 50 };
        must(steer(&store, id, retry, T0).await);
    };
    let fail = async |id: &str| {
        let claimed = claim_jobs(&store, T0 + 100, 1).await;
        assert_eq!(claimed[0].lease.id.as_str(), id);
        let failed = Settled::Failed { error: wrong() };
        must(settle(&store, &claimed[0].lease, T0 + 100, failed).await);
    };
    let name = |text: &str, replace| unique(text, Lasts::UntilEnd, replace);
    add(&store, [name("j1", false)]).await;
    fail("j1").await;
    retry("j1").await;
    let second = added(&store, name("j2", false)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    // A job that would replace a delayed one does not replace this one, but takes its name.
    let third = NewJob {
        at_ms: Some(T0 + 90),
        ..name("j3", true)
    };
    assert!(added(&store, third).await.created);
    fail("j1").await;
    retry("j1").await;
    let fourth = added(&store, name("j4", false)).await;
    assert_eq!((fourth.id.as_str(), fourth.created), ("j3", false));
    fail("j1").await;
    fail("j3").await;
    assert!(added(&store, name("j5", false)).await.created);
}

pub async fn a_unique_name_is_taken_for_a_time_or_as_long_as_the_job_is_known(store: S) {
    assert!(
        added(&store, unique("j1", Lasts::Until(T0 + 100), false))
            .await
            .created
    );
    let at = |text: &str, ms| NewJob {
        created_ms: ms,
        ..unique(text, Lasts::Always, false)
    };
    assert!(!added(&store, at("j2", T0 + 99)).await.created);
    assert!(added(&store, at("j3", T0 + 100)).await.created);
    let claimed = claim_jobs(&store, T0 + 100, 10).await;
    for job in &claimed {
        must(settle(&store, &job.lease, T0 + 100, done("1")).await);
    }
    let kept = added(&store, at("j4", T0 + 9_999_999)).await;
    assert_eq!((kept.id.as_str(), kept.created), ("j3", false));
    must(steer(&store, "j3", Steer::Remove, T0).await);
    assert!(added(&store, at("j5", T0 + 9_999_999)).await.created);
}

pub async fn a_name_that_is_taken_for_a_time_outlives_the_retention_of_its_job(store: S) {
    let at = |text: &str, created_ms| NewJob {
        created_ms,
        ..unique(text, Lasts::Until(created_ms + 1_000), false)
    };
    assert!(added(&store, at("j1", T0)).await.created);
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0 + 1, done("1")).await);
    let retention = Retention {
        completed_ms: Some(100),
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&retention, T0 + 500, 10).await), 1);
    assert!(must(store.job(&id("j1")).await).is_none());
    let second = added(&store, at("j2", T0 + 999)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    // Its time is over, which the next job or the next sweep detects.
    assert_eq!(must(store.sweep(&retention, T0 + 1_000, 10).await), 0);
    assert!(added(&store, at("j3", T0 + 1_000)).await.created);
    assert!(must(store.job(&id("j3")).await).is_some());
}

pub async fn a_job_that_has_not_begun_is_replaced(store: S) {
    let with = |text: &str, at_ms, data: &str| NewJob {
        at_ms: Some(at_ms),
        data: json(data),
        ..unique(text, Lasts::UntilEnd, true)
    };
    assert!(added(&store, with("j1", T0 + 100, "1")).await.created);
    let second = added(&store, with("j2", T0 + 200, "2")).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    assert!(claim_jobs(&store, T0 + 100, 10).await.is_empty());
    let claimed = only(&store, T0 + 200).await;
    assert_eq!(claimed.data, json("2"));
    // It has begun: the next one is a job of its own.
    assert!(added(&store, with("j3", T0 + 300, "3")).await.created);
    assert_eq!(counts(&store).await, [0, 1, 1, 0, 0, 0]);
    // So it has if it failed and waits for its next attempt.
    let third = only(&store, T0 + 300).await;
    let again = Settled::Retry {
        at_ms: T0 + 900,
        error: wrong(),
    };
    must(settle(&store, &third.lease, T0 + 300, again).await);
    assert!(added(&store, with("j4", T0 + 400, "4")).await.created);
    let third = read(&store, "j3").await;
    assert_eq!((third.data, third.at_ms), (json("3"), Some(T0 + 900)));
}

pub async fn what_replaces_a_job_does_so_as_a_whole(store: S) {
    let with = |text: &str, key: Option<&str>| NewJob {
        at_ms: Some(T0 + 100),
        key: key.map(Into::into),
        ..unique(text, Lasts::UntilEnd, true)
    };
    assert!(added(&store, with("j1", Some("a"))).await.created);
    let last = NewJob {
        name: Some("hurry".into()),
        priority: 7,
        options: Some(json(r#"{"tags":["last"]}"#)),
        ..with("j2", Some("b"))
    };
    assert!(!added(&store, last).await.created);
    let now = read(&store, "j1").await;
    assert_eq!(now.name.as_deref(), Some("hurry"));
    assert_eq!((now.priority, now.key.as_deref()), (7, Some("b")));
    assert_eq!(now.options, Some(json(r#"{"tags":["last"]}"#)));
    assert!(!added(&store, with("j3", None)).await.created);
    assert_eq!(read(&store, "j1").await.key, None);
    // Keys that have no job any more hold nothing up.
    add(&store, [keyed("a1", "a"), keyed("b1", "b")]).await;
    assert_eq!(counts(&store).await, [2, 1, 0, 0, 0, 0]);
    assert_eq!(claim_jobs(&store, T0 + 100, 10).await.len(), 3);
}
