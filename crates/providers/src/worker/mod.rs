//! The worker's side of the protocol: this program executes work for a server elsewhere.
//!
//! A [`Worker`] has processes and executes the server's work in their providers. It outlives its
//! connections: [`Worker::converse`] runs one of them, work continues when it breaks, and the next
//! connection resumes where the last one ended. Requests of handlers go to the server, and wait
//! while there is no connection. The caller makes the connections and decides when to reconnect.

mod converse;
mod host;
mod questions;
mod run;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use riverrun_contract::{Cancellation, Process};
use riverrun_protocol::{CancelReason, MESSAGE_BYTES, Message, NotLoaded, Running};
use riverrun_types::RunId;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::link::Outbox;
pub use converse::Over;
use questions::Questions;

/// How many bytes may wait for the server before handlers that ask for something have to wait.
const WAITING_BYTES: usize = 1 << 20;

#[derive(Clone, Debug)]
pub struct WorkerOptions {
    pub name: String,
    pub tags: Vec<String>,
    /// Invocations at once.
    pub concurrency: u32,
    /// What could not be loaded of its project.
    pub broken: Vec<NotLoaded>,
}

/// Runs work for a server. Clones share it.
#[derive(Clone)]
pub struct Worker {
    inner: Arc<Inner>,
}

struct Inner {
    options: WorkerOptions,
    /// By it the server knows this worker again.
    instance: String,
    processes: HashMap<String, Arc<Process>>,
    out: Outbox,
    questions: Questions,
    state: Mutex<State>,
    /// Notified whenever the last invocation has ended.
    idle: Notify,
    leaving: CancellationToken,
    /// Frames that were lost because too much waited.
    dropped: AtomicU64,
}

#[derive(Default)]
struct State {
    /// What runs, by the server's id of it.
    running: HashMap<u64, Begun>,
    /// The last answers: each may have been lost with its connection.
    answers: VecDeque<Answered>,
    /// How long the server waits for a worker that is away.
    reconnect: Option<Duration>,
}

struct Begun {
    running: Running,
    cancel: Cancellation,
}

struct Answered {
    running: Running,
    message: Message,
}

impl Worker {
    pub fn new(options: WorkerOptions, processes: Vec<Arc<Process>>) -> Self {
        let by_id = |process: Arc<Process>| (process.id.to_string(), process);
        Self {
            inner: Arc::new(Inner {
                options,
                instance: RunId::fresh().to_string(),
                processes: processes.into_iter().map(by_id).collect(),
                out: Outbox::new(WAITING_BYTES, MESSAGE_BYTES),
                questions: Questions::default(),
                state: Mutex::default(),
                idle: Notify::new(),
                leaving: CancellationToken::new(),
                dropped: AtomicU64::new(0),
            }),
        }
    }

    /// Wants no more work. What runs may end; then the server lets it go, and the conversation is
    /// over.
    pub fn leave(&self) {
        self.inner.leaving.cancel();
    }

    /// Returns when it wants to leave.
    pub async fn left(&self) {
        self.inner.leaving.cancelled().await;
    }

    pub fn name(&self) -> &str {
        &self.inner.options.name
    }

    pub fn is_leaving(&self) -> bool {
        self.inner.leaving.is_cancelled()
    }

    /// How many invocations run.
    pub fn running(&self) -> usize {
        self.inner.state.lock().running.len()
    }

    /// Whether messages for the server are still to be sent.
    pub fn has_more_to_say(&self) -> bool {
        self.running() > 0 || !self.inner.out.is_empty()
    }

    /// How long the server waits for a worker whose connection broke, as it said itself.
    pub fn reconnect(&self) -> Option<Duration> {
        self.inner.state.lock().reconnect
    }

    /// Sends the stop signal to everything that runs.
    pub fn cancel_all(&self, reason: CancelReason) {
        for begun in self.inner.state.lock().running.values() {
            begun.cancel.cancel(reason);
        }
    }

    /// Returns when nothing runs.
    pub async fn idle(&self) {
        self.inner.idle().await;
    }
}

impl Inner {
    async fn idle(&self) {
        loop {
            let mut notified = std::pin::pin!(self.idle.notified());
            notified.as_mut().enable();
            if self.state.lock().running.is_empty() {
                return;
            }
            notified.await;
        }
    }

    /// Adds a message that may be lost when far too much waits already.
    fn post(&self, message: &Message) {
        if !self.out.post(|bytes| message.write(bytes)) {
            let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
            if dropped.is_power_of_two() {
                tracing::warn!(dropped, "frames were lost: too much waits for the server");
            }
        }
    }
}
