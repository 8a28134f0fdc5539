//! A flow that is ready to run: names resolved, selectors and schemas compiled.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use indexmap::IndexSet;
use riverrun_types::{
    Await, AwaitType, Compensation, ErrorCode, EventType, Flow, Join, Json, Limits, Millis, Name,
    OnFailure, Path, Retry, Selector, Step, Subscription, VisitStatus, time::MAX_WAIT_MS,
};
use serde_json::Value;

use crate::{Failure, RunState, Schema, Select, TemplateError, Visit, VisitKey, Wait};

/// A flow that is ready to run. Built once per `id@version`.
#[derive(Debug)]
pub struct Plan {
    pub flow: Arc<Flow>,
    pub id: Name,
    pub version: Name,
    pub initial: Name,
    /// Looked up dozens of times in a run's life, hence the fast hash.
    pub steps: foldhash::HashMap<Name, PlanStep>,
    pub limits: Limits,
    pub timeout_ms: Option<u64>,
    pub input_schema: Option<Schema>,
    pub state_schema: Option<Schema>,
    pub result: Option<Path>,
    pub on_failure: OnFailure,
    /// Steps whose visits run as jobs of a queue.
    pub queued: BTreeSet<Name>,
    /// Some step waits before its handler.
    awaits: bool,
    /// The kinds of events that undo finished visits.
    undo_kinds: HashSet<Name>,
    /// The steps that each kind of event enters, each with the number of its subscription.
    pub subscriptions: foldhash::HashMap<Name, Vec<(Name, usize)>>,
}

#[derive(Debug)]
pub struct PlanStep {
    pub name: Name,
    pub handler: Name,
    pub input: Select,
    /// The most bytes that a template of the step may give.
    pub max_value_bytes: usize,
    pub output_key: Option<Path>,
    pub on_success: Option<Name>,
    pub on_failure: Option<Name>,
    pub on_resume: Option<Name>,
    pub retry: Option<Retry>,
    pub timeout_ms: Option<u64>,
    /// Whether its input is a part of the state that it selects, and not all of it.
    pub selects: bool,
    /// The process that runs it, as a job of its queue.
    pub process: Option<Name>,
    /// The config of that process, if the step's type names it.
    pub config: Option<Json>,
    /// The kinds of which it takes one of each at a time; empty where one event is enough.
    pub joins: BTreeSet<Name>,
    pub awaits: Option<Await>,
    /// The delay of a built-in step after its handler, if it does not depend on the result.
    pub pause_ms: Option<Millis>,
    pub compensation: Option<Compensation>,
    /// The kinds of events of which one each is emitted when a visit completes, with its output as
    /// data. None if a process runs the step: its code emits them itself.
    pub emits: Vec<Name>,
}

/// The type of a step that a process runs.
pub const PROCESS: &str = "process";

impl PlanStep {
    /// Whether a visit waits before its handler runs.
    pub fn awaits_first(&self) -> bool {
        let awaits = self.awaits.as_ref();
        awaits.is_some_and(|awaits| awaits.kind != AwaitType::Time)
    }

    /// The input of a visit: from the event that entered it, else from the step's selector. A visit
    /// that runs as a job gets the same input each time that its code is called. A template can
    /// wrap a value of the state until it nests too deep.
    pub fn input(&self, state: &RunState, visit: &Visit) -> Result<Json, Failure> {
        if let Some(brought) = &visit.input {
            return Ok(brought.clone());
        }
        let input = match state.queued.contains(&visit.key.step) {
            true => state.selected(&self.input, visit, self.max_value_bytes),
            false => self.input.resolve(&state.view(visit), self.max_value_bytes),
        }?;
        if !input.is_deeper(Json::MAX_DEPTH) {
            return Ok(input);
        }
        let limit = Json::MAX_DEPTH;
        let message = format!("the step's input would nest deeper than {limit} levels");
        Err(Failure::new(ErrorCode::InputError, message).permanent())
    }
}

/// Why a definition cannot become a plan. Validation finds all of these first.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("step {step:?}: {source}")]
    Template { step: String, source: TemplateError },
    #[error("{field}: {message}")]
    Schema {
        field: &'static str,
        message: String,
    },
}

impl Plan {
    /// Compiles a flow. The types of its steps are those of handlers.
    pub fn compile(flow: Flow) -> Result<Self, PlanError> {
        Self::compile_with(flow, &|_| true)
    }

