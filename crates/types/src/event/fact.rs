//! Conversion of facts to events. The data of each event is declared with its type.

use super::{Draft, EventData, EventType, Fact, StepRef};
use crate::{Json, Millis, Name};

impl Fact {
    /// The meaning of an event. An event whose data does not fit its type changes nothing: events
    /// from outside are checked when they arrive, and the engine's own can always be read back.
    pub fn read(draft: &Draft) -> Self {
        Self::try_read(draft).unwrap_or(Self::Other)
    }

    /// The kind and the payload of an event that was emitted. The data of any other event is not read.
    pub fn emitted(draft: &Draft) -> Option<(Name, Json)> {
        if !matches!(draft.kind, EventType::Emit | EventType::Other(_)) {
            return None;
        }
        match Self::read(draft) {
            Self::Emitted { kind, payload, .. } => Some((kind, payload)),
            _ => None,
        }
    }
}

pub(super) fn draft<D: EventData>(
    kind: EventType,
    at: Option<&StepRef>,
    data: &D,
    ms: Millis,
) -> Draft {
    let mut draft = Draft::new(ms, kind);
    draft.step = at.cloned();
    draft.data = data.write();
    draft
}

pub(super) fn emit(at: Option<&StepRef>, kind: &str, payload: &Json, ms: Millis) -> Draft {
    let mut draft = Draft::new(ms, EventType::parse(kind));
    draft.step = at.cloned();
    draft.data = Some(payload.clone()).filter(|payload| !payload.is_null());
    draft
}
