//! Actions of people on a job: promote, delay, retry, cancel, remove.

use riverrun_store::{
    Change, JobState, Lasts, NewJob, Note, Settled, Steer,
    judge::{Cancel, JobRow, NameHold},
};
use riverrun_types::{ErrorCode, StreamName};

use super::given::*;
use crate::given::*;

pub async fn people_steer_jobs(store: S) {
    let later = NewJob {
        at_ms: Some(T0 + 9_000),
        ..job("later")
    };
    add(&store, [job("a"), job("b"), later]).await;
    must(steer(&store, "b", Steer::Priority(5), T0).await);
    must(steer(&store, "later", Steer::Promote, T0).await);
    must(steer(&store, "a", Steer::Delay { at_ms: T0 + 50 }, T0).await);
    assert_eq!(ids_of(&claim_jobs(&store, T0, 10).await), ["b", "later"]);
    let a = only(&store, T0 + 50).await;
    must(
        settle(
            &store,
            &a.lease,
            T0 + 60,
            Settled::Failed { error: wrong() },
        )
        .await,
    );
    must(steer(&store, "a", Steer::Retry { at_ms: T0 }, T0 + 70).await);
    let again = only(&store, T0 + 70).await;
    assert_eq!((again.lease.id.as_str(), again.attempt), ("a", 1));
    assert_eq!(read(&store, "a").await.ended_ms, None);
    must(settle(&store, &again.lease, T0 + 80, done("1")).await);
    must(steer(&store, "a", Steer::Remove, T0).await);
    assert_eq!(must(store.job(&id("a")).await), None);
    assert_eq!(counts(&store).await, [0, 0, 2, 0, 0, 0]);
}

pub async fn a_wish_that_does_not_fit_is_refused(store: S) {
    let unknown = steer(&store, "nobody", Steer::Promote, T0).await;
    assert_eq!(refusal(unknown), ErrorCode::JobNotFound);
    add(&store, [job("a")]).await;
    for wish in [Steer::Promote, Steer::Retry { at_ms: T0 }] {
        assert_eq!(
            refusal(steer(&store, "a", wish, T0).await),
            ErrorCode::JobState
        );
    }
    let lease = only(&store, T0).await.lease;
    for wish in [
        Steer::Promote,
        Steer::Retry { at_ms: T0 },
        Steer::Remove,
        Steer::Priority(1),
        Steer::Delay { at_ms: T0 + 1 },
    ] {
        assert_eq!(
            refusal(steer(&store, "a", wish, T0).await),
            ErrorCode::JobState
        );
    }
    must(settle(&store, &lease, T0, done("1")).await);
    let cancel = Steer::Cancel { reason: None };
    assert_eq!(
        refusal(steer(&store, "a", cancel, T0).await),
        ErrorCode::JobState
    );
}

pub async fn what_ended_well_begins_anew_and_what_failed_goes_on(store: S) {
    add(&store, [job("well"), job("failed")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    assert!(claimed.iter().all(|job| !job.has_stream));
    for job in &claimed {
        let note = Note {
            checkpoint: Some(json("7")),
            ..Note::new(&job.lease, T0)
        };
        must(change(&store, note.into()).await);
    }
    let stream = StreamName::new("job", "failed");
    must(change(&store, Change::Append(append(stream, logs(T0, 1)))).await);
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    let failed = Settled::Failed { error: wrong() };
    must(settle(&store, &claimed[1].lease, T0, failed).await);
    for job in ["well", "failed"] {
        must(steer(&store, job, Steer::Retry { at_ms: 0 }, T0 + 1).await);
    }
    let again = claim_jobs(&store, T0 + 1, 2).await;
    assert_eq!(ids_of(&again), ["well", "failed"]);
    let kept: Vec<_> = again.iter().map(|job| job.checkpoint.clone()).collect();
    assert_eq!(kept, [None, Some(json("7"))]);
    let streams: Vec<bool> = again.iter().map(|job| job.has_stream).collect();
    assert_eq!(streams, [false, true]);
}

pub async fn cancelling_ends_what_waits_and_tells_the_holder_of_what_runs(store: S) {
    add(&store, [job("runs"), job("waits")]).await;
    let lease = claim_jobs(&store, T0, 1).await.remove(0).lease;
    let cancel = Steer::Cancel {
        reason: Some("enough".to_owned()),
    };
    must(steer(&store, "waits", cancel.clone(), T0 + 1).await);
    let waits = read(&store, "waits").await;
    assert_eq!(
        (waits.state, waits.ended_ms),
        (JobState::Cancelled, Some(T0 + 1))
    );
    assert_eq!(
        waits.error,
        Some(json(&format!(
            r#"{{"code":"{}","message":"enough"}}"#,
            ErrorCode::Cancelled
        )))
    );
    must(steer(&store, "runs", cancel, T0 + 1).await);
    assert!(read(&store, "runs").await.cancelling);
    let beats = must(store.keep_jobs(&[lease.token], T0 + 1_000).await);
    assert_eq!(beats.cancelling, [id("runs")]);
    let error = wrong();
    must(settle(&store, &lease, T0 + 2, Settled::Cancelled { error }).await);
    let runs = read(&store, "runs").await;
    assert_eq!((runs.state, runs.cancelling), (JobState::Cancelled, false));
    // The reason of the cancel is kept, not the error of the handler.
    assert_eq!(runs.error, waits.error);
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 2]);
}

