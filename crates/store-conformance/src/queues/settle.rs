//! Outcomes of claimed jobs, fenced by their lease.

use riverrun_store::{
    Change, Commit, JobLease, JobState, NewJob, Note, Settle, Settled, Steer, judge::Cancel,
};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

pub async fn a_job_lives_from_its_add_to_its_end(store: S) {
    assert_eq!(must(store.queue("mail").await), None);
    let new = NewJob {
        name: Some("welcome".into()),
        options: Some(json(r#"{"attempts":3}"#)),
        ..job("j1")
    };
    let added = added(&store, new).await;
    assert!(added.created);
    assert_eq!(counts(&store).await, [1, 0, 0, 0, 0, 0]);
    let claimed = only(&store, T0 + 5).await;
    assert_eq!(claimed.attempt, 1);
    assert_eq!(claimed.name.as_deref(), Some("welcome"));
    assert_eq!(claimed.data, json(r#"{"to":"j1"}"#));
    assert_eq!(claimed.options, Some(json(r#"{"attempts":3}"#)));
    let active = read(&store, "j1").await;
    assert_eq!(active.state, JobState::Active);
    assert_eq!(active.owner.as_deref(), Some("w1"));
    assert_eq!(active.until_ms, Some(T0 + 30_005));
    assert_eq!(counts(&store).await, [0, 0, 1, 0, 0, 0]);
    must(settle(&store, &claimed.lease, T0 + 9, done("[1]")).await);
    let ended = read(&store, "j1").await;
    assert_eq!(ended.state, JobState::Completed);
    assert_eq!(ended.result, Some(json("[1]")));
    assert_eq!(
        (ended.created_ms, ended.started_ms, ended.ended_ms),
        (T0, Some(T0 + 5), Some(T0 + 9))
    );
    assert_eq!(ended.owner, None);
    assert_eq!(counts(&store).await, [0, 0, 0, 1, 0, 0]);
    assert!(claim_jobs(&store, T0 + 10, 10).await.is_empty());
}

pub async fn a_retry_comes_back_with_the_next_attempt(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    let note = Note {
        progress: Some(json("50")),
        checkpoint: Some(json(r#"{"page":7}"#)),
        ..Note::new(&first.lease, T0)
    };
    must(change(&store, note.into()).await);
    let retry = Settled::Retry {
        at_ms: T0 + 500,
        error: wrong(),
    };
    must(settle(&store, &first.lease, T0 + 10, retry).await);
    assert_eq!(counts(&store).await, [0, 1, 0, 0, 0, 0]);
    assert_eq!(read(&store, "j1").await.error, Some(wrong()));
    let second = only(&store, T0 + 500).await;
    assert_eq!(second.attempt, 2);
    assert_eq!(second.checkpoint, Some(json(r#"{"page":7}"#)));
    assert_eq!(read(&store, "j1").await.progress, Some(json("50")));
}

pub async fn a_job_that_was_not_begun_counts_no_attempt(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    must(settle(&store, &first.lease, T0, Settled::Released).await);
    assert_eq!(only(&store, T0).await.attempt, 1);
}

pub async fn a_job_that_succeeds_has_no_error_any_more(store: S) {
    add(&store, [job("a")]).await;
    let lease = only(&store, T0).await.lease;
    let again = Settled::Retry {
        at_ms: T0,
        error: wrong(),
    };
    must(settle(&store, &lease, T0, again).await);
    assert_eq!(read(&store, "a").await.error, Some(wrong()));
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, done("1")).await);
    assert_eq!(read(&store, "a").await.error, None);
}

pub async fn a_dropped_job_leaves_nothing(store: S) {
    add(&store, [keyed("j1", "k")]).await;
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, Settled::Dropped).await);
    assert_eq!(must(store.job(&id("j1")).await), None);
    assert_eq!(counts(&store).await, [0; 6]);
}

pub async fn an_outcome_without_the_lease_is_refused(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    must(settle(&store, &first.lease, T0, Settled::Released).await);
    let second = only(&store, T0).await;
    for outcome in [
        done("1"),
        Settled::Failed { error: wrong() },
        Settled::Cancelled { error: wrong() },
        Settled::Retry {
            at_ms: T0,
            error: wrong(),
        },
        Settled::Released,
        Settled::Dropped,
    ] {
        let late = settle(&store, &first.lease, T0, outcome).await;
        assert_eq!(refusal(late), ErrorCode::JobLost);
    }
    let note = Note {
        progress: Some(json("1")),
        ..Note::new(&first.lease, T0)
    };
    let note = change(&store, note.into()).await;
    assert_eq!(refusal(note), ErrorCode::JobLost);
    must(settle(&store, &second.lease, T0, done("2")).await);
    assert_eq!(
        refusal(settle(&store, &second.lease, T0, done("3")).await),
        ErrorCode::JobLost
    );
    assert_eq!(read(&store, "j1").await.result, Some(json("2")));
    assert_eq!(counts(&store).await, [0, 0, 0, 1, 0, 0]);
}

pub async fn an_outcome_and_what_follows_are_one_commit(store: S) {
    add(&store, [job("j1")]).await;
    let lease = only(&store, T0).await.lease;
    let follow = |lease: &JobLease| {
        let settle = Settle::new(lease, done("1"), T0);
        Commit::of(settle.into()).and(Change::Enqueue([job("next")].into()))
    };
    must(commit(&store, follow(&lease)).await);
    assert_eq!(read(&store, "next").await.state, JobState::Waiting);
    must(steer(&store, "next", Steer::Remove, T0).await);
    assert_eq!(
        refusal(commit(&store, follow(&lease)).await),
        ErrorCode::JobLost
    );
    assert_eq!(must(store.job(&id("next")).await), None);
}

pub async fn a_lease_is_kept_and_runs_out(store: S) {
    add(&store, [job("j1"), job("j2")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    let token = claimed[0].lease.token;
    let beats = must(store.keep_jobs(&[token, 12_345], T0 + 60_000).await);
    assert_eq!(beats.lost, [12_345]);
    let (none, next) = must(store.stalled_jobs(T0 + 59_999, 10).await);
    assert_eq!((none.len(), next), (0, Some(T0 + 60_000)));
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    let (stalled, _) = must(store.stalled_jobs(T0 + 60_000, 10).await);
    assert_eq!(stalled.len(), 1);
    assert_eq!(&*stalled[0].queue, "mail");
    assert_eq!(stalled[0].job.lease, claimed[1].lease);
    assert_eq!(stalled[0].job.attempt, 1);
    // The holder was only slow: its outcome counts until another one is recorded.
    must(settle(&store, &claimed[1].lease, T0, done("2")).await);
    let (none, next) = must(store.stalled_jobs(T0 + 60_000, 10).await);
    assert_eq!((none.len(), next), (0, None));
}

pub async fn others_settle_only_what_has_run_out(store: S) {
    add(&store, [job("j1")]).await;
    let lease = only(&store, T0).await.lease;
    let reap = |now_ms| {
        let failed = Settled::Failed { error: wrong() };
        let settle = Settle {
            if_expired: true,
            ..Settle::new(&lease, failed, now_ms)
        };
        Commit::of(settle.into())
    };
    assert_eq!(
        refusal(commit(&store, reap(T0 + 29_999)).await),
        ErrorCode::JobLost
    );
    must(commit(&store, reap(T0 + 30_000)).await);
    assert_eq!(
        refusal(settle(&store, &lease, T0, done("1")).await),
        ErrorCode::JobLost
    );
    let job = read(&store, "j1").await;
    assert_eq!((job.state, job.error), (JobState::Failed, Some(wrong())));
}

/// Whatever way an adapter takes to write an outcome, the row is what the rules say.
pub async fn an_outcome_does_what_the_rules_say(store: S) {
    let outcomes = [
        done(r#"{"n":1}"#),
        Settled::Failed { error: wrong() },
        Settled::Cancelled { error: wrong() },
        Settled::Retry {
            at_ms: T0 + 900,
            error: wrong(),
        },
        Settled::Retry {
            at_ms: T0,
            error: wrong(),
        },
        Settled::Lost { error: wrong() },
        Settled::Parked { error: wrong() },
        Settled::Released,
        Settled::Dropped,
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        for cancel in [Cancel::No, Cancel::Yes, Cancel::WithReason] {
            let name = format!("{number}-{cancel:?}");
            add(&store, [job(&name)]).await;
            fail_once(&store).await;
            let claimed = only(&store, T0).await;
            let reason = match cancel {
                Cancel::No => None,
                Cancel::Yes => Some(None),
                Cancel::WithReason => Some(Some("enough".to_owned())),
            };
            if let Some(reason) = reason {
                must(steer(&store, &name, Steer::Cancel { reason }, T0).await);
            }
            let before = read(&store, &name).await;
            let settle = Settle::new(&claimed.lease, outcome.clone(), T0 + 50);
            must(change(&store, settle.clone().into()).await);
            let what = format!("{outcome:?} {cancel:?}");
            is_as_ruled(&store, &before, &settle.effect(cancel), &what).await;
            let drop = Change::DropJob {
                job: id(&name),
                now_ms: T0,
            };
            must(change(&store, drop).await);
        }
    }
}
