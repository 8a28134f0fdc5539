//! The registry of definitions.

use riverrun_store::{Change, Commit, FlowRecord};

use riverrun_types::{ErrorCode, StreamName};

use crate::given::*;

fn flow(id: &str, version: &str, definition: &str) -> FlowRecord {
    FlowRecord {
        id: id.into(),
        version: version.into(),
        definition: json(definition),
        created_ms: T0,
    }
}

pub async fn a_definition_is_kept_for_ever(store: S) {
    let orders = flow(
        "orders",
        "1.0.0",
        r#"{"steps":{"b":1,"a":12345678901234567890}}"#,
    );
    register(&store, orders.clone()).await;
    let got = must(store.flow("orders", "1.0.0").await).expect("it was just registered");
    assert_eq!(got, orders);
    assert_eq!(got.definition.as_str(), orders.definition.as_str());
    assert_eq!(must(store.flow("orders", "2").await), None);
    assert_eq!(must(store.flow("nobody", "1.0.0").await), None);
}

pub async fn the_same_again_is_no_news(store: S) {
    register(&store, flow("f", "1", r#"{"a":1,"b":2}"#)).await;
    let again = FlowRecord {
        created_ms: T0 + 99,
        ..flow("f", "1", r#"{ "b": 2, "a": 1 }"#)
    };
    assert_eq!(
        refusal(change(&store, Change::Register(again)).await),
        ErrorCode::FlowKept
    );
    let got = must(store.flow("f", "1").await).expect("it was registered");
    assert_eq!(got.created_ms, T0);
}

pub async fn another_definition_needs_another_version(store: S) {
    register(&store, flow("f", "1", r#"{"a":1}"#)).await;
    let other = flow("f", "1", r#"{"a":2}"#);
    assert_eq!(
        refusal(change(&store, Change::Register(other)).await),
        ErrorCode::FlowExists
    );
    register(&store, flow("f", "2", r#"{"a":2}"#)).await;
    let got = must(store.flow("f", "1").await).expect("it was registered");
    assert_eq!(got.definition, json(r#"{"a":1}"#));
}

pub async fn all_definitions_are_listed(store: S) {
    assert!(must(store.flows(None).await).is_empty());
    for (id, version) in [("f", "1"), ("f", "2"), ("g", "1")] {
        register(&store, flow(id, version, "{}")).await;
    }
    let mut found: Vec<String> = must(store.flows(None).await)
        .iter()
        .map(|flow| format!("{}@{}", flow.id, flow.version))
        .collect();
    found.sort();
    assert_eq!(found, ["f@1", "f@2", "g@1"]);
}

pub async fn a_definition_and_its_event_are_one_commit(store: S) {
    let registry = StreamName::new("registry", "registry");
    let news = |flow: FlowRecord| {
        Commit::of(Change::Register(flow))
            .and(Change::Append(append(registry.clone(), logs(T0, 1))))
    };
    must(commit(&store, news(flow("f", "1", "{}"))).await);
    for (definition, code) in [
        ("{}", ErrorCode::FlowKept),
        (r#"{"a":1}"#, ErrorCode::FlowExists),
    ] {
        let again = commit(&store, news(flow("f", "1", definition))).await;
        assert_eq!(refusal(again), code);
    }
    assert_eq!(all_events(&store, &registry).await.len(), 1);
    let twice = Commit::of(Change::Register(flow("g", "1", "{}"))).and(Change::Register(flow(
        "g",
        "1",
        r#"{"a":1}"#,
    )));
    assert_eq!(refusal(commit(&store, twice).await), ErrorCode::FlowExists);
    assert_eq!(must(store.flow("g", "1").await), None);
}
