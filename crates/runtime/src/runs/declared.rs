//! Awaits that definitions declare: before handlers, and delays after them.

use riverrun_contract::compile_expr;
use riverrun_engine::{
    AwaitFor, Awaiting, Failure, Input, Outcome, Template, Visit, VisitKey, is_function,
};
use riverrun_expr::Arg;
use riverrun_store::{Awaited, NewAwait};
use riverrun_types::{
    Await, AwaitType, Delay, ErrorCode, Json, Millis, Name, Path, time::MAX_WAIT_MS,
};
use serde_json::{Value, json};

use super::{Runs, drive::Driver};
use crate::{
    awaits::{Callback, check_lookback, condition, fresh_id, matcher},
    flows::Compiled,
};

impl Driver {
    /// Registers the awaits that the definitions of visits declare. Returns whether it registered
    /// any.
    pub(crate) async fn await_declared(&mut self) -> bool {
        let to_await = self.flow.plan.to_await(&self.state);
        let were_any = !to_await.is_empty();
        for key in to_await {
            match self.declared(&key).await {
                Ok((awaiting, new)) => {
                    self.judge(Input::Await {
                        visit: key,
                        awaiting,
                    });
                    self.awaits.push((self.signals.len(), new));
                }
                Err(message) => {
                    let failure = Failure::new(ErrorCode::InputError, message).permanent();
                    self.judge(Input::Refused {
                        visit: key,
                        failure,
                    });
                }
            }
        }
        were_any
    }

    /// The await that the definition of a visit's step declares.
    async fn declared(&self, key: &VisitKey) -> std::result::Result<(Awaiting, NewAwait), String> {
        let gone = || format!("the flow has no step {:?}", key.step);
        let step = self.flow.plan.step(&key.step).ok_or_else(gone)?;
        let visit = self.state.visit(key).ok_or_else(gone)?;
        let awaits = step.awaits.as_ref().ok_or_else(gone)?;
        let input = step
            .input(&self.state, visit)
            .map_err(|failure| failure.message)?;
        let now = self.runs.base().now_ms();
        let timeout = span_ms("timeout", awaits.timeout.as_ref())?;
        let until_ms = timeout.map(|ms| now.saturating_add(ms));
        let (what, awaited) = match awaits.kind {
            AwaitType::Time => return Err("a time is waited for after the handler".to_owned()),
            AwaitType::Event => self.declared_event(awaits, &input)?,
            AwaitType::Trigger => {
                let trigger_type = awaits.trigger_type.unwrap_or_default();
                let payload = match &awaits.payload {
                    None => None,
                    Some(payload) => Some(self.payload(payload, visit, &input).await?),
                };
                let callback = Callback {
                    kind: trigger_type,
                    payload,
                    secret: None,
                    secret_env: awaits.secret_env.clone(),
                    count: awaits.many,
                };
                // Checked now, so that a signed request does not meet the error later.
                callback.secret()?;
                let many = callback.count.is_some();
                let callback = Json::of(&callback);
                let awaited = Awaited::Callback { callback, many };
                (AwaitFor::Trigger { trigger_type }, awaited)
            }
        };
        let awaiting = Awaiting {
            id: fresh_id(),
            what,
            until_ms,
            in_code: false,
        };
        let new = self.new_await(key, &awaiting, awaited, now);
        Ok((awaiting, new))
    }

    /// The content of a callback's page: the result of a function, or JSON with parts of the step's
    /// input and of the state.
    async fn payload(
        &self,
        payload: &Value,
        visit: &Visit,
        input: &Json,
    ) -> std::result::Result<Json, String> {
        let limit = self.flow.plan.limits.max_value_bytes;
        let shown = match payload {
            Value::String(source) if is_function(source) => {
                let expr = compile_expr(source).map_err(|error| error.to_string())?;
                let ctx = self.seen(input);
                let args = [Arg::new("ctx", ctx.as_str())];
                let found = self.runs.base().evaluate(&expr, &args).await;
                let found = found.map_err(|error| format!("payload: {error}"))?;
                found.and_then(|value| Json::try_from(value).ok())
            }
            payload => {
                let template = Template::parse(payload).map_err(|error| error.to_string())?;
                let view = self.state.view(visit).over("input", input);
                let shown = template.resolve(&view, limit);
                shown.map_err(|error| format!("payload: {error}"))?
            }
        };
        let shown = shown.unwrap_or_else(Json::null);
        match shown.bytes() > limit {
            true => Err(format!(
                "the payload has {} bytes, {limit} is the most",
                shown.bytes()
            )),
            false => Ok(shown),
        }
    }

    /// The view `ctx` of an expression in a definition.
    fn seen(&self, input: &Json) -> Json {
        let state = self.state.state.json();
        Json::of(&json!({"input": input, "state": state, "runId": self.run}))
    }

