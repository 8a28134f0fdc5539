//! Jobs that are thrown away, by people and by retention.

use riverrun_store::{Change, JobState, NewJob, Purge, Retention};
use riverrun_types::{ErrorCode, EventType, StreamName};

use super::given::*;
use crate::given::*;

pub async fn jobs_are_purged_by_state_and_age(store: S) {
    add(&store, (0..5).map(|n| job(&format!("j{n}")))).await;
    let claimed = claim_jobs(&store, T0, 3).await;
    for (n, claimed) in claimed[..2].iter().enumerate() {
        must(settle(&store, &claimed.lease, T0 + 10 * n as i64, done("1")).await);
    }
    let purge = async |state, before_ms, limit| {
        let purge = Purge {
            queue: "mail".into(),
            state,
            before_ms,
            spare: None,
            limit,
        };
        store.purge_jobs(&purge).await
    };
    assert_eq!(must(purge(JobState::Completed, T0 + 9, 10).await), 1);
    assert_eq!(must(purge(JobState::Active, T0 + 9, 10).await), 0);
    assert_eq!(must(purge(JobState::Waiting, T0, 1).await), 1);
    assert_eq!(must(purge(JobState::Waiting, T0, 10).await), 1);
    assert_eq!(counts(&store).await, [0, 0, 1, 1, 0, 0]);
    let unknown = Purge {
        queue: "nobody".into(),
        state: JobState::Failed,
        before_ms: T0,
        spare: None,
        limit: 1,
    };
    assert_eq!(
        refusal(store.purge_jobs(&unknown).await),
        ErrorCode::QueueNotFound
    );
}

pub async fn a_purge_spares_what_others_wait_for(store: S) {
    let with = |text: &str, at_ms, options: &str| NewJob {
        at_ms,
        options: Some(json(options)),
        ..job(text)
    };
    let step = r#"{"step":{"run":"r1"}}"#;
    let no_step = r#"{"metadata":{"step":{"run":"r1"}}}"#;
    add(
        &store,
        [
            job("plain"),
            with("of-run", None, step),
            with("other", None, no_step),
            with("later", Some(T0 + 50), step),
        ],
    )
    .await;
    for (state, gone) in [(JobState::Waiting, 2), (JobState::Delayed, 0)] {
        let purge = Purge {
            queue: "mail".into(),
            state,
            before_ms: T0,
            spare: Some("step"),
            limit: 10,
        };
        assert_eq!(must(store.purge_jobs(&purge).await), gone, "{state:?}");
    }
    assert_eq!(list(&store, &[]).await, ["of-run", "later"]);
}

pub async fn retention_removes_ended_jobs_with_their_streams(store: S) {
    add(&store, [job("old"), job("new"), job("waits")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    must(settle(&store, &claimed[1].lease, T0 + 1_000, done("1")).await);
    let stream = StreamName::new("job", "old");
    must(change(&store, Change::Append(append(stream.clone(), logs(T0, 2)))).await);
    let last = all_events(&store, &stream).await.pop();
    assert_eq!(last.map(|event| event.kind), Some(EventType::LogInfo));
    let retention = Retention {
        completed_ms: Some(100),
        failed_ms: None,
        cancelled_ms: None,
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&retention, T0 + 500, 10).await), 1);
    assert_eq!(must(store.job(&id("old")).await), None);
    assert!(all_events(&store, &stream).await.is_empty());
    assert_eq!(counts(&store).await, [1, 0, 0, 1, 0, 0]);
}
