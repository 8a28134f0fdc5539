//! The data of events, in the form that it has on the wire.

use serde::{Serialize, de::DeserializeOwned};

use crate::Json;

/// The data of an event type.
pub(crate) trait EventData: Serialize + DeserializeOwned {
    /// The data of the event; none if it is empty.
    fn write(&self) -> Option<Json> {
        Some(Json::of(self))
    }

    /// The typed data of an event; none if it does not fit the type.
    fn read(data: Option<&Json>) -> Option<Self> {
        data?.read().ok()
    }
}

/// No data if it equals the default.
pub(super) fn unless_default<D: EventData + Default + PartialEq>(data: &D) -> Option<Json> {
    (*data != D::default()).then(|| Json::of(data))
}

/// The default without data.
pub(super) fn or_default<D: EventData + Default>(data: Option<&Json>) -> Option<D> {
    match data {
        Some(data) => data.read().ok(),
        None => Some(D::default()),
    }
}
