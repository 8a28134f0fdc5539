//! A graph drawn with characters: every step on its own line in the order in which runs reach
//! them, its ways out below it.

use super::{Edge, Graph, Way};
use crate::output::{paint, paint::paint};

pub fn text(graph: &Graph) -> String {
    let order = order(graph);
    let depth = depths(graph, &order);
    let mut place = vec![None; graph.nodes.len()];
    for (at, node) in order.iter().enumerate() {
        place[*node] = Some(at);
    }
    let mut lines = vec![paint(paint::BOLD, &graph.title), String::new()];
    for node in order.iter().copied() {
        let margin = "    ".repeat(depth[node]);
        lines.push(step(graph, node, &margin));
        lines.extend(ways(graph, node, &place, &margin));
    }
    let lost: Vec<usize> = (0..graph.nodes.len())
        .filter(|node| place[*node].is_none())
        .collect();
    if !lost.is_empty() {
        lines.push(String::new());
        lines.push(paint(paint::WARN, "nothing leads to:"));
        lines.extend(lost.into_iter().map(|node| step(graph, node, "")));
    }
    lines.join("\n")
}

fn step(graph: &Graph, node: usize, margin: &str) -> String {
    let mark = if graph.initial == Some(node) {
        "▶"
    } else {
        "●"
    };
    let found = &graph.nodes[node];
    format!(
        "{margin}{mark} {}  {}",
        paint(paint::NAME, &found.name),
        paint(paint::DIM, &found.kind)
    )
}

/// The lines below a step. A single way to the step on the next line needs only an arrow.
fn ways(graph: &Graph, node: usize, place: &[Option<usize>], margin: &str) -> Vec<String> {
    match graph.out(node) {
        [] => vec![],
        [edge] if place[edge.to] == place[node].map(|at| at + 1) && edge.way != Way::Inside => {
            let label = if edge.label.is_empty() {
                String::new()
            } else {
                format!(" {}", edge.label)
            };
            vec![
                format!("{margin}│{}", paint(style(edge.way), label)),
                format!("{margin}▼"),
            ]
        }
        edges => {
            let width = edges
                .iter()
                .map(|edge| label(edge).chars().count())
                .max()
                .unwrap_or(0);
            let last = edges.len() - 1;
            edges
                .iter()
                .enumerate()
                .map(|(at, edge)| {
                    let corner = if at == last { "└" } else { "├" };
                    let back = place[edge.to] <= place[node];
                    let label = label(edge);
                    let fill = "─".repeat(width - label.chars().count());
                    format!(
                        "{margin}{corner}─ {} {fill}─▶ {}{}",
                        paint(style(edge.way), label),
                        graph.nodes[edge.to].name,
                        if back { " ↺" } else { "" }
                    )
                })
                .collect()
        }
    }
}

fn label(edge: &Edge) -> &str {
    if edge.label.is_empty() {
        "then"
    } else {
        &edge.label
    }
}

fn style(way: Way) -> anstyle::Style {
    match way {
        Way::Then => anstyle::Style::new(),
        Way::Choice | Way::Inside => paint::WAIT,
        Way::Failure => paint::BAD,
    }
}

/// The steps that can be reached, each after those that lead to it wherever there is no loop:
/// the reverse of the order in which a search leaves them.
fn order(graph: &Graph) -> Vec<usize> {
    let mut left = Vec::new();
    let mut seen = vec![false; graph.nodes.len()];
    // Explicit, so that ten thousand steps in a row do not use up the stack.
    let mut ahead: Vec<(usize, bool)> = graph
        .initial
        .map(|node| (node, false))
        .into_iter()
        .collect();
    while let Some((node, done)) = ahead.pop() {
        if done {
            left.push(node);
        } else if !std::mem::replace(&mut seen[node], true) {
            ahead.push((node, true));
            // The first way out is searched last, so it comes first in the end.
            let targets = graph.out(node).iter().map(|edge| edge.to);
            ahead.extend(targets.filter(|to| !seen[*to]).map(|to| (to, false)));
        }
    }
    left.reverse();
    left
}

/// What runs inside a step stands further in.
fn depths(graph: &Graph, order: &[usize]) -> Vec<usize> {
    let mut depth: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for node in order {
        let here = *depth[*node].get_or_insert(0);
        for edge in graph.out(*node) {
            let there = here + usize::from(edge.way == Way::Inside);
            let known = depth[edge.to].get_or_insert(there);
            *known = (*known).min(there);
        }
    }
    depth
        .into_iter()
        .map(|depth| depth.unwrap_or(0).min(10))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_says_every_way() {
        let drawing = text(&super::super::tests::example());
        let expected = "\
order@1.2.0  An order

▶ who  branch
├─ vip eq true ─▶ rest
└─ otherwise ───▶ both
● rest  delay
└─ resumed ─▶ pay
● both  parallel
├─ branch ─▶ loud
├─ branch ─▶ back
└─ then ───▶ pay
    ● loud  transform
    ● back  transform
● pay  http
├─ then ───▶ again
└─ failed ─▶ sorry
● again  switch
├─ yes ───────▶ who ↺
└─ otherwise ─▶ done
● done  log
● sorry  log

nothing leads to:
● lost  log";
        assert_eq!(anstream::adapter::strip_str(&drawing).to_string(), expected);
    }

    #[test]
    fn ten_thousand_steps_in_a_row() {
        let nodes = (0..10_000).map(|at| super::super::Node {
            name: format!("s{at}"),
            kind: "set".into(),
        });
        let edges = (1..10_000).map(|at| Edge {
            from: at - 1,
            to: at,
            label: String::new(),
            way: Way::Then,
        });
        let graph = Graph {
            title: "f@1".into(),
            nodes: nodes.collect(),
            edges: edges.collect(),
            initial: Some(0),
        };
        assert_eq!(order(&graph).len(), 10_000);
    }
}
