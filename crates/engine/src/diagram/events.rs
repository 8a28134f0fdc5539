//! The event edges of a diagram: emitters, subscribers and waits.

use std::collections::{HashMap, HashSet};

use riverrun_types::{AwaitType, Compensation, Join, TriggerType, time::duration_ms};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    EdgeKind, FlowAwait, FlowEdge, FlowNode, FlowOutside, FlowSubscription, OutsideKind,
    read::Edges,
};

impl FlowAwait {
    pub(super) fn of(kind: AwaitType) -> Self {
        Self {
            kind,
            delay: None,
            until: None,
            event_kind: None,
            trigger_type: None,
            condition: None,
            timeout: None,
        }
    }
}

fn read<T: DeserializeOwned>(value: Option<&Value>) -> Option<T> {
    T::deserialize(value?).ok()
}

pub fn emits(step: &Value) -> Vec<String> {
    let kinds = step["emits"].as_array().into_iter().flatten();
    let kinds = kinds.filter_map(|kind| kind.as_str().map(str::to_owned));
    let mut seen = HashSet::new();
    kinds.filter(|kind| seen.insert(kind.clone())).collect()
}

pub fn subscriptions(step: &Value) -> Vec<FlowSubscription> {
    let subscriptions = step["subscriptions"].as_array().into_iter().flatten();
    let known = subscriptions.filter_map(|subscription| read(Some(subscription)));
    known.collect()
}

pub fn join(step: &Value) -> Join {
    read(step.get("join")).unwrap_or_default()
}

pub fn compensation(step: &Value) -> Option<Compensation> {
    read(step.get("compensation"))
}

impl FlowNode {
    /// The kinds of events that the step takes: by which it is entered, resumed or undone.
    pub(super) fn takes(&self) -> impl Iterator<Item = &str> {
        let entered = self.subscriptions.iter();
        let entered = entered.map(|subscription| &subscription.event_kind);
        let awaited = self.wait.iter().filter_map(|wait| wait.event_kind.as_ref());
        let undone = self.compensation.iter().flat_map(|undo| &undo.on);
        entered.chain(awaited).chain(undone).map(String::as_str)
    }
}

/// The wait in a step's definition.
pub fn wait(step: &Value) -> Option<FlowAwait> {
    let awaits = step.get("await")?;
    let kind: AwaitType = read(awaits.get("type"))?;
    let trigger = || read(awaits.get("triggerType")).unwrap_or_default();
    Some(FlowAwait {
        delay: awaits.get("delay").cloned(),
        event_kind: read(awaits.get("eventKind")),
        trigger_type: (kind == AwaitType::Trigger).then(trigger),
        condition: condition(awaits),
        timeout: awaits.get("timeout").and_then(milliseconds),
        ..FlowAwait::of(kind)
    })
}

/// `where` as it is, `match` as equations.
fn condition(awaits: &Value) -> Option<String> {
    let equal = awaits["match"].as_object().into_iter().flatten();
    let equation = |(path, value): (&String, &Value)| match value {
        Value::String(other) => format!("{path} = {other}"),
        other => format!("{path} = {}", other.get("value").unwrap_or(other)),
    };
    let mut parts: Vec<String> = equal.map(equation).collect();
    parts.extend(read::<String>(awaits.get("where")));
    (!parts.is_empty()).then(|| parts.join(" and "))
}

/// A duration as a definition says it. One that is only known later has no number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn milliseconds(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => duration_ms(text)
            .filter(|ms| ms.is_finite() && *ms >= 0.0)
            .map(|ms| ms as u64),
        value => value.as_u64(),
    }
}

/// Which steps take a kind of event, found once for all edges.
pub struct Takers<'a> {
    /// Every step's name.
    steps: HashSet<&'a str>,
    enters: HashMap<&'a str, Vec<(&'a FlowNode, &'a FlowSubscription)>>,
    resumes: HashMap<&'a str, Vec<(&'a FlowNode, &'a FlowAwait)>>,
}

impl<'a> Takers<'a> {
    pub fn of(nodes: &'a [FlowNode]) -> Self {
        let (mut enters, mut resumes) = (HashMap::new(), HashMap::new());
        for node in nodes {
            for subscription in &node.subscriptions {
                let kind = subscription.event_kind.as_str();
                let takers: &mut Vec<_> = enters.entry(kind).or_default();
                takers.push((node, subscription));
            }
            let wait = node.wait.as_ref();
            let kind = wait.and_then(|wait| wait.event_kind.as_deref());
            if let (Some(wait), Some(kind)) = (wait, kind) {
                let takers: &mut Vec<_> = resumes.entry(kind).or_default();
                takers.push((node, wait));
            }
        }
        let steps = nodes.iter().map(|node| node.id.as_str()).collect();
        Self {
            steps,
            enters,
            resumes,
        }
    }
}

