//! Import of runs: a stream that another riverrun wrote, stored unchanged.
//!
//! The import verifies everything: every event must be one that the engine could have written next,
//! every name one that a run could have here. A run that has not ended goes on here, unless it and
//! another run wait for each other: apart they would lose each other.

mod awaits;

use std::sync::Arc;

use riverrun_engine::{Decision, Fact, Queued, RunState, Visit, Wait};
use riverrun_store::{Change, Commit, Error as StoreError, NewRun, NewRunTask, Origin, Parent};
use riverrun_types::{
    Draft, EventId, Json, Millis, Name, RunId,
    event::{EventContext, read_back},
    json::{UniqueMembers, is_repeated_member},
    time,
    words::plain,
};
use serde::Deserialize;

use super::{
    Runs,
    drive::{projection, record},
    start::{StartRequest, Started},
};
use crate::{
    base::{Error, Result},
    streams::{check_outside, is_too_deep},
};

pub use awaits::{ExportedAwait, ExportedEvent};

/// How far ahead the clock of the other server may be.
const MAX_AHEAD_MS: Millis = 86_400_000;

/// A run as an export holds it.
#[derive(Clone, Debug, Deserialize)]
pub struct Exported {
    pub run: ExportedRun,
    /// The whole stream, in its order.
    pub events: Vec<Json>,
    /// The awaits of the run, and the open callbacks of its code.
    #[serde(default)]
    pub awaits: Vec<ExportedAwait>,
}

/// The facts about a run that its stream does not hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRun {
    pub run_id: String,
    pub flow: String,
    pub version: String,
    /// When it was created; the time of its first event when absent.
    pub created_at: Option<String>,
    pub tenant_id: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    pub metadata: Option<Json>,
    pub idempotency_key: Option<String>,
    pub forked_from: Option<ForkedFrom>,
    pub correlation_id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    pub run_id: String,
    pub event_id: Option<EventId>,
}

/// A member that is present counts, even if it is null.
fn present<'de, D: serde::Deserializer<'de>>(
    input: D,
) -> std::result::Result<Option<Json>, D::Error> {
    Json::deserialize(input).map(Some)
}

impl Runs {
    /// Imports a run under its own id, with its whole past. A run that has not ended goes on here:
    /// attempts that were running are tried again.
    pub async fn import(&self, exported: Exported) -> Result<Started> {
        self.base().refuse_when_stopping()?;
        let Exported {
            run,
            events,
            awaits,
        } = exported;
        let now = self.base().now_ms();
        let mut new = described(run, now)?;
        // Checked first: the run's key and its awaits exist as well, and the error would name them
        // instead.
        self.check_absent(&new.id).await?;
        let mut changes = Vec::new();
        let (drafts, state) = replayed(&events, &new.context(), now)?;
        if state.version != new.version {
            let message = format!("the stream is of version {:?}", state.version);
            return Err(Error::BadRequest(message));
        }
        if !state.status.is_ended() {
            let flow = self.flows().compiled(&new.flow, Some(&new.version)).await?;
            let (bytes, limit) = (state.state.bytes(), flow.plan.limits.max_state_bytes);
            if bytes > limit {
                return Err(Error::TooLarge {
                    what: "state",
                    bytes,
                    limit,
                });
            }
            self.check_untied(&new.id, &state).await?;
            new.task = Some(NewRunTask::Ready { at_ms: now });
            let decision = Decision {
                queued: queued(&state),
                ..Decision::default()
            };
            let tenant = new.tenant.as_ref();
            changes = self.orders(&new.id, &flow.plan, tenant, &decision, None, now);
        }
        let public = self.base().options().public_url.as_deref();
        let taken = awaits::taken_in(&new, &state, &drafts, awaits, public, now)?;
        changes.extend(taken);
        new.created_ms = match new.created_ms {
            0 => state.created_ms,
            given => given,
        };
        new.parent = state.parent.as_ref().map(|parent| Parent {
            run: parent.run_id.clone(),
            step: parent.step.clone(),
            visit: parent.visit,
        });
        new.projection = projection(&state);
        new.events = Arc::from(drafts);
        let id = new.id.clone();
        match self.create(new, state, changes).await {
            // Another import of the same run may have finished since.
            Err(refused @ Error::Store(StoreError::Duplicate(_) | StoreError::AwaitExists(_))) => {
                self.check_absent(&id).await?;
                Err(refused)
            }
            answer => answer,
        }
    }

    async fn check_absent(&self, run: &RunId) -> Result<()> {
        match self.base().store().run(run).await? {
            Some(_) => Err(StoreError::RunExists(run.clone()).into()),
            None => Ok(()),
        }
    }

    /// Rejects a run that waits for another one, unless that has ended and is here, and a run that
    /// another one waits for.
    async fn check_untied(&self, run: &RunId, state: &RunState) -> Result<()> {
        if let Some(parent) = state.parent.as_ref().filter(|parent| !parent.detached) {
            let message = format!(
                "run {run} has not ended, and run {} waits for it: export both again once it has",
                parent.run_id
            );
            return Err(Error::Tied(message));
        }
        for visit in &state.visits {
            let Some(Wait::Run { run: child, .. }) = &visit.wait else {
                continue;
            };
            let record = self.base().store().run(child).await?;
            let is_ours = record.as_ref().is_some_and(|record| {
                let parent = record.parent.as_ref();
                record.status.is_ended() && parent.is_some_and(|parent| parent.run == *run)
            });
            if !is_ours {
                let message = format!(
                    "run {run} waits for run {child}, which is not here or has not ended: import that one first, once it has ended"
                );
                return Err(Error::Tied(message));
            }
        }
        Ok(())
    }

