//! An await from its beginning to its end, and with its run.

use riverrun_store::{
    AwaitRecord, AwaitState, Awaited, Change, Commit, Matcher, NewAwait, Retention,
};
use riverrun_types::{ErrorCode, Json};

use super::given::*;
use crate::given::*;

pub async fn an_await_reads_back_whole(store: S) {
    sleepers(&store, &["r1"]).await;
    let all = [
        event("k", Matcher::Any),
        Awaited::Event {
            kind: "k".into(),
            matcher: Matcher::Equal(equal(&[("data.a", "1.50"), ("data.b", "{\"x\":null}")])),
            lookback_ms: Some(5),
        },
        filters("k", &[("data.a", "12345678901234567890123")]),
        filters("k", &[]),
        callback(false),
        callback(true),
        Awaited::Callback {
            callback: Json::null(),
            many: false,
        },
    ];
    for (at, what) in all.into_iter().enumerate() {
        let new = NewAwait {
            visit: 7,
            tenant: Some("acme".into()),
            expires_ms: Some(T0 + 50),
            ..awaits(&format!("a{at}"), "r1", what)
        };
        wait(&store, new.clone()).await;
        let expected = AwaitRecord {
            id: new.id.clone(),
            run: new.run,
            step: new.step,
            visit: 7,
            tenant: new.tenant,
            state: AwaitState::Open,
            created_ms: T0,
            expires_ms: Some(T0 + 50),
            fired_ms: None,
            fired: 0,
            values: Vec::new(),
            what: new.what,
        };
        assert_eq!(found(&store, &new.id).await, expected);
    }
    assert_eq!(must(store.awaits_of(&id("r1")).await).len(), 7);
    assert!(must(store.await_by("nobody").await).is_none());
    assert!(must(store.awaits_of(&id("nobody")).await).is_empty());
}

pub async fn an_id_is_taken_until_its_await_is_over(store: S) {
    sleepers(&store, &["r1"]).await;
    let new = awaits("a", "r1", event("k", Matcher::Any));
    wait(&store, new.clone()).await;
    let again = || change(&store, waits(new.clone()));
    assert_eq!(refusal(again().await), ErrorCode::AwaitExists);
    say(&store, signal("k", "{}")).await;
    assert_eq!(refusal(again().await), ErrorCode::AwaitExists);
    end(&store, "a").await;
    must(again().await);
    // Within a commit as well.
    let twice = Commit::of(waits(awaits("b", "r1", callback(false)))).and(waits(awaits(
        "b",
        "r1",
        callback(false),
    )));
    assert_eq!(refusal(commit(&store, twice).await), ErrorCode::AwaitExists);
    assert!(must(store.await_by("b").await).is_none());
    let replaced = Commit::of(Change::Unawait("a".into())).and(waits(new.clone()));
    must(commit(&store, replaced).await);
    let nobody = awaits("c", "nobody", callback(false));
    assert_eq!(
        refusal(change(&store, waits(nobody)).await),
        ErrorCode::RunNotFound
    );
}

pub async fn an_await_of_an_event_is_deleted_and_a_callback_closed(store: S) {
    sleepers(&store, &["r1"]).await;
    for (name, what) in [
        ("event", event("k", Matcher::Any)),
        ("fired", event("k2", Matcher::Any)),
        ("callback", callback(false)),
        ("used", callback(false)),
    ] {
        wait(&store, awaits(name, "r1", what)).await;
    }
    must(fire(&store, "fired", "1").await);
    must(fire(&store, "used", "\"v\"").await);
    for name in ["event", "fired", "callback", "used", "nobody", "callback"] {
        end(&store, name).await;
    }
    assert!(must(store.await_by("event").await).is_none());
    assert!(must(store.await_by("fired").await).is_none());
    assert_eq!(found(&store, "callback").await.state, AwaitState::Closed);
    let used = found(&store, "used").await;
    assert_eq!(used.state, AwaitState::Closed);
    assert_eq!(used.values, [json("\"v\"")]);
    assert!(must(store.awaits_of(&id("r1")).await).is_empty());
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.callbacks), (0, 0));
    assert!(say(&store, signal("k", "{}")).await.woken.is_empty());
}

pub async fn awaits_go_with_their_run(store: S) {
    sleepers(&store, &["r1", "r2", "r3"]).await;
    for run in ["r1", "r2", "r3"] {
        for (name, what) in [
            ("any", event("k", Matcher::Any)),
            ("equal", equals("k", &[("a", "1")])),
            ("filter", filters("k", &[])),
            ("callback", callback(false)),
            ("closed", callback(false)),
            ("many", callback(true)),
        ] {
            wait(&store, awaits(&format!("{run}-{name}"), run, what)).await;
        }
        end(&store, &format!("{run}-closed")).await;
        must(fire(&store, &format!("{run}-many"), "1").await);
    }
    let counts = async || {
        let stats = must(store.await_stats().await);
        (stats.events, stats.callbacks)
    };
    assert_eq!(counts().await, (9, 3));
    must(decide(&store, finish("r1")).await);
    must(change(&store, Change::Delete(id("r1"))).await);
    assert_eq!(counts().await, (6, 2));
    must(decide(&store, finish("r2")).await);
    let now = Retention {
        completed_ms: Some(0),
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&now, T0 + 1, 10).await), 1);
    assert_eq!(counts().await, (3, 1));
    for name in ["any", "equal", "filter", "callback", "closed", "many"] {
        assert!(must(store.await_by(&format!("r1-{name}")).await).is_none());
        assert!(must(store.await_by(&format!("r2-{name}")).await).is_none());
        found(&store, &format!("r3-{name}")).await;
    }
    let receipt = say(&store, signal("k", r#"{"a":1}"#)).await;
    assert_eq!(woken(&receipt), ["r3"]);
    assert_eq!(
        refusal(fire(&store, "r1-callback", "1").await),
        ErrorCode::AwaitNotFound
    );
    // The id is free, and a new run of the same id has nothing of the old one.
    create(&store, asleep("r1")).await;
    assert!(must(store.awaits_of(&id("r1")).await).is_empty());
    wait(&store, awaits("r1-callback", "r1", callback(false))).await;
}
