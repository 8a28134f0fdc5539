//! The group-commit writer: the only way to change a store's data.
//!
//! While the disk syncs one group, the next gathers. So a lone commit costs one sync, and a
//! thousand at once cost a few. The channel is bounded: when the disk is too slow, callers wait.
//!
//! The writer has a thread of its own. As a task it would run only after all the tasks that its own
//! answers wake, and the store would be idle meanwhile. A store on this machine may use that thread
//! for a commit without others.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use crate::{Commit, Error, GroupId, Hub, Receipt, Result, Store};

/// The most commits in one transaction. More would make the first of them wait for the last.
const MAX_GROUP: usize = 512;

/// A handle to the writer; clones share it. The writer ends when the last handle is dropped.
#[derive(Clone)]
pub struct Writer {
    queue: mpsc::Sender<Request>,
}

struct Request {
    commit: Commit,
    then: Option<Then>,
    reply: oneshot::Sender<Result<Receipt>>,
}

/// Called once a commit is durable, before it is published. It blocks all other commits, so it must
/// be brief.
pub type Then = Box<dyn FnOnce(&Receipt) + Send>;

impl Writer {
    /// To be called within a tokio runtime, with which the writer ends.
    pub fn spawn(store: Arc<dyn Store>, hub: Arc<Hub>) -> Self {
        let (queue, requests) = mpsc::channel(4 * MAX_GROUP);
        let (alive, gone) = oneshot::channel::<()>();
        let (writing, written) = oneshot::channel::<()>();
        // Tasks are dropped with their runtime, threads are not. While there is a writer, hints of
        // other instances arrive.
        let receiver = hub.clone();
        tokio::spawn(async move {
            let _alive = alive;
            tokio::select! {
                _ = written => {}
                () = receiver.receive() => {}
            }
        });
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let _writing = writing;
            runtime.block_on(async {
                tokio::select! {
                    () = write(store, hub, requests) => {}
                    _ = gone => {}
                }
            });
        });
        Self { queue }
    }

    /// Returns once the commit is durable, or was rejected.
    pub async fn commit(&self, commit: Commit) -> Result<Receipt> {
        self.commit_then(commit, None).await
    }

    /// The same, and calls a function even if the caller is dropped meanwhile.
    pub async fn commit_then(&self, commit: Commit, then: Option<Then>) -> Result<Receipt> {
        let (reply, answer) = oneshot::channel();
        let request = Request {
            commit,
            then,
            reply,
        };
        self.queue.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

async fn write(store: Arc<dyn Store>, hub: Arc<Hub>, mut requests: mpsc::Receiver<Request>) {
    let mut waiting = Vec::with_capacity(MAX_GROUP);
    let mut unpublished: Option<Stored> = None;
    let mut group = GroupId::first();
    loop {
        match unpublished.take() {
            None if requests.recv_many(&mut waiting, MAX_GROUP).await == 0 => return,
            None => {}
            Some(stored) => {
                while waiting.len() < MAX_GROUP
                    && let Ok(request) = requests.try_recv()
                {
                    waiting.push(request);
                }
                if waiting.is_empty() {
                    stored.tell(&hub);
                    continue;
                }
                unpublished = Some(stored);
            }
        }
        let (commits, askers): (Vec<_>, Vec<_>) = waiting
            .drain(..)
            .map(|request| (request.commit, (request.then, request.reply)))
            .unzip();
        let commits: Arc<[Commit]> = commits.into();
        hub.begin_group();
        // The writer waits here for a lone commit: it has nothing else to do meanwhile.
        if let (None, [alone]) = (&unpublished, &commits[..])
            && let Some(result) = store.commit_here(alone)
        {
            let stored = Stored {
                commits,
                results: vec![result],
                askers,
            };
            stored.tell(&hub);
            continue;
        }
        group = group.next();
        let mut storing = pin!(store.commit(group.clone(), commits.clone()));
        // The store gets the next group before the last one is published: both go on at once.
        let begun = poll_fn(|context| Poll::Ready(storing.as_mut().poll(context))).await;
        if let Some(stored) = unpublished.take() {
            stored.tell(&hub);
        }
        let results = match begun {
            Poll::Ready(results) => results,
            Poll::Pending => storing.await,
        };
        unpublished = Some(Stored {
            commits,
            results,
            askers,
        });
    }
}

/// A group that is durable, or was rejected, and whose answers are not sent yet.
struct Stored {
    commits: Arc<[Commit]>,
    results: Vec<Result<Receipt>>,
    askers: Vec<(Option<Then>, oneshot::Sender<Result<Receipt>>)>,
}

impl Stored {
    fn tell(self, hub: &Hub) {
        let answers = self.commits.iter().zip(self.results).zip(self.askers);
        for ((commit, result), (then, reply)) in answers {
            if let Ok(receipt) = &result {
                if let Some(then) = then {
                    then(receipt);
                }
                hub.publish(commit, receipt);
            }
            // A caller that was dropped has lost only the answer.
            let _ = reply.send(result);
        }
        hub.end_group();
    }
}
