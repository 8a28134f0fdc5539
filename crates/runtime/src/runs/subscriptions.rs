//! The steps of a run that an event enters.

use riverrun_engine::{Entry, Failure};
use riverrun_expr::Expr;
use riverrun_types::{Draft, ErrorCode, EventId, Json, Name, RunId, time::iso};
use serde::Serialize;

use super::drive::Driver;
use crate::{base::is_true, flows::Subscription, streams::Emission};

/// The view that expressions have of a run.
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
    /// definition: it is recorded, and enters no step.
    pub(super) async fn entries(
        &mut self,
        event: &Draft,
        kind: &str,
        data: &Json,
    ) -> (Vec<Entry>, Vec<Failure>) {
        let (mut entries, mut failures) = (Vec::new(), Vec::new());
        let Some(subscribed) = self.flow.plan.subscriptions.get(kind) else {
            return (entries, failures);
        };
        let rules = &self.flow.rules;
        let asked = subscribed.iter().filter_map(|place| rules.of(place));
        // Then the event is stored at the expected place, or all is judged again.
        let is_placed = asked.clone().any(|rule| rule.names_id);
        self.has_placed |= is_placed;
        // Without an expression, the value is not read.
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
            // An event enters a step once: by the first of its subscriptions that matches.
            if entries.iter().any(|entry| entry.step == *step) {
                continue;
            }
            let rule = self.flow.rules.of(place);
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

    /// The result of a subscription for an event: nothing, or a visit with an input of its own or
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
        self.runs.base().evaluate_event(expr, event, &context).await
    }
}

/// Whether a source has a second parameter, or speaks of the context by its name.
fn mentions_more(source: &str) -> bool {
    let head = source.split("=>").next().unwrap_or_default();
    head.contains(',') || source.contains("ctx") || source.contains("arguments")
}
