//! One connection of a worker: texts in, texts out, until it ends.

use std::{sync::Arc, time::Duration};

use futures::{Sink, SinkExt, Stream, StreamExt};
use riverrun_protocol::{Lines, WorkError};
use tokio_util::sync::CancellationToken;

use super::{hello::push, member::Member};
use crate::{
    failure,
    link::{LinkEvent, texts},
};

/// Why a connection is over.
pub(super) enum Over {
    /// It broke; the worker may come back.
    Broken,
    /// It was ended on purpose.
    Ended,
    /// The worker said what it must not.
    Bad(WorkError),
}

pub(super) async fn converse<T: AsRef<[u8]>>(
    member: &Arc<Member>,
    (incoming, outgoing): (
        impl Stream<Item = Result<T, WorkError>> + Unpin,
        impl Sink<String> + Unpin,
    ),
    lines: Lines,
    connection: &CancellationToken,
    silent: Duration,
) -> Over {
    tokio::select! {
        over = receive(member, incoming, lines) => over,
        () = say(member, outgoing) => Over::Broken,
        () = member.link.silence(silent) => {
            tracing::warn!(worker = member.name, "a worker has been silent for too long");
            Over::Broken
        }
        () = leave(member) => Over::Ended,
        () = connection.cancelled() => match member.is_lost() {
            true => Over::Broken,
            false => Over::Ended,
        },
    }
}

async fn receive<T: AsRef<[u8]>>(
    member: &Arc<Member>,
    mut incoming: impl Stream<Item = Result<T, WorkError>> + Unpin,
    mut lines: Lines,
) -> Over {
    loop {
        member.link.note_received();
        while let Some(line) = lines.next_line() {
            let received = match line {
                Ok(line) => member.link.receive(line).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match received {
                Ok(LinkEvent::Passed) => {}
                Ok(LinkEvent::Credit(credits)) => member.add_credits(credits),
                Ok(LinkEvent::Leave) => member.leave(),
                Err(what) => {
                    let who = format!("worker {}", member.name);
                    return Over::Bad(failure::protocol(&who, what));
                }
            }
        }
        match incoming.next().await {
            Some(Ok(text)) => push(&mut lines, text.as_ref()),
            Some(Err(error)) => return Over::Bad(error),
            None => return Over::Broken,
        }
    }
}

/// Returns when nothing can be sent any more.
async fn say(member: &Member, mut outgoing: impl Sink<String> + Unpin) {
    let mut bytes = Vec::new();
    while member.link.out.take(&mut bytes).await {
        for text in texts(&bytes, member.link.limits.message_bytes) {
            if outgoing.send(text.to_owned()).await.is_err() {
                return;
            }
        }
        bytes.clear();
    }
}

/// Returns when a worker that wants to leave has nothing left to do and knows it.
async fn leave(member: &Member) {
    member.left().await;
    member.link.idle().await;
    let params = serde_json::json!({ "graceMs": 0 });
    let drained = member.link.request("drain", &params);
    let _ = tokio::time::timeout(Duration::from_secs(1), drained).await;
}
