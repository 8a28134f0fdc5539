//! Events from outside: appended to a run's stream or to any other.

use std::{collections::HashSet, sync::Arc};

use riverrun_contract::state_issues;
use riverrun_engine::{Fact, Plan, RunState, meant};
use riverrun_store::{Append, Change, Commit, Error as StoreError, Expect, Once};
use riverrun_types::{
    Draft, ErrorCode, EventId, EventType, Json, Name, Path, RunId, StreamName,
    event::{EventContext, StateDelete, StateSet, StepCompleted},
    normalise::{self, Envelope, Refused},
};

use crate::{
    Error, Result, Runtime,
    steps::{Message, SignalSource},
};

/// How often a state write is judged again because the stream moved.
const TRIES: usize = 20;

impl Runtime {
    /// Appends events that came from outside, in any of the forms that are understood. All of
    /// them or none.
    pub async fn append(&self, stream: &StreamName, events: &[Json]) -> Result<Vec<EventId>> {
        self.append_under(stream, events, None).await
    }

    /// Appends events, and remembers them under a key.
    pub(crate) async fn append_under(
        &self,
        stream: &StreamName,
        events: &[Json],
        key: Option<Name>,
    ) -> Result<Vec<EventId>> {
        self.refuse_when_stopping()?;
        let now = self.now_ms();
        let mut drafts = events
            .iter()
            .map(|event| read(event, now))
            .collect::<Result<Vec<_>>>()?;
        refuse_reserved(stream, &drafts)?;
        if drafts.is_empty() {
            return Err(Error::BadEvent("there is no event to append".to_owned()));
        }
        if let Some(run) = stream.run() {
            self.check_tenant(&run, &mut drafts).await?;
        }
        match stream.run() {
            Some(run) if self.has_subscriber(&run, &drafts).await? => {
                let mut message = Message::events(drafts);
                message.key = key;
                self.deliver(&run, message).await
            }
            Some(run) => {
                let guard = Guard {
                    key,
                    ..Guard::default()
                };
                self.append_to_run(&run, drafts.into(), guard).await
            }
            None => {
                let context = EventContext {
                    run_id: stream.id.clone(),
                    flow_name: stream.kind.clone(),
                    tenant_id: None,
                };
                let guard = Guard {
                    key,
                    ..Guard::default()
                };
                self.place(stream, context, Expect::Any, drafts.into(), &guard)
                    .await
                    .map_err(Error::Store)
            }
        }
    }

    /// Appends an event that belongs to nobody in particular, and tells those who wait for its kind.
    pub(crate) async fn append_to_all(
        &self,
        draft: Draft,
        chain: u32,
    ) -> riverrun_store::Result<Option<EventId>> {
        let stream = StreamName::global();
        let context = EventContext {
            run_id: stream.id.clone(),
            flow_name: stream.kind.clone(),
            tenant_id: None,
        };
        let events = Arc::from([draft]);
        let guard = Guard {
            chain,
            ..Guard::default()
        };
        let placed = self.place(&stream, context, Expect::Any, events, &guard);
        Ok(placed.await?.pop())
    }

    /// A run's events are its tenant's: one that says so says nothing new, and one of somebody else
    /// is refused.
    async fn check_tenant(&self, run: &RunId, drafts: &mut [Draft]) -> Result<()> {
        let given = drafts.iter_mut().map(|draft| draft.tenant_id.take());
        let given: HashSet<Name> = given.flatten().collect();
        if given.is_empty() {
            return Ok(());
        }
        let own = self.context_of(run).await?.tenant_id;
        match given.into_iter().find(|given| Some(given) != own.as_ref()) {
            None => Ok(()),
            Some(given) => {
                let own = match own {
                    Some(own) => format!("is of the tenant {own:?}"),
                    None => "is of no tenant".to_owned(),
                };
                Err(Error::Unprocessable(format!(
                    "tenantId is {given:?}, and run {run} {own}"
                )))
            }
        }
    }

