use std::time::Duration;

use riverrun_api::ApiOptions;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::harness::Server;

/// Streams, waits and idle connections do not hold up a stop.
#[tokio::test]
async fn a_stop_ends_streams_and_waits() {
    let server = Server::new().await;
    let run = server.waiting_run().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let closing = server.options.closing.clone();
    let stop = closing.clone();
    let served = tokio::spawn(riverrun_api::serve(
        listener,
        server.router.clone(),
        server.options.stall_timeout,
        async move { stop.cancelled().await },
    ));
    let send = async |request: String| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    };
    let idle = send(String::new()).await;
    let mut follower = send(format!(
        "GET /api/runs/{run}/stream HTTP/1.1\r\nhost: x\r\n\r\n"
    ))
    .await;
    let mut first = [0; 64];
    assert!(follower.read(&mut first).await.unwrap() > 0);
    let mut waiter = send(
        "POST /api/flows/sleeper/start?wait=60000 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"
            .to_owned(),
    )
    .await;
    crate::harness::until(async || {
        let runs = server.get("/api/runs?flow=sleeper").await.expect(200);
        (runs["items"].as_array().unwrap().len() == 2).then_some(())
    })
    .await;
    closing.cancel();
    let stopped = tokio::time::timeout(Duration::from_secs(5), served).await;
    stopped.expect("the stop was held up").unwrap().unwrap();
    let mut rest = String::new();
    follower.read_to_string(&mut rest).await.unwrap();
    let mut answer = String::new();
    waiter.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    drop(idle);
}

#[tokio::test]
async fn a_server_that_stops_takes_no_more_work() {
    let server = Server::new().await;
    server.order().await;
    server.runtime.shutdown().await.unwrap();
    let start = server.post("/api/flows/order/start", json!({})).await;
    start.refused(503, "SHUTTING_DOWN");
    server.get("/readyz").await.refused(503, "SHUTTING_DOWN");
    assert_eq!(server.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered() {
    let options = ApiOptions {
        request_timeout: Duration::from_millis(50),
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    server.order().await;
    let never =
        axum::body::Body::from_stream(futures::stream::pending::<std::io::Result<Vec<u8>>>());
    let request = axum::http::Request::post("/api/flows/order/start")
        .body(never)
        .unwrap();
    server.send(request).await.refused(504, "REQUEST_TIMEOUT");
}
