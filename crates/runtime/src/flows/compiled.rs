//! Flows ready to run.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects};
use riverrun_engine::{Failure, Outcome, Plan};
use riverrun_store::Error as StoreError;
use riverrun_types::{ErrorCode, Flow, Name};
use serde_json::Value;

use super::{handlers::Handlers, registry::FlowEntry, rules::Rules};
use crate::base::{Error, Result};

/// A flow ready to run: the engine's plan and each step's action.
pub struct Compiled {
    pub plan: Plan,
    pub(crate) actions: HashMap<Name, StepAction>,
    pub(crate) rules: Rules,
}

pub(crate) struct StepAction {
    pub action: Arc<dyn Action>,
    pub effects: Effects,
    pub timeout: Option<Duration>,
}

pub(super) fn compile(handlers: &Handlers, entry: &FlowEntry) -> Result<Compiled> {
    let damaged = |error: String| {
        let text = format!("flow {}@{}: {error}", entry.id, entry.version);
        // It was valid when it was registered.
        Error::Store(StoreError::Corrupt(text))
    };
    let flow: Flow = entry
        .definition
        .read()
        .map_err(|error| damaged(error.to_string()))?;
    let actions = flow.steps.iter().map(|(name, step)| {
        let config = Value::Object(step.config.clone());
        let prepared = handlers
            .get(&step.handler)
            .and_then(|handler| Some((handler.prepare(&config).ok()?, handler.effects())));
        let (action, effects) = prepared.unwrap_or_else(|| missing_handler(&step.handler));
        let timeout = step
            .timeout_ms
            .map(Duration::from_millis)
            .or_else(|| action.limit());
        (
            Name::from(name.as_str()),
            StepAction {
                action,
                effects,
                timeout,
            },
        )
    });
    let actions = actions.collect();
    let rules = Rules::compile(&flow);
    let is_handler = |kind: &str| handlers.get(kind).is_some();
    let plan = Plan::compile_with(flow, &is_handler).map_err(|error| damaged(error.to_string()))?;
    Ok(Compiled {
        plan,
        actions,
        rules,
    })
}

/// Replaces the handler of a registered flow that this server does not have any more.
struct Missing {
    kind: String,
}

fn missing_handler(kind: &str) -> (Arc<dyn Action>, Effects) {
    (
        Arc::new(Missing {
            kind: kind.to_owned(),
        }),
        Effects::None,
    )
}

#[async_trait]
impl Action for Missing {
    async fn run(&self, _call: &Call<'_>) -> Outcome {
        let message = format!(
            "this server has no handler {:?}, or it refuses the step's config",
            self.kind
        );
        Outcome::Failure(Failure::new(ErrorCode::HandlerNotFound, message))
    }
}