    /// Whether steps of a run react to events from outside.
    async fn has_subscriber(&self, run: &RunId, drafts: &[Draft]) -> Result<bool> {
        let is_emitted = |draft: &Draft| Fact::emitted(draft).is_some();
        if !drafts.iter().any(is_emitted) {
            return Ok(false);
        }
        let record = self.store().run(run).await?;
        let record = record.ok_or_else(|| StoreError::RunNotFound(run.clone()))?;
        let flow = self.compiled(&record.flow, Some(&record.version)).await?;
        let has_subscriber = |draft: &Draft| {
            Fact::emitted(draft).is_some_and(|(kind, _)| flow.plan.subscribes_to(&kind))
        };
        if !drafts.iter().any(has_subscriber) {
            return Ok(false);
        }
        match drafts.iter().all(is_emitted) {
            true => Ok(true),
            false => Err(Error::BadEvent(
                "send events that steps subscribe to apart from logs and state writes".to_owned(),
            )),
        }
    }

    /// Appends events to a run's stream; state writes only where they may be.
    pub(crate) async fn append_to_run(
        &self,
        run: &RunId,
        drafts: Arc<[Draft]>,
        guard: Guard,
    ) -> Result<Vec<EventId>> {
        let stream = StreamName::flow(run);
        let writes = drafts.iter().any(|draft| draft.kind.family() == "state");
        for _ in 0..TRIES {
            let (context, expect) = if writes {
                let loaded = self.load(run).await?;
                if guard.if_len.is_some_and(|len| len != loaded.state.len) {
                    return Err(StoreError::Conflict(run.clone()).into());
                }
                if loaded.state.status.is_ended() {
                    return Err(StoreError::RunEnded(run.clone()).into());
                }
                let version = loaded.record.version.clone();
                let flow = self.compiled(&loaded.record.flow, Some(&version)).await?;
                check_writes(&flow.plan, &loaded.state, &drafts)?;
                (loaded.context(), Expect::Len(loaded.state.len))
            } else {
                (self.context_of(run).await?, Expect::Any)
            };
            match self
                .place(&stream, context, expect, drafts.clone(), &guard)
                .await
            {
                Err(StoreError::Conflict(_)) => {}
                answer => return answer.map_err(Error::Store),
            }
        }
        Err(Error::Busy)
    }

    /// What the envelope of a run's events says. Whether the run is still there the commit judges.
    async fn context_of(&self, run: &RunId) -> Result<EventContext> {
        if let Some(context) = self.cache().context(run) {
            return Ok(context);
        }
        let era = self.cache().era(run);
        let record = self.store().run(run).await?;
        let record = record.ok_or_else(|| StoreError::RunNotFound(run.clone()))?;
        let context = EventContext {
            run_id: Name::from(run.as_str()),
            flow_name: record.flow,
            tenant_id: record.tenant,
        };
        self.cache().put_context(era, run, context.clone());
        Ok(context)
    }

    async fn place(
        &self,
        stream: &StreamName,
        context: EventContext,
        expect: Expect,
        events: Arc<[Draft]>,
        guard: &Guard,
    ) -> riverrun_store::Result<Vec<EventId>> {
        let now_ms = self.now_ms();
        let source = SignalSource {
            stream,
            context: &context,
            correlation: None,
            chain: guard.chain,
        };
        let signals = source.signals(&events, 0, now_ms, |_| false);
        let append = Append {
            stream: stream.clone(),
            context,
            expect,
            events: events.clone(),
        };
        let mut commit = Commit::of(Change::Append(append));
        commit.changes.splice(..0, guard.fence.iter().cloned());
        commit.changes.extend(signals);
        if let Some(key) = &guard.key {
            let places = (0..events.len()).collect();
            commit = commit.and(once(key, places, now_ms));
        }
        let receipt = self.commit(commit).await?;
        let placed = receipt.placed.first().copied();
        Ok(placed.map_or_else(Vec::new, |placed| {
            events
                .iter()
                .enumerate()
                .map(|(index, draft)| placed.id(index, draft))
                .collect()
        }))
    }
}

