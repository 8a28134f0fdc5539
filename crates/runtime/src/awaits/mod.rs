//! What runs wait for from outside: how it is registered, matched with events, and answered.

mod callbacks;
mod filters;
mod outbox;
mod register;

pub use callbacks::{CallbackAnswer, StoredCallback, callback_signature};
pub(crate) use filters::{Filters, Trouble, troubles};
pub(crate) use outbox::read_outbox;
pub use register::Callback;
pub(crate) use register::{
    Filter, MIN_SECRET_BYTES, Past, callback_url, check_lookback, condition, fresh_id, matcher,
    over, register, resumed_times, retry, suspended, trigger_event,
};
