//! The expressions in a flow's definition, compiled once.

use std::collections::HashMap;

use riverrun_engine::{Entry, Failure};
use riverrun_expr::{Arg, Expr};
use riverrun_types::{
    Draft, ErrorCode, EventId, Flow, Json, Name, RunId, event::EventContext, time::iso,
};
use serde::Serialize;

use super::named::may_name_id;
use crate::{runs::Driver, runtime::Runtime};

/// What a flow's definition says of events.
#[derive(Default)]
pub(crate) struct Rules {
    subscriptions: HashMap<(Name, usize), Subscription>,
}

#[derive(Default)]
struct Subscription {
    when: Option<Expr>,
    map: Option<Expr>,
    /// Whether one of them may look at the event's id.
    names_id: bool,
}

impl Rules {
    /// Definitions were validated when they were registered: what does not compile now, by a
    /// later version of this program, never holds.
    pub fn compile(flow: &Flow) -> Self {
        let expr = |source: &Option<String>| {
            let source = source.as_deref()?;
            Some(Expr::compile(source).unwrap_or_else(|_| never()))
        };
        let mut rules = Self::default();
        for (name, step) in &flow.steps {
            for (number, subscription) in step.subscriptions.iter().enumerate() {
                let (when, map) = (expr(&subscription.when), expr(&subscription.map));
                if when.is_some() || map.is_some() {
                    let key = (Name::from(name.as_str()), number);
                    let mut sources = when.iter().chain(&map).map(Expr::source);
                    let names_id = sources.any(may_name_id);
                    let rule = Subscription {
                        when,
                        map,
                        names_id,
                    };
                    rules.subscriptions.insert(key, rule);
                }
            }
        }
        rules
    }
}

fn never() -> Expr {
    Expr::compile("false").unwrap_or_else(|_| unreachable!("a literal compiles"))
}

/// An event as expressions and handlers see it: the envelope that it is stored in. Its id, and with
/// that its time, are given when it is stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Emission<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    pub r#type: &'a str,
    /// The same as `type`, as the older form has it.
    pub kind: &'a str,
    run_id: &'a str,
    flow_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<&'a str>,
    /// How many events started a run on the way to the one that emitted it.
    #[serde(skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    causation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a str>,
    pub data: &'a Json,
}

impl<'a> Emission<'a> {
    pub fn of(event: &'a Draft, kind: &'a str, data: &'a Json, context: &'a EventContext) -> Self {
        let at = event.step.as_ref();
        Self {
            id: None,
            ts: None,
            r#type: kind,
            kind,
            run_id: &context.run_id,
            flow_name: &context.flow_name,
            step_name: at.map(|at| &*at.name),
            step_id: at.and_then(|at| at.id(&context.run_id)),
            attempt: at.map(|at| at.attempt),
            correlation_id: event.correlation_id.as_deref(),
            chain: 0,
            causation_id: event.causation_id.as_deref(),
            tenant_id: context.tenant_of(event).map(|tenant| &**tenant),
            data,
        }
    }
}

/// What expressions see of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Context<'a> {
    run_id: &'a RunId,
    flow_name: &'a Name,
    input: &'a Json,
    state: Json,
}

