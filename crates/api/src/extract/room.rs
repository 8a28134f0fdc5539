//! Memory for the bodies of requests, bounded for all of them together.

use std::sync::Arc;

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bodies up to this size need no room: connections hold about as much by themselves.
pub(crate) const FREE_BYTES: usize = 64 << 10;

/// The bytes of one permit.
const UNIT: usize = 1 << 10;

/// The room for bodies; clones share it.
#[derive(Clone)]
pub(crate) struct BodyRoom {
    permits: Arc<Semaphore>,
    units: usize,
}

impl BodyRoom {
    pub fn new(bytes: usize) -> Self {
        let units = bytes.div_ceil(UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self {
            permits: Arc::new(Semaphore::new(units)),
            units,
        }
    }

    /// Waits until a body of so many bytes has room. One that is larger than all of the room waits
    /// until it has the room for itself.
    pub async fn reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let units = bytes.div_ceil(UNIT).min(self.units);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        self.permits.clone().acquire_many_owned(units).await.ok()
    }
}

/// A body that gives its room back once it is dropped.
struct Held {
    bytes: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

pub(crate) fn hold(bytes: Vec<u8>, room: Option<OwnedSemaphorePermit>) -> Bytes {
    Bytes::from_owner(Held { bytes, _room: room })
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn bodies_wait_until_they_have_room() {
        let room = BodyRoom::new(10 << 10);
        let first = room.reserve(6 << 10).now_or_never();
        let body = hold(b"first".to_vec(), first.unwrap());
        assert!(room.reserve(5 << 10).now_or_never().is_none());
        assert!(room.reserve(4 << 10).now_or_never().is_some());
        assert_eq!(&*body, b"first");
        drop(body);
        // One that is larger than the room has it for itself.
        let whole = room.reserve(1 << 30).now_or_never().unwrap();
        assert!(room.reserve(1).now_or_never().is_none());
        drop(whole);
        assert!(room.reserve(10 << 10).now_or_never().is_some());
    }
}