/// Whether the state of a run may become what writes make of it.
pub(crate) fn check_writes(plan: &Plan, state: &RunState, drafts: &[Draft]) -> Result<()> {
    let mut after = state.clone();
    for draft in drafts {
        let fact = Fact::read(draft);
        check_value(largest(&fact), plan.limits.max_value_bytes)?;
        if is_too_deep(&fact) {
            return Err(Error::TooDeep { what: "state" });
        }
        after.apply_fact(&fact, draft.ms);
    }
    let (bytes, limit) = (after.state.bytes(), plan.limits.max_state_bytes);
    if bytes > limit {
        return Err(Error::TooLarge {
            what: "state",
            bytes,
            limit,
        });
    }
    let schema = plan.state_schema.as_ref();
    let issues = schema.map(|schema| state_issues(schema, &after.state));
    match issues.filter(|issues| !issues.is_empty()) {
        Some(issues) => Err(Error::StateInvalid(issues)),
        None => Ok(()),
    }
}

/// What must hold for an append beside what the events themselves ask for.
#[derive(Default)]
pub(crate) struct Guard {
    /// Changes that go before the events: they refuse the commit if whoever writes may not.
    pub fence: Vec<Change>,
    /// The length that the stream must have.
    pub if_len: Option<u64>,
    /// What the events are remembered under.
    pub key: Option<Name>,
    /// How many events started a run on the way to whoever writes.
    pub chain: u32,
}

/// Remembers the events at these places of a commit under a key.
pub(crate) fn once(key: &Name, places: Vec<usize>, now_ms: i64) -> Change {
    Change::Once(Box::new(Once {
        key: key.clone(),
        places,
        now_ms,
    }))
}

/// Rejects events for a stream that only the server writes to. In the stream of a job or a trigger
/// no event from outside may look as if it were about the job or the trigger itself.
fn refuse_reserved(stream: &StreamName, drafts: &[Draft]) -> Result<()> {
    if stream.is_servers_own() {
        return Err(Error::ReservedStream(stream.clone()));
    }
    stream
        .check_for_new()
        .map_err(|error| Error::BadId(error.to_string()))?;
    let own = match &*stream.kind {
        StreamName::TRIGGER => "trigger",
        _ if stream.is_job() => "job",
        _ => return Ok(()),
    };
    match drafts.iter().find(|draft| draft.kind.family() == own) {
        Some(draft) => Err(Error::ReservedType(draft.kind.to_string())),
        None => Ok(()),
    }
}

/// Reads one event from outside and refuses what only the server may say.
pub(crate) fn read(event: &Json, now: i64) -> Result<Draft> {
    let refused = |refused: Refused| match refused {
        Refused::Repeated(message) => Error::DuplicateMember(message),
        Refused::Unknown(name) => {
            let near = meant(&name, &normalise::MEMBERS);
            Error::BadEvent(format!("{}{near}", Refused::Unknown(name)))
        }
        other => Error::BadEvent(other.to_string()),
    };
    let envelope = match Envelope::of(event) {
        Ok(envelope) => envelope,
        Err(error) => {
            check_size(event)?;
            return Err(refused(error));
        }
    };
    check_bytes("event", envelope.data_bytes())?;
    check_bytes("event", envelope.other_bytes())?;
    let draft = envelope.draft(now).map_err(refused)?;
    if draft.kind.is_servers_own() {
        return Err(Error::ReservedType(draft.kind.to_string()));
    }
    if draft.kind == EventType::Emit
        && let Some((topic, _)) = Fact::emitted(&draft)
        && EventType::parse(&topic).is_reserved()
    {
        return Err(Error::ReservedType(topic.to_string()));
    }
    check_state_write(&draft)?;
    Ok(draft)
}

