//! A diagram in Mermaid's language. Nodes are numbered, so that no name can break it.

use riverrun_types::{AwaitType, Join};

use super::{
    EdgeKind, FlowDiagram, FlowNode, FlowOutside, OutsideKind,
    events::awaited,
    label::{duration, shorten, shown},
    layout::Layout,
    text::awaits,
};

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
                // The node says what it waits for, and what ends the wait has an arrow of its own.
                EdgeKind::Await if *to == from => continue,
                EdgeKind::Then | EdgeKind::Emit | EdgeKind::Await | EdgeKind::Choice => "-->",
                EdgeKind::Inside => "==>",
                EdgeKind::Timeout | EdgeKind::Failure | EdgeKind::Compensation => "-.->",
            };
            let label = match edge.kind {
                EdgeKind::Then => String::new(),
                _ => format!("|\"{}\"|", quote(&shown(edge))),
            };
            lines.push(format!("  s{from} {arrow}{label} s{to}"));
        }
    }
    let at = |id: &str| diagram.nodes.iter().position(|node| node.id == id);
    let come = diagram.outside.iter().enumerate();
    lines.extend(come.filter_map(|(number, come)| Some(outside(number, come, at(&come.to)?))));
    lines.join("\n")
}

fn outside(number: usize, come: &FlowOutside, to: usize) -> String {
    let what = match come.kind {
        OutsideKind::Enters | OutsideKind::Resumes => "event",
        OutsideKind::Opens => "trigger",
    };
    let label = quote(&come.label);
    let condition = come.condition.as_deref();
    let condition = condition.map(|condition| format!("|\"if {}\"|", quote(condition)));
    let condition = condition.unwrap_or_default();
    format!("  o{number}([\"{label}<br/><i>{what} from outside</i>\"]) -.->{condition} s{to}")
}

fn node((at, node): (usize, &FlowNode)) -> String {
    let name = quote(node.name.as_deref().unwrap_or(&node.id));
    let mut about = vec![format!("<i>{}</i>", quote(&node.handler))];
    if node.join == Join::All {
        about.push("one of each event".to_owned());
    }
    if let Some(wait) = &node.wait {
        let what = match wait.kind {
            AwaitType::Event => None,
            AwaitType::Time | AwaitType::Trigger => awaits(wait),
        };
        let what = what.unwrap_or_else(|| awaited(wait).to_owned());
        about.push(format!("⏱ {}", quote(&what)));
        about.extend(wait.timeout.map(|ms| format!("timeout {}", duration(ms))));
    }
    let label = format!("\"{name}<br/>{}\"", about.join("<br/>"));
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
