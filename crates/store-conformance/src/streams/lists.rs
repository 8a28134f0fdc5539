//! Lists of streams that are no run's.

use riverrun_store::Change;
use riverrun_types::{ErrorCode, StreamName};

use crate::given::*;

async fn put(store: &S, kind: &str, name: &str, ms: i64, count: usize) {
    let stream = StreamName::new(kind, name);
    must(change(store, Change::Append(append(stream, logs(T0 + ms, count)))).await);
}

async fn listed(store: &S, kind: &str, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = must(store.list_streams(kind, limit, cursor.as_deref()).await);
        assert!(page.items.len() <= limit);
        found.extend(page.items.iter().map(|info| info.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

pub async fn streams_are_listed_newest_first(store: S) {
    put(&store, "webhook", "a", 0, 1).await;
    put(&store, "webhook", "b", 10, 2).await;
    put(&store, "webhook", "a", 20, 3).await;
    let page = must(store.list_streams("webhook", 10, None).await);
    assert_eq!(page.next, None);
    let [b, a] = &page.items[..] else {
        panic!("two streams, not {:?}", page.items);
    };
    assert_eq!(
        (&*b.id, b.len, b.created_ms, b.updated_ms),
        ("b", 2, T0 + 10, T0 + 11)
    );
    assert_eq!(
        (&*a.id, a.len, a.created_ms, a.updated_ms),
        ("a", 4, T0, T0 + 22)
    );
}

pub async fn pages_of_streams(store: S) {
    for at in 0..11 {
        put(&store, "call", &format!("c{at:02}"), at, 1).await;
    }
    let expected: Vec<String> = (0..11).rev().map(|at| format!("c{at:02}")).collect();
    for limit in [1, 3, 11, 12] {
        assert_eq!(listed(&store, "call", limit).await, expected);
    }
    for text in ["", "x", "-1"] {
        let refused = store.list_streams("call", 1, Some(text)).await;
        assert_eq!(refusal(refused), ErrorCode::BadCursor);
    }
}

pub async fn runs_are_not_listed_as_streams(store: S) {
    create(&store, run("r1")).await;
    assert!(listed(&store, "flow", 10).await.is_empty());
    assert!(listed(&store, "f", 10).await.is_empty());
}

pub async fn kinds_do_not_mix(store: S) {
    put(&store, "webhook", "a", 0, 1).await;
    put(&store, "trigger", "a", 0, 1).await;
    put(&store, "trigger", "b", 0, 1).await;
    assert_eq!(listed(&store, "webhook", 10).await, ["a"]);
    assert_eq!(listed(&store, "trigger", 10).await, ["b", "a"]);
    assert!(listed(&store, "global", 10).await.is_empty());
}
