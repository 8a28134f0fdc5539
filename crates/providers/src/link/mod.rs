//! One conversation in the worker protocol, over any transport.
//!
//! A [`Link`] knows which requests are open, delivers answers, frames and requests to their
//! invocations, and gathers outgoing messages in its [`Outbox`]. It reads and writes nothing
//! itself: a runner's pipes and a worker's socket do that.

mod open;
mod outbox;
mod receive;
mod repeats;
mod run;
mod silence;
mod texts;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use riverrun_contract::Host;
use riverrun_protocol::{Cancel, CancelReason, Limits, Message, WorkError};
use riverrun_types::Json;
use serde::Serialize;
use tokio::sync::Notify;

use open::Open;
pub(crate) use open::Opened;
pub(crate) use outbox::{Outbox, Refused};
pub(crate) use receive::LinkEvent;
use repeats::Repeats;
pub(crate) use run::{Run, Stubborn};
pub(crate) use texts::texts;

pub(crate) type Answer = Result<Json, WorkError>;

/// How many bytes may wait to be written before further senders have to wait.
const WAITING_BYTES: usize = 1 << 20;
/// How many durable requests one side may have open.
const QUESTIONS: u32 = 16_384;

pub(crate) struct Link {
    /// For logs and errors: `node runner 1`, `worker gpu-3`.
    pub name: String,
    pub limits: Limits,
    pub out: Outbox,
    open: Mutex<Open>,
    /// Notified whenever the last open invocation has ended.
    idle: Notify,
    questions: AtomicU32,
    /// Of a link that outlives its connections.
    repeats: Option<Mutex<Repeats>>,
    unknown_answers: UnknownAnswers,
    last_received: Mutex<Instant>,
}

impl Link {
    pub fn new(name: String, limits: Limits) -> Arc<Self> {
        Arc::new(Self::made(name, limits, false))
    }

    /// A link that goes on over other connections: what is asked again is done once.
    pub fn resumable(name: String, limits: Limits) -> Arc<Self> {
        Arc::new(Self::made(name, limits, true))
    }

    fn made(name: String, limits: Limits, is_resumable: bool) -> Self {
        Self {
            name,
            limits,
            out: Outbox::new(WAITING_BYTES, limits.message_bytes),
            open: Mutex::default(),
            idle: Notify::new(),
            questions: AtomicU32::new(0),
            unknown_answers: UnknownAnswers::default(),
            last_received: Mutex::new(Instant::now()),
            repeats: is_resumable.then(Mutex::default),
        }
    }

    /// Opens a request; with a `host` it is an invocation. Refused when the link has ended.
    pub fn open(self: &Arc<Self>, host: Option<Arc<dyn Host>>) -> Result<Opened, WorkError> {
        let (id, answer) = self.open.lock().add(host)?;
        Ok(Opened::new(self.clone(), id, answer))
    }

    /// Asks and waits for the answer.
    pub async fn request(self: &Arc<Self>, method: &str, params: &impl Serialize) -> Answer {
        let mut opened = self.open(None)?;
        let id = opened.id;
        let write = |bytes: &mut Vec<u8>| Message::write_request(bytes, id, method, params);
        match self.out.send(write).await {
            Ok(_) | Err(Refused::Closed) => opened.answer().await,
            Err(Refused::TooLong { bytes, limit }) => {
                Err(crate::failure::input_too_large(bytes, limit))
            }
        }
    }

    pub fn cancel(&self, invocation: u64, reason: CancelReason) {
        let message = Message::notification("cancel", &Cancel { invocation, reason });
        self.out.post(|bytes| message.write(bytes));
    }

    /// Ends everything that is open with this error, and whatever is opened from now on.
    pub fn fail(&self, error: &WorkError) {
        self.fail_read(error, u64::MAX);
    }

    /// As [`Link::fail`], of a side that has read so many bytes and no more: invocations of which
    /// it knows nothing are `RELOAD`, to be run elsewhere.
    pub fn fail_read(&self, error: &WorkError, read: u64) {
        let open = self.open.lock().end(error);
        self.out.close();
        for waiting in open {
            let is_unread = read != u64::MAX && waiting.is_unread(read);
            let error = match is_unread {
                true => WorkError::new("RELOAD", format!("{} had not begun it", self.name)),
                false => error.clone(),
            };
            let _ = waiting.answer.send(Err(error));
        }
        self.idle.notify_waiters();
    }

    /// Invocations of which the other side knows something, if it has read so many bytes.
    pub fn reached(&self, read: u64) -> usize {
        self.open.lock().reached(read)
    }

    /// Sends an invocation, and keeps in mind where its message ends.
    async fn send_invoke(&self, id: u64, params: &impl Serialize) -> Result<(), Refused> {
        let write = |bytes: &mut Vec<u8>| {
            self.open.lock().sent(id, None);
            Message::write_request(bytes, id, "invoke", params);
        };
        let end = self.out.send(write).await?;
        self.open.lock().sent(id, Some(end));
        Ok(())
    }

    /// How many invocations run.
    pub fn running(&self) -> usize {
        self.open.lock().invocations()
    }

    /// The host of the only invocation that runs.
    pub fn only(&self) -> Option<Arc<dyn Host>> {
        self.open.lock().only()
    }

    /// Returns when no invocation runs.
    pub async fn idle(&self) {
        loop {
            let mut notified = std::pin::pin!(self.idle.notified());
            notified.as_mut().enable();
            if self.running() == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Returns when no invocation runs and none will. Later ones are rejected before anything of
    /// them is sent.
    pub async fn retired(&self) {
        let message = format!("{} takes no more", self.name);
        let error = WorkError::new("RELOAD", message);
        loop {
            self.idle().await;
            if self.open.lock().end_if_idle(error.clone()) {
                return self.out.close();
            }
        }
    }

    /// When something came last.
    pub fn last_received(&self) -> Instant {
        *self.last_received.lock()
    }

    /// Ends one request with this error.
    pub fn fail_one(&self, id: u64, error: &WorkError) {
        self.answered(id, Err(error.clone().into()));
    }

    /// Ids up to this one are in use on the other side.
    pub fn skip_ids(&self, last: Option<u64>) {
        self.open.lock().skip(last.unwrap_or_default());
    }

    fn detach(&self, id: u64) {
        let was_last = self.open.lock().detach(id);
        if was_last {
            self.idle.notify_waiters();
        }
    }

    fn close(&self, id: u64) {
        let was_last = self.open.lock().remove(id);
        if was_last {
            self.idle.notify_waiters();
        }
    }
}

/// Counts answers to unknown requests, and logs them rarely: a flood of them must not become a flood
/// of log lines.
#[derive(Default)]
struct UnknownAnswers(AtomicU32);

impl UnknownAnswers {
    fn note(&self, link: &str, id: u64) {
        let count = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            tracing::warn!(link, id, count, "ignored an answer to an unknown request");
        }
    }
}
