//! Events as the wire has them, there and back.

use riverrun_types::{Draft, EventId, EventType, Json, Name, StepRef, event::EventContext};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    id: EventId,
    #[serde(rename = "type")]
    kind: String,
    run_id: String,
    step_name: Option<Name>,
    step_id: Option<String>,
    attempt: Option<u32>,
    data: Option<Json>,
}

pub fn write(stream: &[Draft]) -> Vec<Json> {
    let context = EventContext {
        run_id: "r1".into(),
        flow_name: "f".into(),
        tenant_id: None,
    };
    let event = |(seq, draft): (usize, &Draft)| draft.clone().at(seq as u64, draft.ms, &context);
    stream
        .iter()
        .enumerate()
        .map(event)
        .map(|event| Json::of(&event))
        .collect()
}

pub fn read(event: &Json) -> Draft {
    let envelope: Envelope = event.read().unwrap();
    let step = envelope.step_name.map(|name| {
        let id = envelope.step_id.unwrap();
        let prefix = format!("{}__{name}", envelope.run_id);
        let rest = id.strip_prefix(&prefix).unwrap();
        let (visit, attempt) = rest.rsplit_once("__attempt-").unwrap();
        let visit = visit
            .strip_prefix('#')
            .map_or(1, |visit| visit.parse().unwrap());
        assert_eq!(attempt.parse().ok(), envelope.attempt);
        StepRef {
            name,
            visit,
            attempt: envelope.attempt.unwrap(),
        }
    });
    let mut draft = Draft::new(envelope.id.ms, EventType::parse(&envelope.kind));
    draft.step = step;
    draft.data = envelope.data;
    draft
}

/// Survives JSON to the last byte of its payload.
pub fn assert_survives(stream: &[Draft]) {
    for (event, draft) in write(stream).iter().zip(stream) {
        let back = read(event);
        assert_eq!(&back, draft);
        assert_eq!(
            back.data.as_ref().map(Json::as_str),
            draft.data.as_ref().map(Json::as_str)
        );
    }
}