/// Adds what leads away from a step by events: its own wait, what it emits, what it leads to when
/// the wait takes too long, what undoes it.
pub(super) fn edges(node: &FlowNode, step: &Value, takers: &Takers<'_>, all: &mut Edges) {
    let edge = |to: &str, label: String, kind| FlowEdge {
        from: node.id.clone(),
        to: to.to_owned(),
        label,
        kind,
        condition: None,
        timeout: None,
    };
    // A delay has no edge of its own: what resumes it leads on.
    let wait = node.wait.as_ref().filter(|_| step.get("await").is_some());
    if let Some(wait) = wait
        && all.has_room()
    {
        all.push(FlowEdge {
            condition: wait.condition.clone(),
            timeout: wait.timeout,
            ..edge(&node.id, format!("⏱ {}", awaited(wait)), EdgeKind::Await)
        });
    }
    for kind in &node.emits {
        let enters = takers.enters.get(kind.as_str());
        let resumes = takers.resumes.get(kind.as_str());
        if all.is_full() {
            all.leave_out(enters.map_or(0, Vec::len) + resumes.map_or(0, Vec::len));
            continue;
        }
        let enters = enters.into_iter().flatten();
        let enters = enters.map(|(to, entry)| (to, &entry.when, EdgeKind::Emit));
        let resumes = resumes.into_iter().flatten();
        let resumes = resumes.map(|(to, wait)| (to, &wait.condition, EdgeKind::Await));
        for (to, condition, edge_kind) in enters.chain(resumes) {
            if all.has_room() {
                all.push(FlowEdge {
                    condition: condition.clone(),
                    ..edge(&to.id, kind.clone(), edge_kind)
                });
            }
        }
    }
    if let Some(to) = step["await"]["onTimeout"].as_str()
        && takers.steps.contains(to)
        && all.has_room()
    {
        all.push(FlowEdge {
            timeout: wait.and_then(|wait| wait.timeout),
            ..edge(to, "timeout".to_owned(), EdgeKind::Timeout)
        });
    }
    if let Some(undo) = &node.compensation
        && takers.steps.contains(undo.step.as_str())
        && all.has_room()
    {
        all.push(FlowEdge {
            condition: (!undo.on.is_empty()).then(|| undo.on.join(" or ")),
            ..edge(&undo.step, "undo".to_owned(), EdgeKind::Compensation)
        });
    }
}

/// The kind of a step's wait, in a word.
pub fn awaited(wait: &FlowAwait) -> &str {
    match (&wait.event_kind, wait.kind) {
        (Some(kind), _) => kind,
        (None, AwaitType::Time) => "time",
        (None, AwaitType::Event) => "event",
        (None, AwaitType::Trigger) => "trigger",
    }
}

/// The event or callback that has to come from outside.
pub fn outside(nodes: &[FlowNode]) -> Vec<FlowOutside> {
    let emitted: HashSet<&str> = nodes
        .iter()
        .flat_map(|node| node.emits.iter().map(String::as_str))
        .collect();
    let mut found = Vec::new();
    for node in nodes {
        let mut come = |label: &str, kind, condition: &Option<String>| {
            found.push(FlowOutside {
                to: node.id.clone(),
                label: label.to_owned(),
                kind,
                condition: condition.clone(),
            });
        };
        for FlowSubscription { event_kind, when } in &node.subscriptions {
            if !emitted.contains(event_kind.as_str()) {
                come(event_kind, OutsideKind::Enters, when);
            }
        }
        let Some(wait) = &node.wait else { continue };
        let is_outside = |kind: &&String| !emitted.contains(kind.as_str());
        if let Some(kind) = wait.event_kind.as_ref().filter(is_outside) {
            come(kind, OutsideKind::Resumes, &wait.condition);
        }
        if let Some(trigger) = wait.trigger_type {
            come(callback(trigger), OutsideKind::Opens, &None);
        }
    }
    found
}

pub fn callback(trigger: TriggerType) -> &'static str {
    match trigger {
        TriggerType::Webhook => "webhook",
        TriggerType::User => "user",
        TriggerType::Api => "api",
    }
}
