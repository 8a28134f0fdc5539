//! Live streams: every event once, in order, whatever happens in between.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, BodyDataStream},
    http::Request,
};
use futures::StreamExt;
use rand::RngExt;
use riverrun_api::ApiOptions;
use riverrun_types::{Json, StreamName};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tower::ServiceExt;

use crate::harness::Server;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Message {
    pub id: String,
    pub event: String,
    pub data: String,
}

impl Message {
    fn read(text: &str) -> Option<Self> {
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim_start().to_owned())
        };
        Some(Self {
            id: field("id:").unwrap_or_default(),
            event: field("event:").unwrap_or_default(),
            data: field("data:")?,
        })
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// A reader of a stream inside this process.
pub(crate) struct Reader {
    body: BodyDataStream,
    text: String,
    pub comments: Vec<String>,
}

impl Reader {
    pub async fn open(server: &Server, path: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(path).header("host", crate::harness::HOST);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = server.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        Self::of(response)
    }

    pub fn of(response: axum::response::Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert!(!response.headers().contains_key("content-encoding"));
        Self {
            body: response.into_body().into_data_stream(),
            text: String::new(),
            comments: Vec::new(),
        }
    }

    /// What the stream begins with.
    pub async fn opening(&mut self) -> String {
        let piece = tokio::time::timeout(Duration::from_secs(20), self.body.next());
        let piece = piece.await.expect("nothing came").unwrap().unwrap();
        String::from_utf8(piece.to_vec()).unwrap()
    }

    pub async fn next(&mut self) -> Option<Message> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let block: String = self.text.drain(..end + 2).collect();
                match Message::read(&block) {
                    Some(message) => return Some(message),
                    None => self.comments.push(block),
                }
            }
            let piece = tokio::time::timeout(Duration::from_secs(20), self.body.next());
            let piece = piece.await.expect("nothing came")?;
            self.text
                .push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
    }

    pub async fn rest(mut self) -> Vec<Message> {
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        rest
    }
}

#[tokio::test]
async fn a_run_is_replayed_and_followed_to_its_end() {
    let server = Server::new().await;
    let id = server.ended_run().await;
    let all = Reader::open(
        &server,
        &format!("/api/runs/{id}/stream?follow=until-end"),
        None,
    )
    .await;
    let all = all.rest().await;
    assert_eq!(all.first().unwrap().event, "flow.started");
    assert_eq!(all.last().unwrap().event, "flow.completed");
    for message in &all {
        let event = message.json();
        assert_eq!(
            (&event["id"], &event["type"]),
            (&json!(message.id), &json!(message.event))
        );
    }
    let paths = [
        format!("/api/_events/flow/{id}/stream"),
        format!("/api/events/nq:flow:{id}/tail"),
        "/api/runs/latest/stream".to_owned(),
    ];
    for path in paths {
        for skip in [1, 3, all.len()] {
            let last = &all[skip - 1].id;
            let queries = [format!("from={last}"), format!("lastEventId={last}")];
            for query in queries {
                let path = format!("{path}?follow=until-end&{query}");
                assert_eq!(
                    Reader::open(&server, &path, None).await.rest().await,
                    all[skip..]
                );
            }
            let path = format!("{path}?follow=until-end&from=0-0");
            let by_header = Reader::open(&server, &path, Some(last)).await;
            assert_eq!(by_header.rest().await, all[skip..], "the header goes first");
        }
    }
    let flow = format!("/api/runs/{id}/stream?follow=until-end&types=flow");
    let flow: Vec<_> = Reader::open(&server, &flow, None).await.rest().await;
    assert_eq!(flow.len(), 2);
}

#[tokio::test]
async fn a_run_is_followed_live() {
    let server = Server::new().await;
    let id = server.waiting_run().await;
    let path = format!("/api/runs/{id}/stream?follow=until-end");
    let mut all = Reader::open(&server, &path, None).await;
    let mut live = Reader::open(&server, &format!("{path}&from=end"), None).await;
    let mut logs = Reader::open(&server, &format!("{path}&types=log,flow.cancelled"), None).await;
    assert_eq!(all.next().await.unwrap().event, "flow.started");
    let append = json!([{"type": "log.info", "data": {"message": "a\nb"}}, {"type": "custom"}]);
    server
        .post(&format!("/api/events/flow/{id}"), append)
        .await
        .expect(201);
    let first = live.next().await.unwrap();
    assert_eq!(first.event, "log.info");
    assert_eq!(first.json()["data"]["message"], "a\nb");
    assert_eq!(logs.next().await.unwrap(), first);
    server
        .post(&format!("/api/runs/{id}/cancel"), json!({}))
        .await
        .expect(200);
    assert_eq!(live.rest().await.last().unwrap().event, "flow.cancelled");
    assert_eq!(all.rest().await.last().unwrap().event, "flow.cancelled");
    let logs: Vec<String> = logs
        .rest()
        .await
        .into_iter()
        .map(|message| message.event)
        .collect();
    assert_eq!(logs, ["flow.cancelled"]);
}

