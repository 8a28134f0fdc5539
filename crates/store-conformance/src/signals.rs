//! Emitted events: the log, looking back, and the outbox for what only an expression can judge.

use riverrun_store::{
    AwaitState, Awaited, Change, Commit, EventQuery, Matcher, NewAwait, Once, Retention, Signal,
    SignalLane, SignalRecord,
};
use riverrun_types::{EventType, Millis, StreamName, time::iso};

use crate::{awaits::*, given::*};

fn at(ms: Millis, signal: Signal) -> Signal {
    Signal {
        now_ms: T0 + ms,
        ..signal
    }
}

/// An await at `T0 + 1000` that looks back.
fn looking(name: &str, matcher: Matcher, lookback_ms: Millis) -> NewAwait {
    let what = Awaited::Event {
        kind: "k".into(),
        matcher,
        lookback_ms: Some(lookback_ms),
    };
    NewAwait {
        created_ms: T0 + 1_000,
        ..awaits(name, "r1", what)
    }
}

fn by_order(order: &str) -> Matcher {
    Matcher::Equal(equal(&[("order", order)]))
}

fn by_filter(pairs: &[(&str, &str)]) -> Matcher {
    Matcher::Filter {
        equal: equal(pairs),
        filter: json("\"e => e.n > 1\""),
    }
}

async fn outbox(store: &S) -> Vec<SignalRecord> {
    must(store.signals(0, 1_000).await)
}

