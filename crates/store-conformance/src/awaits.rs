//! Awaits: who waits, what fires them, what becomes of them.

use std::sync::Arc;

use riverrun_store::{
    AwaitFilter, AwaitRecord, AwaitState, Awaited, Bus, Change, Commit, Fire, JobChange, KindStats,
    Matcher, NewAwait, NewJob, NewRun, Receipt, Result, Retention, Signal, Writer,
};
use riverrun_types::{Json, Millis, Path, StreamName, time::NEVER};

use crate::given::*;

/// A run that nobody but another wakes.
pub(crate) fn asleep(name: &str) -> NewRun {
    NewRun {
        job: Some(NewJob::Ready { at_ms: NEVER }),
        ..run(name)
    }
}

pub(crate) fn awaits(name: &str, of: &str, what: Awaited) -> NewAwait {
    NewAwait {
        id: name.into(),
        run: id(of),
        step: "wait".into(),
        visit: 1,
        tenant: None,
        created_ms: T0,
        expires_ms: None,
        what,
        given: Vec::new(),
    }
}

pub(crate) fn event(kind: &str, matcher: Matcher) -> Awaited {
    Awaited::Event {
        kind: kind.into(),
        matcher,
        lookback_ms: None,
    }
}

pub(crate) fn equal(pairs: &[(&str, &str)]) -> Vec<(Path, Json)> {
    pairs
        .iter()
        .map(|(path, value)| (Path::new(path), json(value)))
        .collect()
}

pub(crate) fn equals(kind: &str, pairs: &[(&str, &str)]) -> Awaited {
    event(kind, Matcher::Equal(equal(pairs)))
}

