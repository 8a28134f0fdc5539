//! A diagram drawn with characters.

use serde_json::Value;

use super::{
    EdgeKind, FlowAwait, FlowDiagram, FlowEdge,
    label::{shorten, visible},
    layout::Layout,
};

/// What a part of a drawing is, for those who can colour it. Nothing is said by colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Title,
    Step,
    Handler,
    /// The label of an edge.
    Edge(EdgeKind),
    /// Something that is probably a mistake.
    Warning,
}

pub fn draw(diagram: &FlowDiagram, paint: &dyn Fn(Ink, &str) -> String) -> String {
    Drawing {
        diagram,
        layout: Layout::of(diagram),
        paint,
    }
    .lines()
    .join("\n")
}

struct Drawing<'a> {
    diagram: &'a FlowDiagram,
    layout: Layout<'a>,
    paint: &'a dyn Fn(Ink, &str) -> String,
}

impl Drawing<'_> {
    fn lines(&self) -> Vec<String> {
        let mut title = visible(&self.diagram.flow);
        if let Some(name) = &self.diagram.name {
            title.push_str("  ");
            title.push_str(&visible(name));
        }
        let mut lines = vec![(self.paint)(Ink::Title, &title), String::new()];
        for node in self.layout.order.iter().copied() {
            let margin = "    ".repeat(self.layout.depth[node]);
            lines.push(self.step(node, &margin));
            lines.extend(self.ways(node, &margin));
        }
        let nodes = 0..self.diagram.nodes.len();
        let lost: Vec<usize> = nodes
            .filter(|node| self.layout.place[*node].is_none())
            .collect();
        if !lost.is_empty() {
            lines.push(String::new());
            lines.push((self.paint)(Ink::Warning, "nothing leads to:"));
            lines.extend(lost.into_iter().map(|node| self.step(node, "")));
        }
        lines
    }

    fn step(&self, node: usize, margin: &str) -> String {
        let node = &self.diagram.nodes[node];
        let mark = if node.initial { "▶" } else { "●" };
        let mut handler = visible(&node.handler);
        if let Some(wait) = node.wait.as_ref().and_then(waits) {
            handler.push_str(&format!(" ⏱ {wait}"));
        }
        format!(
            "{margin}{mark} {}  {}",
            (self.paint)(Ink::Step, &visible(&node.id)),
            (self.paint)(Ink::Handler, &handler)
        )
    }

    /// The lines below a step. A single way to the step on the next line needs only an arrow.
    fn ways(&self, node: usize, margin: &str) -> Vec<String> {
        let place = &self.layout.place;
        match self.layout.out(node) {
            [] => vec![],
            [(to, edge)]
                if place[*to] == place[node].map(|at| at + 1) && edge.kind != EdgeKind::Inside =>
            {
                let label = match edge.kind {
                    EdgeKind::Then => String::new(),
                    _ => format!(" {}", self.label(edge)),
                };
                vec![format!("{margin}│{label}"), format!("{margin}▼")]
            }
            ways => {
                let length = |edge: &FlowEdge| edge.label.chars().count();
                let width = ways.iter().map(|(_, edge)| length(edge)).max().unwrap_or(0);
                let last = ways.len() - 1;
                let line = |(at, (to, edge)): (usize, &(usize, &FlowEdge))| {
                    let corner = if at == last { "└" } else { "├" };
                    let fill = "─".repeat(width - length(edge));
                    let back = if place[*to] <= place[node] {
                        " ↺"
                    } else {
                        ""
                    };
                    let name = visible(&self.diagram.nodes[*to].id);
                    format!(
                        "{margin}{corner}─ {} {fill}─▶ {name}{back}",
                        self.label(edge)
                    )
                };
                ways.iter().enumerate().map(line).collect()
            }
        }
    }

    fn label(&self, edge: &FlowEdge) -> String {
        (self.paint)(Ink::Edge(edge.kind), &visible(&edge.label))
    }
}

/// How long or until when a step waits, as its definition says it.
fn waits(wait: &FlowAwait) -> Option<String> {
    let shown = |value: &Value| match value {
        Value::String(text) => shorten(text, 40),
        other => shorten(&other.to_string(), 40),
    };
    match (&wait.delay, &wait.until) {
        (Some(Value::Number(ms)), _) => Some(format!("{ms} ms")),
        (Some(delay), _) => Some(shown(delay)),
        (None, Some(until)) => Some(format!("until {}", shown(until))),
        (None, None) => None,
    }
}