    /// Commits an imported run; the driver that claims it goes on with it.
    pub(crate) async fn create(
        &self,
        new: NewRun,
        state: RunState,
        more: Vec<Change>,
    ) -> Result<Started> {
        let record = record(&new, &state);
        let mut commit = Commit::of(Change::Create(Box::new(new)));
        commit.changes.extend(more);
        self.commit(commit, None).await?;
        let state = Arc::new(state);
        let started = Started::new(record, state, true);
        self.cache().put(&started.run, started.known());
        Ok(started)
    }
}

/// The visits whose jobs stayed on the exporting server.
fn queued(state: &RunState) -> Vec<Queued> {
    let job = |visit: &Visit| match &visit.wait {
        Some(Wait::Job { until_ms }) => Some(Queued {
            visit: visit.key.clone(),
            at_ms: *until_ms,
            before: visit.attempt,
        }),
        _ => None,
    };
    state.visits.iter().filter_map(job).collect()
}

/// The run as the export describes it, before its stream is read.
fn described(run: ExportedRun, now: Millis) -> Result<NewRun> {
    check_name("flow", &run.flow, 128, "._-")?;
    check_name("version", &run.version, 64, ".+-")?;
    let id = RunId::new(&run.run_id);
    let mut wish = StartRequest::new(run.flow.as_str(), Json::null());
    wish.run_id = Some(id.clone());
    wish.idempotency_key = run.idempotency_key;
    wish.tenant = run.tenant_id;
    wish.tags = run.tags;
    wish.metadata = run.metadata;
    wish.correlation_id = run.correlation_id;
    wish.check()?;
    let created_ms = match &run.created_at {
        None => 0,
        Some(text) => time::parse(text)
            .filter(|ms| (0..=now + MAX_AHEAD_MS).contains(ms))
            .ok_or_else(|| bad("createdAt", "no time in the past"))?,
    };
    let origin = match run.forked_from {
        None => None,
        Some(from) => Some(Origin {
            run: RunId::checked(&from.run_id).map_err(|error| bad("forkedFrom", error))?,
            event: from.event_id,
        }),
    };
    let name = |text: &str| Name::from(text);
    Ok(NewRun {
        id,
        flow: name(&run.flow),
        version: name(&run.version),
        created_ms,
        idempotency_key: wish.idempotency_key.as_deref().map(name),
        tenant: wish.tenant.as_deref().map(name),
        tags: wish.tags.iter().map(|tag| name(tag)).collect(),
        metadata: wish.metadata,
        parent: None,
        origin,
        correlation: wish.correlation_id.as_deref().map(name),
        projection: projection(&RunState::new()),
        turn: 1,
        events: Arc::from([]),
        task: None,
        snapshot: None,
    })
}

/// Reduces the stream, and rejects the first event that could not have come next.
fn replayed(events: &[Json], stream: &EventContext, now: Millis) -> Result<(Vec<Draft>, RunState)> {
    let mut drafts = Vec::with_capacity(events.len());
    let mut state = RunState::new();
    for (at, event) in events.iter().enumerate() {
        let refuse = |why: String| Error::BadEvent(format!("event {at} of the stream: {why}"));
        if let Some(error) = event
            .read::<UniqueMembers>()
            .err()
            .filter(is_repeated_member)
        {
            let message = plain(&error.to_string());
            return Err(Error::DuplicateMember(format!(
                "event {at} of the stream: {message}"
            )));
        }
        let (place, draft) = read_back(event, stream).map_err(refuse)?;
        if place.seq != at as u64 {
            let why = "it is not in its place: a stream is imported whole and in order";
            return Err(refuse(why.to_owned()));
        }
        if place.ms > now.saturating_add(MAX_AHEAD_MS) {
            return Err(refuse(format!("{} is yet to come", time::iso(place.ms))));
        }
        state.check_next(&draft).map_err(refuse)?;
        if !draft.kind.is_engines_own() {
            check_outside(event, &draft).map_err(|error| refuse(error.to_string()))?;
        }
        let fact = Fact::read(&draft);
        if is_too_deep(&fact) {
            return Err(refuse(Error::TooDeep { what: "value" }.to_string()));
        }
        state.apply(&draft);
        drafts.push(draft);
    }
    if drafts.is_empty() {
        return Err(Error::BadEvent("the stream has no events".to_owned()));
    }
    Ok((drafts, state))
}

fn bad(field: &'static str, rule: impl ToString) -> Error {
    let rule = rule.to_string();
    Error::BadField { field, rule }
}

/// Letters, digits and a few more, beginning with a letter or a digit.
fn check_name(field: &'static str, text: &str, max: usize, more: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
    let first = |c: char| c.is_ascii_alphanumeric();
    if (1..=max).contains(&text.len()) && text.starts_with(first) && text.chars().all(plain) {
        return Ok(());
    }
    let rule = format!("not 1 to {max} characters of letters, digits and {more:?}");
    Err(bad(field, rule))
}
