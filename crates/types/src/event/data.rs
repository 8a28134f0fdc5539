//! What an event says, in the form that it has on the wire.

use serde::{Serialize, de::DeserializeOwned};

use crate::Json;

/// The data of an event type.
pub(crate) trait EventData: Serialize + DeserializeOwned {
    /// The data of the event; none where it has nothing to say.
    fn write(&self) -> Option<Json> {
        Some(Json::of(self))
    }

    /// What the data of an event says; none where it does not fit the type.
    fn read(data: Option<&Json>) -> Option<Self> {
        data?.read().ok()
    }
}

/// No data where nothing differs from the default.
pub(super) fn unless_default<D: EventData + Default + PartialEq>(data: &D) -> Option<Json> {
    (*data != D::default()).then(|| Json::of(data))
}

/// The default where there is no data.
pub(super) fn or_default<D: EventData + Default>(data: Option<&Json>) -> Option<D> {
    match data {
        Some(data) => data.read().ok(),
        None => Some(D::default()),
    }
}
