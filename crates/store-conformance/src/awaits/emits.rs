//! The log of emitted events: its order, its time, events without a taker, and keys under which
//! events are stored once.

use riverrun_store::{
    Change, Commit, EventQuery, Matcher, NewAwait, NewRun, Once, Retention, Signal, SignalsOf,
    UnheardKind,
};
use riverrun_types::{ErrorCode, Millis, StreamName};

use super::given::*;
use crate::given::*;

pub async fn emitted_events_are_logged_in_order(store: S) {
    for kind in ["a", "b", "large"] {
        let kind = kind.into();
        must(change(&store, Change::Listen { kind, on: true }).await);
    }
    let first = Signal {
        tenant: Some("acme".into()),
        stream: StreamName::flow(&id("r1")),
        ..at(5, signal("a", r#"{"n":1.0}"#))
    };
    say(&store, first).await;
    say(&store, at(4, signal("b", "2"))).await;
    say(&store, at(6, signal("a", "3"))).await;
    let signals = outbox(&store).await;
    let all: Vec<_> = signals.iter().map(|signal| &signal.emit).collect();
    assert_eq!(all.len(), 3);
    assert!(all[0].seq > 0 && all[0].seq < all[1].seq && all[1].seq < all[2].seq);
    assert_eq!((&*all[0].kind, all[0].ms), ("a", T0 + 5));
    assert_eq!(all[0].stream, StreamName::flow(&id("r1")));
    assert_eq!(all[0].tenant.as_deref(), Some("acme"));
    assert_eq!(all[0].event, json(r#"{"n":1.0}"#));
    let after = async |no, limit| must(store.signals(SignalsOf::All, no, limit).await);
    assert_eq!(after(signals[0].no, 1).await, signals[1..2]);
    assert!(after(signals[2].no, 10).await.is_empty());
    assert!(after(u64::MAX, 10).await.is_empty());
    // A page of large events ends early, and only an empty one is the last.
    let large = format!("\"{}\"", "x".repeat(EventQuery::PAGE_BYTES / 2));
    for _ in 0..3 {
        say(&store, signal("large", &large)).await;
    }
    assert_eq!(after(signals[2].no, 10).await.len(), 2);
}

pub async fn the_log_is_trimmed_by_its_own_time(store: S) {
    let keep = |ms| Retention {
        emits_ms: ms,
        ..Retention::default()
    };
    let listen = Change::Listen {
        kind: "taken".into(),
        on: true,
    };
    must(change(&store, listen).await);
    // A run that began after them keeps no events.
    let late = NewRun {
        created_ms: T0 + 1_000,
        ..asleep("r1")
    };
    create(&store, late).await;
    say(&store, at(0, signal("taken", "0"))).await;
    for ms in 1..=5 {
        say(
            &store,
            at(ms * 100, signal("k", &format!(r#"{{"order":{ms}}}"#))),
        )
        .await;
    }
    wait(&store, looking("before", by_order("2"), 5_000)).await;
    assert!(!is_open(&store, "before").await);
    let now = T0 + 1_000;
    let sweep = async |ms: Option<Millis>, limit| must(store.sweep(&keep(ms), now, limit).await);
    assert_eq!(sweep(None, 10).await, 0);
    assert_eq!(sweep(Some(900), 1).await, 1);
    assert_eq!(sweep(Some(700), 1).await, 1);
    assert_eq!(sweep(Some(700), 10).await, 1);
    let last = outbox(&store).await;
    assert_eq!(last.len(), 1, "what is in the outbox stays");
    wait(&store, looking("gone", by_order("2"), 5_000)).await;
    wait(&store, looking("there", by_order("4"), 5_000)).await;
    assert!(is_open(&store, "gone").await);
    assert!(!is_open(&store, "there").await);
    must(change(&store, Change::RemoveSignal(outbox(&store).await[0].no)).await);
    assert_eq!(sweep(Some(0), 10).await, 3);
    assert_eq!(sweep(Some(0), 10).await, 0);
    say(&store, at(2_000, signal("k", r#"{"order":6}"#))).await;
    say(&store, at(2_000, signal("taken", "1"))).await;
    let next = outbox(&store).await.remove(0);
    assert!(next.emit.seq > last[0].emit.seq);
    must(change(&store, Change::RemoveSignal(next.no)).await);
    let later = NewAwait {
        created_ms: T0 + 2_001,
        ..looking("later", by_order("6"), 100)
    };
    wait(&store, later).await;
    assert!(!is_open(&store, "later").await);
    // One that has not ended may yet ask for what came since it began.
    assert_eq!(must(store.sweep(&keep(Some(0)), T0 + 9_000, 10).await), 0);
    let again = NewAwait {
        created_ms: T0 + 2_002,
        ..looking("again", by_order("6"), 100)
    };
    wait(&store, again).await;
    assert!(!is_open(&store, "again").await);
    assert_eq!(Retention::default().emits_ms, Some(7 * Retention::DAY_MS));
}

pub async fn what_nobody_hears_is_counted(store: S) {
    create(&store, run("r")).await;
    let say = |kind: &'static str, ms: Millis, has_subscriber: bool| {
        let store = store.clone();
        async move {
            let signal = Signal {
                has_subscriber,
                ..at(ms, signal(kind, "{}"))
            };
            must(change(&store, Change::Signal(Box::new(signal))).await);
        }
    };
    let counted = async || {
        let found = must(store.unheard().await);
        let show =
            |kind: &UnheardKind| format!("{} {} {}", kind.kind, kind.count, kind.last_ms - T0);
        (
            found.total,
            found.kinds.iter().map(show).collect::<Vec<_>>(),
        )
    };
    assert_eq!(counted().await, (0, Vec::new()));
    say("a", 1, false).await;
    say("b", 2, false).await;
    say("a", 3, false).await;
    // A step of its own run, an await or a trigger reacts.
    say("a", 4, true).await;
    must(
        change(
            &store,
            Change::Listen {
                kind: "b".into(),
                on: true,
            },
        )
        .await,
    );
    say("b", 5, false).await;
    let new = awaits("w", "r", event("c", Matcher::Any));
    must(change(&store, waits(new)).await);
    say("c", 6, false).await;
    assert_eq!(
        counted().await,
        (3, vec!["a 2 3".to_owned(), "b 1 2".to_owned()])
    );
    // It had its await.
    say("c", 7, false).await;
    assert_eq!(counted().await.0, 4);
    must(
        store
            .sweep(
                &Retention {
                    emits_ms: Some(0),
                    ..Retention::default()
                },
                T0 + 3,
                100,
            )
            .await,
    );
    assert_eq!(counted().await, (4, vec!["c 1 7".to_owned()]));
}

pub async fn events_under_a_key_are_stored_once(store: S) {
    let stream = StreamName::new("global", "global");
    let append = || Change::Append(append(stream.clone(), logs(T0, 3)));
    let once = |key: &str, places: &[usize], ms: Millis| {
        Change::Once(Box::new(Once {
            key: key.into(),
            places: places.to_vec(),
            now_ms: T0 + ms,
        }))
    };
    assert_eq!(must(store.once("k").await), None);
    let three = Commit::of(append()).and(once("k", &[0, 2], 5));
    must(commit(&store, three.clone()).await);
    let events = all_events(&store, &stream).await;
    let ids = Some(vec![events[0].id, events[2].id]);
    assert_eq!(must(store.once("k").await), ids);
    // Nothing of a commit counts whose key is taken.
    assert_eq!(refusal(commit(&store, three).await), ErrorCode::EventExists);
    assert_eq!(all_events(&store, &stream).await.len(), 3);
    assert_eq!(must(store.once("k").await), ids);
    // Its time is that of emitted events.
    let retention = Retention {
        emits_ms: Some(10),
        ..Retention::default()
    };
    must(store.sweep(&retention, T0 + 14, 100).await);
    assert_eq!(must(store.once("k").await), ids);
    must(store.sweep(&retention, T0 + 15, 100).await);
    assert_eq!(must(store.once("k").await), None);
}
