//! A flow as a graph: its steps and what leads from one to the next.

mod mermaid;
mod text;

use std::collections::HashMap;

use riverrun_engine::Catalog;
use serde_json::{Value, json};

pub use mermaid::mermaid;
pub use text::text;

pub struct Graph {
    pub title: String,
    pub nodes: Vec<Node>,
    /// In the order of the steps that they lead away from.
    pub edges: Vec<Edge>,
    pub initial: Option<usize>,
}

pub struct Node {
    pub name: String,
    /// The handler.
    pub kind: String,
}

pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub label: String,
    pub way: Way,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// What usually comes next.
    Then,
    /// What comes next if something holds.
    Choice,
    /// What runs inside the step, before it ends.
    Inside,
    /// What comes next if the step fails.
    Failure,
}

impl Graph {
    /// Reads a definition that has passed validation; what is not as it should be is left out.
    pub fn of(definition: &Value, handlers: &dyn Catalog) -> Self {
        let text = |key: &str| definition[key].as_str().unwrap_or_default();
        let empty = serde_json::Map::new();
        let steps = definition["steps"].as_object().unwrap_or(&empty);
        let index: HashMap<&str, usize> = steps
            .keys()
            .enumerate()
            .map(|(at, name)| (name.as_str(), at))
            .collect();
        let nodes = steps.iter().map(|(name, step)| Node {
            name: name.clone(),
            kind: step["type"].as_str().unwrap_or_default().to_owned(),
        });
        let edges = steps.values().enumerate().flat_map(|(from, step)| {
            edges(step, handlers)
                .into_iter()
                .filter_map(|(target, label, way)| {
                    let to = *index.get(target.as_str())?;
                    Some(Edge {
                        from,
                        to,
                        label,
                        way,
                    })
                })
                .collect::<Vec<_>>()
        });
        let mut title = format!("{}@{}", text("id"), text("version"));
        if let Some(name) = definition["name"].as_str() {
            title.push_str(&format!("  {name}"));
        }
        Self {
            title,
            nodes: nodes.collect(),
            edges: edges.collect(),
            initial: index.get(text("initialStepId")).copied(),
        }
    }

    pub fn to_json(&self) -> Value {
        let name = |at: usize| self.nodes[at].name.as_str();
        let nodes = self
            .nodes
            .iter()
            .map(|node| json!({"id": node.name, "type": node.kind}));
        let edges = self.edges.iter().map(|edge| {
            let way = format!("{:?}", edge.way).to_lowercase();
            json!({"from": name(edge.from), "to": name(edge.to), "label": edge.label, "way": way})
        });
        json!({
            "title": self.title,
            "initial": self.initial.map(name),
            "nodes": nodes.collect::<Vec<_>>(),
            "edges": edges.collect::<Vec<_>>(),
        })
    }

    pub fn out(&self, node: usize) -> &[Edge] {
        let begin = self.edges.partition_point(|edge| edge.from < node);
        let end = self.edges.partition_point(|edge| edge.from <= node);
        &self.edges[begin..end]
    }
}

/// What leads away from a step: choices first, then what usually follows, then failure.
fn edges(step: &Value, handlers: &dyn Catalog) -> Vec<(String, String, Way)> {
    let kind = step["type"].as_str().unwrap_or_default();
    let config = &step["config"];
    let inside = matches!(kind, "parallel" | "map");
    let way = if inside { Way::Inside } else { Way::Choice };
    let mut found: Vec<(String, String, Way)> = handlers
        .targets(kind, config)
        .into_iter()
        .map(|(path, target)| (target, choice(config, &path, kind), way))
        .collect();
    for (key, label, way) in [
        ("onSuccess", "", Way::Then),
        ("onResume", "resumed", Way::Then),
        ("onFailure", "failed", Way::Failure),
    ] {
        if let Some(target) = step["transitions"][key].as_str() {
            found.push((target.to_owned(), label.to_owned(), way));
        }
    }
    found
}

/// What a target's place in the config means: a condition, a case, a branch.
fn choice(config: &Value, path: &str, kind: &str) -> String {
    let parts: Vec<&str> = path.split('.').collect();
    match parts.as_slice() {
        ["default"] => "otherwise".to_owned(),
        ["conditions", index, ..] => condition(
            index
                .parse()
                .ok()
                .map_or(&Value::Null, |i: usize| &config["conditions"][i]),
        ),
        ["cases", case @ ..] => case.join("."),
        ["branches", ..] => "branch".to_owned(),
        ["step"] if kind == "map" => "each".to_owned(),
        _ => path.to_owned(),
    }
}

fn condition(condition: &Value) -> String {
    let text = |key: &str| condition[key].as_str().unwrap_or_default();
    let label = match condition.get("when").and_then(Value::as_str) {
        Some(when) => when.to_owned(),
        None => match condition.get("value") {
            Some(value) => format!("{} {} {value}", text("path"), text("op")),
            None => format!("{} {}", text("path"), text("op")),
        },
    };
    crate::output::shorten(&label, 40)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use riverrun_runtime::Handlers;

    pub fn example() -> Graph {
        let definition = json!({"id": "order", "version": "1.2.0", "name": "An order", "initialStepId": "who", "steps": {
            "who": {"type": "branch", "config": {"conditions": [{"path": "vip", "op": "eq", "value": true, "goto": "rest"}], "default": "both"}},
            "rest": {"type": "delay", "config": {"ms": 5}, "transitions": {"onResume": "pay"}},
            "both": {"type": "parallel", "config": {"branches": ["loud", "back"]}, "transitions": {"onSuccess": "pay"}},
            "loud": {"type": "transform", "config": {"transform": "upper"}, "transitions": {}},
            "back": {"type": "transform", "config": {"transform": "lower"}},
            "pay": {"type": "http", "config": {"url": "https://x"}, "transitions": {"onSuccess": "again", "onFailure": "sorry"}},
            "again": {"type": "switch", "config": {"path": "left", "cases": {"yes": "who"}, "default": "done"}},
            "sorry": {"type": "log", "config": {"message": "sorry \"you\""}},
            "done": {"type": "log", "config": {"message": "done"}},
            "lost": {"type": "log", "config": {"message": "?"}},
        }});
        Graph::of(
            &definition,
            &Handlers::new(riverrun_handlers::all(riverrun::HandlerOptions::default())),
        )
    }

    #[test]
    fn every_way_is_an_edge() {
        let graph = example();
        let shown: Vec<String> = graph
            .edges
            .iter()
            .map(|edge| {
                let name = |at: usize| graph.nodes[at].name.as_str();
                format!("{} -{}-> {}", name(edge.from), edge.label, name(edge.to))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "who -vip eq true-> rest",
                "who -otherwise-> both",
                "rest -resumed-> pay",
                "both -branch-> loud",
                "both -branch-> back",
                "both --> pay",
                "pay --> again",
                "pay -failed-> sorry",
                "again -yes-> who",
                "again -otherwise-> done",
            ]
        );
        assert_eq!(graph.initial, Some(0));
    }

    #[test]
    fn nonsense_has_no_graph() {
        for definition in [
            json!(null),
            json!({"steps": []}),
            json!({"steps": {"a": 1}}),
        ] {
            let graph = Graph::of(&definition, &Handlers::default());
            assert!(graph.edges.is_empty());
            text(&graph);
            mermaid(&graph);
        }
    }
}
