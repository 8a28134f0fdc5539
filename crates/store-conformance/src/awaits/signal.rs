//! Which awaits an event means, and whom it wakes.

use std::sync::Arc;

use riverrun_store::{
    Advance, Awaited, Change, Commit, Hub, Matcher, NewAwait, RunTaskChange, Signal, Writer,
};
use riverrun_types::{ErrorCode, EventType, StreamName, time::NEVER, time::iso};

use super::given::*;
use crate::given::*;

pub async fn an_event_fires_all_that_it_equals(store: S) {
    sleepers(&store, &["r1", "r2", "r3", "r4", "r5", "r6"]).await;
    let order = [("data.orderId", "4711")];
    wait(&store, awaits("a", "r1", equals("paid", &order))).await;
    wait(&store, awaits("b", "r2", equals("paid", &order))).await;
    wait(&store, awaits("b2", "r2", equals("paid", &order))).await;
    wait(&store, awaits("c", "r3", event("paid", Matcher::Any))).await;
    let both = [("data.orderId", "4711"), ("data.shop", "\"x\"")];
    wait(&store, awaits("d", "r4", equals("paid", &both))).await;
    let other = [("data.orderId", "4712")];
    wait(&store, awaits("e", "r5", equals("paid", &other))).await;
    wait(&store, awaits("f", "r6", equals("sent", &order))).await;
    let receipt = say(&store, signal("paid", r#"{"data":{"orderId":4711}}"#)).await;
    assert_eq!(woken(&receipt), ["r1", "r2", "r3"]);
    assert!(!receipt.signalled);
    for name in ["a", "b", "b2", "c"] {
        let got = found(&store, name).await;
        assert_eq!(got.values, [json(r#"{"data":{"orderId":4711}}"#)]);
        assert_eq!(got.fired_ms, Some(T0 + 10));
    }
    assert_eq!(claim(&store, T0, 10).await.len(), 3);
    for name in ["d", "e", "f"] {
        assert!(is_open(&store, name).await, "{name}");
    }
    // Fired awaits do not change.
    let again = signal("paid", r#"{"data":{"orderId":4711,"shop":"x"}}"#);
    assert_eq!(woken(&say(&store, again).await), ["r4"]);
    assert_eq!(found(&store, "a").await.fired, 1);
}

/// The state that a store keeps of kinds without awaits.
pub async fn who_is_the_first_to_wait_for_a_kind_is_found(store: S) {
    sleepers(&store, &["r1", "r2", "r3"]).await;
    let say_kind = async |kind: &str| say(&store, signal(kind, r#"{"v":1}"#)).await;
    for kind in ["equal", "filtered", "listened"] {
        for _ in 0..2 {
            let receipt = say_kind(kind).await;
            assert!(receipt.woken.is_empty() && !receipt.signalled, "{kind}");
        }
    }
    wait(&store, awaits("a", "r1", equals("equal", &[("v", "1")]))).await;
    assert_eq!(woken(&say_kind("equal").await), ["r1"]);
    assert!(
        say_kind("equal").await.woken.is_empty(),
        "it was fired before"
    );
    wait(&store, awaits("b", "r2", equals("equal", &[("v", "1")]))).await;
    assert_eq!(woken(&say_kind("equal").await), ["r2"]);
    let filter = Matcher::Filter {
        equal: Vec::new(),
        filter: json(r#""event.v""#),
    };
    wait(&store, awaits("c", "r3", event("filtered", filter))).await;
    assert!(say_kind("filtered").await.signalled);
    let listen = Change::Listen {
        kind: "listened".into(),
        on: true,
    };
    must(change(&store, listen).await);
    assert!(say_kind("listened").await.signalled);
}

pub async fn equality_is_of_values_not_of_texts(store: S) {
    sleepers(&store, &["r1"]).await;
    let check = async |wanted: &str, given: &str, expected: bool| {
        wait(&store, awaits("a", "r1", equals("k", &[("v", wanted)]))).await;
        let event = format!("{{\"v\":{given}}}");
        let receipt = say(&store, signal("k", &event)).await;
        assert_eq!(!receipt.woken.is_empty(), expected, "{wanted} {given}");
        end(&store, "a").await;
    };
    check("1", "1.0", true).await;
    check("1e3", "1000", true).await;
    check("\"1\"", "1", false).await;
    check("1", "\"1\"", false).await;
    check("9007199254740993", "9007199254740992", false).await;
    check("9007199254740993", "9007199254740993", true).await;
    check(r#"{"b":[1],"a":2}"#, r#"{ "a": 2.0, "b": [1] }"#, true).await;
    check("[1,2]", "[2,1]", false).await;
    check("null", "null", true).await;
    check("null", "false", false).await;
    check(r#""é""#, r#""\u00e9""#, true).await;
    check("\"a\"", "\"A\"", false).await;
    let long = format!("\"{}\"", "x".repeat(10_000));
    check(&long, &long, true).await;
    let longer = format!("\"{}\"", "x".repeat(10_001));
    check(&long, &longer, false).await;
    // The order in which paths were named does not count, and a missing path is not null.
    let pairs = [("b", "2"), ("a", "1")];
    wait(&store, awaits("b", "r1", equals("k2", &pairs))).await;
    wait(&store, awaits("c", "r1", equals("k2", &[("z", "null")]))).await;
    say(&store, signal("k2", r#"{"a":1,"b":2}"#)).await;
    assert!(!is_open(&store, "b").await);
    assert!(is_open(&store, "c").await);
}

pub async fn tenants_hear_their_own_and_what_is_for_all(store: S) {
    sleepers(&store, &["none", "acme", "bolt"]).await;
    let of = |name: &str| NewAwait {
        tenant: (name != "none").then(|| name.into()),
        ..awaits(name, name, event("k", Matcher::Any))
    };
    let check = async |tenant: Option<&str>, expected: &[&str]| {
        for name in ["none", "acme", "bolt"] {
            wait(&store, of(name)).await;
        }
        let signal = Signal {
            tenant: tenant.map(Into::into),
            ..signal("k", "{}")
        };
        assert_eq!(woken(&say(&store, signal).await), expected);
        for name in ["none", "acme", "bolt"] {
            end(&store, name).await;
        }
    };
    check(None, &["acme", "bolt", "none"]).await;
    check(Some("acme"), &["acme", "none"]).await;
    check(Some("other"), &["none"]).await;
}

pub async fn the_order_of_changes_counts(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    let before = Commit::of(waits(awaits("a", "r1", event("k", Matcher::Any))))
        .and(says(signal("k", "1")))
        .and(waits(awaits("b", "r2", event("k", Matcher::Any))));
    let receipt = must(commit(&store, before).await);
    assert_eq!(woken(&receipt), ["r1"]);
    assert!(is_open(&store, "b").await);
    // The run may be of the same commit, and so may the decision to park it.
    let born = Commit::of(Change::Create(Box::new(asleep("r3"))))
        .and(waits(awaits("c", "r3", event("new", Matcher::Any))))
        .and(Change::Advance(Box::new(park("r3", NEVER))))
        .and(says(signal("new", "1")));
    assert_eq!(woken(&must(commit(&store, born).await)), ["r3"]);
    assert_eq!(claim(&store, T0, 10).await.len(), 2);
    // An event that is signalled with its own append.
    let stream = StreamName::new("events", "k");
    let both =
        Commit::of(Change::Append(append(stream.clone(), logs(T0, 1)))).and(says(signal("k", "2")));
    assert_eq!(woken(&must(commit(&store, both).await)), ["r2"]);
    assert_eq!(all_events(&store, &stream).await.len(), 1);
}

pub async fn a_commit_is_judged_by_what_its_changes_leave(store: S) {
    sleepers(&store, &["r1"]).await;
    must(change(&store, listens("k")).await);
    let any = |name: &str| waits(awaits(name, "r1", event("k", Matcher::Any)));
    let check = async |changes: Vec<Change>, expected: ErrorCode| {
        let refused = Commit {
            changes,
            ..Commit::default()
        };
        assert_eq!(refusal(commit(&store, refused).await), expected);
        assert!(must(store.await_by("a").await).is_none());
        assert!(outbox(&store).await.is_empty());
    };
    let said = || says(signal("k", "1"));
    let over = || Change::Unawait("a".into());
    check(
        vec![any("a"), said(), fires("a", "2")],
        ErrorCode::AwaitUsed,
    )
    .await;
    check(
        vec![any("a"), fires("a", "1"), fires("a", "2")],
        ErrorCode::AwaitUsed,
    )
    .await;
    check(
        vec![any("a"), over(), fires("a", "1")],
        ErrorCode::AwaitNotFound,
    )
    .await;
    let shut = waits(awaits("a", "r1", callback(false)));
    check(vec![shut, over(), fires("a", "1")], ErrorCode::AwaitClosed).await;
    let gone = vec![
        any("a"),
        Change::Advance(Box::new(finish("r1"))),
        Change::Delete(id("r1")),
        fires("a", "1"),
    ];
    check(gone, ErrorCode::AwaitNotFound).await;
    let back = NewAwait {
        what: Awaited::Event {
            kind: "k".into(),
            matcher: Matcher::Any,
            lookback_ms: Some(100),
        },
        ..awaits("a", "r1", callback(false))
    };
    check(
        vec![said(), waits(back), fires("a", "1")],
        ErrorCode::AwaitUsed,
    )
    .await;
    // And accepted where nothing is in the way.
    let fine = Commit::of(any("a")).and(fires("a", "1"));
    assert_eq!(woken(&must(commit(&store, fine).await)), ["r1"]);
}

pub async fn many_who_signal_lose_nothing(store: S) {
    let runs = 100;
    must(change(&store, listens("k")).await);
    for at in 0..runs {
        let name = format!("r{at}");
        create(&store, asleep(&name)).await;
        let what = equals("k", &[("order", &at.to_string())]);
        wait(&store, awaits(&format!("a{at}"), &name, what)).await;
    }
    let tasks = (0..runs).map(|at| {
        let store = store.clone();
        tokio::spawn(async move { say(&store, signal("k", &format!(r#"{{"order":{at}}}"#))).await })
    });
    for task in tasks.collect::<Vec<_>>() {
        assert_eq!(task.await.expect("no panic").woken.len(), 1);
    }
    assert_eq!(claim(&store, T0, 1_000).await.len(), runs);
    assert_eq!(outbox(&store).await.len(), runs);
    assert_eq!(must(store.await_stats().await).events, 0);
}

/// An await gets the event as the stream has it, with the id that it was given there.
pub async fn a_signal_carries_the_id_of_its_event(store: S) {
    create(&store, asleep("r1")).await;
    must(change(&store, waits(awaits("w", "r1", event("k", Matcher::Any)))).await);
    let stream = StreamName::new("shop", "s");
    let events = [
        draft(T0 + 9, EventType::LogInfo),
        draft(T0 + 5, EventType::parse("k")),
    ];
    let signal_of = Signal {
        stream: stream.clone(),
        place: Some(1),
        ..signal("k", r#"{"type":"k"}"#)
    };
    let appended = append(stream.clone(), events.into());
    let receipt = Commit::of(Change::Append(appended)).and(says(signal_of));
    must(commit(&store, receipt).await);
    let id = all_events(&store, &stream).await[1].id;
    let ts = iso(id.ms);
    let whole = format!(r#"{{"id":"{id}","ts":"{ts}","type":"k"}}"#);
    assert_eq!(value(&store, "w").await, Some(whole));
    assert_eq!(id.ms, T0 + 9, "no event is earlier than the one before it");
}

pub async fn the_bus_tells_whom_a_commit_woke(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    let hub = Arc::new(Hub::default());
    let writer = Writer::spawn(store.clone(), hub.clone());
    let (one, two) = (hub.hold(&id("r1")), hub.hold(&id("r2")));
    must(
        writer
            .commit(Commit::of(waits(awaits("a", "r1", callback(false)))))
            .await,
    );
    let other = awaits("b", "r2", event("k", Matcher::Any));
    must(writer.commit(Commit::of(waits(other))).await);
    hub.forget_due();
    must(writer.commit(Commit::of(fires("a", "1"))).await);
    one.nudged().await;
    assert_eq!(hub.next_due(), 0);
    hub.forget_due();
    must(writer.commit(Commit::of(says(signal("k", "1")))).await);
    two.nudged().await;
    assert_eq!(hub.next_due(), 0);
    let listen = Change::Listen {
        kind: "k".into(),
        on: true,
    };
    must(writer.commit(Commit::of(listen)).await);
    must(writer.commit(Commit::of(says(signal("k", "1")))).await);
    hub.signals().notified().await;
    // A finished decision that wakes no run leaves the due time alone.
    hub.forget_due();
    let keep = Advance {
        task: RunTaskChange::Keep,
        ..advance("r1")
    };
    let receipt = must(
        writer
            .commit(Commit::of(Change::Advance(Box::new(keep))))
            .await,
    );
    assert!(receipt.woken.is_empty() && !receipt.signalled);
    assert_eq!(hub.next_due(), NEVER);
}