    fn declared_event(
        &self,
        awaits: &Await,
        input: &Json,
    ) -> std::result::Result<(AwaitFor, Awaited), String> {
        let kind = awaits.event_kind.as_deref().unwrap_or_default();
        let ctx = self.seen(input);
        let equal = awaits.equal.iter().map(|(path, from)| {
            let value = match from {
                // An absent value would match nothing, or an event that was not meant.
                Value::String(text)
                    if text == "input"
                        || text.starts_with("input.")
                        || text.starts_with("state.") =>
                {
                    let found = ctx.path(&Path::new(text));
                    found.ok_or_else(|| {
                        format!("match has no value for {path:?}: there is no {text}")
                    })?
                }
                Value::Object(object) if object.contains_key("value") => Json::of(&object["value"]),
                // Only definitions from before validation rejected it have text among these.
                literal => Json::of(literal),
            };
            Ok((Path::new(path), value))
        });
        let equal = equal.collect::<std::result::Result<Vec<_>, String>>()?;
        let condition = condition(&equal, awaits.filter.as_deref());
        let matcher = matcher(equal, awaits.filter.as_deref(), &ctx)?;
        let what = AwaitFor::Event {
            event_kind: Name::from(kind),
            condition,
        };
        let lookback_ms = match &awaits.lookback {
            Some(Delay::Text(text)) if text == "run" => Some(self.age_ms()),
            lookback => {
                let far_ms = span_ms("lookback", lookback.as_ref())?;
                check_lookback(far_ms, self.runs.base().options().retention.emits_ms)?;
                far_ms
            }
        };
        let kind = Name::from(kind);
        Ok((
            what,
            Awaited::Event {
                kind,
                matcher,
                lookback_ms,
            },
        ))
    }

    /// How long ago the run began.
    fn age_ms(&self) -> Millis {
        let age = self
            .runs
            .base()
            .now_ms()
            .saturating_sub(self.state.created_ms);
        age.max(0)
    }

    fn new_await(
        &self,
        key: &VisitKey,
        awaiting: &Awaiting,
        what: Awaited,
        now: Millis,
    ) -> NewAwait {
        NewAwait {
            id: awaiting.id.clone(),
            run: self.run.clone(),
            step: key.step.clone(),
            visit: key.visit,
            tenant: self.context.tenant_id.clone(),
            created_ms: now,
            expires_ms: awaiting.until_ms,
            what,
            // It is the first of its visit.
            given: Vec::new(),
        }
    }
}

impl Runs {
    /// The end of a handler, after the time that its step declares.
    pub(crate) async fn with_declared_time(
        &self,
        flow: &Compiled,
        step: &str,
        outcome: Outcome,
    ) -> Outcome {
        let Some(known) = flow.plan.step(step) else {
            return outcome;
        };
        let is_time = |awaits: &&Await| awaits.kind == AwaitType::Time;
        let Some(awaits) = known.awaits.as_ref().filter(is_time) else {
            return outcome;
        };
        let (from_ms, output, next) = match outcome {
            Outcome::Success { output, next } => (self.base().now_ms(), output, next),
            Outcome::Wait {
                until_ms,
                output,
                next,
                ..
            } => (until_ms, output, next),
            Outcome::Fork(_) | Outcome::SubFlow(_) if known.pause_ms.is_none() => {
                let message = "the delay is a function of a result that comes from other steps";
                return Outcome::Failure(Failure::new(ErrorCode::InputError, message).permanent());
            }
            // The engine lets the time pass once the result is there.
            outcome => return outcome,
        };
        let result = output.clone().unwrap_or_else(Json::null);
        match self.delay_after(awaits, &result).await {
            Ok(ms) => Outcome::Wait {
                until_ms: from_ms.saturating_add(ms),
                reason: Some("declared".to_owned()),
                output,
                next,
            },
            Err(message) => {
                Outcome::Failure(Failure::new(ErrorCode::InputError, message).permanent())
            }
        }
    }

    /// Delays in definitions that depend on the handler's output.
    async fn delay_after(
        &self,
        awaits: &Await,
        result: &Json,
    ) -> std::result::Result<Millis, String> {
        let delay = awaits.delay.as_ref().ok_or("the await has no delay")?;
        if let Some(ms) = delay.ms() {
            return Ok(ms);
        }
        let Delay::Text(source) = delay else {
            return Err(format!("{delay:?} is longer than ten years"));
        };
        let expr = compile_expr(source).map_err(|error| error.to_string())?;
        let args = [Arg::new("result", result.as_str())];
        let found = self.base().evaluate(&expr, &args).await;
        let found = found.map_err(|error| error.to_string())?;
        let ms = found.and_then(|ms| ms.get().parse::<f64>().ok());
        match ms {
            Some(ms) if (0.0..=MAX_WAIT_MS as f64).contains(&ms) => Ok(ms.round() as Millis),
            _ => Err("the delay is not a number of milliseconds up to ten years".to_owned()),
        }
    }
}

/// A duration of a definition in milliseconds. A definition that an earlier version of this program
/// registered may hold an invalid one; the wait must then end, not last for ever.
fn span_ms(what: &str, delay: Option<&Delay>) -> std::result::Result<Option<Millis>, String> {
    let Some(delay) = delay else { return Ok(None) };
    let span = delay.ms().ok_or_else(|| {
        format!("{what} is {delay:?}, which is no duration between 0 and ten years")
    })?;
    Ok(Some(span))
}
