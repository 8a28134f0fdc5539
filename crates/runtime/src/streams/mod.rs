//! Events in streams other than runs', readers of all streams as they grow, and listeners to
//! events.
//!
//! `append` stores events and checks those from outside. `signals` are the effects of an append on
//! awaits of such events, `emission` is the event as they see it, and `listen` holds the listeners
//! to all events of a kind. `tail` and `subscribe` read.

mod append;
mod emission;
mod listen;
mod signals;
mod subscribe;
mod tail;
mod trigger;

pub use append::check_event_bytes;
pub(crate) use append::{
    Guard, MAX_EVENT_BYTES, check_bytes, check_outside, check_value, is_too_deep, once, read,
    refuse_reserved,
};
pub(crate) use emission::Emission;
pub use listen::Listener;
pub(crate) use signals::SignalSource;
pub use subscribe::{Begin, Delivery, OnKind, Subject};
pub use tail::{Tail, Tailed};

use std::sync::Arc;

use listen::Listeners;

use crate::base::Base;

/// Streams of events; clones share their state.
#[derive(Clone)]
pub struct Streams {
    base: Base,
    listeners: Arc<Listeners>,
}

impl Streams {
    pub(crate) fn new(base: Base) -> Self {
        Self {
            base,
            listeners: Arc::default(),
        }
    }

    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    fn all_listeners(&self) -> &Listeners {
        &self.listeners
    }
}