pub(crate) fn filters(kind: &str, pairs: &[(&str, &str)]) -> Awaited {
    let matcher = Matcher::Filter {
        equal: equal(pairs),
        filter: json(r#"{"js":"e.data.total > 10"}"#),
    };
    event(kind, matcher)
}

pub(crate) fn door(many: bool) -> Awaited {
    Awaited::Door {
        door: json(r#"{"type":"approval","secret":"s"}"#),
        many,
    }
}

pub(crate) fn signal(kind: &str, event: &str) -> Signal {
    Signal {
        kind: kind.into(),
        event: json(event),
        tenant: None,
        now_ms: T0 + 10,
        stream: StreamName::new("events", kind),
        is_heard: false,
        place: None,
    }
}

pub(crate) fn waits(new: NewAwait) -> Change {
    Change::Await(Box::new(new))
}

pub(crate) fn says(signal: Signal) -> Change {
    Change::Signal(Box::new(signal))
}

pub(crate) fn fires(name: &str, value: &str) -> Change {
    Change::Fire(Box::new(Fire {
        id: name.into(),
        value: json(value),
        now_ms: T0 + 10,
    }))
}

pub(crate) async fn wait(store: &S, new: NewAwait) -> Receipt {
    must(change(store, waits(new)).await)
}

pub(crate) async fn say(store: &S, signal: Signal) -> Receipt {
    must(change(store, says(signal)).await)
}

async fn fire(store: &S, name: &str, value: &str) -> Result<Receipt> {
    change(store, fires(name, value)).await
}

async fn end(store: &S, name: &str) {
    let told = must(change(store, Change::Unawait(name.into())).await);
    assert!(told.woken.is_empty());
}

pub(crate) async fn found(store: &S, name: &str) -> AwaitRecord {
    let found = must(store.await_by(name).await);
    found.unwrap_or_else(|| panic!("await {name} is gone"))
}

pub(crate) async fn is_open(store: &S, name: &str) -> bool {
    found(store, name).await.state == AwaitState::Open
}

pub(crate) async fn sleepers(store: &S, names: &[&str]) {
    for name in names {
        create(store, asleep(name)).await;
    }
}

fn woken(receipt: &Receipt) -> Vec<&str> {
    let mut runs: Vec<&str> = receipt.woken.iter().map(|run| run.as_str()).collect();
    runs.sort_unstable();
    runs
}

async fn listed(store: &S, filter: AwaitFilter) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let filter = AwaitFilter {
            limit: 2,
            cursor: cursor.take(),
            ..filter.clone()
        };
        let page = must(store.list_awaits(&filter).await);
        assert!(page.items.len() <= 2, "a page keeps its limit");
        found.extend(page.items.iter().map(|one| one.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

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
        door(false),
        door(true),
        Awaited::Door {
            door: Json::null(),
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
    assert_eq!(refusal(again().await), "AWAIT_EXISTS");
    say(&store, signal("k", "{}")).await;
    assert_eq!(refusal(again().await), "AWAIT_EXISTS");
    end(&store, "a").await;
    must(again().await);
    // Within a commit as well.
    let twice = Commit::of(waits(awaits("b", "r1", door(false)))).and(waits(awaits(
        "b",
        "r1",
        door(false),
    )));
    assert_eq!(refusal(commit(&store, twice).await), "AWAIT_EXISTS");
    assert!(must(store.await_by("b").await).is_none());
    let replaced = Commit::of(Change::Unawait("a".into())).and(waits(new.clone()));
    must(commit(&store, replaced).await);
    let nobody = awaits("c", "nobody", door(false));
    assert_eq!(
        refusal(change(&store, waits(nobody)).await),
        "RUN_NOT_FOUND"
    );
}

pub async fn firing_keeps_the_value_and_wakes_the_run(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    wait(&store, awaits("a", "r1", door(false))).await;
    assert!(claim(&store, T0, 10).await.is_empty());
    let told = must(fire(&store, "a", r#"{"yes":1.0}"#).await);
    assert_eq!(woken(&told), ["r1"]);
    assert!(!told.signalled);
    let got = found(&store, "a").await;
    assert_eq!(got.state, AwaitState::Fired);
    assert_eq!(got.values, [json(r#"{"yes":1.0}"#)]);
    assert_eq!((got.fired, got.fired_ms), (1, Some(T0 + 10)));
    assert_eq!(must(store.awaits_of(&id("r1")).await), [got]);
    let lease = claim_one(&store, T0).await;
    assert_eq!(lease.run, id("r1"));
    // Whoever has the job hears of it, and the job is due when it is parked.
    wait(&store, awaits("b", "r1", event("k", Matcher::Any))).await;
    must(fire(&store, "b", "1").await);
    let beat = must(
        store
            .heartbeat(std::slice::from_ref(&lease), T0 + 900)
            .await,
    );
    assert_eq!(beat, [riverrun_store::Beat::Woken]);
    must(decide_under(&store, park("r1", NEVER), &lease).await);
    assert_eq!(claim_one(&store, T0).await.run, id("r1"));
}

pub async fn what_cannot_be_fired_is_refused(store: S) {
    sleepers(&store, &["r1"]).await;
    assert_eq!(refusal(fire(&store, "a", "1").await), "AWAIT_NOT_FOUND");
    wait(&store, awaits("a", "r1", door(false))).await;
    must(fire(&store, "a", "1").await);
    assert_eq!(refusal(fire(&store, "a", "2").await), "AWAIT_USED");
    assert_eq!(found(&store, "a").await.values, [json("1")]);
    end(&store, "a").await;
    assert_eq!(refusal(fire(&store, "a", "2").await), "AWAIT_USED");
    wait(&store, awaits("b", "r1", event("k", Matcher::Any))).await;
    end(&store, "b").await;
    assert_eq!(refusal(fire(&store, "b", "1").await), "AWAIT_NOT_FOUND");
    wait(&store, awaits("c", "r1", door(true))).await;
    end(&store, "c").await;
    assert_eq!(refusal(fire(&store, "c", "1").await), "AWAIT_CLOSED");
}

pub async fn nothing_is_fired_after_its_time(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    let until = |name: &str, run: &str, ms: Millis, what: Awaited| NewAwait {
        expires_ms: Some(T0 + ms),
        ..awaits(name, run, what)
    };
    wait(&store, until("late", "r1", 9, door(false))).await;
    wait(&store, until("just", "r1", 10, door(false))).await;
    wait(&store, until("deaf", "r1", 9, event("k", Matcher::Any))).await;
    wait(&store, until("keen", "r2", 10, event("k", Matcher::Any))).await;
    assert_eq!(refusal(fire(&store, "late", "1").await), "AWAIT_EXPIRED");
    assert!(is_open(&store, "late").await);
    must(fire(&store, "just", "1").await);
    assert_eq!(woken(&say(&store, signal("k", "{}")).await), ["r2"]);
    assert!(is_open(&store, "deaf").await);
    // What is used is used, whatever the time.
    assert_eq!(refusal(fire(&store, "just", "1").await), "AWAIT_USED");
}

pub async fn a_door_for_many_takes_a_thousand(store: S) {
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", door(true))).await;
    let group = (0..1_000).map(|at| Commit::of(fires("a", &at.to_string())));
    for told in store.commit(group.collect()).await {
        assert_eq!(woken(&must(told)), ["r1"]);
    }
    assert_eq!(refusal(fire(&store, "a", "1").await), "AWAIT_FULL");
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
    assert_eq!(refusal(fire(&store, "a", "1").await), "AWAIT_USED");
}

pub async fn an_event_is_forgotten_and_a_door_closed(store: S) {
    sleepers(&store, &["r1"]).await;
    for (name, what) in [
        ("event", event("k", Matcher::Any)),
        ("fired", event("k2", Matcher::Any)),
        ("door", door(false)),
        ("used", door(false)),
    ] {
        wait(&store, awaits(name, "r1", what)).await;
    }
    must(fire(&store, "fired", "1").await);
    must(fire(&store, "used", "\"v\"").await);
    for name in ["event", "fired", "door", "used", "nobody", "door"] {
        end(&store, name).await;
    }
    assert!(must(store.await_by("event").await).is_none());
    assert!(must(store.await_by("fired").await).is_none());
    assert_eq!(found(&store, "door").await.state, AwaitState::Closed);
    let used = found(&store, "used").await;
    assert_eq!(used.state, AwaitState::Closed);
    assert_eq!(used.values, [json("\"v\"")]);
    assert!(must(store.awaits_of(&id("r1")).await).is_empty());
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.doors), (0, 0));
    assert!(say(&store, signal("k", "{}")).await.woken.is_empty());
}

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
    let told = say(&store, signal("paid", r#"{"data":{"orderId":4711}}"#)).await;
    assert_eq!(woken(&told), ["r1", "r2", "r3"]);
    assert!(!told.signalled);
    for name in ["a", "b", "b2", "c"] {
        let got = found(&store, name).await;
        assert_eq!(got.values, [json(r#"{"data":{"orderId":4711}}"#)]);
        assert_eq!(got.fired_ms, Some(T0 + 10));
    }
    assert_eq!(claim(&store, T0, 10).await.len(), 3);
    for name in ["d", "e", "f"] {
        assert!(is_open(&store, name).await, "{name}");
    }
    // What was fired is left alone.
    let again = signal("paid", r#"{"data":{"orderId":4711,"shop":"x"}}"#);
    assert_eq!(woken(&say(&store, again).await), ["r4"]);
    assert_eq!(found(&store, "a").await.fired, 1);
}

pub async fn equality_is_of_values_not_of_texts(store: S) {
    sleepers(&store, &["r1"]).await;
    let check = async |wanted: &str, given: &str, expected: bool| {
        wait(&store, awaits("a", "r1", equals("k", &[("v", wanted)]))).await;
        let event = format!("{{\"v\":{given}}}");
        let told = say(&store, signal("k", &event)).await;
        assert_eq!(!told.woken.is_empty(), expected, "{wanted} {given}");
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
    let told = must(commit(&store, before).await);
    assert_eq!(woken(&told), ["r1"]);
    assert!(is_open(&store, "b").await);
    // The run may be of the same commit, and so may the decision to park it.
    let born = Commit::of(Change::Create(Box::new(asleep("r3"))))
        .and(waits(awaits("c", "r3", event("new", Matcher::Any))))
        .and(Change::Advance(Box::new(park("r3", NEVER))))
        .and(says(signal("new", "1")));
    assert_eq!(woken(&must(commit(&store, born).await)), ["r3"]);
    assert_eq!(claim(&store, T0, 10).await.len(), 2);
    // An event that is told with its own append.
    let stream = StreamName::new("events", "k");
    let both =
        Commit::of(Change::Append(append(stream.clone(), logs(T0, 1)))).and(says(signal("k", "2")));
    assert_eq!(woken(&must(commit(&store, both).await)), ["r2"]);
    assert_eq!(all_events(&store, &stream).await.len(), 1);
}

pub async fn a_commit_is_judged_by_what_its_changes_leave(store: S) {
    sleepers(&store, &["r1"]).await;
    let any = |name: &str| waits(awaits(name, "r1", event("k", Matcher::Any)));
    let check = async |changes: Vec<Change>, expected: &str| {
        let refused = Commit {
            changes,
            ..Commit::default()
        };
        assert_eq!(refusal(commit(&store, refused).await), expected);
        assert!(must(store.await_by("a").await).is_none());
        assert!(must(store.emitted(None, 0, 10).await).is_empty());
    };
    let said = || says(signal("k", "1"));
    let over = || Change::Unawait("a".into());
    check(vec![any("a"), said(), fires("a", "2")], "AWAIT_USED").await;
    check(
        vec![any("a"), fires("a", "1"), fires("a", "2")],
        "AWAIT_USED",
    )
    .await;
    check(vec![any("a"), over(), fires("a", "1")], "AWAIT_NOT_FOUND").await;
    let shut = waits(awaits("a", "r1", door(false)));
    check(vec![shut, over(), fires("a", "1")], "AWAIT_CLOSED").await;
    let gone = vec![
        any("a"),
        Change::Advance(Box::new(finish("r1"))),
        Change::Delete(id("r1")),
        fires("a", "1"),
    ];
    check(gone, "AWAIT_NOT_FOUND").await;
    let back = NewAwait {
        what: Awaited::Event {
            kind: "k".into(),
            matcher: Matcher::Any,
            lookback_ms: Some(100),
        },
        ..awaits("a", "r1", door(false))
    };
    check(vec![said(), waits(back), fires("a", "1")], "AWAIT_USED").await;
    // And accepted where nothing is in the way.
    let fine = Commit::of(any("a")).and(fires("a", "1"));
    assert_eq!(woken(&must(commit(&store, fine).await)), ["r1"]);
}

pub async fn what_was_fired_is_never_too_late(store: S) {
    sleepers(&store, &["r1"]).await;
    let late = |name: &str, fired: u32| {
        let id = name.into();
        change(&store, Change::Expire { id, fired })
    };
    for (name, what) in [("a", event("k", Matcher::Any)), ("b", door(false))] {
        wait(&store, awaits(name, "r1", what)).await;
        must(fire(&store, name, "1").await);
        assert_eq!(refusal(late(name, 0).await), "CONFLICT");
        assert_eq!(found(&store, name).await.values, [json("1")]);
    }
    // What the run has taken is its own.
    wait(&store, awaits("c", "r1", door(true))).await;
    for value in ["1", "2"] {
        must(fire(&store, "c", value).await);
    }
    assert_eq!(refusal(late("c", 1).await), "CONFLICT");
    must(late("c", 2).await);
    assert_eq!(refusal(fire(&store, "c", "3").await), "AWAIT_USED");
    // One that nobody fired is over, and one that is over stays so.
    wait(&store, awaits("d", "r1", event("k", Matcher::Any))).await;
    must(late("d", 0).await);
    must(late("d", 0).await);
    assert!(must(store.await_by("d").await).is_none());
    // Within a commit as well.
    wait(&store, awaits("e", "r1", event("k2", Matcher::Any))).await;
    let late = Change::Expire {
        id: "e".into(),
        fired: 0,
    };
    let both = Commit::of(says(signal("k2", "{}"))).and(late);
    assert_eq!(refusal(commit(&store, both).await), "CONFLICT");
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
            Ok(told) => assert_eq!((woken(&told), due), (vec![run.as_str()], 1)),
            Err(error) => assert_eq!((error.code(), due), ("AWAIT_NOT_FOUND", 0)),
        }
    }
    assert_eq!(must(store.await_stats().await).events, 0);
}

pub async fn many_who_fire_have_one_winner(store: S) {
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", door(false))).await;
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

pub async fn awaits_go_with_their_run(store: S) {
    sleepers(&store, &["r1", "r2", "r3"]).await;
    for run in ["r1", "r2", "r3"] {
        for (name, what) in [
            ("any", event("k", Matcher::Any)),
            ("equal", equals("k", &[("a", "1")])),
            ("filter", filters("k", &[])),
            ("door", door(false)),
            ("closed", door(false)),
            ("many", door(true)),
        ] {
            wait(&store, awaits(&format!("{run}-{name}"), run, what)).await;
        }
        end(&store, &format!("{run}-closed")).await;
        must(fire(&store, &format!("{run}-many"), "1").await);
    }
    let counts = async || {
        let stats = must(store.await_stats().await);
        (stats.events, stats.doors)
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
    for name in ["any", "equal", "filter", "door", "closed", "many"] {
        assert!(must(store.await_by(&format!("r1-{name}")).await).is_none());
        assert!(must(store.await_by(&format!("r2-{name}")).await).is_none());
        found(&store, &format!("r3-{name}")).await;
    }
    let told = say(&store, signal("k", r#"{"a":1}"#)).await;
    assert_eq!(woken(&told), ["r3"]);
    assert_eq!(
        refusal(fire(&store, "r1-door", "1").await),
        "AWAIT_NOT_FOUND"
    );
    // The id is free, and a new run of the same id has nothing of the old one.
    create(&store, asleep("r1")).await;
    assert!(must(store.awaits_of(&id("r1")).await).is_empty());
    wait(&store, awaits("r1-door", "r1", door(false))).await;
}

pub async fn awaits_are_listed_in_pages(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    for (name, run, what) in [
        ("1", "r1", event("k", Matcher::Any)),
        ("2", "r2", equals("k", &[("a", "1")])),
        ("3", "r1", filters("k", &[])),
        ("4", "r2", event("other", Matcher::Any)),
        ("5", "r1", door(false)),
        ("6", "r1", door(true)),
        ("7", "r2", door(false)),
        ("8", "r2", equals("k", &[("a", "2")])),
    ] {
        wait(&store, awaits(name, run, what)).await;
    }
    must(fire(&store, "6", "1").await);
    must(fire(&store, "2", "1").await);
    end(&store, "7").await;
    let check = async |filter: AwaitFilter, expected: &str| {
        let what = format!("{filter:?}");
        assert_eq!(listed(&store, filter).await.join(""), expected, "{what}");
    };
    let all = AwaitFilter::default;
    let state = |state| AwaitFilter {
        state: Some(state),
        ..all()
    };
    let of = |kind: &str| AwaitFilter {
        kind: Some(kind.into()),
        ..all()
    };
    let doors = AwaitFilter {
        doors: true,
        ..all()
    };
    check(all(), "87654321").await;
    check(state(AwaitState::Open), "85431").await;
    check(state(AwaitState::Fired), "62").await;
    check(state(AwaitState::Closed), "7").await;
    check(of("k"), "8321").await;
    check(of("nothing"), "").await;
    check(of(""), "").await;
    check(doors.clone(), "765").await;
    let run = |filter: AwaitFilter| AwaitFilter {
        run: Some(id("r2")),
        ..filter
    };
    check(run(all()), "8742").await;
    check(run(of("k")), "82").await;
    check(run(doors.clone()), "7").await;
    check(run(state(AwaitState::Open)), "84").await;
    let open = |filter: AwaitFilter| AwaitFilter {
        state: Some(AwaitState::Open),
        ..filter
    };
    check(open(of("k")), "831").await;
    check(open(doors), "5").await;
    let bad = AwaitFilter {
        cursor: Some("nonsense".into()),
        ..all()
    };
    assert_eq!(refusal(store.list_awaits(&bad).await), "BAD_CURSOR");
    // A list says how often, not with what.
    let page = AwaitFilter {
        limit: 10,
        ..state(AwaitState::Fired)
    };
    let page = must(store.list_awaits(&page).await);
    assert!(
        page.items
            .iter()
            .all(|one| one.fired == 1 && one.values.is_empty())
    );
}

pub async fn open_awaits_are_counted_by_kind(store: S) {
    sleepers(&store, &["r1"]).await;
    assert_eq!(must(store.await_stats().await), Default::default());
    for at in 0..3 {
        let what = equals("paid", &[("n", &at.to_string())]);
        wait(&store, awaits(&format!("p{at}"), "r1", what)).await;
    }
    wait(&store, awaits("f", "r1", filters("paid", &[]))).await;
    wait(&store, awaits("s", "r1", event("sent", Matcher::Any))).await;
    wait(&store, awaits("d", "r1", door(true))).await;
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.doors), (5, 1));
    let kind = |kind: &str, open, filters| KindStats {
        kind: kind.into(),
        open,
        filters,
        judging: 0,
    };
    assert_eq!(stats.kinds, [kind("paid", 4, 1), kind("sent", 1, 0)]);
    assert_eq!((stats.judging, stats.judging_since_ms), (0, None));
    say(&store, signal("paid", r#"{"n":1}"#)).await;
    // The filter has yet to judge it.
    let stats = must(store.await_stats().await);
    assert_eq!((stats.judging, stats.judging_since_ms), (1, Some(T0 + 10)));
    let judged = KindStats {
        judging: 1,
        ..kind("paid", 3, 1)
    };
    assert_eq!(stats.kinds, [judged, kind("sent", 1, 0)]);
    must(change(&store, Change::Heard(must(store.signals(0, 1).await)[0].no)).await);
    must(fire(&store, "f", "1").await);
    end(&store, "s").await;
    must(fire(&store, "d", "1").await);
    must(fire(&store, "d", "2").await);
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.doors), (2, 0));
    assert_eq!(stats.kinds, [kind("paid", 2, 0)]);
}

pub async fn the_bus_tells_whom_a_commit_woke(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    let bus = Arc::new(Bus::default());
    let writer = Writer::spawn(store.clone(), bus.clone());
    let (one, two) = (bus.hold(&id("r1")), bus.hold(&id("r2")));
    must(
        writer
            .commit(Commit::of(waits(awaits("a", "r1", door(false)))))
            .await,
    );
    let other = awaits("b", "r2", event("k", Matcher::Any));
    must(writer.commit(Commit::of(waits(other))).await);
    bus.forget_due();
    must(writer.commit(Commit::of(fires("a", "1"))).await);
    one.nudged().await;
    assert_eq!(bus.next_due(), 0);
    bus.forget_due();
    must(writer.commit(Commit::of(says(signal("k", "1")))).await);
    two.nudged().await;
    assert_eq!(bus.next_due(), 0);
    let listen = Change::Listen {
        kind: "k".into(),
        on: true,
    };
    must(writer.commit(Commit::of(listen)).await);
    must(writer.commit(Commit::of(says(signal("k", "1")))).await);
    bus.signals().notified().await;
    // A finished decision that wakes nobody leaves the due time alone.
    bus.forget_due();
    let keep = riverrun_store::Advance {
        job: JobChange::Keep,
        ..advance("r1")
    };
    let told = must(
        writer
            .commit(Commit::of(Change::Advance(Box::new(keep))))
            .await,
    );
    assert!(told.woken.is_empty() && !told.signalled);
    assert_eq!(bus.next_due(), NEVER);
}
