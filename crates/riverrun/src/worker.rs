//! The connections of a worker: opened, kept alive, and opened again when they break.

use riverrun_types::ErrorCode;
use std::time::Duration;

use futures::{SinkExt, Stream, StreamExt, sink, stream};
use riverrun_protocol::{CancelReason, MESSAGE_BYTES, MadeFlow, Welcome, WorkError};
use riverrun_providers::worker::{Over, Worker};
use tokio::time::{Instant, sleep, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    client::{Client, Socket},
    failure::{Exit, Failure, Result},
    output,
};

/// Tries again at the latest after this.
const MAX_BACKOFF: Duration = Duration::from_secs(5);
const FIRST_BACKOFF: Duration = Duration::from_millis(100);
/// A server says at least every quarter of this that it is there.
const SILENT: Duration = Duration::from_secs(60);
/// How long a worker that was away may run on where the server did not say.
const LEASE: Duration = Duration::from_secs(30);

/// Works for the server until it lets the worker go. A server that is not there yet is waited for
/// this long; one that was there is waited for as long as it takes.
pub async fn serve(client: &Client, worker: &Worker, wait: Duration) -> Result<()> {
    let began = Instant::now();
    let mut away: Option<Instant> = None;
    let mut tries = 0;
    loop {
        match client
            .socket(&["api", "workers", "ws"], MESSAGE_BYTES)
            .await
        {
            Ok(socket) => {
                let (mut is_known, was_away) = (false, away.is_some());
                let over = converse(worker, socket, |welcomed| {
                    is_known = true;
                    welcome(client, worker, welcomed, was_away);
                });
                match over.await {
                    Over::Drained => return Ok(()),
                    Over::Refused(error) => return Err(refused(&error)),
                    Over::Broken => tracing::warn!("the connection to the server broke"),
                }
                if is_known {
                    tries = 0;
                    away = Some(Instant::now());
                }
            }
            Err(failure) if away.is_none() => {
                let is_there = failure.exit != Exit::Unreachable && failure.exit != Exit::Timeout;
                if is_there || began.elapsed() >= wait {
                    return Err(failure);
                }
                tracing::warn!(code = %failure.code, "{}", failure.text());
            }
            Err(failure) => tracing::warn!(code = %failure.code, "{}", failure.text()),
        }
        let lease = worker.reconnect().unwrap_or(LEASE);
        let is_too_late = away.is_some_and(|since| since.elapsed() >= lease);
        if is_too_late && worker.running() > 0 {
            tracing::warn!("the server has given the work of this worker to others; it is stopped");
            worker.cancel_all(CancelReason::LeaseLost);
        }
        if worker.is_leaving() && (is_too_late || !worker.has_more_to_say()) {
            return Ok(());
        }
        tokio::select! {
            () = sleep(backoff(tries)) => tries += 1,
            // Nothing is left to be said: there is no need to come back for that.
            () = left_idle(worker) => return Ok(()),
        }
    }
}

/// Twice as long each time, and never at the same moment as all others.
fn backoff(tries: u32) -> Duration {
    let longest = FIRST_BACKOFF
        .saturating_mul(2_u32.saturating_pow(tries))
        .min(MAX_BACKOFF);
    longest.mul_f64(rand::random_range(0.5..=1.0))
}

async fn left_idle(worker: &Worker) {
    worker.left().await;
    if worker.has_more_to_say() {
        std::future::pending().await
    }
}

async fn converse(worker: &Worker, socket: Socket, on_welcome: impl FnOnce(&Welcome)) -> Over {
    let (say, incoming) = socket.split();
    let say = sink::unfold(say, |mut say, text: String| async move {
        say.send(Message::text(text)).await?;
        Ok::<_, tokio_tungstenite::tungstenite::Error>(say)
    });
    let (say, incoming) = (std::pin::pin!(say), std::pin::pin!(texts(incoming)));
    worker.converse(incoming, say, on_welcome).await
}

/// What the server says, until it says nothing more.
fn texts(
    incoming: impl Stream<Item = tokio_tungstenite::tungstenite::Result<Message>> + Unpin,
) -> impl Stream<Item = String> {
    stream::unfold(incoming, |mut incoming| async move {
        loop {
            match timeout(SILENT, incoming.next()).await {
                Ok(Some(Ok(Message::Text(text)))) => return Some((text.to_string(), incoming)),
                Ok(Some(Ok(Message::Close(frame)))) => {
                    if let Some(frame) = frame.filter(|frame| !frame.reason.is_empty()) {
                        tracing::info!("the server says: {}", output::visible(&frame.reason));
                    }
                }
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(_)) | None) | Err(_) => return None,
            }
        }
    })
}

fn welcome(client: &Client, worker: &Worker, welcomed: &Welcome, was_away: bool) {
    let (name, url) = (worker.name(), client.url());
    if was_away {
        return tracing::info!("{name} is connected to {url} again");
    }
    for fault in &welcomed.faults {
        tracing::warn!(code = %fault.code, "{}", output::visible(&fault.message));
    }
    for MadeFlow { id, version } in &welcomed.flows {
        tracing::info!("its processes make {}@{version}", output::visible(id));
    }
    output::talk(&format!("riverrun worker {name} is connected to {url}"));
}

fn refused(error: &WorkError) -> Failure {
    let failure = Failure::usage(error.code.clone(), error.message.clone());
    match error.code.known() {
        Some(ErrorCode::ProtocolVersion) => {
            failure.next("use the same version of riverrun on both sides")
        }
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_waits_longer_each_time_and_never_too_long() {
        for (tries, longest) in [(0, 100), (1, 200), (5, 3_200), (6, 5_000), (1_000, 5_000)] {
            let waited = backoff(tries).as_millis();
            assert!(
                (longest / 2..=longest).contains(&waited),
                "{tries}: {waited}"
            );
        }
    }
}
