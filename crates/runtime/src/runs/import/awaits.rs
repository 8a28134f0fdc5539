//! The awaits of a run, on its way from one server to another.
//!
//! The run's stream says that it waits. Only the await's own record says how the store finds the
//! event, and how a callback is configured; so an export holds those records, and an import creates
//! them again in the commit that creates the run. The stream says which must exist: an import
//! ignores records that the stream does not mention, and rejects the run if one that it mentions is
//! missing.

use std::collections::HashMap;

use riverrun_contract::compile_expr;
use riverrun_engine::{AwaitFor, Awaiting, Fact, RunState, Visit, VisitKey, Wait};
use riverrun_store::{
    AwaitFilter, AwaitRecord, AwaitState, Awaited, Change, Fire, Matcher, NewAwait, NewRun,
};
use riverrun_types::{Draft, EventType, Json, Millis, Name, Path, RunId, StreamName, time};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{MAX_AHEAD_MS, bad, present};
use crate::{
    awaits::{Callback, Filter, register, trigger_event},
    base::{Error, Result},
    runs::Runs,
};

/// An await as an export holds it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedAwait {
    pub id: String,
    pub step: String,
    pub visit: u32,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The purpose of the await: one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<ExportedEvent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Callback>,
    /// Of a callback: it may be resumed repeatedly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub many: bool,
    /// Of a callback: it accepts only signed requests. The export holds the secret only if it was
    /// asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
    /// Of a callback: it is closed, and kept so that late requests get an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// When it was fired last, and all that it was fired with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired_at: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Json>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedEvent {
    pub kind: String,
    /// The values that the event has at paths.
    #[serde(rename = "match", default, skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<(Path, Json)>,
    /// The part of the filter that only an expression can decide.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub filter: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback_ms: Option<Millis>,
}

/// Closed callbacks that are read at a time.
const PAGE: usize = 100;

impl Runs {
    /// The awaits of a run, and the callbacks that it has created, in the form an import expects.
    /// The secrets of signed callbacks are included only on request.
    pub async fn awaits(&self, run: &RunId, secrets: bool) -> Result<Vec<ExportedAwait>> {
        let missing = || riverrun_store::Error::RunNotFound(run.clone());
        self.base().store().run(run).await?.ok_or_else(missing)?;
        let mut records = self.base().store().awaits_of(run).await?;
        let mut filter = AwaitFilter {
            callbacks: true,
            state: Some(AwaitState::Closed),
            run: Some(run.clone()),
            limit: PAGE,
            ..AwaitFilter::default()
        };
        loop {
            let page = self.base().store().list_awaits(&filter).await?;
            for closed in page.items {
                records.extend(self.base().store().await_by(&closed.id).await?);
            }
            filter.cursor = page.next;
            if filter.cursor.is_none() {
                break;
            }
        }
        Ok(records
            .into_iter()
            .map(|record| exported(record, secrets))
            .collect())
    }
}

fn exported(record: AwaitRecord, secrets: bool) -> ExportedAwait {
    let mut exported = ExportedAwait {
        id: record.id.to_string(),
        step: record.step.to_string(),
        visit: record.visit,
        created_at: time::iso(record.created_ms),
        expires_at: record.expires_ms.map(time::iso),
        event: None,
        trigger: None,
        many: false,
        signed: false,
        closed: record.state == AwaitState::Closed,
        fired_at: record.fired_ms.map(time::iso),
        values: record.values,
    };
    match record.what {
        Awaited::Event {
            kind,
            matcher,
            lookback_ms,
        } => {
            exported.event = Some(ExportedEvent {
                kind: kind.to_string(),
                equal: matcher.equal().to_vec(),
                filter: matcher.filter().cloned(),
                lookback_ms,
            });
        }
        Awaited::Callback { callback, many } => {
            let mut callback: Callback = callback.read().unwrap_or_default();
            exported.many = many;
            exported.signed = callback.is_signed();
            callback.secret = callback.secret.filter(|_| secrets);
            exported.trigger = Some(callback);
        }
    }
    exported
}

