//! Delivers incoming messages to their invocations.

use std::{
    pin::pin,
    sync::{Arc, atomic::Ordering},
    task::{Context, Waker},
    time::Instant,
};

use riverrun_protocol::{BadMessage, Credit, Frame, Message, RpcError, Whose, WorkError, code};
use riverrun_types::{ErrorCode, Json};
use serde::Deserialize;

use super::{Link, QUESTIONS, repeats::Asked};

/// What a message means to the owner of the link.
#[derive(Debug, PartialEq)]
pub(crate) enum LinkEvent {
    /// It concerned an invocation, or was ignored.
    Passed,
    /// A worker can take this many more.
    Credit(u32),
    /// A worker wants to leave.
    Leave,
}

/// The durable requests of the protocol.
const QUESTIONS_KNOWN: [&str; 15] = [
    "state.get",
    "state.getAll",
    "state.has",
    "state.set",
    "state.delete",
    "state.setBatch",
    "emit",
    "memo",
    "memo.failed",
    "await.trigger",
    "checkpoint",
    "enqueue",
    "call",
    "start",
    "lease",
];

impl Link {
    /// Takes note that bytes came; once for each read rather than for each line.
    pub fn note_received(&self) {
        *self.last_received.lock() = Instant::now();
    }

    /// Never waits, so that a slow host cannot stop the answers of others. What is received enters
    /// the host in the order of the lines.
    pub fn receive(self: &Arc<Self>, line: &[u8]) -> Result<LinkEvent, BadMessage> {
        match Message::read(line)? {
            Message::Response { id, outcome } => self.answered(id, outcome),
            Message::Notification { method, params } => return Ok(self.noted(&method, &params)),
            Message::Request { id, method, params } => self.asked(id, method, params),
        }
        Ok(LinkEvent::Passed)
    }

    pub(super) fn answered(&self, id: u64, outcome: Result<Json, RpcError>) {
        let (taken, is_idle) = {
            let mut open = self.open.lock();
            let taken = open.take(id);
            (taken, open.invocations() == 0)
        };
        match taken {
            Some(waiting) => {
                let _ = waiting.answer.send(outcome.map_err(WorkError::from));
            }
            None => self.unknown_answers.note(&self.name, id),
        }
        if is_idle {
            self.idle.notify_waiters();
        }
    }

    fn noted(&self, method: &str, params: &Json) -> LinkEvent {
        match method {
            "credit" => match params.read::<Credit>() {
                Ok(credit) => return LinkEvent::Credit(credit.credits),
                Err(error) => tracing::warn!(link = self.name, %error, "a credit is not readable"),
            },
            "leave" => return LinkEvent::Leave,
            _ => self.frame(method, params),
        }
        LinkEvent::Passed
    }

    fn frame(&self, method: &str, params: &Json) {
        match Frame::read(method, params) {
            Some((
                Whose {
                    invocation: Some(invocation),
                    job_id,
                },
                frame,
            )) => {
                let host = self.open.lock().host(invocation);
                match (host, job_id) {
                    (Some(host), Some(job)) => host.frame_of(&job, frame),
                    (Some(host), None) => host.frame(frame),
                    (None, _) => {}
                }
            }
            // It speaks for all that runs there.
            Some((_, Frame::Heartbeat)) => {
                let hosts = self.open.lock().hosts();
                hosts.iter().for_each(|host| host.frame(Frame::Heartbeat));
            }
            Some((_, Frame::Log { message, .. })) => {
                tracing::info!(link = self.name, "{message}");
            }
            Some(_) | None => {}
        }
    }

    fn asked(self: &Arc<Self>, id: u64, method: String, params: Json) {
        #[derive(Deserialize)]
        struct Params {
            invocation: u64,
        }
        match self
            .repeats
            .as_ref()
            .map(|repeats| repeats.lock().begin(id))
        {
            None | Some(Asked::New) => {}
            Some(Asked::Open) => return,
            Some(Asked::Done(message)) => {
                self.out.post(|bytes| message.write(bytes));
                return;
            }
        }
        if !QUESTIONS_KNOWN.contains(&method.as_str()) {
            return self.refuse(id, code::UNKNOWN_METHOD, format!("there is no {method:?}"));
        }
        let invocation = match params.read::<Params>() {
            Ok(params) => params.invocation,
            Err(error) => return self.refuse(id, code::BAD_PARAMS, error.to_string()),
        };
        let Some(host) = self.open.lock().host(invocation) else {
            let message = format!("invocation {invocation} has ended");
            let ended = WorkError::new(ErrorCode::InvocationEnded, message);
            return self.reply(id, Err(ended.answer_to("invocation")));
        };
        if self.questions.fetch_add(1, Ordering::Relaxed) >= QUESTIONS {
            self.questions.fetch_sub(1, Ordering::Relaxed);
            let message = format!("{QUESTIONS} requests are open already");
            return self.reply(
                id,
                Err(WorkError::new(ErrorCode::TooManyRequests, message).into()),
            );
        }
        let link = self.clone();
        begin_here(async move {
            let outcome = host.ask(&method, params).await;
            let outcome = outcome.map_err(|error| error.answer_to(&method));
            link.questions.fetch_sub(1, Ordering::Relaxed);
            let message = Message::response(id, outcome);
            link.note_answer(id, &message);
            let _ = link.out.send(|bytes| message.write(bytes)).await;
        });
    }

    fn refuse(&self, id: u64, code: i64, message: String) {
        let data = None;
        self.reply(
            id,
            Err(RpcError {
                code,
                message,
                data,
            }),
        );
    }

    /// Refusals are small, and each answers a request that had to be read first; a side that does
    /// not read them runs into its deadline.
    fn reply(&self, id: u64, outcome: Result<Json, RpcError>) {
        let message = Message::response(id, outcome);
        self.note_answer(id, &message);
        self.out.post(|bytes| message.write(bytes));
    }

    fn note_answer(&self, id: u64, message: &Message) {
        if let Some(repeats) = &self.repeats {
            repeats.lock().end(id, message);
        }
    }
}

/// Begins to answer a question before the next line is read, so that the host takes the questions
/// of an invocation in the order in which they were asked. What then has to wait goes on in a task
/// of its own; what has not is answered without one.
fn begin_here(answering: impl Future<Output = ()> + Send + 'static) {
    let mut answering = Box::pin(answering);
    // Unconstrained, so that the first poll is not postponed: it takes the request's place in order.
    let mut first = pin!(tokio::task::unconstrained(answering.as_mut()));
    let mut unwoken = Context::from_waker(Waker::noop());
    if first.as_mut().poll(&mut unwoken).is_pending() {
        tokio::spawn(answering);
    }
}
