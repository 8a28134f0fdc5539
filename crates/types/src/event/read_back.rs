//! Events that riverrun wrote, read back from the wire.

use super::{Draft, EventContext, EventType, StepRef};
use crate::{EventId, Json, Name, json::present, label, time};

/// An event as riverrun itself wrote it, read back from the wire with its time and its place, as in
/// an export. Its fields must fit the stream and each other. Events from other sources go through
/// [`crate::normalise`].
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

/// The part of a text that a message shows.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(160)]
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