/// The changes that register an imported run's awaits and its callbacks. A callback keeps its id,
/// and so its URL; fired awaits are fired here too, and closed ones are closed.
pub(super) fn taken_in(
    run: &NewRun,
    state: &RunState,
    stream: &[Draft],
    mut given: Vec<ExportedAwait>,
    public: Option<&str>,
    now: Millis,
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for visit in state.visits.iter().filter(|_| !state.status.is_ended()) {
        for id in needed(visit) {
            let at = given.iter().position(|it| *it.id == *id && !it.closed);
            let at = at.ok_or_else(|| missing(run, visit, &id))?;
            let it = given.swap_remove(at);
            let waited = match &visit.wait {
                Some(Wait::Await(awaiting)) if awaiting.id == id => Some(awaiting),
                _ => None,
            };
            let given = it.event.as_ref().map(|event| visit.given(&event.kind));
            let place = Place {
                visit: visit.key.clone(),
                waited,
                given: given.unwrap_or_default(),
                public,
            };
            changes.extend(made_again(run, place, it, now)?);
        }
    }
    let callbacks = callbacks(stream);
    for it in given.into_iter().filter(|it| it.closed) {
        if let Some(visit) = callbacks.get(it.id.as_str()) {
            let place = Place {
                visit: visit.clone(),
                waited: None,
                given: Vec::new(),
                public,
            };
            changes.extend(made_again(run, place, it, now)?);
        }
    }
    Ok(changes)
}

/// The state of an await according to the run's stream.
struct Place<'a> {
    visit: VisitKey,
    /// The wait of its visit, if it is this await.
    waited: Option<&'a Awaiting>,
    /// The events that awaits of its visit were given before.
    given: Vec<Json>,
    /// Where others reach this server.
    public: Option<&'a str>,
}

/// The callbacks in a stream, and the visits that created them.
fn callbacks(stream: &[Draft]) -> HashMap<Name, VisitKey> {
    let callback = |draft: &Draft| {
        let (at, id) = match Fact::read(draft) {
            Fact::StepAwaitTrigger(at, awaiting) => (at, awaiting.await_id),
            Fact::StepMemo(at, memo) if *memo.op == *"trigger" => {
                (at, memo.value?.get("id")?.read().ok()?)
            }
            _ => return None,
        };
        let visit = VisitKey {
            step: at.name,
            visit: at.visit,
        };
        Some((id, visit))
    };
    stream.iter().filter_map(callback).collect()
}

/// The awaits that the store must know for a visit.
fn needed(visit: &Visit) -> Vec<Name> {
    let mut ids: Vec<Name> = visit.open_callbacks().collect();
    if let Some(Wait::Await(awaiting)) = &visit.wait
        && !awaiting.what.is_time()
        && !ids.contains(&awaiting.id)
    {
        ids.push(awaiting.id.clone());
    }
    ids
}

fn missing(run: &NewRun, visit: &Visit, id: &Name) -> Error {
    Error::Tied(format!(
        "run {} waits in step {} for what the export does not describe (await {id}): export it again, with its awaits",
        run.id, visit.key.step
    ))
}

