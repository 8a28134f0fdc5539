//! The outbox: events that only an expression can judge, and those who wait for its word.

use riverrun_store::{Change, Commit, Matcher, NewAwait, Signal, SignalLane, SignalsOf};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

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
        let own = must(store.signals(SignalsOf::Lane(&lane), 0, 10).await);
        assert_eq!(own, std::slice::from_ref(signal));
        assert!(must(store.signals(SignalsOf::Lane(&lane), signal.no, 10).await).is_empty());
        let other = SignalLane {
            tenant: Some("bolt".into()),
            ..lane
        };
        assert!(must(store.signals(SignalsOf::Lane(&other), 0, 10).await).is_empty());
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
    assert_eq!(refusal(bad), ErrorCode::BadCursor);
    let page = must(store.candidates(&out, 1, None).await);
    assert_eq!(page.items[0].what, filters("k", &[]));
}

pub async fn an_event_that_very_many_wait_for_is_delivered_in_parts(store: S) {
    sleepers(&store, &["r1"]).await;
    let count = Signal::MAX_FIRED + 3;
    let new = |at: usize| waits(awaits(&format!("a{at}"), "r1", event("k", Matcher::Any)));
    for receipt in commit_all(&store, (0..count).map(new).map(Commit::of)).await {
        must(receipt);
    }
    let receipt = say(&store, signal("k", "1")).await;
    assert_eq!(receipt.woken, [id("r1")]);
    assert!(receipt.signalled);
    assert_eq!(must(store.await_stats().await).events, 3);
    let out = outbox(&store).await.remove(0);
    let left = candidates(&store, &out, 2).await;
    assert_eq!(left.len(), 3);
    for name in &left {
        must(change(&store, fires(name, "1")).await);
    }
    assert_eq!(must(store.await_stats().await).events, 0);
}

pub async fn later_events_do_not_overtake_one_that_is_delivered_in_parts(store: S) {
    sleepers(&store, &["r1"]).await;
    let count = Signal::MAX_FIRED + 2;
    let new = |at: usize| waits(awaits(&format!("a{at}"), "r1", event("k", Matcher::Any)));
    let all = (0..count).map(new).map(Commit::of);
    for receipt in commit_all(&store, all).await {
        must(receipt);
    }
    wait(&store, awaits("other", "r1", event("k2", Matcher::Any))).await;
    say(&store, signal("k", "1")).await;
    wait(&store, awaits("after", "r1", event("k", Matcher::Any))).await;
    let second = say(&store, signal("k", "2")).await;
    assert!(second.signalled && second.woken.is_empty());
    assert!(is_open(&store, "after").await);
    say(&store, signal("k2", "2")).await;
    assert!(!is_open(&store, "other").await, "other kinds go on");
    let out = outbox(&store).await;
    let first = candidates(&store, &out[0], 10).await;
    assert_eq!(first.len(), 2);
    for name in &first {
        must(change(&store, fires(name, "1")).await);
    }
    must(change(&store, Change::RemoveSignal(out[0].no)).await);
    assert_eq!(candidates(&store, &out[1], 10).await, ["after"]);
    must(change(&store, fires("after", "2")).await);
    must(change(&store, Change::RemoveSignal(out[1].no)).await);
    wait(&store, awaits("last", "r1", event("k", Matcher::Any))).await;
    say(&store, signal("k", "3")).await;
    assert!(!is_open(&store, "last").await, "nothing is before it");
}

pub async fn what_is_yet_to_be_judged_is_never_too_late(store: S) {
    sleepers(&store, &["r1"]).await;
    let until = |ms, new: NewAwait| NewAwait {
        expires_ms: Some(T0 + ms),
        ..new
    };
    for (name, what) in [
        ("a", filters("k", &[])),
        ("b", equals("k", &[("order", "9")])),
        ("c", filters("k2", &[])),
    ] {
        wait(&store, until(100, awaits(name, "r1", what))).await;
    }
    let acme = NewAwait {
        tenant: Some("acme".into()),
        ..until(100, awaits("d", "r1", filters("k", &[])))
    };
    wait(&store, acme).await;
    wait(&store, awaits("open", "r1", filters("k", &[]))).await;
    let bolt = Signal {
        tenant: Some("bolt".into()),
        ..at(50, signal("k", "{}"))
    };
    say(&store, bolt).await;
    say(&store, at(60, signal("k", "{}"))).await;
    say(&store, at(101, signal("k", "{}"))).await;
    let out = outbox(&store).await;
    assert_eq!(out.len(), 3);
    let for_it = async |name: &str, after: u64| {
        let signals = must(store.signals(SignalsOf::Await(name), after, 10).await);
        signals.iter().map(|it| it.no).collect::<Vec<u64>>()
    };
    assert_eq!(for_it("a", 0).await, [out[0].no, out[1].no]);
    assert_eq!(for_it("a", out[0].no).await, [out[1].no]);
    assert_eq!(for_it("d", 0).await, [out[1].no]);
    for name in ["b", "c", "nobody"] {
        assert!(for_it(name, 0).await.is_empty(), "{name}");
    }
    let late = |name: &str, judged: u64| change(&store, expires(name.into(), 0, judged));
    assert_eq!(refusal(late("a", 0).await), ErrorCode::Conflict);
    assert_eq!(refusal(late("a", out[0].no).await), ErrorCode::Conflict);
    assert_eq!(refusal(late("d", 0).await), ErrorCode::Conflict);
    for (name, judged) in [("a", out[1].no), ("b", 0), ("c", 0), ("d", out[1].no)] {
        must(late(name, judged).await);
        assert!(must(store.await_by(name).await).is_none());
    }
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

pub async fn the_outbox_keeps_its_order_until_signals_are_removed(store: S) {
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
    assert_eq!(
        must(store.signals(SignalsOf::All, out[1].no, 2).await),
        out[2..4]
    );
    let remove = |no| change(&store, Change::RemoveSignal(no));
    for at in [4, 1, 1] {
        must(remove(out[at].no).await);
    }
    must(remove(0).await);
    must(remove(u64::MAX).await);
    let left: Vec<u64> = outbox(&store)
        .await
        .iter()
        .map(|signal| signal.no)
        .collect();
    assert_eq!(left, [out[0].no, out[2].no, out[3].no]);
    // Numbers are never given twice, so a reader that remembers the last one misses no signal.
    for no in left {
        must(remove(no).await);
    }
    say(&store, signal("k", "5")).await;
    let next = must(store.signals(SignalsOf::All, out[4].no, 10).await);
    assert_eq!(next.len(), 1);
    // The decision about a signal and its removal are one commit.
    sleepers(&store, &["r1"]).await;
    wait(&store, awaits("a", "r1", filters("k", &[]))).await;
    let lost = Commit::of(Change::RemoveSignal(next[0].no)).and(fires("nobody", "1"));
    assert_eq!(
        refusal(commit(&store, lost).await),
        ErrorCode::AwaitNotFound
    );
    assert_eq!(outbox(&store).await, next);
    let done = Commit::of(Change::RemoveSignal(next[0].no)).and(fires("a", "1"));
    must(commit(&store, done).await);
    assert!(outbox(&store).await.is_empty());
}