/// The holder decided on another attempt before it learned that the job was cancelled.
pub async fn a_job_that_was_cancelled_is_not_tried_again(store: S) {
    let again = |at_ms| Settled::Retry {
        at_ms,
        error: wrong(),
    };
    for (at, outcome) in [again(T0 + 5), again(T0), Settled::Released]
        .into_iter()
        .enumerate()
    {
        let name = format!("a{at}");
        add(&store, [unique(&name, Lasts::UntilEnd, false)]).await;
        let lease = only(&store, T0).await.lease;
        let cancel = Steer::Cancel { reason: None };
        must(steer(&store, &name, cancel, T0 + 1).await);
        must(settle(&store, &lease, T0 + 2, outcome).await);
        let job = read(&store, &name).await;
        assert_eq!(
            (job.state, job.cancelling, job.ended_ms, job.attempt),
            (JobState::Cancelled, false, Some(T0 + 2), 1)
        );
        assert!(claim_jobs(&store, T0 + 100, 10).await.is_empty());
    }
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 3]);
}

pub async fn the_reason_of_a_cancel_outlives_the_attempt(store: S) {
    let again = Settled::Retry {
        at_ms: T0,
        error: wrong(),
    };
    for (name, outcome) in [("a", again), ("b", Settled::Released)] {
        add(&store, [job(name)]).await;
        let lease = only(&store, T0).await.lease;
        let cancel = |reason: Option<&str>| Steer::Cancel {
            reason: reason.map(str::to_owned),
        };
        must(steer(&store, name, cancel(Some("enough")), T0).await);
        // A second cancel without a reason keeps the first one.
        must(steer(&store, name, cancel(None), T0).await);
        must(settle(&store, &lease, T0 + 2, outcome).await);
        let ended = read(&store, name).await;
        assert_eq!(ended.state, JobState::Cancelled);
        let reason = json(&format!(
            r#"{{"code":"{}","message":"enough"}}"#,
            ErrorCode::Cancelled
        ));
        assert_eq!(ended.error, Some(reason));
    }
}

/// Whatever way an adapter takes to write it, the row is what the rules say.
pub async fn what_people_do_is_what_the_rules_say(store: S) {
    let wishes = || {
        [
            Steer::Promote,
            Steer::Retry { at_ms: 0 },
            Steer::Retry { at_ms: T0 + 900 },
            Steer::Remove,
            Steer::Cancel { reason: None },
            Steer::Cancel {
                reason: Some("enough".to_owned()),
            },
            Steer::Park { error: wrong() },
            Steer::Priority(3),
            Steer::Delay { at_ms: T0 + 700 },
        ]
    };
    for state in JobState::ALL {
        for (number, wish) in wishes().into_iter().enumerate() {
            let name = format!("{state:?}-{number}");
            add(&store, [job(&name)]).await;
            fail_once(&store).await;
            bring_to(&store, &name, state).await;
            let before = read(&store, &name).await;
            assert_eq!(before.state, state);
            let row = JobRow {
                place: 0,
                queue: 0,
                lane: 0,
                state,
                name: NameHold::None,
                cancel: Cancel::No,
                is_large: false,
                has_stream: false,
            };
            let what = format!("{wish:?} of a job that is {state:?}");
            match steer(&store, &name, wish.clone(), T0 + 50).await {
                Ok(()) => is_as_ruled(&store, &before, &wish.effect(&row, T0 + 50), &what).await,
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::JobState, "{what}");
                    assert_eq!(read(&store, &name).await, before, "{what}");
                }
            }
            let drop = Change::DropJob {
                job: id(&name),
                now_ms: T0,
            };
            must(change(&store, drop).await);
        }
    }
}

/// Lets a job that waits, the only one, come to a state.
async fn bring_to(store: &S, name: &str, state: JobState) {
    let ends = async |outcome| {
        let claimed = only(store, T0).await;
        must(settle(store, &claimed.lease, T0 + 10, outcome).await);
    };
    let error = wrong();
    match state {
        JobState::Waiting => {}
        JobState::Delayed => must(steer(store, name, Steer::Delay { at_ms: T0 + 500 }, T0).await),
        JobState::Active => drop(only(store, T0).await),
        JobState::Parked => ends(Settled::Parked { error }).await,
        JobState::Completed => ends(done("1")).await,
        JobState::Failed => ends(Settled::Failed { error }).await,
        JobState::Cancelled => ends(Settled::Cancelled { error }).await,
    }
}
