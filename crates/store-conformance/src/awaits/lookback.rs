//! Awaits that look back: an event that came before them counts.

use riverrun_store::{AwaitState, Change, Commit, Fire, Matcher, NewAwait, Signal};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

pub async fn a_look_back_finds_the_earliest(store: S) {
    sleepers(&store, &["r1"]).await;
    for (ms, order, n) in [(100, 1, 1), (500, 1, 2), (700, 1, 3), (800, 2, 4)] {
        let event = format!(r#"{{"order":{order},"n":{n}}}"#);
        say(&store, at(ms, signal("k", &event))).await;
    }
    say(&store, at(900, signal("other", r#"{"order":3}"#))).await;
    let receipt = wait(&store, looking("hit", by_order("1.0"), 500)).await;
    assert_eq!(receipt.woken, [id("r1")]);
    assert!(!receipt.signalled);
    assert_eq!(
        value(&store, "hit").await.as_deref(),
        Some(r#"{"order":1,"n":2}"#)
    );
    assert_eq!(found(&store, "hit").await.state, AwaitState::Fired);
    assert_eq!(claim(&store, T0, 10).await.len(), 1);
    // Further back than any earlier await.
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
    // An await that finds no event waits.
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

pub async fn a_look_back_passes_over_what_was_given(store: S) {
    sleepers(&store, &["r1"]).await;
    let (one, two) = (r#"{"order":1}"#, r#"{"order":1,"n":2}"#);
    // Two of them cannot be distinguished.
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
        // The events for an expression do not include the consumed ones.
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
        Change::Fire(Box::new(Fire {
            id: name.into(),
            value: json("1"),
            now_ms: T0 + 1_000,
            most: None,
        }))
    };
    let all = after("all", &[one, one, two], by_order("1"));
    let fine = Commit::of(Change::Await(Box::new(all))).and(fires("all"));
    must(commit(&store, fine).await);
    let some = after("some", &[one, two], by_order("1"));
    let used = Commit::of(Change::Await(Box::new(some))).and(fires("some"));
    assert_eq!(refusal(commit(&store, used).await), ErrorCode::AwaitUsed);
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
    let receipt = wait(&store, looking("a", by_filter(&[("order", "1")]), 600)).await;
    assert!(receipt.signalled && receipt.woken.is_empty());
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

pub async fn a_look_back_passes_over_all_before_a_time_that_was_given(store: S) {
    sleepers(&store, &["r1"]).await;
    let event =
        |ms: i64| format!(r#"{{"id":"{ms}-0","runId":"global","flowName":"global","order":1}}"#);
    for ms in [T0 + 500, T0 + 600, T0 + 700] {
        say(&store, at(ms - T0, signal("k", &event(ms)))).await;
    }
    let table = [
        (T0 + 500, Some(500)),
        (T0 + 501, Some(600)),
        (T0 + 600, Some(600)),
        (T0 + 701, None),
    ];
    for (no, (before_ms, expected)) in table.into_iter().enumerate() {
        let expected = expected.map(|ms| event(T0 + ms));
        let after = |name: &str, matcher: Matcher| NewAwait {
            given: vec![riverrun_types::event::before(before_ms)],
            ..looking(name, matcher, 900)
        };
        let name = format!("a{no}");
        wait(&store, after(&name, by_order("1"))).await;
        assert_eq!(value(&store, &name).await, expected, "{before_ms}");
        let name = format!("f{no}");
        wait(&store, after(&name, by_filter(&[("order", "1")]))).await;
        let posted = outbox(&store).await.into_iter();
        let mut posted = posted.filter(|it| it.only.as_deref() == Some(&*name));
        let first = posted.next().map(|it| it.emit.event.as_str().to_owned());
        assert_eq!(first, expected, "{before_ms}");
    }
}

pub async fn a_filter_looks_back_on_all_however_many(store: S) {
    sleepers(&store, &["r1"]).await;
    let (count, same) = (1_200, r#"{"order":1}"#);
    // The first and the last cannot be distinguished.
    let event = |n: i64| match n == 0 || n == count - 1 {
        true => same.to_owned(),
        false => format!(r#"{{"order":1,"n":{n}}}"#),
    };
    for n in 0..count {
        say(&store, at(n / 2, signal("k", &event(n)))).await;
    }
    let looks = NewAwait {
        created_ms: T0 + count,
        given: vec![json(same)],
        ..looking("a", by_filter(&[("order", "1")]), count)
    };
    wait(&store, looks).await;
    let mut seen = Vec::new();
    loop {
        let page = outbox(&store).await;
        if page.is_empty() {
            break;
        }
        assert!(page.len() < 1_000, "the outbox has some at a time");
        for signal in page {
            assert_eq!(signal.only.as_deref(), Some("a"));
            seen.push(signal.emit.event.as_str().to_owned());
            must(change(&store, Change::RemoveSignal(signal.no)).await);
        }
    }
    let expected: Vec<String> = (1..count).map(event).collect();
    assert_eq!(
        seen, expected,
        "in order, each once, without what was given"
    );
    // An ended await needs no further signals.
    let looks = NewAwait {
        created_ms: T0 + count,
        ..looking("b", by_filter(&[("order", "1")]), count)
    };
    wait(&store, looks).await;
    must(change(&store, Change::Unawait("b".into())).await);
    for signal in outbox(&store).await {
        must(change(&store, Change::RemoveSignal(signal.no)).await);
    }
    assert!(outbox(&store).await.is_empty());
}
