//! An event: as a draft, with its place in a stream, and on the wire.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::EventType;
use crate::{EventId, Json, Millis, Name, time};

/// The attempt of a visit of a step to which an event refers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StepRef {
    pub name: Name,
    /// The n-th time that the run entered the step, from 1; 0 if an outside event names a step
    /// without a visit.
    pub visit: u32,
    /// The n-th try of that visit, from 1; 0 before the first.
    pub attempt: u32,
}

impl StepRef {
    /// `<runId>__<step>__attempt-<n>`, and from the second visit on
    /// `<runId>__<step>#<visit>__attempt-<n>`. None if it refers to no visit.
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

/// An event without a place in a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// When it happened. A store moves it forward to the time of the stream's last event if that is
    /// later.
    pub ms: Millis,
    pub kind: EventType,
    pub step: Option<StepRef>,
    pub correlation_id: Option<Name>,
    pub causation_id: Option<Name>,
    /// The tenant, in the shared stream. A run's events have the tenant of the run.
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

/// The common fields of all events of a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct EventContext {
    /// `runId`: the run's id, or the id part of any other stream.
    pub run_id: Name,
    /// `flowName`: the flow's id, or the type of any other stream.
    pub flow_name: Name,
    pub tenant_id: Option<Name>,
}

impl EventContext {
    /// The tenant of an event of the stream.
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

/// An event among those of other streams: it also names its stream, and its place among all of them
/// if they have one order.
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
