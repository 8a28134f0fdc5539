//! Accepts connections, serves HTTP/1.1, and lets requests finish at the stop.
//!
//! `axum::serve` does the same without a limit for slow headers and without an end to a graceful
//! stop, so this module replaces it. Connections that became WebSockets are tracked by
//! [`crate::ApiOptions::sockets`] instead.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::FromRequestParts,
    http::{Request, request::Parts},
    response::Response,
};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;

use crate::connection::{Connection, Traffic, Watched};

/// How long a client may take from connecting, or from its last answer, to the end of a header.
const HEADERS: Duration = Duration::from_secs(60);
/// The most bytes of a request's head, and about the most that waits in a connection to be written.
const BUFFER_BYTES: usize = 128 << 10;
/// How long requests under way may take after the shutdown was asked for.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown` resolves, then lets requests under way finish for a while. Live streams
/// and waits end when [`crate::ApiOptions::closing`] or the runtime does; cancel it together with
/// `shutdown`, or they use up the whole grace.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stall_timeout: Duration,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(BUFFER_BYTES);
    let (connections, finish) = (TaskTracker::new(), CancellationToken::new());
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
        let (traffic, leave) = (Arc::new(Traffic::default()), Leave::default());
        let stream = Connection::new(stream, traffic.clone(), stall_timeout);
        let service = service(router.clone(), traffic, leave.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let (connection, finish) = (connection.with_upgrades(), finish.clone());
        connections.spawn(async move {
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = leave.0.cancelled() => return,
                () = finish.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection broke");
            }
        });
    }
    drop(listener);
    finish.cancel();
    connections.close();
    if tokio::time::timeout(GRACE, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!("some requests did not finish before the stop");
    }
    Ok(())
}

/// Answers the requests of one connection.
fn service(
    router: Router,
    traffic: Arc<Traffic>,
    leave: Leave,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = Response<Watched>,
    Error = Infallible,
    Future: Future<Output = Result<Response<Watched>, Infallible>> + Send,
> {
    hyper::service::service_fn(move |request: Request<Incoming>| {
        traffic.begin();
        let (router, traffic, leave) = (router.clone(), traffic.clone(), leave.clone());
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(leave);
            let response = router.oneshot(request).await?;
            Ok(response.map(|body| traffic.body(body)))
        }
    })
}

/// Ends the connection that a request came over, whether its client reads or not.
#[derive(Clone, Default)]
pub(crate) struct Leave(pub CancellationToken);

impl<S: Sync> FromRequestParts<S> for Leave {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Without a connection of its own a request ends by itself.
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
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
