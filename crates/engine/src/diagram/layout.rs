//! The order of the steps in a drawing.

use std::collections::{HashMap, HashSet};

use super::{EdgeKind, FlowDiagram, FlowEdge, OutsideKind};

/// The diagram by numbers of nodes instead of names.
pub struct Layout<'a> {
    /// The ways out of each node, with the nodes that they lead to.
    out: Vec<Vec<(usize, &'a FlowEdge)>>,
    /// The nodes that can be reached, each after those that lead to it wherever there is no loop.
    pub order: Vec<usize>,
    /// Those that nothing leads to, in such an order.
    pub lost: Vec<usize>,
    /// The place of each node in both orders, one after the other.
    pub place: Vec<usize>,
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
        let reached = reached(diagram, &out);
        let roots = roots(diagram).into_iter().filter(|root| reached[*root]);
        let mut seen: Vec<bool> = reached.iter().map(|reached| !reached).collect();
        let order = order(&out, roots.collect(), &mut seen);
        let mut seen = reached;
        let rest = (0..out.len()).filter(|node| !seen[*node]).collect();
        let lost = self::order(&out, rest, &mut seen);
        let all: Vec<usize> = order.iter().chain(&lost).copied().collect();
        let mut place = vec![0; out.len()];
        for (at, node) in all.iter().enumerate() {
            place[*node] = at;
        }
        Self {
            depth: depths(&out, &all),
            out,
            order,
            lost,
            place,
        }
    }

    pub fn out(&self, node: usize) -> &[(usize, &'a FlowEdge)] {
        &self.out[node]
    }
}

/// The entries: the initial step, then the steps that an event enters.
fn roots(diagram: &FlowDiagram) -> Vec<usize> {
    let nodes = || diagram.nodes.iter().enumerate();
    let initial = nodes().filter(|(_, node)| node.initial);
    let entered = nodes().filter(|(_, node)| !node.subscriptions.is_empty());
    initial.chain(entered).map(|(at, _)| at).collect()
}

/// Which nodes something leads to: from the initial step, and from what comes from outside.
fn reached(diagram: &FlowDiagram, out: &[Vec<(usize, &FlowEdge)>]) -> Vec<bool> {
    let enters = diagram.outside.iter();
    let enters = enters.filter(|outside| outside.kind == OutsideKind::Enters);
    let entered: HashSet<&str> = enters.map(|outside| outside.to.as_str()).collect();
    let nodes = diagram.nodes.iter().enumerate();
    let begins = nodes.filter(|(_, node)| node.initial || entered.contains(node.id.as_str()));
    let mut ahead: Vec<usize> = begins.map(|(at, _)| at).collect();
    let mut reached = vec![false; out.len()];
    while let Some(node) = ahead.pop() {
        if std::mem::replace(&mut reached[node], true) {
            continue;
        }
        // An event that a step waits for reaches no further step.
        let emits = &diagram.nodes[node].emits;
        let resumes = |edge: &FlowEdge| edge.kind == EdgeKind::Await && emits.contains(&edge.label);
        let leads = out[node].iter().filter(|(_, edge)| !resumes(edge));
        ahead.extend(leads.map(|(to, _)| *to));
    }
    reached
}

/// The nodes that each root reaches first, after those of the roots before it.
fn order(out: &[Vec<(usize, &FlowEdge)>], roots: Vec<usize>, seen: &mut [bool]) -> Vec<usize> {
    let from = |root| search(out, root, seen);
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

/// A step that runs inside another is indented.
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