fn made_again(
    run: &NewRun,
    place: Place<'_>,
    given: ExportedAwait,
    now: Millis,
) -> Result<Vec<Change>> {
    let Place { visit, waited, .. } = place;
    let refuse = |rule: &str| bad("awaits", format!("await {}: {rule}", given.id));
    StreamName::checked(StreamName::TRIGGER, &given.id)
        .and_then(|stream| stream.check_for_new())
        .map_err(|error| refuse(&error.to_string()))?;
    let past = |text: &str| {
        let ms = time::parse(text).filter(|ms| (0..=now + MAX_AHEAD_MS).contains(ms));
        ms.ok_or_else(|| refuse("no time in the past"))
    };
    let (id, fired) = (Name::from(given.id.as_str()), given.values.len());
    // The stream says what the run knows of it.
    let expires_ms = match (waited, &given.expires_at) {
        (Some(awaiting), _) => awaiting.until_ms,
        (None, None) => None,
        (None, Some(text)) => Some(time::parse(text).ok_or_else(|| refuse("no time"))?),
    };
    let what = match (given.event, given.trigger) {
        (Some(event), None) => {
            let kind = match waited.map(|awaiting| &awaiting.what) {
                Some(AwaitFor::Event { event_kind, .. }) if **event_kind == *event.kind => {
                    event_kind.clone()
                }
                _ => return Err(refuse("the run does not wait for such an event")),
            };
            Awaited::Event {
                kind,
                matcher: matcher(event.equal, event.filter).map_err(|rule| refuse(&rule))?,
                // A fired await does not look back again.
                lookback_ms: event.lookback_ms.filter(|ms| *ms >= 0 && fired == 0),
            }
        }
        (None, Some(callback)) => {
            let is_event = |what: &AwaitFor| matches!(what, AwaitFor::Event { .. });
            if waited.is_some_and(|awaiting| is_event(&awaiting.what)) {
                return Err(refuse("the run waits for an event, not for a callback"));
            }
            if given.signed && !given.closed && !callback.is_signed() {
                return Err(Error::SecretMissing(id));
            }
            Awaited::Callback {
                callback: Json::of(&callback),
                many: given.many,
            }
        }
        _ => return Err(refuse("either an event or a trigger")),
    };
    let many = matches!(what, Awaited::Callback { many: true, .. });
    let most = if many { AwaitRecord::MAX_VALUES } else { 1 };
    if fired > most as usize {
        return Err(refuse("it was fired more often than it may be"));
    }
    let is_callback = matches!(what, Awaited::Callback { .. });
    let new = NewAwait {
        id: id.clone(),
        run: run.id.clone(),
        step: visit.step,
        visit: visit.visit,
        tenant: run.tenant.clone(),
        created_ms: past(&given.created_at)?,
        expires_ms,
        what,
        given: place.given,
    };
    let mut changes = register(new, place.public);
    if fired == 0 {
        changes.extend(
            given
                .closed
                .then(|| shut(&id, run, expires_ms, now))
                .into_iter()
                .flatten(),
        );
        return Ok(changes);
    }
    let fired_ms = past(given.fired_at.as_deref().unwrap_or_default())?;
    for value in given.values {
        if is_callback {
            let event = Draft::new(now, EventType::TriggerFired)
                .data(json!({"payload": value, "source": "import"}));
            changes.push(Change::Append(trigger_event(&id, &run.id, event)));
        }
        changes.push(Change::Fire(Box::new(Fire {
            id: id.clone(),
            value,
            now_ms: fired_ms,
            most: None,
        })));
    }
    if given.closed {
        changes.push(Change::Unawait(id));
    }
    Ok(changes)
}

/// A callback that was not resumed before its timeout.
fn shut(id: &Name, run: &NewRun, expires_ms: Option<Millis>, now: Millis) -> [Change; 2] {
    let is_late = expires_ms.is_some_and(|until| until <= now);
    let event = match is_late {
        true => Draft::new(now, EventType::TriggerTimeout),
        false => Draft::new(now, EventType::TriggerCancelled),
    };
    let event = event.data(json!({"reason": "it was closed before the import"}));
    let event_of_end = trigger_event(id, &run.id, event);
    [Change::Unawait(id.clone()), Change::Append(event_of_end)]
}

fn matcher(equal: Vec<(Path, Json)>, filter: Option<Json>) -> std::result::Result<Matcher, String> {
    let Some(filter) = filter else {
        return Ok(match equal.is_empty() {
            true => Matcher::Any,
            false => Matcher::Equal(equal),
        });
    };
    let source = filter.read::<Filter>().map_err(|error| error.to_string())?;
    compile_expr(&source.source).map_err(|error| error.to_string())?;
    Ok(Matcher::Filter { equal, filter })
}
