//! A trigger, reduced from the events of its stream.

use riverrun_types::{Event, EventType, Json, Name, RunId, time::Iso};
use serde::Serialize;

/// The latest state of a trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerStatus {
    #[default]
    Registered,
    Fired,
    /// It timed out before it was fired; for a schedule, due times were skipped.
    Timeout,
    Cancelled,
}

/// The totals of a trigger's events.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TriggerState {
    pub status: TriggerStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<Iso>,
    /// When it was fired last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fired_at: Option<Iso>,
    /// When it timed out or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Iso>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Json>,
    /// The value that it was last fired with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// The run that waits for it, or that it started last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Name>,
    /// The run that it started last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// How often it was fired, as far as is known.
    pub fired: u64,
    /// How often it was fired without starting a run.
    pub failed: u64,
}

impl TriggerState {
    /// Applies the next event. Events of other types change nothing.
    pub fn apply(&mut self, event: &Event) {
        let at = Iso(event.id.ms);
        let said = |key: &str| event.data.as_ref().and_then(|data| data.get(key));
        match event.kind {
            EventType::TriggerRegistered => {
                self.status = TriggerStatus::Registered;
                self.registered_at = Some(at);
                self.ended_at = None;
                self.kind = said("type");
            }
            EventType::TriggerFired => {
                self.status = TriggerStatus::Fired;
                self.fired_at = Some(at);
                self.fired += 1;
                self.payload = said("payload");
                let run = said("runId").map(|run| RunId::new(&run.as_text()));
                self.run_id = run.or(self.run_id.take());
            }
            EventType::TriggerFailed => self.failed += 1,
            EventType::TriggerTimeout => {
                self.status = TriggerStatus::Timeout;
                self.ended_at = Some(at);
            }
            EventType::TriggerCancelled => {
                self.status = TriggerStatus::Cancelled;
                self.ended_at = Some(at);
            }
            _ => return,
        }
        if let Some(id) = &event.correlation_id {
            self.correlation_id = Some(id.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::{Draft, Millis, event::EventContext};
    use serde_json::{Value, json};

    use super::*;

    fn check(events: &[(&str, Value)], expected: Value) {
        let context = EventContext {
            run_id: "t".into(),
            flow_name: "trigger".into(),
            tenant_id: None,
        };
        let mut state = TriggerState::default();
        for (at, (kind, data)) in events.iter().enumerate() {
            let mut draft = Draft::new(at as Millis, EventType::parse(kind)).data(data);
            draft.correlation_id = Some("run".into());
            state.apply(&draft.at(at as u64, at as Millis, &context));
        }
        assert_eq!(Json::of(&state).value(), expected);
    }

    #[test]
    fn a_trigger_is_what_its_events_say() {
        let registered = ("trigger.registered", json!({"type": "webhook"}));
        let begin = |status: &str| {
            json!({"status": status, "registeredAt": "1970-01-01T00:00:00.000Z", "type": "webhook",
                "correlationId": "run", "fired": 0, "failed": 0})
        };
        check(
            &[],
            json!({"status": "registered", "fired": 0, "failed": 0}),
        );
        check(std::slice::from_ref(&registered), begin("registered"));
        let mut fired = begin("fired");
        fired["firedAt"] = json!("1970-01-01T00:00:00.001Z");
        fired["payload"] = json!({"approved": true});
        fired["fired"] = json!(1);
        let open = (
            "trigger.fired",
            json!({"payload": {"approved": true}, "source": "webhook"}),
        );
        check(
            &[registered.clone(), open.clone(), ("log.info", json!({}))],
            fired,
        );
        for (kind, status) in [
            ("trigger.timeout", "timeout"),
            ("trigger.cancelled", "cancelled"),
        ] {
            let mut ended = begin(status);
            ended["endedAt"] = json!("1970-01-01T00:00:00.001Z");
            check(&[registered.clone(), (kind, json!({}))], ended);
        }
        // A registered trigger fires repeatedly, and may return after it was removed.
        let started = ("trigger.fired", json!({"runId": "r2"}));
        let failed = ("trigger.failed", json!({"error": {}}));
        let gone = ("trigger.cancelled", json!({}));
        let all = [registered.clone(), open, failed, started, gone, registered];
        check(
            &all,
            json!({"status": "registered", "registeredAt": "1970-01-01T00:00:00.005Z",
                "firedAt": "1970-01-01T00:00:00.003Z", "type": "webhook", "correlationId": "run",
                "runId": "r2", "fired": 2, "failed": 1}),
        );
    }
}
