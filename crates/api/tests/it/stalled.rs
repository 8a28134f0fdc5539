//! Readers that do not read: what is held for them is bounded, each and all together, and one that
//! comes back misses nothing.

use std::time::Duration;

use riverrun_api::ApiOptions;
use riverrun_runtime::Options;
use riverrun_types::{Json, StreamName};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpSocket, TcpStream},
};

use futures::SinkExt;
use tokio_tungstenite::{client_async, tungstenite::Message};

use crate::harness::{Server, until};

const EVENTS: usize = 16;
const EVENT_BYTES: usize = 100_000;

async fn filled(options: Options, api: ApiOptions) -> (Server, String) {
    let server = Server::open(api, options).await;
    let name = StreamName::new("test", "large");
    for n in 0..EVENTS {
        let data = json!({"n": n, "fill": "x".repeat(EVENT_BYTES)});
        let event = Json::of(&json!({"type": "n", "data": data}));
        server
            .runtime
            .events()
            .append(&name, &[event])
            .await
            .unwrap();
    }
    // The machine takes next to nothing for readers on the way either: connections have the buffers
    // of the socket that they came in by.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_send_buffer_size(16_384).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1_024).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (router, stall) = (server.router.clone(), server.options.stall_timeout);
    let never = std::future::pending();
    tokio::spawn(riverrun_api::serve(listener, router, stall, never));
    (server, address)
}

/// A reader whose machine takes next to nothing for it.
async fn stall(address: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16_384).unwrap();
    follow(socket, address, None).await
}

async fn follow(socket: TcpSocket, address: &str, last: Option<&str>) -> TcpStream {
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let last = last.map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
    let request = format!("GET /api/events/test/large/stream HTTP/1.1\r\nhost: x\r\n{last}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads on, over as many connections as it takes, and answers with the numbers of the events.
async fn read_on(address: &str, stream: TcpStream) -> Vec<Value> {
    let (mut seen, mut last) = (Vec::new(), None::<String>);
    let mut lines = BufReader::new(stream).lines();
    let (mut id, mut number) = (None, None);
    while seen.len() < EVENTS {
        let next = tokio::time::timeout(Duration::from_secs(30), lines.next_line());
        match next.await.expect("a line or an end") {
            Ok(Some(line)) => {
                if let Some(text) = line.strip_prefix("id: ") {
                    id = Some(text.to_owned());
                } else if let Some(text) = line.strip_prefix("data: ") {
                    // The last line before a disconnect may be cut.
                    let event = serde_json::from_str::<Value>(text).ok();
                    number = event.map(|event| event["data"]["n"].clone());
                } else if line.is_empty()
                    && let Some(number) = number.take()
                {
                    // Only an event that has come whole counts.
                    seen.push(number);
                    last = id.take();
                }
            }
            // Disconnected, perhaps in the middle of an event.
            Ok(None) | Err(_) => {
                (id, number) = (None, None);
                let socket = TcpSocket::new_v4().unwrap();
                let stream = follow(socket, address, last.as_deref()).await;
                lines = BufReader::new(stream).lines();
            }
        }
    }
    seen
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4_096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_readers_that_do_not_read_hold_little_and_go_on_without_a_gap() {
    const READERS: usize = 1_000;
    let options = Options {
        live_reader_bytes: 64 << 10,
        live_total_bytes: 16 << 20,
        ..Options::default()
    };
    let (_server, address) = filled(options, ApiOptions::default()).await;
    let before = resident_bytes();
    let mut readers = Vec::with_capacity(READERS);
    for _ in 0..READERS {
        readers.push(stall(&address).await);
    }
    for reader in &readers {
        // It was answered, and more waits for it than it takes; or it was disconnected.
        reader.readable().await.unwrap();
    }
    let held = resident_bytes().saturating_sub(before);
    // Without a bound they hold a page of four megabytes each.
    assert!(held < 256 << 20, "{} MiB are held", held >> 20);
    let numbers: Vec<Value> = (0..EVENTS).map(|n| json!(n)).collect();
    let last = readers.pop().unwrap();
    let middle = readers.swap_remove(READERS / 2);
    let first = readers.swap_remove(0);
    drop(readers);
    for reader in [first, middle, last] {
        assert_eq!(read_on(&address, reader).await, numbers);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_takes_nothing_is_disconnected_and_goes_on() {
    let api = ApiOptions {
        stall_timeout: Duration::from_millis(200),
        ..ApiOptions::default()
    };
    let (server, address) = filled(Options::default(), api).await;
    let stalled = stall(&address).await;
    until(async || (server.runtime.base().hub().subscribed() == 1).then_some(())).await;
    until(async || (server.runtime.base().hub().subscribed() == 0).then_some(())).await;
    let numbers: Vec<Value> = (0..EVENTS).map(|n| json!(n)).collect();
    assert_eq!(read_on(&address, stalled).await, numbers);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_that_takes_nothing_is_disconnected() {
    let api = ApiOptions {
        stall_timeout: Duration::from_millis(200),
        ..ApiOptions::default()
    };
    let (server, address) = filled(Options::default(), api).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(16_384).unwrap();
    let stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let url = format!("ws://{address}/api/events/ws");
    let (mut socket, _) = client_async(url, stream).await.unwrap();
    let subscribe = json!({"type": "subscribe", "id": "large", "stream": "nq:test:large"});
    socket
        .send(Message::text(subscribe.to_string()))
        .await
        .unwrap();
    until(async || (server.runtime.base().hub().subscribed() == 1).then_some(())).await;
    until(async || (server.runtime.base().hub().subscribed() == 0).then_some(())).await;
}

/// A page of a stream, asked for and not read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_that_nobody_reads_are_bounded_together() {
    const READERS: usize = 200;
    let options = Options {
        live_total_bytes: 16 << 20,
        ..Options::default()
    };
    let (_server, address) = filled(options, ApiOptions::default()).await;
    let before = resident_bytes();
    let mut readers = Vec::with_capacity(READERS);
    for _ in 0..READERS {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16_384).unwrap();
        let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
        let request = "GET /api/events/test/large HTTP/1.1\r\nhost: x\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.readable().await.unwrap();
        readers.push(stream);
    }
    let held = resident_bytes().saturating_sub(before);
    // Without a bound they hold 1.6 MB each.
    assert!(held < 64 << 20, "{} MiB are held", held >> 20);
}
