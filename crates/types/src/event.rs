//! The event envelope and its vocabulary. What leaves riverrun is always this form.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{EventId, Json, Millis, Name, label, time};

macro_rules! event_types {
    ($($code:literal $variant:ident $text:literal),+ $(,)?) => {
        /// What happened. The vocabulary is open: an unknown type is carried as its text.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum EventType { $($variant,)+ Other(Arc<str>) }

        impl EventType {
            /// Every type that riverrun itself knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)+ Self::Other(text) => text }
            }

            pub fn parse(text: &str) -> Self {
                match text { $($text => Self::$variant,)+ _ => Self::Other(Arc::from(text)) }
            }

            /// A small number for compact storage; 0 for a type that must be stored as text.
            /// Codes are never reused: stored streams hold them.
            pub fn code(&self) -> u8 {
                match self { $(Self::$variant => $code,)+ Self::Other(_) => 0 }
            }

            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

event_types! {
    1 FlowStarted "flow.started",
    2 FlowCompleted "flow.completed",
    3 FlowFailed "flow.failed",
    4 FlowCancelled "flow.cancelled",
    5 FlowPaused "flow.paused",
    6 FlowResumed "flow.resumed",
    7 FlowForked "flow.forked",
    8 FlowRegistered "flow.registered",
    9 FlowCompensating "flow.compensating",
    10 StepStarted "step.started",
    11 StepCompleted "step.completed",
    12 StepFailed "step.failed",
    13 StepRetry "step.retry",
    14 StepResumed "step.resumed",
    15 StepCancelled "step.cancelled",
    16 StepAwaitTime "step.await.time",
    17 StepAwaitEvent "step.await.event",
    18 StepAwaitTrigger "step.await.trigger",
    19 StepAwaitTimeout "step.await.timeout",
    20 StepAwaitBranches "step.await.branches",
    21 StepAwaitRun "step.await.run",
    22 StepMemo "step.memo",
    23 StepEntered "step.entered",
    24 StepJoined "step.joined",
    25 StepParked "step.parked",
    26 StepReleased "step.released",
    27 StepMemoRetry "step.memo.retry",
    30 Emit "emit",
    31 Progress "progress",
    32 Partial "partial",
    40 LogDebug "log.debug",
    41 LogInfo "log.info",
    42 LogWarn "log.warn",
    43 LogError "log.error",
    50 StateSet "state.set",
    51 StateDelete "state.delete",
    52 StateBatch "state.batch",
    53 StateSnapshot "state.snapshot",
    60 TriggerRegistered "trigger.registered",
    61 TriggerFired "trigger.fired",
    62 TriggerTimeout "trigger.timeout",
    63 TriggerCancelled "trigger.cancelled",
    64 TriggerFailed "trigger.failed",
    70 WorkerRegistered "worker.registered",
    71 WorkerHeartbeat "worker.heartbeat",
    72 WorkerStopped "worker.stopped",
    80 JobAdded "job.added",
    81 JobWaiting "job.waiting",
    82 JobActive "job.active",
    83 JobProgress "job.progress",
    84 JobCompleted "job.completed",
    85 JobFailed "job.failed",
    86 JobCancelled "job.cancelled",
    87 JobRemoved "job.removed",
}

impl EventType {
    /// Reads a type that came from outside: a word that needs no quoting in a line of text.
    pub fn checked(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
        let fits = (1..=128).contains(&text.len()) && text.chars().all(plain);
        fits.then(|| Self::parse(text))
    }

    /// The part before the first dot: `flow`, `step`, `state`.
    pub fn family(&self) -> &str {
        let text = self.as_str();
        text.split_once('.').map_or(text, |(family, _)| family)
    }

    /// Only the engine may say what became of a run and its steps.
    pub fn is_engines_own(&self) -> bool {
        matches!(self.family(), "flow" | "step")
    }

    /// Only the server may say what became of what is its own. Handlers do not emit such events, and
    /// nobody does under such a topic.
    pub fn is_reserved(&self) -> bool {
        let own = ["job", "call", "state", "log", "trigger", "worker"];
        self.is_engines_own() || own.contains(&self.family())
    }

    /// Only the server writes it: what became of runs, jobs, calls, triggers and workers. Logs and
    /// writes to the state are taken from outside.
    pub fn is_servers_own(&self) -> bool {
        let is_life = matches!(self.family(), "trigger" | "worker") && Self::KNOWN.contains(self);
        let calls = [
            "call.started",
            "call.completed",
            "call.failed",
            "call.cancelled",
        ];
        self.is_engines_own() || self.family() == "job" || is_life || calls.contains(&self.as_str())
    }

    /// Whether a definition may have a step emit it: of no type that somebody here gives a meaning.
    pub fn is_free(&self) -> bool {
        self.is_emitted() && !self.is_reserved()
    }

    /// Whether events of this type can be emitted, so that steps subscribe to them and runs wait for
    /// them. All others are what riverrun itself writes down.
    pub fn is_emitted(&self) -> bool {
        matches!(self, Self::Other(_)) && !matches!(self.family(), "flow" | "step" | "job")
    }

    /// Whether it is the last word about a run or a job, unless somebody begins it anew.
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            Self::FlowCompleted
                | Self::FlowFailed
                | Self::FlowCancelled
                | Self::JobCompleted
                | Self::JobFailed
                | Self::JobCancelled
        )
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What tells an event from all others: its id and the stream that it is in, as an object. An event
/// without an id is its own reference.
pub fn reference(event: &Json) -> Json {
    let text = |member: &str| {
        event
            .get(member)
            .filter(|value| value.as_str().starts_with('"'))
    };
    let (Some(id), Some(run)) = (text("id"), text("runId")) else {
        return event.clone();
    };
    let flow = text("flowName").unwrap_or_else(Json::null);
    let (id, run, flow) = (id.as_str(), run.as_str(), flow.as_str());
    let members = format!(r#"{{"id":{id},"runId":{run},"flowName":{flow}}}"#);
    Json::stored(members).unwrap_or_else(|_| event.clone())
}

/// The time of the event of a reference; none where it has no id.
pub fn reference_ms(reference: &Json) -> Option<Millis> {
    let id = reference.get("id")?;
    id.as_text().parse::<EventId>().ok().map(|id| id.ms)
}

/// In a list of references: all events before a time.
pub fn before(ms: Millis) -> Json {
    Json::of(&serde_json::json!({ "before": ms }))
}

/// The time of such an entry; none if it is the reference of one event.
pub fn before_ms(reference: &Json) -> Option<Millis> {
    match reference.as_str().starts_with(r#"{"before":"#) {
        true => reference.get("before")?.read().ok(),
        false => None,
    }
}

/// Which attempt of which visit of which step an event speaks of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StepRef {
    pub name: Name,
    /// The n-th time that the run entered the step, from 1; 0 where somebody outside names a step,
    /// which speaks of no visit.
    pub visit: u32,
    /// The n-th try of that visit, from 1; 0 before the first.
    pub attempt: u32,
}

impl StepRef {
    /// `<runId>__<step>__attempt-<n>`, and from the second visit on
    /// `<runId>__<step>#<visit>__attempt-<n>`. None where it speaks of no visit.
    pub fn id(&self, run: &str) -> Option<String> {
        let Self {
            name,
            visit,
            attempt,
        } = self;
        match visit {
            0 => None,
            1 => Some(format!("{run}__{name}__attempt-{attempt}")),
            _ => Some(format!("{run}__{name}#{visit}__attempt-{attempt}")),
        }
    }
}

/// An event before it has its place in a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// When it happened. A store moves it forward to the stream's last event where that is later.
    pub ms: Millis,
    pub kind: EventType,
    pub step: Option<StepRef>,
    pub correlation_id: Option<Name>,
    pub causation_id: Option<Name>,
    /// Whose it is, in a stream that is nobody's in particular. Of a run's events the run says it.
    pub tenant_id: Option<Name>,
    pub data: Option<Json>,
}

impl Draft {
    pub fn new(ms: Millis, kind: EventType) -> Self {
        Self {
            ms,
            kind,
            step: None,
            correlation_id: None,
            causation_id: None,
            tenant_id: None,
            data: None,
        }
    }

    pub fn step(mut self, step: StepRef) -> Self {
        self.step = Some(step);
        self
    }

    pub fn data(mut self, data: impl Serialize) -> Self {
        self.data = Some(Json::of(&data));
        self
    }

    /// Gives the draft its place.
    pub fn at(self, seq: u64, ms: Millis, stream: &EventContext) -> Event {
        let mut context = stream.clone();
        context.tenant_id = stream.tenant_of(&self).cloned();
        Event {
            id: EventId { ms, seq },
            kind: self.kind,
            context,
            step: self.step,
            correlation_id: self.correlation_id,
            causation_id: self.causation_id,
            data: self.data,
        }
    }
}

/// What all events of a stream have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct EventContext {
    /// `runId`: the run's id, or the id part of any other stream.
    pub run_id: Name,
    /// `flowName`: the flow's id, or the type of any other stream.
    pub flow_name: Name,
    pub tenant_id: Option<Name>,
}