    /// Compiles a flow. A step whose type is no handler is run by the process of that name, which
    /// gets the step's config.
    pub fn compile_with(flow: Flow, is_handler: &dyn Fn(&str) -> bool) -> Result<Self, PlanError> {
        let names: HashMap<&str, Name> = flow
            .steps
            .keys()
            .map(|name| (name.as_str(), Name::from(name.as_str())))
            .collect();
        let initial = flow.initial_step_id.as_str();
        let initial = names
            .get(initial)
            .cloned()
            .unwrap_or_else(|| Name::from(initial));
        let steps = flow
            .steps
            .iter()
            .map(|(name, step)| {
                Ok((
                    names[name.as_str()].clone(),
                    compile(name, step, &flow.limits, is_handler, &names)?,
                ))
            })
            .collect::<Result<foldhash::HashMap<Name, PlanStep>, PlanError>>()?;
        let awaits = steps.values().any(PlanStep::awaits_first);
        let undone = steps.values().filter_map(|step| step.compensation.as_ref());
        let undo_kinds = undone.flat_map(|undo| &undo.on);
        let undo_kinds = undo_kinds.map(|kind| Name::from(kind.as_str())).collect();
        let is_queued = |step: &&PlanStep| step.process.is_some();
        let queued = steps.values().filter(is_queued);
        let queued = queued.map(|step| step.name.clone()).collect();
        let schema = |field: &'static str, schema: &Option<serde_json::Value>| {
            let compiled = schema.as_ref().map(Schema::compile).transpose();
            compiled.map_err(|error| PlanError::Schema {
                field,
                message: error.to_string(),
            })
        };
        Ok(Self {
            id: Name::from(flow.id.as_str()),
            version: Name::from(flow.version.as_str()),
            initial,
            steps,
            limits: flow.limits.clone(),
            timeout_ms: flow.timeout_ms,
            input_schema: schema("inputSchema", &flow.input_schema)?,
            state_schema: schema("stateSchema", &flow.state_schema)?,
            result: flow.result.as_deref().map(Path::new),
            on_failure: flow.on_failure,
            queued,
            awaits,
            undo_kinds,
            subscriptions: subscriptions(&flow, &names),
            flow: Arc::new(flow),
        })
    }

    /// When a run that begins now must have ended.
    pub(crate) fn deadline(&self, from: Millis) -> Option<Millis> {
        let timeout_ms = i64::try_from(self.timeout_ms?).unwrap_or(i64::MAX);
        Some(from.saturating_add(timeout_ms.min(MAX_WAIT_MS)))
    }

    /// Whether a visit has still to wait as its definition says.
    pub fn must_await(&self, visit: &Visit) -> bool {
        self.awaits
            && visit.status == VisitStatus::Pending
            && visit.awaited.is_none()
            && matches!(visit.wait, None | Some(Wait::Job { .. }))
            && self
                .step(&visit.key.step)
                .is_some_and(PlanStep::awaits_first)
    }

    /// The visits that have still to wait as their definition says.
    pub fn to_await(&self, state: &RunState) -> Vec<VisitKey> {
        if !self.awaits || state.status.is_ended() {
            return Vec::new();
        }
        let visits = state.visits.iter().filter(|visit| self.must_await(visit));
        visits.map(|visit| visit.key.clone()).collect()
    }

    /// Whether an event of this kind changes the path of a run.
    pub fn subscribes_to(&self, kind: &str) -> bool {
        self.subscriptions.contains_key(kind) || self.undo_kinds.contains(kind)
    }

    pub fn step(&self, name: &str) -> Option<&PlanStep> {
        self.steps.get(name)
    }
}

fn compile(
    name: &str,
    step: &Step,
    limits: &Limits,
    is_handler: &dyn Fn(&str) -> bool,
    names: &HashMap<&str, Name>,
) -> Result<PlanStep, PlanError> {
    // A target that does not exist is kept: entering it fails with STEP_NOT_FOUND.
    let target = |target: &Option<String>| {
        target
            .as_deref()
            .map(|t| names.get(t).cloned().unwrap_or_else(|| Name::from(t)))
    };
    let input = Select::compile(&step.input).map_err(|source| PlanError::Template {
        step: name.to_owned(),
        source,
    })?;
    let process = process(step, is_handler);
    let is_custom = process.is_some() && step.handler != PROCESS;
    let config = is_custom.then(|| Json::of(&step.config));
    Ok(PlanStep {
        name: names[name].clone(),
        handler: Name::from(step.handler.as_str()),
        input,
        max_value_bytes: limits.max_value_bytes,
        output_key: step.output_key.as_deref().map(Path::new),
        on_success: target(&step.transitions.on_success),
        on_failure: target(&step.transitions.on_failure),
        on_resume: target(&step.transitions.on_resume),
        retry: step.retry.clone(),
        timeout_ms: step.timeout_ms,
        selects: step.input != Selector::Full,
        config,
        joins: match step.join {
            Join::Any => BTreeSet::new(),
            Join::All => step.subscriptions.iter().map(kind).collect(),
        },
        awaits: step.awaits.clone(),
        pause_ms: pause_ms(step).filter(|_| process.is_none()),
        compensation: step.compensation.clone(),
        emits: match process {
            Some(_) => Vec::new(),
            None => emits(step),
        },
        process,
    })
}

fn kind(subscription: &Subscription) -> Name {
    Name::from(subscription.event_kind.as_str())
}

fn pause_ms(step: &Step) -> Option<Millis> {
    let awaits = step.awaits.as_ref();
    let awaits = awaits.filter(|awaits| awaits.kind == AwaitType::Time);
    awaits?.delay.as_ref()?.ms()
}

fn emits(step: &Step) -> Vec<Name> {
    // Validation rejects reserved kinds. A definition that was registered before that check still
    // ignores them.
    let is_own = |kind: &&String| EventType::parse(kind).is_free();
    let kinds: IndexSet<&String> = step.emits.iter().filter(is_own).collect();
    kinds
        .into_iter()
        .map(|kind| Name::from(kind.as_str()))
        .collect()
}

/// The process that runs a step: the one that its config names, or the one that its type names if
/// that is no handler.
fn process(step: &Step, is_handler: &dyn Fn(&str) -> bool) -> Option<Name> {
    if step.handler == PROCESS {
        let named = step.config.get("process").and_then(Value::as_str);
        return named.map(Name::from);
    }
    let is_custom = !is_handler(&step.handler);
    is_custom.then(|| Name::from(step.handler.as_str()))
}

fn subscriptions(
    flow: &Flow,
    names: &HashMap<&str, Name>,
) -> foldhash::HashMap<Name, Vec<(Name, usize)>> {
    let mut by_kind: foldhash::HashMap<Name, Vec<(Name, usize)>> = foldhash::HashMap::default();
    for (name, step) in &flow.steps {
        for (number, subscription) in step.subscriptions.iter().enumerate() {
            let steps = by_kind.entry(kind(subscription)).or_default();
            steps.push((names[name.as_str()].clone(), number));
        }
    }
    by_kind
}