#[tokio::test]
async fn a_silent_stream_says_that_it_lives_and_a_deleted_one_that_it_is_gone() {
    let options = ApiOptions {
        heartbeat: Duration::from_millis(20),
        ..ApiOptions::default()
    };
    let server = Server::with(options).await;
    let id = server.ended_run().await;
    let mut reader = Reader::open(&server, &format!("/api/runs/{id}/stream?from=end"), None).await;
    let deleting = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        server.delete(&format!("/api/runs/{id}")).await
    };
    let (message, deleted) = tokio::join!(reader.next(), deleting);
    assert_eq!(deleted.status, 204);
    assert_eq!(message.unwrap().event, "stream.deleted");
    assert!(
        reader
            .comments
            .iter()
            .any(|comment| comment.contains("alive")),
        "{:?}",
        reader.comments
    );
    assert_eq!(reader.next().await, None);
}

/// Many writers, and readers that reconnect with the last id that they saw: no reader misses events.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_that_reconnect_see_every_event_once_in_order() {
    const WRITERS: usize = 16;
    const EACH: usize = 60;
    let server = Arc::new(Server::new().await);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let server = server.clone();
            tokio::spawn(async move {
                for n in 0..EACH {
                    let body = json!({"type": "n", "data": {"writer": writer, "n": n}});
                    server.post("/api/events/test/s", body).await.expect(201);
                }
            })
        })
        .collect();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let server = server.clone();
            tokio::spawn(async move {
                let mut seen: Vec<Message> = Vec::new();
                while seen.len() < WRITERS * EACH {
                    let last = seen.last().map(|message| message.id.clone());
                    let path = "/api/events/test/s/stream";
                    let mut reader = Reader::open(&server, path, last.as_deref()).await;
                    let take = rand::rng().random_range(1..60);
                    for _ in 0..take.min(WRITERS * EACH - seen.len()) {
                        seen.push(reader.next().await.unwrap());
                    }
                }
                seen
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let mut first: Option<Vec<Message>> = None;
    for reader in readers {
        let seen = reader.await.unwrap();
        for (position, message) in seen.iter().enumerate() {
            let (_, seq) = message.id.split_once('-').unwrap();
            assert_eq!(seq, position.to_string());
        }
        match &first {
            Some(first) => assert_eq!(*first, seen),
            None => first = Some(seen),
        }
    }
}

/// A reader that is too slow for the bus continues from the store, and the stream says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_is_late_but_complete() {
    const EVENTS: usize = 500;
    let server = Server::new().await;
    let address = server.listen().await;
    let mut local = Reader::open(&server, "/api/events/test/slow/stream", None).await;
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let request = "GET /api/events/test/slow/stream HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let name = StreamName::new("test", "slow");
    let event =
        |n: usize| Json::of(&json!({"type": "n", "data": {"n": n, "fill": "x".repeat(10_000)}}));
    // The first is read, the second is seen live, then the reader stops for hundreds of commits.
    for n in 0..2 {
        server
            .runtime
            .events()
            .append(&name, &[event(n)])
            .await
            .unwrap();
        local.next().await.unwrap();
    }
    for n in 2..EVENTS {
        server
            .runtime
            .events()
            .append(&name, &[event(n)])
            .await
            .unwrap();
    }
    for n in 2..EVENTS {
        assert_eq!(local.next().await.unwrap().json()["data"]["n"], n);
    }
    assert!(
        local
            .comments
            .iter()
            .any(|comment| comment.contains("late")),
        "{:?}",
        local.comments
    );

    let mut lines = BufReader::new(stream).lines();
    let mut next = 0;
    while next < EVENTS {
        let line = tokio::time::timeout(Duration::from_secs(20), lines.next_line());
        let line = line.await.unwrap().unwrap().unwrap();
        if let Some(data) = line.strip_prefix("data: ") {
            let event: Value = serde_json::from_str(data).unwrap();
            assert_eq!(event["data"]["n"], next);
            next += 1;
        }
    }
}

/// Readers that hang up leave nothing behind.
#[tokio::test]
async fn a_reader_that_leaves_is_forgotten() {
    let server = Server::new().await;
    let address = server.listen().await;
    let mut streams = Vec::new();
    for n in 0..20 {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!("GET /api/events/test/r{n}/stream HTTP/1.1\r\nhost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    crate::harness::until(async || (server.runtime.base().hub().subscribed() == 20).then_some(()))
        .await;
    drop(streams);
    crate::harness::until(async || (server.runtime.base().hub().subscribed() == 0).then_some(()))
        .await;
}
