//! The group-commit writer: the one door to a store's data.
//!
//! While the disk syncs one group, the next gathers. So a lone commit costs one sync, and a
//! thousand at once cost a few. The channel is bounded: when the disk falls behind, callers wait.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::{Bus, Commit, Error, Receipt, Result, Store};

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

/// What is done once a commit is durable, before anybody hears of it. Nobody else's commit goes on
/// meanwhile, so it must be brief.
pub type Then = Box<dyn FnOnce(&Receipt) + Send>;

impl Writer {
    pub fn spawn(store: Arc<dyn Store>, bus: Arc<Bus>) -> Self {
        let (queue, requests) = mpsc::channel(4 * MAX_GROUP);
        tokio::spawn(write(store, bus, requests));
        Self { queue }
    }

    /// Returns once the commit is durable, or was refused.
    pub async fn commit(&self, commit: Commit) -> Result<Receipt> {
        self.commit_then(commit, None).await
    }

    /// The same, with something that is done even if the caller goes away meanwhile.
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

async fn write(store: Arc<dyn Store>, bus: Arc<Bus>, mut requests: mpsc::Receiver<Request>) {
    let mut waiting = Vec::with_capacity(MAX_GROUP);
    while requests.recv_many(&mut waiting, MAX_GROUP).await > 0 {
        let (commits, rest): (Vec<_>, Vec<_>) = waiting
            .drain(..)
            .map(|request| (request.commit, (request.then, request.reply)))
            .unzip();
        // What the bus needs afterwards: events are shared, so this copies pointers.
        let published = commits.clone();
        bus.begin_group();
        let results = store.commit(commits).await;
        for ((commit, result), (then, reply)) in published.iter().zip(results).zip(rest) {
            if let Ok(receipt) = &result {
                if let Some(then) = then {
                    then(receipt);
                }
                bus.publish(commit, receipt);
            }
            // A caller that went away has lost only the answer.
            let _ = reply.send(result);
        }
        bus.end_group();
    }
}
