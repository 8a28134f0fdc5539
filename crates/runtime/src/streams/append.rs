//! Events in streams other than runs', and the checks of every event from outside.

use std::sync::Arc;

use riverrun_engine::{Fact, meant};
use riverrun_store::{Append, Change, Commit, Expect, Once};
use riverrun_types::{
    Draft, ErrorCode, EventId, EventType, Json, Name, Path, StreamName,
    event::{EventContext, StateDelete, StateSet, StepCompleted},
    normalise::{self, Envelope, Refused},
};

use super::{Streams, signals::SignalSource};
use crate::base::{Error, Result};

impl Streams {
    /// Appends events from outside to a stream other than a run's. All of them or none.
    pub(crate) async fn append(
        &self,
        stream: &StreamName,
        drafts: Vec<Draft>,
        key: Option<Name>,
    ) -> Result<Vec<EventId>> {
        let context = EventContext {
            run_id: stream.id.clone(),
            flow_name: stream.kind.clone(),
            tenant_id: None,
        };
        let guard = Guard {
            key,
            ..Guard::default()
        };
        let placed = self.place(stream, context, Expect::Any, drafts.into(), &guard);
        placed.await.map_err(Error::Store)
    }

    /// Appends an event to the shared stream, and signals the awaits of its kind.
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

    /// Appends events, with the signals to awaits of such events.
    pub(crate) async fn place(
        &self,
        stream: &StreamName,
        context: EventContext,
        expect: Expect,
        events: Arc<[Draft]>,
        guard: &Guard,
    ) -> riverrun_store::Result<Vec<EventId>> {
        let now_ms = self.base().now_ms();
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
        let receipt = self.base().commit(commit).await?;
        let placed = receipt.placed.first().copied();
        Ok(placed.map_or_else(Vec::new, |placed| placed.ids(&events).collect()))
    }
}

/// The conditions of an append beside those of the events themselves.
#[derive(Default)]
pub(crate) struct Guard {
    /// Changes that go before the events: they reject the commit if the writer may not append.
    pub fence: Vec<Change>,
    /// The length that the stream must have.
    pub if_len: Option<u64>,
    /// The key under which the events are remembered.
    pub key: Option<Name>,
    /// How many events started a run on the way to the writer.
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
pub(crate) fn refuse_reserved(stream: &StreamName, drafts: &[Draft]) -> Result<()> {
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

/// Reads one event from outside and rejects types that are reserved for the server.
pub(crate) fn read(event: &Json, now: i64) -> Result<Draft> {
    let refused = |refused: Refused| match refused {
        Refused::Repeated(message) => Error::DuplicateMember(message),
        Refused::Unknown(name) => {
            let near = meant(&name, &normalise::MEMBERS);
            Error::BadEvent(format!("{}{near}", Refused::Unknown(name)))
        }
        other => Error::BadEvent(other.to_string()),
    };
    check_event_bytes(event)?;
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

/// The data of every event is bounded, and so is its envelope.
fn check_size(event: &Json) -> Result<()> {
    let data = event.get("data").map_or(0, |data| data.bytes());
    check_bytes("event", data)?;
    check_bytes("event", event.bytes().saturating_sub(data))
}

/// Rejects an event that is too large whatever it says, before it is parsed.
pub fn check_event_bytes(event: &Json) -> Result<()> {
    let bytes = event.bytes();
    match bytes > 2 * MAX_EVENT_BYTES {
        true => check_bytes("event", bytes),
        false => Ok(()),
    }
}

/// The limit of an event's data.
pub(crate) const MAX_EVENT_BYTES: usize = 1 << 20;

/// Data from outside, or from a handler, that becomes part of an event is bounded.
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

/// Whether a value of this many bytes is within the limit of a flow.
pub(crate) fn check_value(bytes: usize, limit: usize) -> Result<()> {
    match bytes > limit {
        true => Err(Error::ValueTooLarge { bytes, limit }),
        false => Ok(()),
    }
}

/// The rules for every event that is not the engine's own.
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

/// Whether a written value would nest too deep at its place.
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