impl EventContext {
    /// Whose an event of the stream is.
    pub fn tenant_of<'a>(&'a self, event: &'a Draft) -> Option<&'a Name> {
        self.tenant_id.as_ref().or(event.tenant_id.as_ref())
    }
}

/// A fact in its place.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    pub id: EventId,
    pub kind: EventType,
    pub context: EventContext,
    pub step: Option<StepRef>,
    pub correlation_id: Option<Name>,
    pub causation_id: Option<Name>,
    pub data: Option<Json>,
}

impl Event {
    pub fn draft(&self) -> Draft {
        Draft {
            ms: self.id.ms,
            kind: self.kind.clone(),
            step: self.step.clone(),
            correlation_id: self.correlation_id.clone(),
            causation_id: self.causation_id.clone(),
            tenant_id: None,
            data: self.data.clone(),
        }
    }
}

/// An event as riverrun itself wrote it, read back from the wire with its time and its place:
/// what an export holds. Whatever it says of itself must fit the stream and the rest of what it
/// says. Events from anybody else go through [`crate::normalise`].
pub fn read_back(json: &Json, stream: &EventContext) -> Result<(EventId, Draft), String> {
    let wire: Wire = json.read().map_err(|error| error.to_string())?;
    let kind = EventType::checked(&wire.kind)
        .ok_or_else(|| format!("{:?} is no type of an event", cut(&wire.kind)))?;
    let mut draft = Draft::new(wire.id.ms, kind);
    draft.step = wire.step(stream)?;
    for (field, text, expected) in [
        ("ts", Some(&*wire.ts), Some(&*time::iso(wire.id.ms))),
        ("runId", Some(&*wire.run_id), Some(&*stream.run_id)),
        ("flowName", Some(&*wire.flow_name), Some(&*stream.flow_name)),
        (
            "tenantId",
            wire.tenant_id.as_deref(),
            stream.tenant_id.as_deref(),
        ),
    ] {
        if text != expected {
            let (text, expected) = (text.map(cut), expected.unwrap_or_default());
            return Err(format!(
                "{field} is {:?}, not {expected:?}",
                text.unwrap_or_default()
            ));
        }
    }
    for (field, text) in [
        ("correlationId", &wire.correlation_id),
        ("causationId", &wire.causation_id),
    ] {
        if text.as_deref().is_some_and(|text| !label::is_valid(text)) {
            return Err(format!("{field} is not {}", label::RULE));
        }
    }
    draft.correlation_id = wire.correlation_id;
    draft.causation_id = wire.causation_id;
    draft.data = wire.data;
    Ok((wire.id, draft))
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    id: EventId,
    ts: String,
    #[serde(rename = "type")]
    kind: String,
    run_id: String,
    flow_name: String,
    tenant_id: Option<String>,
    step_name: Option<Name>,
    step_id: Option<String>,
    attempt: Option<u32>,
    correlation_id: Option<Name>,
    causation_id: Option<Name>,
    #[serde(default, deserialize_with = "present")]
    data: Option<Json>,
}

