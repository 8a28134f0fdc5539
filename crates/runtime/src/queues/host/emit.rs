//! The events that a handler may emit.

use riverrun_engine::Fact;
use riverrun_protocol::WorkError;
use riverrun_types::{Draft, ErrorCode, EventType, Json, Millis};

use crate::{base::Error, streams::check_bytes};

/// The event that a handler emits, unless its type is reserved for the server.
pub(crate) fn emitted(kind: &str, data: Option<Json>, now: Millis) -> Result<Draft, WorkError> {
    let kind = checked(kind)?;
    if kind.is_reserved() {
        return Err(reserved(&kind));
    }
    let mut draft = Draft::new(now, kind);
    draft.data = data.filter(|data| !data.is_null());
    let bytes = draft.data.as_ref().map_or(0, Json::bytes);
    check_bytes("event", bytes).map_err(too_large)?;
    // An `emit` has its kind in its data.
    if let Fact::Emitted { kind: topic, .. } = Fact::read(&draft) {
        let topic = checked(&topic)?;
        if topic.is_reserved() {
            return Err(reserved(&topic));
        }
    }
    Ok(draft)
}

fn checked(kind: &str) -> Result<EventType, WorkError> {
    EventType::checked(kind).ok_or_else(|| {
        WorkError::new(ErrorCode::BadEvent, format!("{kind:?} is no type of event")).permanent()
    })
}

/// The same in every attempt.
pub(crate) fn too_large(error: Error) -> WorkError {
    WorkError::new(error.code(), error.to_string()).permanent()
}

fn reserved(kind: &EventType) -> WorkError {
    let message = format!(
        "only the server may write events of the type {:?}",
        kind.as_str()
    );
    WorkError::new(ErrorCode::ReservedType, message).permanent()
}
