//! From a definition to a diagram.

use riverrun_types::AwaitType;
use serde_json::{Map, Value};

use super::{
    EdgeKind, FlowAwait, FlowDiagram, FlowEdge, FlowNode, NodeKind, events, label::choice,
};
use crate::Catalog;

/// More edges than a reader can use.
const MAX_EDGES: usize = 20_000;
const MAX_EDGE_BYTES: usize = 4 << 20;

pub fn read(definition: &Value, handlers: &dyn Catalog) -> FlowDiagram {
    let text = |key: &str| definition[key].as_str().unwrap_or_default();
    let empty = Map::new();
    let steps = definition["steps"].as_object().unwrap_or(&empty);
    let nodes = steps
        .iter()
        .map(|(name, step)| node(name, step, name == text("initialStepId")));
    let nodes: Vec<FlowNode> = nodes.collect();
    let takers = events::Takers::of(&nodes);
    let mut all = Edges::default();
    for ((name, step), node) in steps.iter().zip(&nodes) {
        let own = edges(name, step, handlers).into_iter();
        all.extend(own.filter(|edge| steps.contains_key(&edge.to)));
        events::edges(node, step, &takers, &mut all);
    }
    let Edges {
        edges, left_out, ..
    } = all;
    FlowDiagram {
        flow: format!("{}@{}", text("id"), text("version")),
        name: definition["name"].as_str().map(str::to_owned),
        outside: events::outside(&nodes),
        nodes,
        edges,
        left_out,
    }
}

/// The edges of a diagram, bounded in number and text: each of a thousand steps may emit what each
/// of a thousand others takes.
#[derive(Default)]
pub(super) struct Edges {
    edges: Vec<FlowEdge>,
    text_bytes: usize,
    left_out: usize,
}

impl Edges {
    /// Whether there is room for one more; if not, it counts as left out.
    pub fn has_room(&mut self) -> bool {
        let is_full = self.is_full();
        self.left_out += usize::from(is_full);
        !is_full
    }

    pub fn is_full(&self) -> bool {
        self.edges.len() >= MAX_EDGES || self.text_bytes >= MAX_EDGE_BYTES
    }

    /// Counts edges for which there is no room.
    pub fn leave_out(&mut self, edges: usize) {
        self.left_out += edges;
    }

    pub fn push(&mut self, edge: FlowEdge) {
        let condition = edge.condition.as_ref().map_or(0, String::len);
        self.text_bytes += edge.from.len() + edge.to.len() + edge.label.len() + condition;
        self.edges.push(edge);
    }

    fn extend(&mut self, edges: impl Iterator<Item = FlowEdge>) {
        for edge in edges {
            if self.has_room() {
                self.push(edge);
            }
        }
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

/// The edges from a step: choices first, then the usual one, then failure.
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
        // A transition that is never taken is left out.
        if kind == EdgeKind::Then && handlers.chooses(handler) {
            continue;
        }
        if let Some(to) = step["transitions"][transition].as_str() {
            found.push(edge(to, label, kind));
        }
    }
    found
}
