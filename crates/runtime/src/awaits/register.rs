//! Registers the awaits of visits with the commit that suspends them, and settles fired ones.

use riverrun_contract::compile_expr;
use riverrun_engine::{AwaitFor, Awaiting, How, Operation, Over, VisitKey};
use riverrun_expr::Arg;
use riverrun_protocol::Suspended;
use riverrun_store::{Awaited, Change, Matcher, NewAwait};
use riverrun_types::{
    Draft, EventType, Json, Millis, Name, Path, RunId, StreamName, TriggerType,
    event::EventContext, time,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The expression over an event, with the values that it sees beside the event.
#[derive(Serialize, Deserialize)]
pub(crate) struct Filter {
    #[serde(rename = "where")]
    pub source: String,
    pub ctx: Json,
}

/// The stored configuration of a callback.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Callback {
    #[serde(rename = "type")]
    pub kind: TriggerType,
    /// The content of the callback's page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// Signs requests to it: HMAC-SHA256 of the body, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The environment variable that holds that secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_env: Option<String>,
    /// How often it must be resumed before its step goes on, if a definition says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

impl Callback {
    pub fn is_signed(&self) -> bool {
        self.secret.is_some() || self.secret_env.is_some()
    }

    /// The secret that signs requests to it, if it has one.
    pub(crate) fn secret(&self) -> std::result::Result<Option<String>, String> {
        match &self.secret_env {
            None => Ok(self.secret.clone()),
            Some(name) => match std::env::var(name) {
                Ok(secret) if secret.len() >= MIN_SECRET_BYTES => Ok(Some(secret)),
                Ok(_) => Err(format!(
                    "the secret in {name} has fewer than {MIN_SECRET_BYTES} bytes"
                )),
                Err(_) => Err(format!("the server has no variable {name} for a secret")),
            },
        }
    }
}

/// A shorter secret can be guessed.
pub(crate) const MIN_SECRET_BYTES: usize = 8;

/// A name that cannot be guessed.
pub(crate) fn fresh_id() -> Name {
    Name::from(format!("{:032x}", rand::random::<u128>()))
}

/// The URL of a callback, under the server's public address if it has one: in a browser it shows a
/// page.
pub(crate) fn callback_url(public: Option<&str>, id: &str, kind: TriggerType) -> String {
    let public = public.unwrap_or_default().trim_end_matches('/');
    match kind {
        TriggerType::User => format!("{public}/approve/{id}"),
        TriggerType::Webhook | TriggerType::Api => format!("{public}/api/triggers/{id}"),
    }
}

/// The stream of a trigger, and the envelope of its events.
pub(crate) fn trigger_event(id: &str, run: &RunId, mut event: Draft) -> riverrun_store::Append {
    event.correlation_id = Some(Name::from(run.as_str()));
    riverrun_store::Append {
        stream: StreamName::new("trigger", id),
        context: EventContext {
            run_id: Name::from(id),
            flow_name: Name::from("trigger"),
            tenant_id: None,
        },
        expect: riverrun_store::Expect::Any,
        events: std::sync::Arc::from([event]),
    }
}

/// The changes for a callback or an event await when an await ends.
pub(crate) fn over(run: &RunId, over: &Over, now: Millis) -> Vec<Change> {
    let id = over.id.clone();
    let (change, event) = match &over.how {
        // The request that resumed it is already recorded.
        How::Settled => (Change::Unawait(id), None),
        How::Timeout { waited_ms } => {
            let expire = Change::Expire {
                id,
                fired: over.taken,
                judged: 0,
            };
            let event = Draft::new(now, EventType::TriggerTimeout);
            let event = event.data(json!({ "duration": waited_ms }));
            (expire, Some(event))
        }
        How::Cancelled { reason } => {
            let event = Draft::new(now, EventType::TriggerCancelled);
            let event = event.data(json!({ "reason": reason }));
            (Change::Unawait(id), Some(event))
        }
    };
    let event = event.filter(|_| over.is_trigger);
    let event = event.map(|event| Change::Append(trigger_event(&over.id, run, event)));
    [change].into_iter().chain(event).collect()
}

/// The changes that register an await. A callback is recorded with its whole URL, under `public`.
pub(crate) fn register(new: NewAwait, public: Option<&str>) -> Vec<Change> {
    let mut changes = Vec::new();
    if let Awaited::Callback { callback, .. } = &new.what {
        let callback: Callback = callback.read().unwrap_or_default();
        let event = Draft::new(new.created_ms, EventType::TriggerRegistered).data(json!({
            "type": callback.kind, "step": new.step, "payload": callback.payload,
            "url": callback_url(public, &new.id, callback.kind),
            "expiresAt": new.expires_ms.map(time::iso),
        }));
        changes.push(Change::Append(trigger_event(&new.id, &new.run, event)));
    }
    changes.insert(0, Change::Await(Box::new(new)));
    changes
}

/// The path to an event's value; a text that is no dot path finds nothing.
fn pairs(equal: &Value) -> Vec<(Path, Json)> {
    let members = equal.as_object().into_iter().flatten();
    members
        .map(|(path, value)| (Path::new(path), Json::of(value)))
        .collect()
}

/// How the store finds matching events: by index if the expression is an equality.
pub(crate) fn matcher(
    mut equal: Vec<(Path, Json)>,
    filter: Option<&str>,
    ctx: &Json,
) -> std::result::Result<Matcher, String> {
    let Some(source) = filter else {
        return Ok(match equal.is_empty() {
            true => Matcher::Any,
            false => Matcher::Equal(equal),
        });
    };
    let expr = compile_expr(source).map_err(|error| error.to_string())?;
    if let Some((keys, other)) = expr.equality("event") {
        let (nothing, input) = (Json::null(), ctx.get("input").unwrap_or_else(Json::null));
        let args = [
            Arg::new("event", nothing.as_str()),
            Arg::new("ctx", ctx.as_str()),
            Arg::new("input", input.as_str()),
        ];
        let found = other.eval_native(&args);
        if let Some(Ok(Some(value))) = found
            && let Ok(value) = Json::try_from(value)
            // Objects equal only themselves.
            && !matches!(value.as_str().as_bytes().first(), Some(b'{' | b'['))
        {
            equal.push((Path::new(&keys.join(".")), value));
            return Ok(Matcher::Equal(equal));
        }
    }
    let filter = Json::of(&Filter {
        source: with_input(source),
        ctx: ctx.clone(),
    });
    Ok(Matcher::Filter { equal, filter })
}

/// The source with `input` in scope, the name that waiting code uses.
fn with_input(source: &str) -> String {
    format!(
        "(event, ctx) => {{ const input = ctx.input; const judge = ({source}); return typeof judge === 'function' ? judge(event, ctx) : judge }}"
    )
}

/// How often a callback must be resumed before its step goes on, if more than once.
pub(crate) fn resumed_times(what: &Awaited) -> Option<usize> {
    let Awaited::Callback {
        callback,
        many: true,
    } = what
    else {
        return None;
    };
    let callback: Callback = callback.read().ok()?;
    callback.count.and_then(|count| usize::try_from(count).ok())
}

/// The condition on an event, for people.
pub(crate) fn condition(equal: &[(Path, Json)], filter: Option<&str>) -> Option<Json> {
    if equal.is_empty() && filter.is_none() {
        return None;
    }
    let equal = equal.iter().map(|(path, value)| (path.to_string(), value));
    let equal: indexmap::IndexMap<String, &Json> = equal.collect();
    let mut said = indexmap::IndexMap::new();
    if !equal.is_empty() {
        said.insert("match", Json::of(&equal));
    }
    if let Some(filter) = filter {
        said.insert("where", Json::of(&filter));
    }
    Some(Json::of(&said))
}

/// Rejects an await that looks back further than events are kept.
pub(crate) fn check_lookback(
    lookback_ms: Option<Millis>,
    kept_ms: Option<Millis>,
) -> std::result::Result<(), String> {
    match (lookback_ms, kept_ms) {
        (Some(far_ms), Some(kept_ms)) if far_ms > kept_ms => Err(format!(
            "lookback is {far_ms} ms, and emitted events are kept for {kept_ms} ms: look back less far, or keep them for longer (retention.emitted)"
        )),
        _ => Ok(()),
    }
}

/// The facts that an await needs to look back.
pub(crate) struct Past {
    /// How long emitted events are kept.
    pub kept_ms: Option<Millis>,
    /// When the run began.
    pub began_ms: Millis,
    /// The events of its kind that the run has consumed.
    pub given: Vec<Json>,
}

/// The wait of a step's code that has only operations left whose next try is due later.
pub(crate) fn retry(operation: Operation, until_ms: Millis) -> Awaiting {
    Awaiting {
        id: fresh_id(),
        what: AwaitFor::Retry(operation),
        until_ms: Some(until_ms),
        in_code: true,
    }
}

/// The wait of a step's code, and the changes that register it: none for a time, which the run task
/// keeps, and none for a callback, which exists already.
pub(crate) fn suspended(
    wait: &Suspended,
    input: &Json,
    run: &RunId,
    key: &VisitKey,
    tenant: Option<&Name>,
    now: Millis,
    past: Past,
) -> std::result::Result<(Awaiting, Option<NewAwait>), String> {
    let timeout = wait
        .timeout_ms
        .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let timeout = timeout.map(|ms| now.saturating_add(ms));
    let in_code = true;
    match wait.kind.as_str() {
        "time" => {
            // A worker's clock may differ from this one.
            let after = wait
                .after_ms
                .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
            let after = after.map(|ms| now.saturating_add(ms));
            let at = wait.resume_at.as_deref().and_then(time::parse);
            let at = after
                .or(at)
                .ok_or_else(|| format!("{:?} is no time", wait.resume_at))?;
            let awaiting = Awaiting {
                id: fresh_id(),
                what: AwaitFor::Time,
                until_ms: Some(at),
                in_code,
            };
            Ok((awaiting, None))
        }
        "event" => {
            let kind = wait.event_kind.as_deref().unwrap_or_default();
            let known = EventType::checked(kind);
            let kind = known.ok_or_else(|| format!("{kind:?} is no kind of event"))?;
            let kind = Name::from(kind.as_str());
            let equal = wait.equal.as_ref().map(|equal| pairs(&equal.value()));
            let equal = equal.unwrap_or_default();
            let ctx = Json::of(&json!({"input": input, "runId": run}));
            let filter = wait.filter.as_deref();
            let condition = condition(&equal, filter);
            let matcher = matcher(equal, filter, &ctx)?;
            let awaiting = Awaiting {
                id: fresh_id(),
                what: AwaitFor::Event {
                    event_kind: kind.clone(),
                    condition,
                },
                until_ms: timeout,
                in_code,
            };
            let lookback = match wait.lookback.as_deref() {
                Some("none") => None,
                Some("run") => Some(now.saturating_sub(past.began_ms).max(0)),
                None if wait.lookback_ms.is_none() => {
                    Some(now.saturating_sub(past.began_ms).max(0))
                }
                Some(other) => return Err(format!("{other:?} is nothing to look back to")),
                None => {
                    let far_ms = wait.lookback_ms;
                    let far_ms = far_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
                    check_lookback(far_ms, past.kept_ms)?;
                    far_ms
                }
            };
            let new = NewAwait {
                id: awaiting.id.clone(),
                run: run.clone(),
                step: key.step.clone(),
                visit: key.visit,
                tenant: tenant.cloned(),
                created_ms: now,
                expires_ms: timeout,
                what: Awaited::Event {
                    kind,
                    matcher,
                    lookback_ms: lookback,
                },
                given: past.given,
            };
            Ok((awaiting, Some(new)))
        }
        "trigger" => {
            let id = wait.trigger_id.as_deref().unwrap_or_default();
            let awaiting = Awaiting {
                id: Name::from(id),
                what: AwaitFor::Trigger {
                    trigger_type: TriggerType::Webhook,
                },
                until_ms: timeout,
                in_code,
            };
            Ok((awaiting, None))
        }
        other => Err(format!("{other:?} is nothing that a step can wait for")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_url_begins_with_the_public_address() {
        let check = |public: Option<&str>, kind, expected: &str| {
            assert_eq!(callback_url(public, "w1", kind), expected);
        };
        use TriggerType::{Api, User, Webhook};
        check(None, User, "/approve/w1");
        check(None, Api, "/api/triggers/w1");
        let public = Some("https://flows.example.org");
        check(public, User, "https://flows.example.org/approve/w1");
        check(public, Webhook, "https://flows.example.org/api/triggers/w1");
        let below = Some("https://example.org/flows/");
        check(below, User, "https://example.org/flows/approve/w1");
    }
}
