//! The lives of jobs over HTTP: read, followed, and received on the channel of their queue.

use serde_json::{Value, json};

use crate::{
    harness::{Server, text},
    queues::{add, ended, server},
    sse::{Message, Reader},
};

fn kinds(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .map(|message| message.event.as_str())
        .collect()
}

async fn follow(server: &Server, path: &str, last: Option<&str>) -> Vec<Message> {
    Reader::open(server, path, last).await.rest().await
}

const TALKED: [&str; 4] = ["job.added", "job.active", "log.info", "job.completed"];

#[tokio::test]
async fn a_job_is_read_and_followed_to_its_end() {
    let server = server(Value::Null).await;
    let job = add(&server, json!({"data": "talk"})).await;
    let path = format!("/api/_events/job/{job}/stream?follow=until-end");
    let all = follow(&server, &path, None).await;
    assert_eq!(kinds(&all), TALKED);
    assert_eq!(all[3].json()["data"]["result"], "talk");
    let view = server.get(&format!("/api/_events/job/{job}")).await;
    let view = view.expect(200);
    assert_eq!(
        (&view["events"], &view["stream"]),
        (&json!(4), &json!(format!("nq:job:{job}")))
    );
    let items = view["items"].as_array().unwrap();
    let live: Vec<Value> = all.iter().map(Message::json).collect();
    assert_eq!(*items, live);
    assert_eq!(
        (&view["first"], &view["last"]),
        (&live[0], live.last().unwrap())
    );
    let named = format!("/api/events/nq:job:{job}?type=job");
    let named = server.get(&named).await.expect(200);
    assert_eq!(named["items"].as_array().unwrap().len(), 3);
    let latest = server.get("/api/events/job/latest").await.expect(200);
    assert_eq!(latest, view);
    // Once it has ended its stream closes at once.
    let again = follow(&server, &path, None).await;
    assert_eq!(again, all);
    let last = follow(&server, &path, Some(&all[3].id)).await;
    assert!(last.is_empty());
}

#[tokio::test]
async fn a_reader_of_a_job_goes_on_after_any_event() {
    let server = server(Value::Null).await;
    let job = add(&server, json!({"data": "talk"})).await;
    let path = format!("/api/events/job/{job}/stream?follow=until-end");
    let all = follow(&server, &path, None).await;
    assert_eq!(all.len(), 4);
    for (seen, message) in all.iter().enumerate() {
        let rest = follow(&server, &path, Some(&message.id)).await;
        assert_eq!(rest[..], all[seen + 1..], "after {}", message.id);
    }
    // A line from outside comes after the end, and moves nothing that was seen.
    let note = json!({"type": "note.made"});
    let append = format!("/api/events/job/{job}");
    server.post(&append, note).await.expect(201);
    let rest = follow(&server, &path, Some(&all[1].id)).await;
    assert_eq!(rest[..2], all[2..]);
    assert_eq!(kinds(&rest), ["log.info", "job.completed", "note.made"]);
    let refused = server.post(&append, json!({"type": "job.failed"})).await;
    refused.refused(403, "RESERVED_TYPE");
}

#[tokio::test]
async fn a_job_that_began_anew_is_followed_to_its_new_end() {
    let server = server(json!({"retryPolicy": {"attempts": 1}})).await;
    let job = add(&server, json!({"data": "fail"})).await;
    ended(&server, &job).await;
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    server
        .post(&format!("/api/jobs/{job}/retry"), json!({}))
        .await
        .expect(200);
    let path = format!("/api/events/job/{job}/stream?follow=until-end");
    let reader = Reader::open(&server, &path, None).await;
    server
        .post("/api/queue/mail/resume", json!({}))
        .await
        .expect(200);
    assert_eq!(
        kinds(&reader.rest().await),
        [
            "job.added",
            "job.active",
            "job.failed",
            "job.waiting",
            "job.active",
            "job.failed"
        ]
    );
}

