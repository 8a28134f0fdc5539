//! A diagram drawn with characters.

use std::collections::{HashMap, HashSet};

use riverrun_types::{AwaitType, Join};
use serde_json::Value;

use super::{
    EdgeKind, FlowAwait, FlowDiagram, FlowEdge, FlowNode, FlowOutside, OutsideKind,
    events::callback,
    label::{duration, shorten, shown, visible},
    layout::Layout,
};

/// The kind of a part of a drawing, for coloured output. Colour alone carries no information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Title,
    Step,
    Handler,
    /// The label of an edge.
    Edge(EdgeKind),
    /// An event from outside, or to outside.
    Outside,
    /// A probable mistake.
    Warning,
}

pub fn draw(diagram: &FlowDiagram, paint: &dyn Fn(Ink, &str) -> String) -> String {
    Drawing {
        taken: diagram.nodes.iter().flat_map(FlowNode::takes).collect(),
        outside: by_step(&diagram.outside),
        diagram,
        layout: Layout::of(diagram),
        paint,
    }
    .lines()
    .join("\n")
}

fn by_step(outside: &[FlowOutside]) -> HashMap<&str, Vec<&FlowOutside>> {
    let mut by_step: HashMap<&str, Vec<&FlowOutside>> = HashMap::new();
    for come in outside {
        by_step.entry(&come.to).or_default().push(come);
    }
    by_step
}

struct Drawing<'a> {
    diagram: &'a FlowDiagram,
    /// The kinds of events that some step of the flow takes.
    taken: HashSet<&'a str>,
    /// Events from outside, by the step that they enter.
    outside: HashMap<&'a str, Vec<&'a FlowOutside>>,
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
        let Layout { order, lost, .. } = &self.layout;
        lines.extend(order.iter().flat_map(|node| self.node(*node)));
        if !lost.is_empty() {
            lines.push(String::new());
            lines.push((self.paint)(Ink::Warning, "nothing leads to:"));
            lines.extend(lost.iter().flat_map(|node| self.node(*node)));
        }
        if self.diagram.left_out > 0 {
            let left_out = format!("{} more edges are not drawn", self.diagram.left_out);
            lines.push((self.paint)(Ink::Warning, &left_out));
        }
        lines
    }

    /// A step, with its incoming and outgoing edges.
    fn node(&self, node: usize) -> Vec<String> {
        let margin = "    ".repeat(self.layout.depth[node]);
        let mut lines = vec![self.step(node, &margin)];
        lines.extend(self.outside(node, &margin));
        lines.extend(self.ways(node, &margin));
        lines
    }

    fn step(&self, node: usize, margin: &str) -> String {
        let node = &self.diagram.nodes[node];
        let mark = if node.initial { "▶" } else { "●" };
        let mut handler = visible(&node.handler);
        if let Some(wait) = node.wait.as_ref().and_then(waits) {
            handler.push_str(&format!(" ⏱ {wait}"));
        }
        if node.join == Join::All {
            handler.push_str(", one of each event");
        }
        format!(
            "{margin}{mark} {}  {}",
            (self.paint)(Ink::Step, &visible(&node.id)),
            (self.paint)(Ink::Handler, &handler)
        )
    }

    /// The events that enter a step from outside, and its emitted events that no step of the flow
    /// takes.
    fn outside(&self, node: usize, margin: &str) -> Vec<String> {
        let node = &self.diagram.nodes[node];
        let comes = self.outside.get(node.id.as_str()).into_iter().flatten();
        let come = comes.map(|come| {
            let condition = come.condition.as_deref();
            let condition = condition.map(|text| format!(" if {}", shorten(text, 40)));
            let what = match come.kind {
                OutsideKind::Enters => "enters from outside",
                OutsideKind::Resumes => "comes from outside",
                OutsideKind::Opens => "opened from outside",
            };
            let label = visible(&come.label);
            format!("◀─ {label} {what}{}", condition.unwrap_or_default())
        });
        let is_taken = |kind: &&String| self.taken.contains(kind.as_str());
        let unclaimed = node.emits.iter().filter(|kind| !is_taken(kind));
        let gone = unclaimed.map(|kind| format!("─▶ {} taken by nobody here", visible(kind)));
        come.chain(gone)
            .map(|line| format!("{margin}│  {}", (self.paint)(Ink::Outside, &line)))
            .collect()
    }

    /// The lines below a step. A single way to the step on the next line needs only an arrow.
    fn ways(&self, node: usize, margin: &str) -> Vec<String> {
        let place = &self.layout.place;
        // The step's own line shows its wait.
        let is_wait =
            |(to, edge): &&(usize, &FlowEdge)| *to == node && edge.kind == EdgeKind::Await;
        let ways = self.layout.out(node).iter().filter(|way| !is_wait(way));
        let ways: Vec<(usize, &FlowEdge)> = ways.copied().collect();
        match ways.as_slice() {
            [] => vec![],
            [(to, edge)] if place[*to] == place[node] + 1 && edge.kind != EdgeKind::Inside => {
                let label = match edge.kind {
                    EdgeKind::Then => String::new(),
                    _ => format!(" {}", self.label(edge)),
                };
                vec![format!("{margin}│{label}"), format!("{margin}▼")]
            }
            ways => {
                let length = |edge: &FlowEdge| shown(edge).chars().count();
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
        (self.paint)(Ink::Edge(edge.kind), &shown(edge))
    }
}

/// A step's wait and its length, as in its definition.
fn waits(wait: &FlowAwait) -> Option<String> {
    let what = awaits(wait)?;
    let timeout = wait.timeout.map(|ms| format!(", timeout {}", duration(ms)));
    Some(what + &timeout.unwrap_or_default())
}

/// A step's wait; nothing for an unknown time.
pub(super) fn awaits(wait: &FlowAwait) -> Option<String> {
    let text = |value: &Value| match value {
        Value::String(text) => shorten(text, 40),
        other => shorten(&other.to_string(), 40),
    };
    Some(match wait.kind {
        AwaitType::Time => match (&wait.delay, &wait.until) {
            (Some(Value::Number(ms)), _) => format!("{ms} ms"),
            (Some(delay), _) => text(delay),
            (None, Some(until)) => format!("until {}", text(until)),
            (None, None) => return None,
        },
        AwaitType::Event => {
            let kind = wait.event_kind.as_deref().unwrap_or_default();
            format!("event {}", visible(kind))
        }
        AwaitType::Trigger => {
            let kind = wait.trigger_type.map_or("", callback);
            format!("trigger {kind}")
        }
    })
}
