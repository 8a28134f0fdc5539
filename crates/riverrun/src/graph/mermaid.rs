//! A graph in Mermaid's language, for documents and web pages.

use super::{Graph, Way};

pub fn mermaid(graph: &Graph) -> String {
    let mut lines = vec!["flowchart TD".to_owned()];
    if let Some(initial) = graph.initial {
        lines.push(format!("  start((start)) --> s{initial}"));
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        let (name, kind) = (quote(&node.name), quote(&node.kind));
        lines.push(match node.kind.as_str() {
            "branch" | "switch" => format!("  s{at}{{\"{name}<br/><i>{kind}</i>\"}}"),
            _ => format!("  s{at}[\"{name}<br/><i>{kind}</i>\"]"),
        });
    }
    for edge in &graph.edges {
        let arrow = match edge.way {
            Way::Then | Way::Choice => "-->",
            Way::Inside => "==>",
            Way::Failure => "-.->",
        };
        let label = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", quote(label)),
        };
        lines.push(format!("  s{} {arrow}{label} s{}", edge.from, edge.to));
    }
    lines.join("\n")
}

/// Mermaid reads quotes and brackets in a text only as entities.
fn quote(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "#quot;".to_owned(),
            '<' => "#lt;".to_owned(),
            '>' => "#gt;".to_owned(),
            '#' => "#35;".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_edges_and_labels() {
        let drawn = mermaid(&super::super::tests::example());
        for line in [
            "flowchart TD",
            "  start((start)) --> s0",
            "  s0{\"who<br/><i>branch</i>\"}",
            "  s0 -->|\"vip eq true\"| s1",
            "  s2 ==>|\"branch\"| s3",
            "  s5 -.->|\"failed\"| s7",
            "  s5 --> s6",
        ] {
            assert!(
                drawn.lines().any(|found| found == line),
                "{line:?} is not in\n{drawn}"
            );
        }
        assert_eq!(quote("a \"b\" <c> #d"), "a #quot;b#quot; #lt;c#gt; #35;d");
    }
}
