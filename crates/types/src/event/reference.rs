//! References of events, in the lists of events that awaits have consumed.

use crate::{EventId, Json, Millis};

/// Identifies an event: its id and its stream, as an object. An event without an id is its own
/// reference.
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

/// The time of the event of a reference; none without an id.
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
