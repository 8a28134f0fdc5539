//! The registry of definitions.

use riverrun_store::{FlowRecord, Registered};

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
    assert_eq!(must(store.register(orders.clone()).await), Registered::New);
    let got = must(store.flow("orders", "1.0.0").await).expect("it was just registered");
    assert_eq!(got, orders);
    assert_eq!(got.definition.as_str(), orders.definition.as_str());
    assert_eq!(must(store.flow("orders", "2").await), None);
    assert_eq!(must(store.flow("nobody", "1.0.0").await), None);
}

pub async fn the_same_again_is_no_news(store: S) {
    must(store.register(flow("f", "1", r#"{"a":1,"b":2}"#)).await);
    let again = FlowRecord {
        created_ms: T0 + 99,
        ..flow("f", "1", r#"{ "b": 2, "a": 1 }"#)
    };
    assert_eq!(must(store.register(again).await), Registered::Same);
    let got = must(store.flow("f", "1").await).expect("it was registered");
    assert_eq!(got.created_ms, T0);
}

pub async fn another_definition_needs_another_version(store: S) {
    must(store.register(flow("f", "1", r#"{"a":1}"#)).await);
    let other = flow("f", "1", r#"{"a":2}"#);
    assert_eq!(refusal(store.register(other).await), "FLOW_EXISTS");
    must(store.register(flow("f", "2", r#"{"a":2}"#)).await);
    let got = must(store.flow("f", "1").await).expect("it was registered");
    assert_eq!(got.definition, json(r#"{"a":1}"#));
}

pub async fn all_definitions_are_listed(store: S) {
    assert!(must(store.flows().await).is_empty());
    for (id, version) in [("f", "1"), ("f", "2"), ("g", "1")] {
        must(store.register(flow(id, version, "{}")).await);
    }
    let mut found: Vec<String> = must(store.flows().await)
        .iter()
        .map(|flow| format!("{}@{}", flow.id, flow.version))
        .collect();
    found.sort();
    assert_eq!(found, ["f@1", "f@2", "g@1"]);
}
