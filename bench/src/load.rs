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
use hyper::{Request, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;

use crate::Result;

/// What a load came to.
pub struct Load {
    pub per_second: f64,
    /// Milliseconds a request, one sample each.
    pub samples: Vec<f64>,
}

/// Sends `count` POSTs, `in_flight` at a time, one connection each. The path and the body of each
/// come from `request`; an answer with another status than `expect` ends the load.
pub async fn requests<F>(
    address: SocketAddr,
    in_flight: usize,
    count: usize,
    expect: u16,
    request: F,
) -> Result<Load>
where
    F: Fn(usize) -> (Arc<str>, Bytes) + Send + Sync + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let request = Arc::new(request);
    // Connections are kept alive: opening them is not what is measured.
    let mut connections = Vec::with_capacity(in_flight);
    for _ in 0..in_flight {
        connections.push(connect(address).await?);
    }
    let begun = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|connection| {
            let (next, request) = (next.clone(), request.clone());
            tokio::spawn(async move {
                let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < count);
                send(connection, expect, || take().map(|n| request(n))).await
            })
        })
        .collect();
    let mut samples = Vec::with_capacity(count);
    for task in tasks {
        samples.extend(task.await??);
    }
    Ok(Load {
        per_second: count as f64 / begun.elapsed().as_secs_f64(),
        samples,
    })
}

/// Sends requests over one connection until there are no more; how long each took.
async fn send(
    mut connection: Connection,
    expect: u16,
    next: impl Fn() -> Option<(Arc<str>, Bytes)>,
) -> Result<Vec<f64>> {
    let mut samples = Vec::new();
    while let Some((path, body)) = next() {
        let sent = Instant::now();
        let answer = post(&mut connection, &path, body).await?;
        if answer.status != expect {
            let Answer { status, body } = answer;
            return Err(format!("POST {path}: {status} {body:?}").into());
        }
        samples.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    Ok(samples)
}

pub type Connection = http1::SendRequest<Full<Bytes>>;

pub struct Answer {
    pub status: u16,
    pub body: Bytes,
}

pub async fn connect(address: SocketAddr) -> Result<Connection> {
    let stream = tokio::net::TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// One POST, answered whole.
pub async fn post(connection: &mut Connection, path: &str, body: Bytes) -> Result<Answer> {
    let request = Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body))?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    Ok(Answer { status, body })
}

/// The body of a GET as it comes, if the answer is a good one.
pub async fn get(connection: &mut Connection, path: &str) -> Result<Incoming> {
    let request = Request::get(path)
        .header("host", "localhost")
        .body(Full::default())?;
    connection.ready().await?;
    let response = connection.send_request(request).await?;
    match response.status().is_success() {
        true => Ok(response.into_body()),
        false => Err(format!("GET {path}: {}", response.status()).into()),
    }
}
