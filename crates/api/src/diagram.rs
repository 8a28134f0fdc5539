//! A flow as nodes and edges, as Mermaid, and as a drawing in text.

use std::fmt::Write as _;

use riverrun_engine::Catalog;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What leads where in a flow.
#[derive(Debug, Serialize, ToSchema)]
pub struct Diagram {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Node {
    /// The step's name in the definition.
    pub id: String,
    /// `step`, or `await-step` where it waits.
    pub r#type: &'static str,
    /// The type of its handler.
    pub handler: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Whether runs begin here.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub initial: bool,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Edge {
    pub from: String,
    pub to: String,
    /// Why the run goes there: `success`, `failure`, `resume`, or the place in the step's config.
    pub label: String,
    /// `transition`, or `config` where the handler chooses.
    pub r#type: &'static str,
}

impl Diagram {
    /// Reads a definition. What is wrong with it is left out.
    pub fn of(definition: &Value, handlers: &dyn Catalog) -> Self {
        let empty = Map::new();
        let steps = definition
            .get("steps")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let initial = definition.get("initialStepId").and_then(Value::as_str);
        let mut diagram = Self {
            nodes: Vec::with_capacity(steps.len()),
            edges: Vec::new(),
        };
        for (name, step) in steps {
            let handler = step.get("type").and_then(Value::as_str).unwrap_or_default();
            diagram.nodes.push(Node {
                id: name.clone(),
                r#type: if handler == "delay" {
                    "await-step"
                } else {
                    "step"
                },
                handler: handler.to_owned(),
                label: step.get("name").and_then(Value::as_str).map(str::to_owned),
                initial: initial == Some(name.as_str()),
            });
            diagram.transitions(name, step);
            let config = step
                .get("config")
                .cloned()
                .unwrap_or_else(|| Map::new().into());
            for (label, to) in handlers.targets(handler, &config) {
                diagram.edge(name, to, label, "config");
            }
        }
        diagram
    }

    fn transitions(&mut self, from: &str, step: &Value) {
        let transitions = step.get("transitions").and_then(Value::as_object);
        for (label, to) in transitions.into_iter().flatten() {
            if let Some(to) = to.as_str() {
                let label = label.strip_prefix("on").unwrap_or(label).to_lowercase();
                self.edge(from, to.to_owned(), label, "transition");
            }
        }
    }

    fn edge(&mut self, from: &str, to: String, label: String, r#type: &'static str) {
        let from = from.to_owned();
        self.edges.push(Edge {
            from,
            to,
            label,
            r#type,
        });
    }

    /// A Mermaid flowchart. Nodes are numbered, so that no name can break it.
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart TD\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let label = node.label.as_deref().unwrap_or(&node.id);
            let (open, close) = if node.initial {
                ("([", "])")
            } else {
                ("[", "]")
            };
            let (label, handler) = (plain(label), plain(&node.handler));
            let _ = writeln!(text, "  s{at}{open}\"{label}<br/><i>{handler}</i>\"{close}");
        }
        for edge in &self.edges {
            let at = |name: &str| self.nodes.iter().position(|node| node.id == name);
            if let (Some(from), Some(to)) = (at(&edge.from), at(&edge.to)) {
                let arrow = if edge.label == "failure" {
                    "-.->"
                } else {
                    "-->"
                };
                let _ = writeln!(text, "  s{from} {arrow}|\"{}\"| s{to}", plain(&edge.label));
            }
        }
        text
    }

    /// Each step with the ways out of it, from the initial step on.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut nodes: Vec<&Node> = self.nodes.iter().collect();
        nodes.sort_by_key(|node| !node.initial);
        for node in nodes {
            let mark = if node.initial { "●" } else { "○" };
            let _ = writeln!(
                text,
                "{mark} {} ({})",
                visible(&node.id),
                visible(&node.handler)
            );
            let out: Vec<&Edge> = self
                .edges
                .iter()
                .filter(|edge| edge.from == node.id)
                .collect();
            for (at, edge) in out.iter().enumerate() {
                let corner = if at + 1 == out.len() { "└" } else { "├" };
                let _ = writeln!(
                    text,
                    "{corner}─ {} → {}",
                    visible(&edge.label),
                    visible(&edge.to)
                );
            }
            text.push('\n');
        }
        text
    }
}

/// Text that Mermaid shows as it is.
fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars().take(80) {
        match c {
            '"' | '<' | '>' | '&' | '#' | ';' | '`' | '|' | '\\' => {
                let _ = write!(shown, "#{};", u32::from(c));
            }
            c if c.is_control() => shown.push(' '),
            c => shown.push(c),
        }
    }
    shown
}

fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use riverrun_engine::SchemaIssue;
    use serde_json::json;

    use super::*;

    struct Handlers;

    impl Catalog for Handlers {
        fn is_known(&self, _: &str) -> bool {
            true
        }
        fn known(&self) -> Vec<String> {
            Vec::new()
        }
        fn config_issues(&self, _: &str, _: &Value) -> Vec<SchemaIssue> {
            Vec::new()
        }
        fn targets(&self, _: &str, config: &Value) -> Vec<(String, String)> {
            let goto = config.get("goto").and_then(Value::as_str);
            goto.map(|to| ("goto".to_owned(), to.to_owned()))
                .into_iter()
                .collect()
        }
    }

    #[test]
    fn a_flow_is_drawn() {
        let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "check", "steps": {
            "pay \"now\"": {"type": "http", "transitions": {"onSuccess": "done", "onFailure": "wait"}},
            "check": {"type": "branch", "config": {"goto": "pay \"now\""}},
            "wait": {"type": "delay", "transitions": {"onResume": "check", "onSuccess": null}},
            "done": {"type": "log"},
        }});
        let diagram = Diagram::of(&flow, &Handlers);
        insta::assert_snapshot!(diagram.mermaid());
        insta::assert_snapshot!(diagram.text());
        insta::assert_json_snapshot!(diagram);
    }

    #[test]
    fn what_is_no_flow_is_drawn_empty() {
        for odd in [json!(null), json!({"steps": 1}), json!({"steps": {"a": 1}})] {
            let diagram = Diagram::of(&odd, &Handlers);
            assert!(diagram.edges.is_empty());
            diagram.mermaid();
            diagram.text();
        }
    }
}
