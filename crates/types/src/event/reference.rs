//! References of events, in the lists of what awaits were given.

use crate::{EventId, Json, Millis};

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
