//! Firing of awaits, once or many times, and values that arrive too late.

use riverrun_store::{AwaitState, Awaited, Beat, Change, Commit, Fire, Matcher, NewAwait};
use riverrun_types::{ErrorCode, Millis, time::NEVER};

use super::given::*;
use crate::given::*;

pub async fn firing_keeps_the_value_and_wakes_the_run(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    wait(&store, awaits("a", "r1", callback(false))).await;
    assert!(claim(&store, T0, 10).await.is_empty());
    let receipt = must(fire(&store, "a", r#"{"yes":1.0}"#).await);
    assert_eq!(woken(&receipt), ["r1"]);
    assert!(!receipt.signalled);
    let got = found(&store, "a").await;
    assert_eq!(got.state, AwaitState::Fired);
    assert_eq!(got.values, [json(r#"{"yes":1.0}"#)]);
    assert_eq!((got.fired, got.fired_ms), (1, Some(T0 + 10)));
    assert_eq!(must(store.awaits_of(&id("r1")).await), [got]);
    let lease = claim_one(&store, T0).await;
    assert_eq!(lease.run, id("r1"));
    // The holder of the run task is notified, and the task is due when it is parked.
    wait(&store, awaits("b", "r1", event("k", Matcher::Any))).await;
    must(fire(&store, "b", "1").await);
    let beat = must(
        store
            .heartbeat(std::slice::from_ref(&lease), T0 + 900)
            .await,
    );
    assert_eq!(beat, [Beat::Woken]);
    must(decide_under(&store, park("r1", NEVER), &lease).await);
    assert_eq!(claim_one(&store, T0).await.run, id("r1"));
}

pub async fn what_cannot_be_fired_is_refused(store: S) {
    sleepers(&store, &["r1"]).await;
    assert_eq!(
        refusal(fire(&store, "a", "1").await),
        ErrorCode::AwaitNotFound
    );
    wait(&store, awaits("a", "r1", callback(false))).await;
    must(fire(&store, "a", "1").await);
    assert_eq!(refusal(fire(&store, "a", "2").await), ErrorCode::AwaitUsed);
    assert_eq!(found(&store, "a").await.values, [json("1")]);
    end(&store, "a").await;
    assert_eq!(refusal(fire(&store, "a", "2").await), ErrorCode::AwaitUsed);
    wait(&store, awaits("b", "r1", event("k", Matcher::Any))).await;
    end(&store, "b").await;
    assert_eq!(
        refusal(fire(&store, "b", "1").await),
        ErrorCode::AwaitNotFound
    );
    wait(&store, awaits("c", "r1", callback(true))).await;
    end(&store, "c").await;
    assert_eq!(
        refusal(fire(&store, "c", "1").await),
        ErrorCode::AwaitClosed
    );
}

pub async fn nothing_is_fired_after_its_time(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    let until = |name: &str, run: &str, ms: Millis, what: Awaited| NewAwait {
        expires_ms: Some(T0 + ms),
        ..awaits(name, run, what)
    };
    wait(&store, until("late", "r1", 9, callback(false))).await;
    wait(&store, until("just", "r1", 10, callback(false))).await;
    wait(&store, until("deaf", "r1", 9, event("k", Matcher::Any))).await;
    wait(&store, until("keen", "r2", 10, event("k", Matcher::Any))).await;
    assert_eq!(
        refusal(fire(&store, "late", "1").await),
        ErrorCode::AwaitExpired
    );
    assert!(is_open(&store, "late").await);
    must(fire(&store, "just", "1").await);
    assert_eq!(woken(&say(&store, signal("k", "{}")).await), ["r2"]);
    assert!(is_open(&store, "deaf").await);
    // A used await stays used, whatever the time.
    assert_eq!(
        refusal(fire(&store, "just", "1").await),
        ErrorCode::AwaitUsed
    );
}

pub async fn a_callback_for_many_accepts_a_thousand(store: S) {
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", callback(true))).await;
    let group = (0..1_000).map(|at| Commit::of(fires("a", &at.to_string())));
    for receipt in commit_all(&store, group).await {
        assert_eq!(woken(&must(receipt)), ["r1"]);
    }
    assert_eq!(refusal(fire(&store, "a", "1").await), ErrorCode::AwaitFull);
    let got = found(&store, "a").await;
    assert_eq!((got.state, got.fired), (AwaitState::Fired, 1_000));
    let values: Vec<String> = got
        .values
        .iter()
        .map(|value| value.as_str().to_owned())
        .collect();
    let expected: Vec<String> = (0..1_000).map(|at| at.to_string()).collect();
    assert_eq!(values, expected);
    end(&store, "a").await;
    assert_eq!(refusal(fire(&store, "a", "1").await), ErrorCode::AwaitUsed);
}

pub async fn a_callback_is_fired_no_more_often_than_it_says(store: S) {
    sleepers(&store, &["r1"]).await;
    let fire = async |name: &str, most| {
        let fire = Fire {
            id: name.into(),
            value: json("1"),
            now_ms: T0 + 10,
            most: Some(most),
        };
        change(&store, Change::Fire(Box::new(fire))).await
    };
    wait(&store, awaits("a", "r1", callback(true))).await;
    for _ in 0..2 {
        must(fire("a", 2).await);
    }
    assert_eq!(refusal(fire("a", 2).await), ErrorCode::AwaitUsed);
    must(fire("a", 3).await);
    assert_eq!(found(&store, "a").await.fired, 3);
    // Once it is closed, it was used up, or is over.
    end(&store, "a").await;
    assert_eq!(refusal(fire("a", 3).await), ErrorCode::AwaitUsed);
    assert_eq!(refusal(fire("a", 4).await), ErrorCode::AwaitClosed);
    let until = NewAwait {
        expires_ms: Some(T0 + 10),
        ..awaits("b", "r1", callback(true))
    };
    wait(&store, until).await;
    must(fire("b", 2).await);
    end(&store, "b").await;
    assert_eq!(refusal(fire("b", 2).await), ErrorCode::AwaitExpired);
}

pub async fn what_was_fired_is_never_too_late(store: S) {
    sleepers(&store, &["r1"]).await;
    let late = |name: &str, fired: u32| {
        let id = name.into();
        change(&store, expires(id, fired, 0))
    };
    for (name, what) in [("a", event("k", Matcher::Any)), ("b", callback(false))] {
        wait(&store, awaits(name, "r1", what)).await;
        must(fire(&store, name, "1").await);
        assert_eq!(refusal(late(name, 0).await), ErrorCode::Conflict);
        assert_eq!(found(&store, name).await.values, [json("1")]);
    }
    // The values that the run has read belong to it.
    wait(&store, awaits("c", "r1", callback(true))).await;
    for value in ["1", "2"] {
        must(fire(&store, "c", value).await);
    }
    assert_eq!(refusal(late("c", 1).await), ErrorCode::Conflict);
    must(late("c", 2).await);
    assert_eq!(refusal(fire(&store, "c", "3").await), ErrorCode::AwaitUsed);
    // An await that was not fired ends, and an ended one stays so.
    wait(&store, awaits("d", "r1", event("k", Matcher::Any))).await;
    must(late("d", 0).await);
    must(late("d", 0).await);
    assert!(must(store.await_by("d").await).is_none());
    // Within a commit as well.
    wait(&store, awaits("e", "r1", event("k2", Matcher::Any))).await;
    let late = expires("e".into(), 0, 0);
    let both = Commit::of(says(signal("k2", "{}"))).and(late);
    assert_eq!(refusal(commit(&store, both).await), ErrorCode::Conflict);
    assert!(is_open(&store, "e").await);
}

pub async fn firing_and_ending_race_and_one_wins(store: S) {
    for at in 0..20 {
        let (name, run) = (format!("a{at}"), format!("r{at}"));
        create(&store, asleep(&run)).await;
        wait(&store, awaits(&name, &run, event("k", Matcher::Any))).await;
        let (fired, ended) = tokio::join!(
            fire(&store, &name, "1"),
            change(&store, Change::Unawait(name.as_str().into()))
        );
        must(ended);
        assert!(must(store.await_by(&name).await).is_none());
        let due = claim(&store, T0, 10).await.len();
        match fired {
            Ok(receipt) => assert_eq!((woken(&receipt), due), (vec![run.as_str()], 1)),
            Err(error) => assert_eq!((error.code(), due), (ErrorCode::AwaitNotFound, 0)),
        }
    }
    assert_eq!(must(store.await_stats().await).events, 0);
}

pub async fn many_who_fire_have_one_winner(store: S) {
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", callback(false))).await;
    let tasks = (0..16).map(|at| {
        let store = store.clone();
        tokio::spawn(async move { fire(&store, "a", &at.to_string()).await.is_ok() })
    });
    let mut won = 0;
    for task in tasks.collect::<Vec<_>>() {
        won += usize::from(task.await.expect("no panic"));
    }
    assert_eq!(won, 1);
    assert_eq!(found(&store, "a").await.values.len(), 1);
}
