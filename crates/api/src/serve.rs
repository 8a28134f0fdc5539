//! Connections: accepted, served over HTTP/1.1, and let finish at the end.
//!
//! `axum::serve` does the same without a limit on how long a client may take to send its headers
//! and without an end to a graceful stop, so the few lines are ours.

use std::{io, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::TcpListener;

/// How long a client may take from connecting, or from its last answer, to the end of a header.
const HEADERS: Duration = Duration::from_secs(60);
/// How long requests under way may take after the shutdown was asked for.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown` resolves, then lets requests under way finish for a while. Live streams
/// and waits end when [`crate::ApiOptions::closing`] or the runtime does; cancel it together with
/// `shutdown`, or they use up the whole grace.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADERS);
    let connections = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    pause_after(&error).await;
                    continue;
                }
            },
            () = &mut shutdown => break,
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::trace!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, connections.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not finish before the stop");
    }
    Ok(())
}

/// A connection that broke before it was accepted costs nothing; running out of files must not
/// become a busy loop.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind as E;
    if !matches!(
        error.kind(),
        E::ConnectionAborted | E::ConnectionRefused | E::ConnectionReset
    ) {
        tracing::error!(%error, "no connection can be accepted");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
