//! Requests of handlers that the server has not answered yet; they are repeated after a reconnect.
//! The server executes a repeated request once, by its id.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use riverrun_protocol::{Message, RpcError, WorkError};
use riverrun_types::{ErrorCode, Json};
use tokio::sync::{Semaphore, oneshot};

/// As many as a server remembers the answers of.
const OPEN: usize = 512;

type Answer = Result<Json, WorkError>;

pub(super) struct Questions {
    open: Mutex<Open>,
    places: Semaphore,
}

#[derive(Default)]
struct Open {
    last: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Waiting {
    message: Message,
    answer: oneshot::Sender<Answer>,
}

impl Default for Questions {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            places: Semaphore::new(OPEN),
        }
    }
}

impl Questions {
    /// Asks, by handing the message to `send`, and waits for the answer however long it takes.
    pub async fn ask<F: Future<Output = Result<(), WorkError>>>(
        &self,
        method: &str,
        params: Json,
        send: impl FnOnce(Message) -> F,
    ) -> Answer {
        let _place = self.places.acquire().await;
        let (sender, answered) = oneshot::channel();
        let (asked, message) = {
            let mut open = self.open.lock();
            open.last += 1;
            let id = open.last;
            let message = Message::Request {
                id,
                method: method.to_owned(),
                params,
            };
            let waiting = Waiting {
                message: message.clone(),
                answer: sender,
            };
            open.waiting.insert(id, waiting);
            (
                Asked {
                    id,
                    questions: self,
                },
                message,
            )
        };
        send(message).await?;
        let answer = answered.await;
        drop(asked);
        answer.unwrap_or_else(|_| {
            Err(WorkError::new(
                ErrorCode::WorkerLost,
                "the worker has ended",
            ))
        })
    }

    pub fn answered(&self, id: u64, outcome: Result<Json, RpcError>) {
        let waiting = self.open.lock().waiting.remove(&id);
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(outcome.map_err(WorkError::from));
        }
    }

    /// Those that may not have been received, in their order.
    pub fn open(&self) -> Vec<Message> {
        let open = self.open.lock();
        open.waiting
            .values()
            .map(|waiting| waiting.message.clone())
            .collect()
    }
}

/// Removes a request when its caller is dropped.
struct Asked<'a> {
    id: u64,
    questions: &'a Questions,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.questions.open.lock().waiting.remove(&self.id);
    }
}
