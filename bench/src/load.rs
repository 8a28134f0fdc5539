//! A load of HTTP requests over kept-alive connections.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;

/// What a load came to.
pub struct Load {
    pub per_second: f64,
    /// Milliseconds a request, one sample each.
    pub samples: Vec<f64>,
    /// Answers that were not 2xx.
    pub failed: usize,
}

/// Sends `count` POSTs, `in_flight` at a time, one connection each.
pub async fn requests(
    address: SocketAddr,
    path: &str,
    in_flight: usize,
    count: usize,
    body: impl Fn(usize) -> Bytes + Send + Sync + 'static,
) -> Load {
    let next = Arc::new(AtomicUsize::new(0));
    let body = Arc::new(body);
    let begun = Instant::now();
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| {
            let (next, body, path) = (next.clone(), body.clone(), path.to_owned());
            tokio::spawn(async move {
                let mut samples = Vec::with_capacity(count / in_flight + 1);
                let mut failed = 0;
                let Some(mut connection) = connect(address).await else {
                    return (samples, count);
                };
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return (samples, failed);
                    }
                    let sent = Instant::now();
                    match post(&mut connection, &path, body(at)).await {
                        Some(status) if status < 300 => {}
                        _ => failed += 1,
                    }
                    samples.push(sent.elapsed().as_secs_f64() * 1e3);
                }
            })
        })
        .collect();
    let mut load = Load {
        per_second: 0.0,
        samples: Vec::with_capacity(count),
        failed: 0,
    };
    for task in tasks {
        if let Ok((samples, failed)) = task.await {
            load.samples.extend(samples);
            load.failed += failed;
        }
    }
    load.per_second = count as f64 / begun.elapsed().as_secs_f64();
    load
}

pub type Connection = http1::SendRequest<Full<Bytes>>;

pub async fn connect(address: SocketAddr) -> Option<Connection> {
    let stream = tokio::net::TcpStream::connect(address).await.ok()?;
    stream.set_nodelay(true).ok()?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    Some(sender)
}

/// One POST; the status, once the whole answer was read.
pub async fn post(connection: &mut Connection, path: &str, body: Bytes) -> Option<u16> {
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body))
        .ok()?;
    connection.ready().await.ok()?;
    let response = connection.send_request(request).await.ok()?;
    let status = response.status().as_u16();
    response.into_body().collect().await.ok()?;
    Some(status)
}