impl Driver {
    /// The steps that an event enters. An expression that throws is a failure of the flow's
    /// definition: it is said, and enters nothing.
    pub(crate) async fn entries(
        &mut self,
        event: &Draft,
        kind: &str,
        data: &Json,
    ) -> (Vec<Entry>, Vec<Failure>) {
        let (mut entries, mut failures) = (Vec::new(), Vec::new());
        let Some(subscribed) = self.flow.plan.subscriptions.get(kind) else {
            return (entries, failures);
        };
        let rules = &self.flow.rules.subscriptions;
        let asked = subscribed.iter().filter_map(|place| rules.get(place));
        // Then the event is stored at the expected place, or all is judged again.
        let is_placed = asked.clone().any(|rule| rule.names_id);
        self.has_placed |= is_placed;
        // Where no expression asks, nobody reads it.
        let emission = match asked.count() {
            0 => Json::null(),
            _ => {
                let mut emission = Emission::of(event, kind, data, &self.context);
                emission.ts = Some(iso(event.ms));
                emission.id = is_placed.then_some(EventId {
                    ms: event.ms,
                    seq: self.state.len,
                });
                Json::of(&emission)
            }
        };
        let (mut made, limit) = (0, self.flow.plan.limits.max_state_bytes);
        for place @ (step, number) in subscribed {
            // An event enters a step once: by the first of its subscriptions that holds.
            if entries.iter().any(|entry| entry.step == *step) {
                continue;
            }
            let rule = self.flow.rules.subscriptions.get(place);
            match self.entry(rule, &emission).await {
                Ok(None) => {}
                Ok(Some(input)) => {
                    made += input.as_ref().map_or(0, Json::bytes);
                    if made > limit {
                        let message = format!(
                            "subscription {number} of step {step:?}: the inputs that map gives for one event have more than {limit} bytes together, the flow's limits.maxStateBytes"
                        );
                        failures.push(Failure::new(ErrorCode::ExpressionError, message));
                        break;
                    }
                    entries.push(Entry {
                        step: step.clone(),
                        input,
                    });
                }
                Err(error) => {
                    let message = format!("subscription {number} of step {step:?}: {error}");
                    failures.push(Failure::new(ErrorCode::ExpressionError, message));
                }
            }
        }
        (entries, failures)
    }

    /// What a subscription makes of an event: nothing, or a visit with an input of its own or
    /// the event's.
    async fn entry(
        &self,
        rule: Option<&Subscription>,
        event: &Json,
    ) -> Result<Option<Option<Json>>, String> {
        let Some(Subscription { when, map, .. }) = rule else {
            return Ok(Some(None));
        };
        if let Some(when) = when {
            let holds = self.eval(when, event).await?;
            if !holds.is_some_and(|holds| is_true(&holds)) {
                return Ok(None);
            }
        }
        match map {
            None => Ok(Some(None)),
            Some(map) => {
                let input = self.eval(map, event).await?;
                Ok(Some(Some(input.unwrap_or_else(Json::null))))
            }
        }
    }

    async fn eval(&self, expr: &Expr, event: &Json) -> Result<Option<Json>, String> {
        // The state may be large, and few expressions look at it.
        let context = match mentions_more(expr.source()) {
            false => Json::of(&serde_json::json!({})),
            true => Json::of(&Context {
                run_id: &self.run,
                flow_name: &self.flow.plan.id,
                input: &self.state.input,
                state: self.state.state.json(),
            }),
        };
        evaluate(&self.runtime, expr, event, &context).await
    }
}

/// Whether a source has a second parameter, or speaks of the context by its name.
fn mentions_more(source: &str) -> bool {
    let head = source.split("=>").next().unwrap_or_default();
    head.contains(',') || source.contains("ctx") || source.contains("arguments")
}

/// What an expression over an event and a context gives.
pub(crate) async fn evaluate(
    runtime: &Runtime,
    expr: &Expr,
    event: &Json,
    context: &Json,
) -> Result<Option<Json>, String> {
    let args = [
        Arg::new("event", event.as_str()),
        Arg::new("ctx", context.as_str()),
    ];
    let found = runtime.evaluate(expr, &args).await;
    let found = found.map_err(|error| format!("{error} ({})", error.code()))?;
    let found = found.map(Json::try_from).transpose();
    found.map_err(|error| format!("it gave no JSON: {error}"))
}

/// What JavaScript takes for true.
pub(crate) fn is_true(json: &Json) -> bool {
    !matches!(
        json.as_str(),
        "false" | "null" | "0" | "-0" | "0.0" | "\"\""
    )
}
