//! Where the steps stand in a drawing.

use std::collections::HashMap;

use super::{EdgeKind, FlowDiagram, FlowEdge};

/// The diagram by numbers of nodes instead of names.
pub struct Layout<'a> {
    /// The ways out of each node, with the nodes that they lead to.
    out: Vec<Vec<(usize, &'a FlowEdge)>>,
    /// The nodes that can be reached, each after those that lead to it wherever there is no loop.
    pub order: Vec<usize>,
    /// The place of each node in that order.
    pub place: Vec<Option<usize>>,
    /// How deep inside other steps each node runs.
    pub depth: Vec<usize>,
}

impl<'a> Layout<'a> {
    pub fn of(diagram: &'a FlowDiagram) -> Self {
        let index: HashMap<&str, usize> = diagram
            .nodes
            .iter()
            .enumerate()
            .map(|(at, node)| (node.id.as_str(), at))
            .collect();
        let mut out = vec![Vec::new(); diagram.nodes.len()];
        for edge in &diagram.edges {
            let ends = (index.get(edge.from.as_str()), index.get(edge.to.as_str()));
            if let (Some(from), Some(to)) = ends {
                out[*from].push((*to, edge));
            }
        }
        let order = order(&out, roots(diagram));
        let mut place = vec![None; out.len()];
        for (at, node) in order.iter().enumerate() {
            place[*node] = Some(at);
        }
        Self {
            depth: depths(&out, &order),
            out,
            order,
            place,
        }
    }

    pub fn out(&self, node: usize) -> &[(usize, &'a FlowEdge)] {
        &self.out[node]
    }
}

/// Where something begins: at the initial step, then wherever an event may enter.
fn roots(diagram: &FlowDiagram) -> Vec<usize> {
    let nodes = || diagram.nodes.iter().enumerate();
    let initial = nodes().filter(|(_, node)| node.initial);
    let entered = nodes().filter(|(_, node)| !node.subscriptions.is_empty());
    initial.chain(entered).map(|(at, _)| at).collect()
}

/// What each root leads to, after what the roots before it lead to.
fn order(out: &[Vec<(usize, &FlowEdge)>], roots: Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; out.len()];
    let from = |root| search(out, root, &mut seen);
    roots.into_iter().flat_map(from).collect()
}

/// The reverse of the order in which a search leaves the nodes.
fn search(out: &[Vec<(usize, &FlowEdge)>], root: usize, seen: &mut [bool]) -> Vec<usize> {
    let mut left = Vec::new();
    // Explicit, so that ten thousand steps in a row do not use up the stack.
    let mut ahead: Vec<(usize, bool)> = vec![(root, false)];
    while let Some((node, done)) = ahead.pop() {
        if done {
            left.push(node);
        } else if !std::mem::replace(&mut seen[node], true) {
            ahead.push((node, true));
            // The first way out is searched last, so it comes first in the end.
            let targets = out[node].iter().map(|(to, _)| *to);
            ahead.extend(targets.filter(|to| !seen[*to]).map(|to| (to, false)));
        }
    }
    left.reverse();
    left
}

/// What runs inside a step stands further in.
fn depths(out: &[Vec<(usize, &FlowEdge)>], order: &[usize]) -> Vec<usize> {
    let mut depth: Vec<Option<usize>> = vec![None; out.len()];
    for node in order {
        let here = *depth[*node].get_or_insert(0);
        for (to, edge) in &out[*node] {
            let there = here + usize::from(edge.kind == EdgeKind::Inside);
            let known = depth[*to].get_or_insert(there);
            *known = (*known).min(there);
        }
    }
    depth
        .into_iter()
        .map(|depth| depth.unwrap_or(0).min(10))
        .collect()
}