/// The ids of all candidates, page by page.
async fn candidates(store: &S, signal: &SignalRecord, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = must(store.candidates(signal, limit, cursor.as_deref()).await);
        assert!(page.items.len() <= limit, "a page keeps its limit");
        found.extend(page.items.iter().map(|one| one.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

async fn value(store: &S, name: &str) -> Option<String> {
    let values = found(store, name).await.values;
    values.first().map(|value| value.as_str().to_owned())
}

pub async fn emitted_events_are_logged_in_order(store: S) {
    let first = Signal {
        tenant: Some("acme".into()),
        stream: StreamName::flow(&id("r1")),
        ..at(5, signal("a", r#"{"n":1.0}"#))
    };
    assert!(!say(&store, first).await.signalled);
    say(&store, at(4, signal("b", "2"))).await;
    say(&store, at(6, signal("a", "3"))).await;
    let all = must(store.emitted(None, 0, 10).await);
    assert_eq!(all.len(), 3);
    assert!(all[0].seq > 0 && all[0].seq < all[1].seq && all[1].seq < all[2].seq);
    assert_eq!((&*all[0].kind, all[0].ms), ("a", T0 + 5));
    assert_eq!(all[0].stream, StreamName::flow(&id("r1")));
    assert_eq!(all[0].tenant.as_deref(), Some("acme"));
    assert_eq!(all[0].event, json(r#"{"n":1.0}"#));
    assert_eq!(
        must(store.emitted(Some("a"), 0, 10).await),
        [all[0].clone(), all[2].clone()]
    );
    assert_eq!(
        must(store.emitted(Some("a"), all[0].seq, 10).await),
        all[2..]
    );
    assert_eq!(must(store.emitted(None, all[0].seq, 1).await), all[1..2]);
    assert!(must(store.emitted(Some("c"), 0, 10).await).is_empty());
    assert!(must(store.emitted(None, all[2].seq, 10).await).is_empty());
    assert!(must(store.emitted(None, u64::MAX, 10).await).is_empty());
    // A page of large events ends early, and only an empty one is the last.
    let large = format!("\"{}\"", "x".repeat(EventQuery::PAGE_BYTES / 2));
    for _ in 0..3 {
        say(&store, signal("large", &large)).await;
    }
    assert_eq!(must(store.emitted(Some("large"), 0, 10).await).len(), 2);
}

pub async fn a_look_back_passes_over_what_was_given(store: S) {
    sleepers(&store, &["r1"]).await;
    let (one, two) = (r#"{"order":1}"#, r#"{"order":1,"n":2}"#);
    // Two of them cannot be told from each other.
    for (ms, event) in [(500, one), (500, one), (600, two)] {
        say(&store, at(ms, signal("k", event))).await;
    }
    let after = |name: &str, given: &[&str], matcher: Matcher| NewAwait {
        given: given.iter().copied().map(json).collect(),
        ..looking(name, matcher, 900)
    };
    let table: [(&[&str], Option<&str>); 5] = [
        (&[], Some(one)),
        (&[one], Some(one)),
        (&[two], Some(one)),
        (&[one, one], Some(two)),
        (&[one, two, one], None),
    ];
    for (no, (given, expected)) in table.into_iter().enumerate() {
        let name = format!("a{no}");
        wait(&store, after(&name, given, by_order("1"))).await;
        assert_eq!(value(&store, &name).await.as_deref(), expected, "{given:?}");
        // What an expression judges is handed to it without what was given.
        let name = format!("f{no}");
        wait(&store, after(&name, given, by_filter(&[("order", "1")]))).await;
        let posted = outbox(&store).await.into_iter();
        let posted: Vec<_> = posted
            .filter(|it| it.only.as_deref() == Some(&*name))
            .collect();
        assert_eq!(posted.len(), 3 - given.len(), "{given:?}");
        let first = posted.first().map(|it| it.emit.event.as_str());
        assert_eq!(first, expected, "{given:?}");
    }
    // A commit is judged by the same rule.
    let fires = |name: &str| {
        Change::Fire(Box::new(riverrun_store::Fire {
            id: name.into(),
            value: json("1"),
            now_ms: T0 + 1_000,
        }))
    };
    let all = after("all", &[one, one, two], by_order("1"));
    let fine = Commit::of(Change::Await(Box::new(all))).and(fires("all"));
    must(commit(&store, fine).await);
    let some = after("some", &[one, two], by_order("1"));
    let used = Commit::of(Change::Await(Box::new(some))).and(fires("some"));
    assert_eq!(refusal(commit(&store, used).await), "AWAIT_USED");
}

pub async fn a_look_back_finds_the_earliest(store: S) {
    sleepers(&store, &["r1"]).await;
    for (ms, order, n) in [(100, 1, 1), (500, 1, 2), (700, 1, 3), (800, 2, 4)] {
        let event = format!(r#"{{"order":{order},"n":{n}}}"#);
        say(&store, at(ms, signal("k", &event))).await;
    }
    say(&store, at(900, signal("other", r#"{"order":3}"#))).await;
    let told = wait(&store, looking("hit", by_order("1.0"), 500)).await;
    assert_eq!(told.woken, [id("r1")]);
    assert!(!told.signalled);
    assert_eq!(
        value(&store, "hit").await.as_deref(),
        Some(r#"{"order":1,"n":2}"#)
    );
    assert_eq!(found(&store, "hit").await.state, AwaitState::Fired);
    assert_eq!(claim(&store, T0, 10).await.len(), 1);
    // Further back than anybody looked before.
    wait(&store, looking("far", by_order("1"), 5_000)).await;
    assert_eq!(
        value(&store, "far").await.as_deref(),
        Some(r#"{"order":1,"n":1}"#)
    );
    wait(&store, looking("near", by_order("1"), 300)).await;
    assert_eq!(
        value(&store, "near").await.as_deref(),
        Some(r#"{"order":1,"n":3}"#)
    );
    wait(&store, looking("any", Matcher::Any, 200)).await;
    assert_eq!(
        value(&store, "any").await.as_deref(),
        Some(r#"{"order":2,"n":4}"#)
    );
    for (name, order, back) in [("late", "1", 299), ("none", "3", 9_000)] {
        assert!(
            wait(&store, looking(name, by_order(order), back))
                .await
                .woken
                .is_empty()
        );
        assert!(is_open(&store, name).await, "{name}");
    }
    // What was not found is waited for.
    say(&store, at(1_100, signal("k", r#"{"order":1,"n":5}"#))).await;
    assert_eq!(
        value(&store, "late").await.as_deref(),
        Some(r#"{"order":1,"n":5}"#)
    );
    assert_eq!(must(store.await_stats().await).events, 1);
    // Events since the first look are found as well.
    let later = NewAwait {
        created_ms: T0 + 1_200,
        ..looking("later", by_order("1"), 150)
    };
    wait(&store, later).await;
    assert_eq!(
        value(&store, "later").await.as_deref(),
        Some(r#"{"order":1,"n":5}"#)
    );
}

pub async fn a_look_back_sees_its_own_commit_and_tenant(store: S) {
    sleepers(&store, &["r1"]).await;
    let both = Commit::of(says(at(990, signal("k", r#"{"order":1}"#)))).and(waits(looking(
        "same",
        by_order("1"),
        100,
    )));
    assert_eq!(must(commit(&store, both).await).woken, [id("r1")]);
    let of = |tenant: &str, order: &str| Signal {
        tenant: Some(tenant.into()),
        ..at(990, signal("k", &format!(r#"{{"order":{order}}}"#)))
    };
    say(&store, of("acme", "7")).await;
    let looks = |name: &str, tenant: Option<&str>| NewAwait {
        tenant: tenant.map(Into::into),
        ..looking(name, by_order("7"), 100)
    };
    wait(&store, looks("other", Some("bolt"))).await;
    wait(&store, looks("own", Some("acme"))).await;
    wait(&store, looks("all", None)).await;
    assert!(is_open(&store, "other").await);
    assert!(!is_open(&store, "own").await);
    assert!(!is_open(&store, "all").await);
}

pub async fn a_filter_that_looks_back_is_given_its_events(store: S) {
    sleepers(&store, &["r1"]).await;
    for (ms, order, n) in [(100, 1, 1), (500, 1, 2), (600, 2, 3), (700, 1, 4)] {
        let event = format!(r#"{{"order":{order},"n":{n}}}"#);
        say(&store, at(ms, signal("k", &event))).await;
    }
    wait(&store, awaits("beside", "r1", filters("k", &[]))).await;
    let told = wait(&store, looking("a", by_filter(&[("order", "1")]), 600)).await;
    assert!(told.signalled && told.woken.is_empty());
    let given: Vec<(Option<String>, String)> = outbox(&store)
        .await
        .iter()
        .map(|signal| {
            let only = signal.only.as_ref().map(ToString::to_string);
            (only, signal.emit.event.as_str().to_owned())
        })
        .collect();
    let only = Some("a".to_owned());
    assert_eq!(
        given,
        [
            (only.clone(), r#"{"order":1,"n":2}"#.to_owned()),
            (only, r#"{"order":1,"n":4}"#.to_owned())
        ]
    );
    for signal in outbox(&store).await {
        assert_eq!(candidates(&store, &signal, 10).await, ["a"]);
    }
    must(change(&store, fires("a", "1")).await);
    for signal in outbox(&store).await {
        assert!(candidates(&store, &signal, 10).await.is_empty());
    }
    let none = wait(&store, looking("b", by_filter(&[("order", "9")]), 600)).await;
    assert!(!none.signalled);
}

pub async fn a_signal_goes_out_if_a_filter_may_mean_it(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    assert!(!say(&store, signal("k", r#"{"order":1}"#)).await.signalled);
    wait(&store, awaits("a", "r1", filters("k", &[("order", "1")]))).await;
    wait(&store, awaits("b", "r1", equals("k", &[("order", "2")]))).await;
    let acme = NewAwait {
        tenant: Some("acme".into()),
        ..awaits("c", "r2", filters("t", &[]))
    };
    wait(&store, acme).await;
    let fits = say(&store, signal("k", r#"{"order":1.0,"n":1}"#)).await;
    assert!(fits.signalled && fits.woken.is_empty());
    assert!(is_open(&store, "a").await);
    assert!(!say(&store, signal("k", r#"{"order":3}"#)).await.signalled);
    assert!(!say(&store, signal("k", "{}")).await.signalled);
    assert!(!say(&store, signal("k2", r#"{"order":1}"#)).await.signalled);
    let of = |tenant: &str| Signal {
        tenant: Some(tenant.into()),
        ..signal("t", "{}")
    };
    assert!(!say(&store, of("bolt")).await.signalled);
    assert!(say(&store, of("acme")).await.signalled);
    let out = outbox(&store).await;
    assert_eq!(out.len(), 2);
    assert_eq!(out[0].emit.event, json(r#"{"order":1.0,"n":1}"#));
    assert_eq!(out[0].only, None);
    assert_eq!(candidates(&store, &out[0], 10).await, ["a"]);
    assert_eq!(candidates(&store, &out[1], 10).await, ["c"]);
    // Each of them is in a lane of its own.
    for signal in &out {
        let lane = signal.lane();
        let own = must(store.signals_of(&lane, 0, 10).await);
        assert_eq!(own, std::slice::from_ref(signal));
        assert!(must(store.signals_of(&lane, signal.no, 10).await).is_empty());
        let other = SignalLane {
            tenant: Some("bolt".into()),
            ..lane
        };
        assert!(must(store.signals_of(&other, 0, 10).await).is_empty());
    }
    must(change(&store, Change::Unawait("a".into())).await);
    assert!(candidates(&store, &out[0], 10).await.is_empty());
    assert!(!say(&store, signal("k", r#"{"order":1}"#)).await.signalled);
}

pub async fn candidates_were_there_before_the_event(store: S) {
    sleepers(&store, &["r1"]).await;
    for at in 0..5 {
        let pairs: &[(&str, &str)] = if at % 2 == 0 { &[] } else { &[("order", "1")] };
        wait(&store, awaits(&format!("a{at}"), "r1", filters("k", pairs))).await;
    }
    let late = NewAwait {
        expires_ms: Some(T0 + 9),
        ..awaits("expired", "r1", filters("k", &[]))
    };
    wait(&store, late).await;
    say(&store, signal("k", r#"{"order":1}"#)).await;
    wait(&store, awaits("after", "r1", filters("k", &[]))).await;
    wait(&store, awaits("any", "r1", equals("k", &[]))).await;
    let out = outbox(&store).await.remove(0);
    assert_eq!(
        candidates(&store, &out, 2).await,
        ["a0", "a1", "a2", "a3", "a4"]
    );
    let bad = store.candidates(&out, 2, Some("nonsense")).await;
    assert_eq!(refusal(bad), "BAD_CURSOR");
    let page = must(store.candidates(&out, 1, None).await);
    assert_eq!(page.items[0].what, filters("k", &[]));
}

pub async fn an_event_that_very_many_wait_for_is_told_in_parts(store: S) {
    sleepers(&store, &["r1"]).await;
    let count = Signal::MAX_FIRED + 3;
    let new = |at: usize| waits(awaits(&format!("a{at}"), "r1", event("k", Matcher::Any)));
    for told in store
        .commit((0..count).map(new).map(Commit::of).collect())
        .await
    {
        must(told);
    }
    let told = say(&store, signal("k", "1")).await;
    assert_eq!(told.woken, [id("r1")]);
    assert!(told.signalled);
    assert_eq!(must(store.await_stats().await).events, 3);
    let out = outbox(&store).await.remove(0);
    let left = candidates(&store, &out, 2).await;
    assert_eq!(left.len(), 3);
    for name in &left {
        must(change(&store, fires(name, "1")).await);
    }
    assert_eq!(must(store.await_stats().await).events, 0);
}

pub async fn whoever_listens_hears_every_signal_of_a_kind(store: S) {
    let listen = |on| Change::Listen {
        kind: "k".into(),
        on,
    };
    must(change(&store, listen(true)).await);
    must(change(&store, listen(true)).await);
    assert!(say(&store, signal("k", "1")).await.signalled);
    assert!(!say(&store, signal("other", "1")).await.signalled);
    assert!(
        candidates(&store, &outbox(&store).await[0], 10)
            .await
            .is_empty()
    );
    must(change(&store, listen(false)).await);
    must(change(&store, listen(false)).await);
    assert!(!say(&store, signal("k", "2")).await.signalled);
    assert_eq!(outbox(&store).await.len(), 1);
}

/// What an await is given is the event as the stream has it, with the id that it was given there.
pub async fn an_event_is_told_with_its_id(store: S) {
    create(&store, asleep("r1")).await;
    must(change(&store, waits(awaits("w", "r1", event("k", Matcher::Any)))).await);
    let stream = StreamName::new("shop", "s");
    let events = [
        draft(T0 + 9, EventType::LogInfo),
        draft(T0 + 5, EventType::parse("k")),
    ];
    let told = Signal {
        stream: stream.clone(),
        place: Some(1),
        ..signal("k", r#"{"type":"k"}"#)
    };
    let appended = append(stream.clone(), events.into());
    let told = Commit::of(Change::Append(appended)).and(says(told));
    must(commit(&store, told).await);
    let id = all_events(&store, &stream).await[1].id;
    let ts = iso(id.ms);
    let whole = format!(r#"{{"id":"{id}","ts":"{ts}","type":"k"}}"#);
    assert_eq!(value(&store, "w").await, Some(whole));
    assert_eq!(id.ms, T0 + 9, "no event is earlier than the one before it");
}

pub async fn the_outbox_keeps_its_order_until_it_is_heard(store: S) {
    let listen = Change::Listen {
        kind: "k".into(),
        on: true,
    };
    must(change(&store, listen).await);
    for at in 0..5 {
        say(&store, signal("k", &at.to_string())).await;
    }
    let out = outbox(&store).await;
    let events: Vec<&str> = out
        .iter()
        .map(|signal| signal.emit.event.as_str())
        .collect();
    assert_eq!(events, ["0", "1", "2", "3", "4"]);
    assert!(out.windows(2).all(|pair| pair[0].no < pair[1].no));
    assert_eq!(must(store.signals(out[1].no, 2).await), out[2..4]);
    let heard = |no| change(&store, Change::Heard(no));
    for at in [4, 1, 1] {
        must(heard(out[at].no).await);
    }
    must(heard(0).await);
    must(heard(u64::MAX).await);
    let left: Vec<u64> = outbox(&store)
        .await
        .iter()
        .map(|signal| signal.no)
        .collect();
    assert_eq!(left, [out[0].no, out[2].no, out[3].no]);
    // Numbers are never given twice, so whoever remembers the last one misses nothing.
    for no in left {
        must(heard(no).await);
    }
    say(&store, signal("k", "5")).await;
    let next = must(store.signals(out[4].no, 10).await);
    assert_eq!(next.len(), 1);
    // What was decided about a signal and that it was heard are one commit.
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", filters("k", &[]))).await;
    let lost = Commit::of(Change::Heard(next[0].no)).and(fires("nobody", "1"));
    assert_eq!(refusal(commit(&store, lost).await), "AWAIT_NOT_FOUND");
    assert_eq!(outbox(&store).await, next);
    let done = Commit::of(Change::Heard(next[0].no)).and(fires("a", "1"));
    must(commit(&store, done).await);
    assert!(outbox(&store).await.is_empty());
}

pub async fn the_log_is_trimmed_by_its_own_time(store: S) {
    let keep = |ms| Retention {
        emits_ms: ms,
        ..Retention::default()
    };
    let listen = Change::Listen {
        kind: "heard".into(),
        on: true,
    };
    must(change(&store, listen).await);
    sleepers(&store, &["r1"]).await;
    say(&store, at(0, signal("heard", "0"))).await;
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
    let left = must(store.emitted(None, 0, 10).await);
    let times: Vec<Millis> = left.iter().map(|emit| emit.ms - T0).collect();
    assert_eq!(times, [0, 400, 500], "what is in the outbox stays");
    assert_eq!(outbox(&store).await.len(), 1);
    wait(&store, looking("gone", by_order("2"), 5_000)).await;
    wait(&store, looking("there", by_order("4"), 5_000)).await;
    assert!(is_open(&store, "gone").await);
    assert!(!is_open(&store, "there").await);
    must(change(&store, Change::Heard(outbox(&store).await[0].no)).await);
    assert_eq!(sweep(Some(0), 10).await, 3);
    let last = left[2].seq;
    assert!(must(store.emitted(None, 0, 10).await).is_empty());
    say(&store, at(2_000, signal("k", r#"{"order":6}"#))).await;
    assert!(must(store.emitted(None, 0, 10).await)[0].seq > last);
    let later = NewAwait {
        created_ms: T0 + 2_001,
        ..looking("later", by_order("6"), 100)
    };
    wait(&store, later).await;
    assert!(!is_open(&store, "later").await);
    assert_eq!(Retention::default().emits_ms, Some(Retention::DAY_MS));
}

pub async fn many_who_signal_lose_nothing(store: S) {
    let runs = 100;
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
    assert_eq!(must(store.emitted(Some("k"), 0, 1_000).await).len(), runs);
    assert_eq!(must(store.await_stats().await).events, 0);
}

pub async fn what_nobody_hears_is_counted(store: S) {
    create(&store, run("r")).await;
    let say = |kind: &'static str, ms: Millis, is_heard: bool| {
        let store = store.clone();
        async move {
            let signal = Signal {
                is_heard,
                ..at(ms, signal(kind, "{}"))
            };
            must(change(&store, Change::Signal(Box::new(signal))).await);
        }
    };
    let counted = async || {
        let found = must(store.unheard().await);
        let show = |kind: &riverrun_store::UnheardKind| {
            format!("{} {} {}", kind.kind, kind.count, kind.last_ms - T0)
        };
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
    assert_eq!(refusal(commit(&store, three).await), "EVENT_EXISTS");
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
