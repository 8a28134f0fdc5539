//! A connection of a worker from its first word to what is left when it is over.

use std::sync::Arc;

use futures::{Sink, Stream};
use riverrun_protocol::{CancelReason, Lines, WorkError};

use super::{
    connection::{Over, converse},
    hello::hello,
    member::{Member, gone},
    workers::{List, Workers},
};

impl Workers {
    /// Leads the conversation with a worker that has connected, and returns when its connection
    /// is to be closed. A text has one or more messages; `incoming` ends when the connection does.
    pub async fn attend<T: AsRef<[u8]>>(
        &self,
        mut incoming: impl Stream<Item = T> + Unpin,
        mut outgoing: impl Sink<String> + Unpin,
    ) -> Result<(), WorkError> {
        let options = &self.list.options;
        let mut lines = Lines::new(options.limits.message_bytes);
        let hello = hello(&mut incoming, &mut outgoing, &mut lines, options.limits);
        let said = tokio::time::timeout(options.start, hello)
            .await
            .map_err(|_| {
                let ms = options.start.as_millis();
                WorkError::new(
                    "WORKER_LOST",
                    format!("the worker did not answer within {ms} ms"),
                )
            })??;
        let running = said.running.clone();
        let member = self.list.enter(&said);
        let connection = member.connect(said);
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
        let silent = options.silent;
        let over = converse(&member, incoming, outgoing, lines, &connection, silent).await;
        over_with(&self.list, &member, over, &connection)
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
            if member.is_leaving() {
                list.forget(member, &gone(&member.name));
            }
            Ok(())
        }
        Over::Bad(error) => {
            tracing::warn!(worker = member.name, "{}", error.message);
            list.forget(member, &error);
            Err(error)
        }
        Over::Broken => {
            member.disconnect(connection);
            match member.link.running() {
                0 => list.forget(member, &gone(&member.name)),
                running => {
                    tracing::warn!(worker = member.name, running, "a worker's connection broke");
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
