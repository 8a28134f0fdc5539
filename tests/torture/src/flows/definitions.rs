//! Flows of every shape, with effects that can be counted: each run is given its own `key`.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::Server;

/// The flows, and how many effects a run of each must have had at least.
pub const FLOWS: &[(&str, &[&str])] = &[
    ("pure", &[]),
    ("effect", &["one"]),
    ("nap", &["before", "after"]),
    ("fan", &["left", "right", "item-0", "item-1", "item-2"]),
    ("parent", &["one"]),
    ("loop", &["round"]),
];

pub async fn register(server: &Server, effects: SocketAddr) -> Result<(), String> {
    for flow in definitions(effects) {
        server.post("/api/flows", &flow).await?;
    }
    Ok(())
}

fn definitions(effects: SocketAddr) -> Vec<Value> {
    let http = |name: &str, next: Option<&str>| {
        json!({
            "type": "http",
            "config": {"method": "POST", "url": format!("http://{effects}/effect/${{key}}.{name}")},
            "input": {"type": "full"},
            "outputKey": format!("did.{name}"),
            "retry": {"maxAttempts": 20, "backoffMs": 20},
            "transitions": {"onSuccess": next},
        })
    };
    let set = |key: &str, next: Option<&str>| json!({"type": "set", "config": {"value": {"of": "${key}"}}, "outputKey": key, "transitions": {"onSuccess": next}});
    let delay = |ms: u64, next: &str| json!({"type": "delay", "config": {"ms": ms}, "transitions": {"onSuccess": next}});
    let flow = |id: &str, first: &str, steps: Value| json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
    vec![
        flow(
            "pure",
            "a",
            json!({"a": set("a", Some("b")), "b": set("b", Some("c")), "c": set("c", None)}),
        ),
        flow(
            "effect",
            "a",
            json!({"a": set("a", Some("one")), "one": http("one", Some("z")), "z": set("z", None)}),
        ),
        flow(
            "nap",
            "before",
            json!({
                "before": http("before", Some("nap")),
                "nap": delay(80, "after"),
                "after": http("after", None),
            }),
        ),
        flow(
            "fan",
            "fan",
            json!({
                "fan": {"type": "parallel", "config": {"branches": ["left", "right"]}, "outputKey": "fan", "transitions": {"onSuccess": "each"}},
                "left": http("left", None),
                "right": delay(20, "right2"),
                "right2": http("right", None),
                "each": {"type": "map", "config": {"step": "item", "concurrency": 2}, "input": {"type": "static", "value": [0, 1, 2]}, "outputKey": "each"},
                "item": http("item-${index}", None),
            }),
        ),
        flow(
            "parent",
            "sub",
            json!({
                "sub": {"type": "sub-flow", "config": {"flowId": "effect"}, "input": {"type": "keys", "keys": ["key"]}, "outputKey": "child", "transitions": {"onSuccess": "z"}},
                "z": set("z", None),
            }),
        ),
        flow(
            "loop",
            "count",
            json!({
                "count": {"type": "transform", "config": {"transform": "(input ?? 0) + 1"}, "input": {"type": "key", "key": "n"}, "outputKey": "n", "transitions": {"onSuccess": "round"}},
                "round": http("round", Some("more")),
                "more": {"type": "branch", "config": {"conditions": [{"path": "n", "op": "lt", "value": 4, "goto": "count"}], "default": "z"}},
                "z": set("z", None),
            }),
        ),
    ]
}
