//! A connection of a worker from its handshake to its end.

use riverrun_types::ErrorCode;
use std::{sync::Arc, time::Duration};

use futures::{Sink, SinkExt, Stream};
use riverrun_contract::Home;
use riverrun_protocol::{CancelReason, Initialised, Lines, Message, Welcome, WorkError};

use super::{
    connection::{Over, converse},
    hello::hello,
    member::{Member, gone},
    offer::offered,
    workers::{List, Workers},
};

/// How long sending the reason for a rejection may take.
const LAST_WORD: Duration = Duration::from_secs(1);

impl Workers {
    /// Leads the conversation with a worker that has connected, and returns when its connection
    /// is to be closed. A text has one or more messages; `incoming` ends when the connection does,
    /// and gives an error for what cannot be a text. `home` gets the processes that the worker has.
    pub async fn attend<T: AsRef<[u8]>>(
        &self,
        mut incoming: impl Stream<Item = Result<T, WorkError>> + Unpin,
        mut outgoing: impl Sink<String> + Unpin,
        home: &dyn Home,
    ) -> Result<(), WorkError> {
        let mut lines = Lines::new(self.list.options.limits.message_bytes);
        let welcomed = self
            .welcome(&mut incoming, &mut outgoing, &mut lines, home)
            .await;
        let ended = match welcomed {
            Err(error) => Err(error),
            Ok((member, connection)) => {
                let silent = self.list.options.silent;
                let ends = (incoming, &mut outgoing);
                let over = converse(&member, ends, lines, &connection, silent).await;
                over_with(&self.list, &member, over, &connection)
            }
        };
        if let Err(error) = &ended {
            tracing::warn!(
                code = error.code.as_str(),
                "rejected a worker: {}",
                error.message
            );
            let mut bytes = Vec::new();
            Message::notification("refused", error).write(&mut bytes);
            let text = String::from_utf8(bytes).unwrap_or_default();
            let _ = tokio::time::timeout(LAST_WORD, outgoing.send(text)).await;
        }
        ended
    }

    /// Accepts a worker that identifies itself and offers valid processes. The acceptance is the
    /// first message that it gets.
    async fn welcome<T: AsRef<[u8]>>(
        &self,
        incoming: &mut (impl Stream<Item = Result<T, WorkError>> + Unpin),
        outgoing: &mut (impl Sink<String> + Unpin),
        lines: &mut Lines,
        home: &dyn Home,
    ) -> Result<(Arc<Member>, tokio_util::sync::CancellationToken), WorkError> {
        let options = &self.list.options;
        let hello = hello(incoming, outgoing, lines, options);
        let said = tokio::time::timeout(options.start, hello)
            .await
            .map_err(|_| {
                let ms = options.start.as_millis();
                WorkError::new(
                    ErrorCode::WorkerLost,
                    format!("the worker did not answer within {ms} ms"),
                )
            })??;
        let offers = offered(self, &said)?;
        if self.list.is_closed() {
            let message = "the server is shutting down";
            return Err(WorkError::new(ErrorCode::ShuttingDown, message));
        }
        let shadowed = offers
            .into_iter()
            .filter_map(|process| {
                let id = process.id.to_string();
                (!home.take_in(process)).then_some(id)
            })
            .collect();
        let (member, connection) = self.enter(said, shadowed);
        let welcome = self.make_flows(&member, home).await;
        let mut bytes = Vec::new();
        Message::notification("welcome", &welcome).write(&mut bytes);
        let text = String::from_utf8(bytes).unwrap_or_default();
        // A connection that broke meanwhile is detected by those who go on with it.
        let _ = outgoing.send(text).await;
        Ok((member, connection))
    }

    /// Registers what a worker's processes make, once for all of its connections: one that comes
    /// back brings nothing new.
    async fn make_flows(&self, member: &Arc<Member>, home: &dyn Home) -> Welcome {
        let _one_at_a_time = self.list.making.lock().await;
        if let Some(brought) = member.to_make() {
            let others = self.list.processes_of_others(member);
            let mut made = home.make_flows(&brought, &others).await;
            self.list.note_shared(member, &made.shared);
            made.faults.extend(self.list.conflicts(member, &made.flows));
            for fault in &made.faults {
                let worker = member.name.as_str();
                tracing::warn!(worker, code = fault.code.as_str(), "{}", fault.message);
            }
            member.note_made(made);
        }
        member.welcome()
    }

    fn enter(
        &self,
        said: Initialised,
        shadowed: Vec<String>,
    ) -> (Arc<Member>, tokio_util::sync::CancellationToken) {
        let running = said.running.clone();
        let member = self.list.enter(&said);
        for process in &shadowed {
            let worker = member.name.as_str();
            tracing::warn!(worker, process, "the server has this process itself");
        }
        let connection = member.connect(said, shadowed);
        for other in member.compare(&running) {
            if let Some(invocation) = other.invocation {
                member.link.cancel(invocation, CancelReason::LeaseLost);
            }
        }
        tracing::info!(
            worker = member.name,
            id = member.id,
            "a worker is connected"
        );
        (member, connection)
    }
}

fn over_with(
    list: &Arc<List>,
    member: &Arc<Member>,
    over: Over,
    connection: &tokio_util::sync::CancellationToken,
) -> Result<(), WorkError> {
    match over {
        Over::Ended => {
            // A connection that another took the place of ends without its worker.
            if member.is_leaving() && !connection.is_cancelled() {
                tracing::info!(worker = member.name, "a worker has left");
                list.forget(member, &gone(&member.name));
            }
            Ok(())
        }
        Over::Bad(error) => {
            list.forget(member, &error);
            Err(error)
        }
        Over::Broken => {
            member.disconnect(connection);
            match member.link.running() {
                0 => {
                    tracing::info!(worker = member.name, "a worker is gone");
                    list.forget(member, &gone(&member.name));
                }
                running => {
                    tracing::warn!(worker = member.name, running, "a worker's connection broke");
                    list.tell_changed();
                    tokio::spawn(wait_for(list.clone(), member.clone()));
                }
            }
            Ok(())
        }
    }
}

/// Forgets a worker that does not come back in time, or has nothing more to come back for.
async fn wait_for(list: Arc<List>, member: Arc<Member>) {
    let away = member.absences();
    let over = tokio::time::timeout(list.options.reconnect, member.link.idle()).await;
    if member.is_still_away(away) {
        if over.is_err() {
            tracing::warn!(worker = member.name, "a worker did not come back");
        }
        list.forget(&member, &gone(&member.name));
    }
}
