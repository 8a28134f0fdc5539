//! Awaits of runs: how they are registered, matched with events, and answered.
//!
//! `register` makes the changes with which an await begins and ends. The store finds awaits with
//! equalities; those that need an expression (`filters`) are found through the store's outbox
//! (`outbox`). A callback is an await that an outside request resumes (`callbacks`).

mod callbacks;
mod filters;
mod outbox;
mod register;

pub use callbacks::{CallbackAnswer, StoredCallback, callback_signature};
pub(crate) use filters::{Trouble, troubles};
pub(crate) use outbox::read_outbox;
pub use register::Callback;
pub(crate) use register::{
    Filter, MIN_SECRET_BYTES, Past, callback_url, check_lookback, condition, fresh_id, matcher,
    over, register, resumed_times, retry, suspended, trigger_event,
};

use std::sync::Arc;

use filters::Filters;

use crate::{base::Base, streams::Streams};

/// The awaits of all runs; clones share the cache of their expressions.
#[derive(Clone)]
pub struct Awaits {
    streams: Streams,
    filters: Arc<Filters>,
}

impl Awaits {
    pub(crate) fn new(streams: Streams) -> Self {
        Self {
            streams,
            filters: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        self.streams.base()
    }

    fn streams(&self) -> &Streams {
        &self.streams
    }

    fn filters(&self) -> &Filters {
        &self.filters
    }
}
