//! Awaits as they are shown and counted.

use riverrun_store::{AwaitFilter, AwaitState, Change, KindStats, Matcher, SignalsOf};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

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

pub async fn awaits_are_listed_in_pages(store: S) {
    sleepers(&store, &["r1", "r2"]).await;
    for (name, run, what) in [
        ("1", "r1", event("k", Matcher::Any)),
        ("2", "r2", equals("k", &[("a", "1")])),
        ("3", "r1", filters("k", &[])),
        ("4", "r2", event("other", Matcher::Any)),
        ("5", "r1", callback(false)),
        ("6", "r1", callback(true)),
        ("7", "r2", callback(false)),
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
    let callbacks = AwaitFilter {
        callbacks: true,
        ..all()
    };
    check(all(), "87654321").await;
    check(state(AwaitState::Open), "85431").await;
    check(state(AwaitState::Fired), "62").await;
    check(state(AwaitState::Closed), "7").await;
    check(of("k"), "8321").await;
    check(of("nothing"), "").await;
    check(of(""), "").await;
    check(callbacks.clone(), "765").await;
    let run = |filter: AwaitFilter| AwaitFilter {
        run: Some(id("r2")),
        ..filter
    };
    check(run(all()), "8742").await;
    check(run(of("k")), "82").await;
    check(run(callbacks.clone()), "7").await;
    check(run(state(AwaitState::Open)), "84").await;
    let open = |filter: AwaitFilter| AwaitFilter {
        state: Some(AwaitState::Open),
        ..filter
    };
    check(open(of("k")), "831").await;
    check(open(callbacks), "5").await;
    let bad = AwaitFilter {
        cursor: Some("nonsense".into()),
        ..all()
    };
    assert_eq!(refusal(store.list_awaits(&bad).await), ErrorCode::BadCursor);
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
    wait(&store, awaits("d", "r1", callback(true))).await;
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.callbacks), (5, 1));
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
    must(
        change(
            &store,
            Change::RemoveSignal(must(store.signals(SignalsOf::All, 0, 1).await)[0].no),
        )
        .await,
    );
    must(fire(&store, "f", "1").await);
    end(&store, "s").await;
    must(fire(&store, "d", "1").await);
    must(fire(&store, "d", "2").await);
    let stats = must(store.await_stats().await);
    assert_eq!((stats.events, stats.callbacks), (2, 0));
    assert_eq!(stats.kinds, [kind("paid", 2, 0)]);
}
