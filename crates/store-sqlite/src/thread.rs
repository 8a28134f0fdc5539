//! The writer thread. It executes all waiting requests in one transaction with one sync to disk,
//! and answers none before that.
//!
//! A request that arrives while the thread is idle may be executed by its caller: the way to
//! another thread and back takes as long as a sync.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use parking_lot::Mutex;
use riverrun_store::{Error, Result};
use tokio::sync::{mpsc, oneshot};

use crate::{
    core::{Core, lost},
    error::{Failure, Worked},
};

/// Requests that may wait before callers do.
const QUEUE: usize = 64;

/// Work inside a transaction that others share.
trait Work: Send {
    /// Executes it. An error is SQLite's and voids the whole transaction.
    fn run(&mut self, core: &mut Core) -> Result<()>;

    /// Answers the caller, once the result of the transaction is known.
    fn answer(self: Box<Self>, fate: Result<()>);
}

struct Task<T, F> {
    work: Option<F>,
    outcome: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&mut Core) -> Worked<T> + Send> Work for Task<T, F> {
    fn run(&mut self, core: &mut Core) -> Result<()> {
        let Some(work) = self.work.take() else {
            return Ok(());
        };
        let (state, outcome) = match work(core) {
            Ok(value) => (Ok(()), Ok(value)),
            Err(Failure::Refused(error)) => (Ok(()), Err(error)),
            Err(Failure::Sql(error)) => (Err(error.clone()), Err(error)),
        };
        self.outcome = Some(outcome);
        state
    }

    fn answer(self: Box<Self>, fate: Result<()>) {
        // A rejection may depend on an earlier request of the same transaction, so it holds only if
        // the transaction does.
        let Self { outcome, reply, .. } = *self;
        let outcome = fate.and_then(|()| outcome.unwrap_or_else(|| Err(lost())));
        // A caller that was dropped has lost only the answer.
        let _ = reply.send(outcome);
    }
}

enum Request {
    /// Changes data.
    Write(Box<dyn Work>),
    /// Reads durable data; executed before the transaction begins.
    Look(Box<dyn FnOnce(&mut Core) + Send>),
    Close(oneshot::Sender<Result<()>>),
}

/// The core, held by the thread that writes. None once it is closed.
type Shared = Arc<Mutex<Option<Core>>>;

/// The channel to the thread. The thread ends when the last handle is dropped or when it is closed.
#[derive(Clone)]
pub(crate) struct Handle {
    queue: mpsc::Sender<Request>,
    core: Shared,
}

impl Handle {
    pub(crate) fn spawn(core: Core) -> std::io::Result<(Self, std::thread::JoinHandle<()>)> {
        let (queue, requests) = mpsc::channel(QUEUE);
        let core = Arc::new(Mutex::new(Some(core)));
        let served = core.clone();
        let thread = std::thread::Builder::new()
            .name("riverrun-writer".to_owned())
            .spawn(move || serve(&served, requests))?;
        Ok((Self { queue, core }, thread))
    }

    /// A handle without a thread.
    pub(crate) fn gone() -> Self {
        Self {
            queue: mpsc::channel(1).0,
            core: Shared::default(),
        }
    }

    /// Executes `work` in the next transaction and answers when it is durable.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Core) -> Worked<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Write(Box::new(Task {
            work: Some(work),
            outcome: None,
            reply,
        }));
        self.queue.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| lost())?
    }

    /// Executes `work` in a transaction of its own and in this thread, which waits for the disk.
    /// None if another thread writes.
    pub(crate) fn write_here<T: Send>(
        &self,
        work: impl FnOnce(&mut Core) -> Worked<T> + Send,
    ) -> Option<Result<T>> {
        let mut core = self.core.try_lock()?;
        let core = core.as_mut()?;
        let (reply, mut answer) = oneshot::channel();
        let task = Task {
            work: Some(work),
            outcome: None,
            reply,
        };
        transact(core, &mut vec![Box::new(task)]);
        Some(answer.try_recv().unwrap_or_else(|_| Err(lost())))
    }

    /// Reads through the writer's own connection, between transactions.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Core) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Look(Box::new(move |core| drop(reply.send(look(core)))));
        self.queue.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| lost())?
    }

    pub(crate) async fn close(&self) -> Result<()> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Close(reply);
        self.queue.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| lost())?
    }
}

fn serve(shared: &Shared, mut requests: mpsc::Receiver<Request>) {
    let mut works = Vec::new();
    while let Some(first) = requests.blocking_recv() {
        let mut held = shared.lock();
        let Some(core) = held.as_mut() else {
            return;
        };
        let mut next = Some(first);
        let mut close = None;
        while let Some(request) = next {
            match request {
                Request::Write(work) => works.push(work),
                Request::Look(look) => {
                    guarded(core, look);
                }
                Request::Close(reply) => {
                    close = Some(reply);
                    break;
                }
            }
            next = requests.try_recv().ok();
        }
        if !works.is_empty() {
            transact(core, &mut works);
        }
        if let Some(reply) = close {
            // From here on callers find the queue closed.
            drop(requests);
            let _ = reply.send(held.take().map_or(Ok(()), Core::close));
            return;
        }
    }
    if let Some(Err(error)) = shared.lock().take().map(Core::close) {
        tracing::warn!(%error, "could not close the store");
    }
}

/// Executes all works in one transaction, then answers each.
fn transact<'a>(core: &mut Core, works: &mut Vec<Box<dyn Work + 'a>>) {
    let mut fate = core.begin();
    for work in works.iter_mut() {
        if fate.is_ok() {
            fate = guarded(core, |core| work.run(core)).unwrap_or_else(|| Err(lost()));
        }
    }
    if fate.is_ok() {
        fate = core.commit();
    }
    if fate.is_err() {
        core.abandon();
    }
    if let Err(Error::Full(_)) = fate {
        core.make_room();
    }
    for work in works.drain(..) {
        work.answer(fate.clone());
    }
}

/// A panic is a bug; it costs its caller the answer, and other callers nothing.
fn guarded<T>(core: &mut Core, work: impl FnOnce(&mut Core) -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| work(core)));
    if done.is_err() {
        tracing::error!("the writer panicked; its transaction is rolled back");
    }
    done.ok()
}
