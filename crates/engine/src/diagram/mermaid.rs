//! A diagram in Mermaid's language. Nodes are numbered, so that no name can break it.

use super::{EdgeKind, FlowDiagram, FlowNode, label::shorten, layout::Layout};

pub fn mermaid(diagram: &FlowDiagram) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    if let Some(initial) = diagram.nodes.iter().position(|node| node.initial) {
        lines.push(format!("  start((start)) --> s{initial}"));
    }
    lines.extend(diagram.nodes.iter().enumerate().map(node));
    let layout = Layout::of(diagram);
    for from in 0..diagram.nodes.len() {
        for (to, edge) in layout.out(from) {
            let arrow = match edge.kind {
                EdgeKind::Then | EdgeKind::Await | EdgeKind::Choice => "-->",
                EdgeKind::Inside => "==>",
                EdgeKind::Failure => "-.->",
            };
            let label = match edge.kind {
                EdgeKind::Then => String::new(),
                _ => format!("|\"{}\"|", quote(&edge.label)),
            };
            lines.push(format!("  s{from} {arrow}{label} s{to}"));
        }
    }
    lines.join("\n")
}

fn node((at, node): (usize, &FlowNode)) -> String {
    let name = quote(node.name.as_deref().unwrap_or(&node.id));
    let label = format!("\"{name}<br/><i>{}</i>\"", quote(&node.handler));
    match node.handler.as_str() {
        "branch" | "switch" => format!("  s{at}{{{label}}}"),
        _ => format!("  s{at}[{label}]"),
    }
}

/// Mermaid shows these characters of a text only as entities.
pub(super) fn quote(text: &str) -> String {
    shorten(text, 80)
        .chars()
        .map(|c| match c {
            '"' | '<' | '>' | '&' | '#' | ';' | '`' | '|' | '\\' => format!("#{};", u32::from(c)),
            c => c.to_string(),
        })
        .collect()
}
