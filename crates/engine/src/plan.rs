//! A flow made ready to run: names resolved, selectors and schemas compiled.

use std::{collections::HashMap, sync::Arc};

use riverrun_types::{Flow, Json, Limits, Millis, Name, Path, Retry, Step, time::MAX_WAIT_MS};

use crate::{Failure, Schema, Select, TemplateError, View, code};

/// A flow ready to run. Made once per `id@version`.
#[derive(Debug)]
pub struct Plan {
    pub flow: Arc<Flow>,
    pub id: Name,
    pub version: Name,
    pub initial: Name,
    pub steps: HashMap<Name, PlanStep>,
    pub limits: Limits,
    pub timeout_ms: Option<u64>,
    pub input_schema: Option<Schema>,
    pub state_schema: Option<Schema>,
    pub result: Option<Path>,
}

#[derive(Debug)]
pub struct PlanStep {
    pub name: Name,
    pub handler: Name,
    pub input: Select,
    pub output_key: Option<Path>,
    pub on_success: Option<Name>,
    pub on_failure: Option<Name>,
    pub on_resume: Option<Name>,
    pub retry: Option<Retry>,
    pub timeout_ms: Option<u64>,
}

impl PlanStep {
    /// What the step is given. A template can wrap what is in the state until it is too deep.
    pub fn input(&self, view: &View<'_>) -> Result<Json, Failure> {
        let input = self.input.resolve(view);
        if !input.is_deeper(Json::MAX_DEPTH) {
            return Ok(input);
        }
        let limit = Json::MAX_DEPTH;
        let message = format!("the step's input would nest deeper than {limit} levels");
        Err(Failure::new(code::INPUT_ERROR, message).permanent())
    }
}

/// Why a definition cannot become a plan. Validation finds these first and all of them.
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
    pub fn compile(flow: Flow) -> Result<Self, PlanError> {
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
            .map(|(name, step)| Ok((names[name.as_str()].clone(), compile(name, step, &names)?)))
            .collect::<Result<_, PlanError>>()?;
        let schema = |field: &'static str, schema: &Option<serde_json::Value>| {
            let compiled = schema.as_ref().map(Schema::compile).transpose();
            compiled.map_err(|message| PlanError::Schema { field, message })
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
            flow: Arc::new(flow),
        })
    }

    /// When a run that begins now must have ended.
    pub(crate) fn deadline(&self, from: Millis) -> Option<Millis> {
        let timeout_ms = i64::try_from(self.timeout_ms?).unwrap_or(i64::MAX);
        Some(from.saturating_add(timeout_ms.min(MAX_WAIT_MS)))
    }

    pub fn step(&self, name: &str) -> Option<&PlanStep> {
        self.steps.get(name)
    }
}

fn compile(name: &str, step: &Step, names: &HashMap<&str, Name>) -> Result<PlanStep, PlanError> {
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
    Ok(PlanStep {
        name: names[name].clone(),
        handler: Name::from(step.handler.as_str()),
        input,
        output_key: step.output_key.as_deref().map(Path::new),
        on_success: target(&step.transitions.on_success),
        on_failure: target(&step.transitions.on_failure),
        on_resume: target(&step.transitions.on_resume),
        retry: step.retry.clone(),
        timeout_ms: step.timeout_ms,
    })
}
