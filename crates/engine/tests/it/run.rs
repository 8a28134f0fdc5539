//! A run in a test: the live state, the stream that it came from, and a clock in our hands.

use riverrun_engine::{Decision, Fact, Input, Lineage, Plan, RunState, Start, decide, start};
use riverrun_types::{Draft, Json, Millis, RunId};
use serde_json::Value;

pub const T0: Millis = 1_700_000_000_000;

pub fn plan(flow: Value) -> Plan {
    Plan::compile(serde_json::from_value(flow).unwrap()).unwrap()
}

/// `{"a": {...}, ...}` as a flow that begins with the first step; what stands beside `steps` is
/// taken over.
pub fn flow(mut definition: Value) -> Value {
    let whole = definition.get("steps").is_some();
    if !whole {
        definition = serde_json::json!({ "steps": definition });
    }
    let flow = definition.as_object_mut().unwrap();
    let first = flow["steps"]
        .as_object()
        .unwrap()
        .keys()
        .next()
        .unwrap()
        .clone();
    for (key, value) in [
        ("id", "f".to_owned()),
        ("version", "1.0.0".to_owned()),
        ("initialStepId", first),
    ] {
        flow.entry(key).or_insert(value.into());
    }
    for step in flow["steps"].as_object_mut().unwrap().values_mut() {
        step.as_object_mut()
            .unwrap()
            .entry("type")
            .or_insert("any".into());
    }
    definition
}

pub struct Run {
    pub plan: Plan,
    pub id: RunId,
    pub state: RunState,
    pub stream: Vec<Draft>,
    pub now: Millis,
    /// What the start decided.
    pub begun: Decision,
}

impl Run {
    pub fn start(
        plan: Plan,
        input: Json,
        delay_ms: Option<Millis>,
        parent: Option<Lineage>,
    ) -> Self {
        let how = Start {
            chain: 0,
            input,
            not_before: delay_ms.map(|ms| T0 + ms),
            parent,
            correlation_id: None,
            causation_id: None,
        };
        let (state, decision) = start(&plan, how, T0);
        assert!(decision.children.is_empty() && decision.abandoned.is_empty());
        let stream = decision.events.clone();
        Self {
            plan,
            id: RunId::new("r1"),
            state,
            stream,
            now: T0,
            begun: decision,
        }
    }

    pub fn decide(&mut self, input: Input) -> Decision {
        let decision = decide(&self.plan, &mut self.state, &self.id, input, self.now);
        self.stream.extend(decision.events.iter().cloned());
        decision
    }

    /// An event that others appended to the run's stream.
    pub fn append(&mut self, fact: Fact) {
        let draft = fact.draft(self.now.max(self.state.updated_ms));
        self.state.apply(&draft);
        self.stream.push(draft);
    }

    /// Begins a copy from the first `len` events.
    pub fn fork(&self, len: usize) -> Self {
        let plan = Plan::compile((*self.plan.flow).clone()).unwrap();
        let stream = self.stream[..len].to_vec();
        let state = reduce(&stream);
        Self {
            plan,
            id: RunId::new("r2"),
            state,
            stream,
            now: self.now,
            begun: Decision::default(),
        }
    }

    /// The stream gives the state, and each event of it was one that could come next.
    pub fn assert_replays(&self) {
        let mut state = RunState::new();
        for draft in &self.stream {
            let next = state.check_next(draft);
            assert_eq!(next, Ok(()), "{draft:?} on {state:?}");
            state.apply(draft);
        }
        assert_same(&state, &self.state);
    }
}

pub fn reduce(stream: &[Draft]) -> RunState {
    let mut state = RunState::new();
    stream.iter().for_each(|draft| state.apply(draft));
    state
}

/// Equal to the last byte: the order of keys and the text of numbers count, too.
pub fn assert_same(a: &RunState, b: &RunState) {
    assert_eq!(a, b);
    assert_eq!(
        serde_json::to_string(a).unwrap(),
        serde_json::to_string(b).unwrap()
    );
}