#[tokio::test]
async fn an_open_stream_says_where_it_is_before_its_first_event() {
    let server = server(Value::Null).await;
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    let job = add(&server, json!({"data": 1})).await;
    let path = format!("/api/events/job/{job}/stream?from=end&follow=until-end");
    let mut reader = Reader::open(&server, &path, None).await;
    let opening = reader.opening().await;
    let id = opening
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap()
        .to_owned();
    drop(reader);
    // A reader that reconnects with that id gets the events from the time in between.
    server
        .post("/api/queue/mail/resume", json!({}))
        .await
        .expect(200);
    let rest = follow(&server, &path, Some(&id)).await;
    assert_eq!(kinds(&rest), ["job.active", "job.completed"]);
    // An empty stream has a beginning too.
    let mut reader = Reader::open(&server, "/api/events/webhook/hub/stream?from=end", None).await;
    assert!(reader.opening().await.contains("id: 0-0\n"));
}

#[tokio::test]
async fn a_queue_is_followed_live() {
    let server = server(Value::Null).await;
    let path = "/api/_events/queue/mail/stream";
    let mut reader = Reader::open(&server, path, None).await;
    assert!(reader.opening().await.contains("\nid: "));
    let job = add(&server, json!({"data": "talk"})).await;
    let mut received = Vec::new();
    for _ in 0..3 {
        received.push(reader.next().await.unwrap());
    }
    assert_eq!(
        kinds(&received),
        ["job.added", "job.active", "job.completed"]
    );
    for message in &received {
        let event = message.json();
        assert_eq!(text(&event["runId"]), job);
        assert_eq!(event["data"]["queue"], "mail");
    }
    // Nothing of it is stored: a reader that comes back is informed.
    let mut back = Reader::open(&server, path, Some(&received[0].id)).await;
    let missed = back.next().await.unwrap();
    assert_eq!(
        (missed.event.as_str(), missed.json()),
        ("stream.missed", json!({"after": received[0].id}))
    );
    let mut some = Reader::open(&server, &format!("{path}?types=job.completed"), None).await;
    add(&server, json!({"data": 2})).await;
    assert_eq!(some.next().await.unwrap().event, "job.completed");

    server
        .get("/api/events/queue/gone/stream")
        .await
        .refused(404, "QUEUE_NOT_FOUND");
    server
        .get("/api/events/queue/mail")
        .await
        .refused(404, "STREAM_NOT_FOUND");
    server
        .get("/api/events/job/gone/stream")
        .await
        .refused(404, "JOB_NOT_FOUND");
    server
        .post("/api/events/queue/mail", json!({"type": "a"}))
        .await
        .refused(403, "RESERVED_STREAM");
}

#[tokio::test]
async fn a_reader_that_is_too_slow_for_a_queue_gets_the_number_it_missed() {
    let server = server(Value::Null).await;
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    let mut reader = Reader::open(&server, "/api/events/queue/mail/stream", None).await;
    reader.opening().await;
    let jobs: Vec<Value> = (0..3_000).map(|n| json!({"data": n})).collect();
    for jobs in jobs.chunks(1_000) {
        server
            .post("/api/queue/mail/jobs", json!({ "jobs": jobs }))
            .await
            .expect(201);
    }
    let first = reader.next().await.unwrap();
    assert_eq!(first.event, "stream.missed");
    let missed = first.json()["missed"].as_u64().unwrap();
    let mut received = 0;
    while missed + received < 3_000 {
        assert_eq!(reader.next().await.unwrap().event, "job.added");
        received += 1;
    }
}

#[tokio::test]
async fn the_latest_job_is_the_one_added_last() {
    let server = server(Value::Null).await;
    server
        .get("/api/jobs/latest")
        .await
        .refused(404, "JOB_NOT_FOUND");
    server
        .post("/api/queue/mail/pause", json!({}))
        .await
        .expect(200);
    add(&server, json!({"data": 1})).await;
    let job = add(&server, json!({"data": 2})).await;
    let latest = server.get("/api/jobs/latest").await.expect(200);
    assert_eq!(text(&latest["id"]), job);
    let cancelled = server.post("/api/jobs/latest/cancel", json!({})).await;
    assert_eq!(cancelled.expect(200)["state"], "cancelled");
    let path = "/api/events/job/latest/stream?follow=until-end";
    let life = follow(&server, path, None).await;
    assert_eq!(kinds(&life), ["job.added", "job.cancelled"]);
}
