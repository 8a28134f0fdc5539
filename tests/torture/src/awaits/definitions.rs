//! The flows whose runs wait, the routes that start them, and the schedules and events that start
//! others.

use serde_json::{Value, json};

use super::wish::{DECLARED_TIMEOUT_MS, Shape, TAG};
use crate::Server;

/// The schedules, their configs and how far apart their due times are. Those that make up for all
/// that was missed leave none out.
pub const SCHEDULES: [(&str, &str, i64); 4] = [
    (
        "every-all",
        r#"{"everyMs": 400, "missed": "all", "maxMissed": 1000}"#,
        400,
    ),
    ("every-once", r#"{"everyMs": 300, "missed": "once"}"#, 300),
    (
        "cron-all",
        r#"{"cron": "* * * * * *", "missed": "all", "maxMissed": 1000}"#,
        1_000,
    ),
    (
        "cron-once",
        r#"{"cron": "*/2 * * * * *", "missed": "once"}"#,
        2_000,
    ),
];

/// The trigger that starts a run for each event of its kind.
pub const PINGED: &str = "pinged";

/// The steps that are executables.
pub const TOOLS: [&str; 3] = ["weigh", "event", "callback"];

pub async fn register(server: &Server) -> Result<(), String> {
    for flow in flows() {
        server.post("/api/flows", &flow).await?;
    }
    for (id, config, _) in SCHEDULES {
        let config: Value = serde_json::from_str(config).map_err(|error| error.to_string())?;
        let schedule = json!({"id": id, "type": "schedule", "flow": "tick", "config": config, "inputMap": "({due: tick.dueMs})"});
        server.post("/api/triggers", &schedule).await?;
    }
    for shape in Shape::ALL {
        let flow = shape.flow();
        let route = json!({
            "id": shape.route(), "type": "http", "flow": flow, "tags": [TAG],
            "config": {"path": format!("/{flow}/:key")},
            "inputMap": "({key: request.params.key, plan: request.body.plan})",
            "idempotencyKey": "request.params.key",
        });
        server.post("/api/triggers", &route).await?;
    }
    let pinged =
        json!({"id": PINGED, "type": "event", "flow": "tick", "config": {"kind": "torture.ping"}});
    server.post("/api/triggers", &pinged).await?;
    Ok(())
}

fn flows() -> Vec<Value> {
    let flow = |id: &str, first: &str, steps: Value| json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
    let process = |name: &str, more: Value| {
        let mut step =
            json!({"type": "process", "config": {"process": name}, "input": {"type": "full"}});
        if let (Some(step), Value::Object(more)) = (step.as_object_mut(), more) {
            step.extend(more);
        }
        step
    };
    let saga = |more: Value| {
        let mut step = process("torture-saga", more);
        if step.get("subscriptions").is_some() {
            step.as_object_mut().map(|step| step.remove("input"));
        }
        step
    };
    let tool = |step: &str, more: Value| {
        let mut tool = process("torture-tool", more);
        tool["outputKey"] = step.into();
        tool["input"] = json!({"type": "template", "template": {"key": "${key}", "step": step}});
        tool
    };
    let event = json!({"type": "event", "eventKind": "torture.paid", "match": {"data.key": "input.key", "data.at": {"value": 0}}, "lookback": 600_000});
    let callback = json!({"type": "trigger", "timeout": DECLARED_TIMEOUT_MS, "onTimeout": "late"});
    vec![
        flow(
            "tick",
            "a",
            json!({"a": {"type": "set", "config": {"value": true}, "outputKey": "done"}}),
        ),
        flow(
            "code",
            "a",
            json!({"a": process("torture-code", json!({}))}),
        ),
        flow(
            "declared",
            "event",
            json!({
                "event": process("torture-arrived", json!({"await": event, "outputKey": "event", "transitions": {"onSuccess": "callback"}})),
                "callback": process("torture-arrived", json!({"await": callback, "outputKey": "callback", "transitions": {"onSuccess": "nap"}})),
                "late": {"type": "set", "config": {"value": {"late": true}}, "outputKey": "callback", "transitions": {"onSuccess": "nap"}},
                "nap": process("torture-arrived", json!({"await": {"type": "time", "delay": 30}})),
            }),
        ),
        flow(
            "tools",
            "weigh",
            json!({
                "weigh": tool("weigh", json!({"transitions": {"onSuccess": "event"}})),
                "event": tool("event", json!({"await": event, "transitions": {"onSuccess": "callback"}})),
                "callback": tool("callback", json!({"await": callback})),
                "late": {"type": "set", "config": {"value": {"late": true}}, "outputKey": "callback"},
            }),
        ),
        flow(
            "branches",
            "fan",
            json!({
                "fan": {"type": "parallel", "config": {"branches": ["nap", "callback", "event"]}, "outputKey": "fan"},
                "nap": {"type": "delay", "config": {"ms": 80}},
                "callback": {"type": "set", "config": {"value": {"came": true}}, "await": callback},
                "late": {"type": "set", "config": {"value": {"late": true}}},
                "event": {"type": "set", "config": {"value": {"came": true}}, "input": {"type": "full"}, "await": {
                    "type": "event", "eventKind": "torture.paid",
                    "where": "(event, ctx) => event.data.key === ctx.input.key && event.data.n >= 0",
                }},
            }),
        ),
        flow(
            "saga",
            "order",
            json!({
                "order": saga(json!({"emits": ["torture.stock", "torture.card"], "compensation": {"step": "undo"}})),
                "pack": saga(json!({
                    "subscriptions": [{"eventKind": "torture.stock"}, {"eventKind": "torture.card"}], "join": "all",
                    "emits": ["torture.packed"], "compensation": {"step": "undo"},
                })),
                "ship": saga(json!({"subscriptions": [{"eventKind": "torture.packed"}]})),
                "undo": process("torture-saga", json!({})),
            }),
        ),
    ]
}
