//! Decisions about runs that exist.

use riverrun_store::{Advance, Change, Commit, Expect, Projection, RunTaskChange};
use riverrun_types::{ErrorCode, EventType, RunStatus};

use crate::given::*;

pub async fn an_advance_moves_the_projection_and_takes_a_turn(store: S) {
    create(&store, run("r1")).await;
    let change = Advance {
        expect: Expect::Turn(1),
        projection: Projection {
            wake_ms: Some(T0 + 9),
            ..projection(RunStatus::Waiting)
        },
        events: logs(T0 + 5, 2),
        ..advance("r1")
    };
    let receipt = must(decide(&store, change).await);
    assert_eq!(
        (
            receipt.placed[0].first,
            receipt.placed[0].floor_ms,
            receipt.placed[0].len
        ),
        (1, T0, 3)
    );
    let got = record(&store, "r1").await;
    assert_eq!(
        (got.status, got.wake_ms),
        (RunStatus::Waiting, Some(T0 + 9))
    );
    assert_eq!((got.len, got.turn, got.updated_ms), (3, 2, T0 + 6));
    must(decide(&store, finish("r1")).await);
    let got = record(&store, "r1").await;
    assert_eq!((got.status, got.wake_ms), (RunStatus::Completed, None));
    assert_eq!((got.ended_ms, got.turn, got.len), (Some(T0 + 1), 3, 4));
}

pub async fn the_expected_turn_must_be_the_runs(store: S) {
    create(&store, run("r1")).await;
    let expecting = |turn| Advance {
        expect: Expect::Turn(turn),
        events: logs(T0, 1),
        ..advance("r1")
    };
    for wrong in [0, 2, u64::MAX] {
        let refused = decide(&store, expecting(wrong)).await;
        assert_eq!(refusal(refused.clone()), ErrorCode::Conflict);
        assert_eq!(named(refused), id("r1"));
    }
    must(decide(&store, expecting(1)).await);
    assert_eq!(
        refusal(decide(&store, expecting(1)).await),
        ErrorCode::Conflict
    );
    let got = record(&store, "r1").await;
    assert_eq!((got.turn, got.len), (2, 2));
}

pub async fn the_expected_length_must_be_the_streams(store: S) {
    create(&store, run("r1")).await;
    let expecting = |len| Advance {
        expect: Expect::Len(len),
        events: logs(T0, 1),
        ..advance("r1")
    };
    assert_eq!(
        refusal(decide(&store, expecting(0)).await),
        ErrorCode::Conflict
    );
    must(decide(&store, expecting(1)).await);
    assert_eq!(
        refusal(decide(&store, expecting(1)).await),
        ErrorCode::Conflict
    );
    must(decide(&store, expecting(2)).await);
}

pub async fn a_log_does_not_disturb_a_decision(store: S) {
    create(&store, run("r1")).await;
    must(change(&store, Change::Append(append_to("r1", logs(T0, 5)))).await);
    let decision = Advance {
        expect: Expect::Turn(1),
        ..advance("r1")
    };
    must(decide(&store, decision).await);
    let got = record(&store, "r1").await;
    assert_eq!((got.turn, got.len), (2, 6));
}

pub async fn an_unknown_run_cannot_advance(store: S) {
    let refused = decide(&store, advance("nobody")).await;
    assert_eq!(refusal(refused), ErrorCode::RunNotFound);
}

pub async fn an_ended_run_cannot_advance(store: S) {
    create(&store, finished("r1")).await;
    for expect in [Expect::Any, Expect::Turn(1), Expect::Turn(7)] {
        let late = Advance {
            expect,
            ..advance("r1")
        };
        assert_eq!(refusal(decide(&store, late).await), ErrorCode::RunEnded);
    }
    assert_eq!(record(&store, "r1").await.status, RunStatus::Completed);
}

pub async fn an_advance_without_events_is_a_turn_too(store: S) {
    create(&store, run("r1")).await;
    let receipt = must(decide(&store, advance("r1")).await);
    assert_eq!(receipt.placed.len(), 1, "a place even for no events");
    assert_eq!((receipt.placed[0].first, receipt.placed[0].len), (1, 1));
    let got = record(&store, "r1").await;
    assert_eq!((got.turn, got.len, got.updated_ms), (2, 1, T0));
}

pub async fn an_error_comes_and_goes(store: S) {
    create(&store, run("r1")).await;
    let failing = |error: Option<&str>| Advance {
        projection: Projection {
            error: error.map(json),
            ..projection(RunStatus::Running)
        },
        ..advance("r1")
    };
    must(decide(&store, failing(Some(r#"{"code":"X"}"#))).await);
    assert_eq!(
        record(&store, "r1").await.error,
        Some(json(r#"{"code":"X"}"#))
    );
    must(decide(&store, failing(None)).await);
    assert_eq!(record(&store, "r1").await.error, None);
}

pub async fn later_changes_see_earlier_ones(store: S) {
    let steps = Commit::of(Change::Create(Box::new(run("r1"))))
        .and(Change::Append(append_to("r1", logs(T0 + 1, 2))))
        .and(Change::Advance(Box::new(Advance {
            expect: Expect::Len(3),
            events: logs(T0 + 3, 1),
            ..advance("r1")
        })))
        .and(Change::Advance(Box::new(Advance {
            expect: Expect::Turn(2),
            ..finish("r1")
        })));
    let receipt = must(commit(&store, steps).await);
    let firsts: Vec<u64> = receipt.placed.iter().map(|placed| placed.first).collect();
    assert_eq!(firsts, [0, 1, 3, 4]);
    assert_eq!(receipt.placed[3].floor_ms, T0 + 3);
    let got = record(&store, "r1").await;
    assert_eq!((got.len, got.turn), (5, 3));
    assert_eq!(got.status, RunStatus::Completed);
    assert_eq!(stream_of(&store, "r1").await.len(), 5);
    assert!(claim(&store, T0 + 1_000_000, 1).await.is_empty());
}

pub async fn a_refused_commit_leaves_nothing(store: S) {
    create(&store, run("r1")).await;
    let doomed = Commit::of(Change::Create(Box::new(run("r2"))))
        .and(Change::Advance(Box::new(Advance {
            events: logs(T0, 2),
            task: RunTaskChange::Finish,
            ..finish("r1")
        })))
        .and(Change::Append(append(
            riverrun_types::StreamName::new("global", "global"),
            [draft(T0, EventType::Emit)].into(),
        )))
        .and(Change::Advance(Box::new(advance("r1"))));
    assert_eq!(refusal(commit(&store, doomed).await), ErrorCode::RunEnded);
    assert!(must(store.run(&id("r2")).await).is_none());
    let got = record(&store, "r1").await;
    assert_eq!((got.len, got.turn, got.status), (1, 1, RunStatus::Running));
    let global = riverrun_types::StreamName::new("global", "global");
    assert!(all_events(&store, &global).await.is_empty());
    assert_eq!(
        claim(&store, T0, 10).await.len(),
        1,
        "only r1's job is there"
    );
}
