//! Where work executes: the contract between the runtime and a provider.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use futures::future::BoxFuture;
use riverrun_protocol::{CancelReason, Frame, Invoke, Reply, WorkError};
use riverrun_types::{Json, Millis};
use tokio_util::sync::CancellationToken;

/// Runs the invocations of one process: in this process, in a runner, in an executable, in a
/// worker far away.
#[async_trait]
pub trait Provider: Send + Sync + 'static {
    /// Runs one invocation to its end, whatever that is: a handler that dies, hangs or answers
    /// nonsense ends with an error of its own.
    ///
    /// When `invocation.cancel` fires, the handler is asked to stop, and stopped by force if it
    /// does not in time; this returns soon after. Dropping the future stops it without a word.
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError>;

    /// Who says how many invocations there is room for, where that is not for the process's own
    /// concurrency to say.
    fn places(&self) -> Option<&dyn Places> {
        None
    }

    /// Who has a job that it was given, where that is a program with a name of its own.
    fn holder(&self, job: &str) -> Option<Holder> {
        let _ = job;
        None
    }
}

/// A remote worker that has a job.
#[derive(Clone, Debug, PartialEq)]
pub struct Holder {
    pub id: u64,
    pub name: String,
    /// It has lost its connection.
    pub away: Option<Away>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Away {
    pub since_ms: Millis,
    /// When it is not waited for any more.
    pub until_ms: Millis,
}

/// Room for invocations elsewhere. It is taken before jobs are claimed, so that no job is claimed
/// before a worker can run it.
pub trait Places: Send + Sync {
    /// Takes up to this many places. Each invocation of jobs uses one; the others are given back.
    fn take(&self, want: usize) -> ReservedPlaces;

    fn give_back(&self, count: usize);

    /// Whether there is anybody to do the work, though he may be busy or away for a moment.
    fn is_staffed(&self) -> bool;
}

/// Places that were taken.
pub struct ReservedPlaces {
    pub count: usize,
    /// Resolves when there may be more.
    pub more: BoxFuture<'static, ()>,
}

/// One call of a handler, and its way back to the server.
#[derive(Clone)]
pub struct Invocation {
    pub invoke: Arc<Invoke>,
    pub host: Arc<dyn Host>,
    pub cancel: Cancellation,
}

/// What an invocation may ask of the server.
#[async_trait]
pub trait Host: Send + Sync {
    /// Takes note of what the handler says on its way. Never waits: what is too much is dropped,
    /// counted and said.
    fn frame(&self, frame: Frame);

    /// The same for one job of a batch.
    fn frame_of(&self, job: &str, frame: Frame) {
        let _ = job;
        self.frame(frame);
    }

    /// Does what a handler asks for (`state.set`, `emit`, `enqueue`, …) and answers when it is
    /// durable. `params` is what stood in the request, the `jobId` of one job of a batch with it.
    ///
    /// Several may be asked at once. They are begun, which is polled for the first time, in the
    /// order in which the handler asked them, and what changes something takes its place in the
    /// order before it waits for anything.
    async fn ask(&self, method: &str, params: Json) -> Result<Json, WorkError>;
}

/// The wish to stop an invocation, with its reason. Clones share it.
#[derive(Clone, Default)]
pub struct Cancellation {
    token: CancellationToken,
    /// The reason, and the text that the canceller gave.
    reason: Arc<OnceLock<(CancelReason, Option<Box<str>>)>>,
}

impl Cancellation {
    /// The first reason stays.
    pub fn cancel(&self, reason: CancelReason) {
        self.cancel_saying(reason, None);
    }

    /// The same with a text for the error of the cancelled invocation.
    pub fn cancel_saying(&self, reason: CancelReason, said: Option<&str>) {
        let _ = self.reason.set((reason, said.map(Into::into)));
        self.token.cancel();
    }

    pub fn reason(&self) -> Option<CancelReason> {
        self.reason.get().map(|(reason, _)| *reason)
    }

    pub fn said(&self) -> Option<&str> {
        self.reason.get()?.1.as_deref()
    }

    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    pub async fn cancelled(&self) -> CancelReason {
        self.token.cancelled().await;
        self.reason().unwrap_or(CancelReason::User)
    }
}