/// The data of an event is bounded wherever it comes from, and so is what stands around it.
fn check_size(event: &Json) -> Result<()> {
    let data = event.get("data").map_or(0, |data| data.bytes());
    check_bytes("event", data)?;
    check_bytes("event", event.bytes().saturating_sub(data))
}

/// What the data of an event may have.
pub(crate) const MAX_EVENT_BYTES: usize = 1 << 20;

/// What comes from outside, or from a handler, and becomes part of an event is bounded.
pub(crate) fn check_bytes(what: &'static str, bytes: usize) -> Result<()> {
    match bytes {
        bytes if bytes > MAX_EVENT_BYTES => Err(Error::TooLarge {
            what,
            bytes,
            limit: MAX_EVENT_BYTES,
        }),
        _ => Ok(()),
    }
}

/// Whether a value of so many bytes is no larger than a flow allows.
pub(crate) fn check_value(bytes: usize, limit: usize) -> Result<()> {
    match bytes > limit {
        true => Err(Error::ValueTooLarge { bytes, limit }),
        false => Ok(()),
    }
}

/// The bytes of the largest value that a write puts somewhere.
fn largest(fact: &Fact) -> usize {
    match fact {
        Fact::StateSet(write) => write.value.bytes(),
        Fact::StateBatch(batch) => {
            let values = batch.operations.iter().filter_map(|op| op.value.as_ref());
            values.map(Json::bytes).max().unwrap_or_default()
        }
        Fact::StateSnapshot(state) => {
            let values = state.iter().map(|(_, value)| value.bytes());
            values.max().unwrap_or_default()
        }
        _ => 0,
    }
}

/// What holds of every event that is not the engine's own.
pub(crate) fn check_outside(event: &Json, draft: &Draft) -> Result<()> {
    check_size(event)?;
    check_state_write(draft)
}

/// A write to the state has the form that its type promises.
fn check_state_write(draft: &Draft) -> Result<()> {
    if draft.kind.family() == "state" && !is_state_write(draft) {
        let message = format!(
            "{}: the data of a {} event does not fit: state.set takes {{key, value}}, state.delete {{key}}, state.batch {{operations: [{{type, key, value}}]}}, state.snapshot an object",
            ErrorCode::StateInvalid,
            draft.kind
        );
        return Err(Error::BadEvent(message));
    }
    Ok(())
}

fn is_state_write(draft: &Draft) -> bool {
    let known = matches!(
        draft.kind,
        EventType::StateSet
            | EventType::StateDelete
            | EventType::StateBatch
            | EventType::StateSnapshot
    );
    known
        && Fact::try_read(draft).is_some_and(|fact| match fact {
            Fact::StateSet(StateSet { key, .. }) | Fact::StateDelete(StateDelete { key }) => {
                key.is_valid()
            }
            Fact::StateBatch(batch) => batch.operations.iter().all(|op| op.key.is_valid()),
            _ => true,
        })
}

/// Whether what is written would nest too deep at its place.
pub(crate) fn is_too_deep(fact: &Fact) -> bool {
    let is_deep = |key: &Path, value: &Json| {
        let around = key.tail().len();
        value.is_deeper(Json::MAX_VALUE_DEPTH.saturating_sub(around))
    };
    match fact {
        Fact::StateSet(StateSet { key, value }) => is_deep(key, value),
        Fact::StateBatch(batch) => batch.operations.iter().any(|operation| {
            let value = operation.value.as_ref();
            value.is_some_and(|value| is_deep(&operation.key, value))
        }),
        Fact::StateSnapshot(state) => state
            .iter()
            .any(|(_, value)| value.is_deeper(Json::MAX_VALUE_DEPTH)),
        Fact::FlowStarted(started) => started.input.is_deeper(Json::MAX_VALUE_DEPTH),
        Fact::StepCompleted(
            _,
            StepCompleted {
                result: Some(result),
                output_key,
                ..
            },
        ) => match output_key {
            Some(key) => is_deep(key, result),
            None => result.is_deeper(Json::MAX_VALUE_DEPTH),
        },
        _ => false,
    }
}