/// What is there is there, even if it is null.
fn present<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Json>, D::Error> {
    serde::Deserialize::deserialize(input).map(Some)
}

impl Wire {
    fn step(&self, stream: &EventContext) -> Result<Option<StepRef>, String> {
        let Some(name) = &self.step_name else {
            return Ok(None);
        };
        if !label::is_valid(name) {
            return Err(format!("stepName is not {}", label::RULE));
        }
        let id = self.step_id.as_deref();
        // `<runId>__<step>#<visit>__attempt-<n>`; without a number it is the first visit.
        let visit = |id: &str| {
            let (visit, _) = id.rsplit_once("__attempt-")?;
            let (_, visit) = visit.rsplit_once(&format!("__{name}#"))?;
            visit.parse().ok()
        };
        let step = StepRef {
            name: name.clone(),
            visit: id.map_or(0, |id| visit(id).unwrap_or(1)),
            attempt: self.attempt.unwrap_or_default(),
        };
        match step.id(&stream.run_id) {
            expected if expected.as_deref() == id => Ok(Some(step)),
            expected => {
                let (id, expected) = (id.unwrap_or_default(), expected.unwrap_or_default());
                Err(format!("stepId is {:?}, not {expected:?}", cut(id)))
            }
        }
    }
}

/// As much of a text as a message shows.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(160)]
}

