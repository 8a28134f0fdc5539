//! Runs one invocation, from the server's request to the answer.

use std::sync::Arc;

use riverrun_contract::{Cancellation, Invocation, Process};
use riverrun_protocol::{Invoke, MESSAGE_BYTES, Message, Reply, RpcError, Running, WorkError};
use riverrun_types::{ErrorCode, Json};

use super::{Answered, Begun, Inner, host::Relay};
use crate::failure;

impl Inner {
    pub(super) fn begin(self: &Arc<Self>, id: u64, params: &Json) {
        let invoke = match Invoke::read(params) {
            Ok(invoke) => invoke,
            Err(error) => {
                let error = failure::protocol("the server", format!("invoke: {error}"));
                return self.post(&Message::response(id, Err(error.into())));
            }
        };
        let Some(process) = self.processes.get(&invoke.process).cloned() else {
            let message = format!("this worker has no process {:?}", invoke.process);
            let error = WorkError::new(ErrorCode::ProcessNotFound, message).permanent();
            return self.post(&Message::response(id, Err(error.into())));
        };
        let cancel = Cancellation::default();
        let running = Running::of(id, &invoke);
        let begun = Begun {
            running: running.clone(),
            cancel: cancel.clone(),
        };
        if let Some(other) = self.state.lock().running.insert(id, begun) {
            tracing::warn!(id, "the server gave an id that is in use");
            other
                .cancel
                .cancel(riverrun_protocol::CancelReason::LeaseLost);
        }
        tokio::spawn(self.clone().run(id, running, invoke, process, cancel));
    }

    async fn run(
        self: Arc<Self>,
        id: u64,
        running: Running,
        invoke: Invoke,
        process: Arc<Process>,
        cancel: Cancellation,
    ) {
        let invocation = Invocation {
            invoke: Arc::new(Invoke {
                // The server does not know where the code is.
                file: process.source.file.clone(),
                export: process.source.export.clone(),
                revision: process.source.revision,
                ..invoke
            }),
            host: Arc::new(Relay {
                worker: self.clone(),
                invocation: id,
            }),
            cancel,
        };
        let provider = process.provider.clone();
        // In a task of its own: a provider that panics ends its invocation and nothing else.
        let ended = tokio::spawn(async move { provider.invoke(invocation).await }).await;
        let outcome = ended.unwrap_or_else(|_| {
            let message = "the worker made a mistake";
            Err(WorkError::new(ErrorCode::HandlerPanic, message))
        });
        self.answer(id, running, answer(id, outcome)).await;
    }

    async fn answer(&self, id: u64, running: Running, mut message: Message) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        if bytes.len() > MESSAGE_BYTES {
            let error = failure::result_too_large(bytes.len(), MESSAGE_BYTES);
            message = Message::response(id, Err(error.into()));
            bytes.clear();
            message.write(&mut bytes);
        }
        // First remembered, then said: a connection that breaks on the way takes nothing with it.
        {
            let mut state = self.state.lock();
            state.answers.push_back(Answered { running, message });
            // Each answer that the server has not received holds one of its credits.
            while state.answers.len() > self.options.concurrency as usize {
                state.answers.pop_front();
            }
        }
        let _ = self.out.send(|waiting| waiting.extend(&bytes)).await;
        let is_idle = {
            let mut state = self.state.lock();
            state.running.remove(&id);
            state.running.is_empty()
        };
        if is_idle {
            self.idle.notify_waiters();
        }
    }
}

fn answer(id: u64, outcome: Result<Reply, WorkError>) -> Message {
    let outcome = outcome
        .map(|reply| Json::of(&reply))
        .map_err(RpcError::from);
    Message::response(id, outcome)
}
