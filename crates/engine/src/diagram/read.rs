//! From a definition to a diagram.

use riverrun_types::AwaitType;
use serde_json::{Map, Value};

use super::{
    EdgeKind, FlowAwait, FlowDiagram, FlowEdge, FlowNode, NodeKind, events, label::choice,
};
use crate::Catalog;

pub fn read(definition: &Value, handlers: &dyn Catalog) -> FlowDiagram {
    let text = |key: &str| definition[key].as_str().unwrap_or_default();
    let empty = Map::new();
    let steps = definition["steps"].as_object().unwrap_or(&empty);
    let nodes = steps
        .iter()
        .map(|(name, step)| node(name, step, name == text("initialStepId")));
    let nodes: Vec<FlowNode> = nodes.collect();
    let takers = events::Takers::of(&nodes);
    let edges = steps
        .iter()
        .zip(&nodes)
        .flat_map(|((name, step), node)| {
            let mut found = edges(name, step, handlers);
            found.extend(events::edges(node, step, &takers));
            found
        })
        .filter(|edge| steps.contains_key(&edge.to))
        .collect();
    FlowDiagram {
        flow: format!("{}@{}", text("id"), text("version")),
        name: definition["name"].as_str().map(str::to_owned),
        outside: events::outside(&nodes),
        nodes,
        edges,
    }
}

fn node(id: &str, step: &Value, initial: bool) -> FlowNode {
    let handler = step["type"].as_str().unwrap_or_default();
    let delay = || {
        (handler == "delay").then(|| FlowAwait {
            delay: step["config"].get("ms").cloned(),
            until: step["config"].get("until").cloned(),
            ..FlowAwait::of(AwaitType::Time)
        })
    };
    let wait = events::wait(step).or_else(delay);
    FlowNode {
        id: id.to_owned(),
        kind: match wait {
            Some(_) => NodeKind::AwaitStep,
            None => NodeKind::Step,
        },
        handler: handler.to_owned(),
        name: step["name"].as_str().map(str::to_owned),
        initial,
        wait,
        emits: events::emits(step),
        subscriptions: events::subscriptions(step),
        join: events::join(step),
        compensation: events::compensation(step),
    }
}

/// What leads away from a step: choices first, then what usually follows, then failure.
fn edges(from: &str, step: &Value, handlers: &dyn Catalog) -> Vec<FlowEdge> {
    let edge = |to: &str, label: &str, kind| FlowEdge {
        from: from.to_owned(),
        to: to.to_owned(),
        label: label.to_owned(),
        kind,
        condition: None,
        timeout: None,
    };
    let handler = step["type"].as_str().unwrap_or_default();
    let config = &step["config"];
    let kind = match handler {
        "parallel" | "map" => EdgeKind::Inside,
        _ => EdgeKind::Choice,
    };
    let mut found: Vec<FlowEdge> = handlers
        .targets(handler, config)
        .into_iter()
        .map(|(path, to)| {
            let (label, condition) = choice(config, &path, handler);
            FlowEdge {
                condition,
                ..edge(&to, &label, kind)
            }
        })
        .collect();
    for (transition, label, kind) in [
        ("onSuccess", "then", EdgeKind::Then),
        ("onResume", "resumed", EdgeKind::Await),
        ("onFailure", "failed", EdgeKind::Failure),
    ] {
        // A way that is never taken is none.
        if kind == EdgeKind::Then && handlers.chooses(handler) {
            continue;
        }
        if let Some(to) = step["transitions"][transition].as_str() {
            found.push(edge(to, label, kind));
        }
    }
    found
}