impl Event {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("ts", &time::iso(self.id.ms))?;
        map.serialize_entry("type", &self.kind)?;
        map.serialize_entry("runId", &self.context.run_id)?;
        map.serialize_entry("flowName", &self.context.flow_name)?;
        if let Some(step) = &self.step {
            map.serialize_entry("stepName", &step.name)?;
            if let Some(id) = step.id(&self.context.run_id) {
                map.serialize_entry("stepId", &id)?;
            }
            map.serialize_entry("attempt", &step.attempt)?;
        }
        for (key, value) in [
            ("correlationId", &self.correlation_id),
            ("causationId", &self.causation_id),
            ("tenantId", &self.context.tenant_id),
        ] {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        Ok(())
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write(&mut map)?;
        map.end()
    }
}

/// An event among those of other streams: it also says which stream it is from, and where it
/// stands among all of them if they have one order.
pub struct InStream<'a> {
    pub event: &'a Event,
    /// The full name.
    pub stream: String,
    pub cursor: Option<String>,
}

impl Serialize for InStream<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.event.write(&mut map)?;
        map.serialize_entry("stream", &self.stream)?;
        if let Some(cursor) = &self.cursor {
            map.serialize_entry("cursor", cursor)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts_are_one_to_one() {
        for kind in EventType::KNOWN {
            assert_eq!(EventType::from_code(kind.code()).as_ref(), Some(kind));
            assert_eq!(&EventType::parse(kind.as_str()), kind);
        }
        assert_eq!(EventType::parse("order.paid").code(), 0);
    }

    #[test]
    fn types_from_outside_are_words() {
        assert_eq!(
            EventType::checked("step.started"),
            Some(EventType::StepStarted)
        );
        assert!(EventType::checked("order:paid/eu-1_x").is_some());
        for text in ["", "a b", "a\nb", "\u{1b}", "ä", &"x".repeat(129)] {
            assert_eq!(EventType::checked(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_what_does_not_fit_is_not() {
        let context = EventContext {
            run_id: "r1".into(),
            flow_name: "f".into(),
            tenant_id: Some("t".into()),
        };
        for visit in [0, 1, 7] {
            let mut draft = Draft::new(5, EventType::StepStarted).data(1);
            draft.step = Some(StepRef {
                name: "a#b".into(),
                visit,
                attempt: 2,
            });
            draft.causation_id = Some("c".into());
            let event = draft.clone().at(3, 5, &context);
            let read = read_back(&Json::of(&event), &context);
            assert_eq!(read, Ok((event.id, draft)));
        }
        let good = serde_json::json!({
            "id": "5-0", "ts": "1970-01-01T00:00:00.005Z", "type": "x", "runId": "r1",
            "flowName": "f", "tenantId": "t", "stepName": "s", "stepId": "r1__s__attempt-1",
            "attempt": 1,
        });
        assert!(read_back(&Json::of(&good), &context).is_ok());
        for (field, value) in [
            ("id", "6-0"),
            ("id", "5"),
            ("ts", "1970-01-01T00:00:00.006Z"),
            ("type", "x\nid: 9"),
            ("runId", "r2"),
            ("flowName", "g"),
            ("tenantId", "u"),
            ("stepName", "s\n"),
            ("stepName", "other"),
            ("stepId", "r1__s__attempt-2"),
            ("stepId", "r1__s#0__attempt-1"),
            ("stepId", "r1__s#4294967296__attempt-1"),
            ("correlationId", "\n"),
        ] {
            let mut bad = good.clone();
            bad[field] = value.into();
            let read = read_back(&Json::of(&bad), &context);
            assert!(read.is_err(), "{field} {value:?}: {read:?}");
        }
    }

    #[test]
    fn the_envelope_is_the_v04_one() {
        let context = EventContext {
            run_id: "r1".into(),
            flow_name: "example-flow".into(),
            tenant_id: None,
        };
        let step = StepRef {
            name: "first_step".into(),
            visit: 1,
            attempt: 1,
        };
        let event = Draft::new(1_761_754_554_850, EventType::StepStarted)
            .step(step.clone())
            .data(serde_json::json!({"input": 12345678901234567u64}))
            .at(1, 1_761_754_554_850, &context);
        assert_eq!(
            serde_json::to_string(&event).unwrap(),
            r#"{"id":"1761754554850-1","ts":"2025-10-29T16:15:54.850Z","type":"step.started","runId":"r1","flowName":"example-flow","stepName":"first_step","stepId":"r1__first_step__attempt-1","attempt":1,"data":{"input":12345678901234567}}"#
        );
        assert_eq!(
            StepRef { visit: 2, ..step }.id("r1").as_deref(),
            Some("r1__first_step#2__attempt-1")
        );
    }
}
