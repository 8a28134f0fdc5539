//! Many subscriptions over one WebSocket.

use std::time::Duration;

use riverrun_api::ApiOptions;
use riverrun_store::{Change, Commit};
use riverrun_types::{Json, StreamName};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    harness::{Server, text},
    queues::{add, server},
    socket::Socket,
    sse::Reader,
};

const PATH: &str = "/api/events/ws";

async fn emit(server: &Server, kind: &str, data: Value) {
    let event = json!({"type": kind, "data": data});
    server.post("/api/events", event).await.expect(201);
}

/// Subscribes, and gives back the answer.
async fn subscribe(socket: &mut Socket, id: &str, mut wanted: Value) -> Value {
    wanted["type"] = json!("subscribe");
    wanted["id"] = json!(id);
    socket.say(wanted).await;
    let answer = socket.next().await;
    assert_eq!(answer["id"], id, "{answer}");
    answer
}

/// The next message, which must be an event of this subscription.
async fn event(socket: &mut Socket, id: &str) -> Value {
    let said = socket.next().await;
    assert_eq!((&said["type"], &said["id"]), (&json!("event"), &json!(id)));
    said
}

#[tokio::test]
async fn the_conversation_of_the_page_is_held() {
    let page = include_str!("../../../../docs/reference/websocket.md");
    let conversation = page.split("```conversation\n").nth(1).unwrap();
    let conversation = conversation.split("```").next().unwrap();
    let server = Server::new().await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    for line in conversation.lines() {
        let (who, what) = line.split_once(' ').unwrap();
        match who {
            ">" => socket.send(Message::text(what)).await,
            "<" => fits(&socket.next().await, &serde_json::from_str(what).unwrap()),
            "POST" => {
                let (path, body) = what.split_once(' ').unwrap();
                let body = serde_json::from_str(body).unwrap();
                server.post(path, body).await.expect(201);
            }
            other => panic!("{other}"),
        }
    }
}

/// Compares, where … fits everything.
fn fits(said: &Value, expected: &Value) {
    match (said, expected) {
        (_, Value::String(any)) if any == "…" => {}
        (Value::Object(said), Value::Object(expected)) => {
            let keys = |of: &serde_json::Map<String, Value>| of.keys().cloned().collect::<Vec<_>>();
            let (mut one, mut other) = (keys(said), keys(expected));
            one.sort();
            other.sort();
            assert_eq!(one, other);
            for (key, value) in said {
                fits(value, &expected[key]);
            }
        }
        _ => assert_eq!(said, expected),
    }
}

#[tokio::test]
async fn streams_kinds_and_queues_share_a_socket() {
    let server = server(Value::Null).await;
    let mut socket = Socket::connect(&server.listen().await, "/api/_queue/ws").await;
    let run = server.waiting_run().await;
    let began = subscribe(
        &mut socket,
        "run",
        json!({"stream": format!("nq:flow:{run}")}),
    )
    .await;
    assert_eq!(began["type"], "subscribed");
    for kind in ["flow.started", "step.started", "step.await.time"] {
        assert_eq!(event(&mut socket, "run").await["event"]["type"], kind);
    }
    subscribe(&mut socket, "ends", json!({"types": ["flow.cancelled"]})).await;
    let job = add(&server, json!({"data": "talk"})).await;
    crate::queues::ended(&server, &job).await;
    let began = subscribe(
        &mut socket,
        "job",
        json!({"stream": format!("nq:job:{job}"), "types": ["log"]}),
    )
    .await;
    assert_eq!(began["stream"], format!("nq:job:{job}"));
    assert_eq!(
        event(&mut socket, "job").await["event"]["data"]["message"],
        "hello"
    );
    subscribe(
        &mut socket,
        "queue",
        json!({"stream": "nq:queue:mail", "types": ["job.added"]}),
    )
    .await;
    let job = add(&server, json!({"data": "more"})).await;
    assert_eq!(event(&mut socket, "queue").await["event"]["runId"], job);
    server
        .post(&format!("/api/runs/{run}/cancel"), json!({}))
        .await
        .expect(200);
    let mut received = Vec::new();
    while received.len() < 3 {
        let said = socket.next().await;
        received.push(format!(
            "{} {}",
            text(&said["id"]),
            text(&said["event"]["type"])
        ));
    }
    received.sort();
    assert_eq!(
        received,
        [
            "ends flow.cancelled",
            "run flow.cancelled",
            "run step.cancelled"
        ]
    );
    server.delete(&format!("/api/runs/{run}")).await;
    let deleted = socket.next().await;
    assert_eq!(deleted, json!({"type": "deleted", "id": "run"}));
}

#[tokio::test]
async fn a_subscriber_that_was_away_goes_on_from_its_cursors() {
    let server = Server::new().await;
    let address = server.listen().await;
    let mut socket = Socket::connect(&address, PATH).await;
    subscribe(&mut socket, "k", json!({"kinds": ["n"], "from": "start"})).await;
    for n in 0..3 {
        emit(&server, "n", json!(n)).await;
        emit(&server, "other", json!(n)).await;
    }
    event(&mut socket, "k").await;
    let seen = event(&mut socket, "k").await;
    drop(socket);
    for n in 3..6 {
        emit(&server, "n", json!(n)).await;
    }
    let mut socket = Socket::connect(&address, PATH).await;
    let (cursor, id) = (&seen["cursor"], &seen["event"]["id"]);
    let began = subscribe(&mut socket, "k", json!({"kinds": ["n"], "from": cursor})).await;
    assert_eq!(began["cursor"], *cursor);
    for n in 2..6 {
        assert_eq!(event(&mut socket, "k").await["event"]["data"], n);
    }
    let stream = json!({"stream": "nq:global", "from": id, "types": ["n"]});
    subscribe(&mut socket, "s", stream).await;
    for n in 2..6 {
        assert_eq!(event(&mut socket, "s").await["event"]["data"], n);
    }
    let came_back = json!({"stream": "nq:queue:mail", "from": id});
    let unknown = subscribe(&mut socket, "q", came_back).await;
    assert_eq!(unknown["error"]["code"], "QUEUE_NOT_FOUND");
}

#[tokio::test]
async fn a_cursor_moves_while_nothing_is_meant() {
    let server = Server::with(ApiOptions {
        heartbeat: Duration::from_millis(50),
        ..ApiOptions::default()
    })
    .await;
    emit(&server, "rare", json!(1)).await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    let began = subscribe(
        &mut socket,
        "k",
        json!({"kinds": ["rare"], "from": "start"}),
    )
    .await;
    assert_eq!(began["cursor"], "0");
    let seen = event(&mut socket, "k").await;
    assert_eq!(seen["cursor"], "1");
    emit(&server, "other", json!(1)).await;
    emit(&server, "other", json!(1)).await;
    let moved = socket.next().await;
    assert_eq!(moved["type"], "cursor");
    assert_eq!((&moved["id"], &moved["cursor"]), (&json!("k"), &json!("3")));
}

#[tokio::test]
async fn pages_of_others_may_not_subscribe() {
    let server = Server::new().await;
    let refused = Socket::refused(&server.listen().await, PATH, "https://evil.example").await;
    assert_eq!(refused, 403);
    server.get(PATH).await.refused(426, "UPGRADE_REQUIRED");
}

#[tokio::test]
async fn what_cannot_be_done_is_said_and_the_rest_goes_on() {
    let server = Server::new().await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    subscribe(&mut socket, "k", json!({"kinds": ["n"]})).await;
    for (message, id, code) in [
        (
            json!({"type": "subscribe", "id": "k", "kinds": ["n"]}),
            "k",
            "DUPLICATE_SUBSCRIPTION",
        ),
        (json!({"type": "subscribe", "id": "a"}), "a", "BAD_REQUEST"),
        (
            json!({"type": "subscribe", "id": "a", "kinds": ["n"], "stream": "x"}),
            "a",
            "BAD_REQUEST",
        ),
        (
            json!({"type": "subscribe", "id": "a", "kinds": ["n"], "types": ["n"]}),
            "a",
            "BAD_REQUEST",
        ),
        (
            json!({"type": "subscribe", "id": "a", "kinds": []}),
            "a",
            "BAD_KIND",
        ),
        (
            json!({"type": "subscribe", "id": "a", "kinds": ["a b"]}),
            "a",
            "BAD_KIND",
        ),
        (
            json!({"type": "subscribe", "id": "a", "kinds": ["job.completed"]}),
            "a",
            "BAD_KIND",
        ),
        (
            json!({"type": "subscribe", "id": "b", "kinds": ["n"], "from": "5-1"}),
            "b",
            "BAD_CURSOR",
        ),
        (
            json!({"type": "subscribe", "id": "b", "stream": "nq:global", "from": "x"}),
            "b",
            "BAD_CURSOR",
        ),
        (
            json!({"type": "subscribe", "id": "b", "stream": "a b"}),
            "b",
            "BAD_ID",
        ),
        (
            json!({"type": "subscribe", "id": "b", "stream": "nq:flow:none"}),
            "b",
            "RUN_NOT_FOUND",
        ),
        (
            json!({"type": "subscribe", "id": "b", "stream": "nq:job:none"}),
            "b",
            "JOB_NOT_FOUND",
        ),
        (
            json!({"type": "subscribe", "id": "b", "stream": "nq:queue:none"}),
            "b",
            "QUEUE_NOT_FOUND",
        ),
        (
            json!({"type": "subscribe", "kinds": ["n"]}),
            "",
            "BAD_REQUEST",
        ),
        (
            json!({"type": "subscribe", "id": "x".repeat(200), "kinds": ["n"]}),
            "",
            "BAD_REQUEST",
        ),
        (
            json!({"type": "subscribe", "id": "b", "king": ["n"]}),
            "b",
            "BAD_REQUEST",
        ),
        (
            json!({"type": "unsubscribe", "id": "z"}),
            "z",
            "SUBSCRIPTION_NOT_FOUND",
        ),
        (json!({"type": "shout", "id": "z"}), "z", "BAD_REQUEST"),
        (json!({"id": "z"}), "z", "BAD_REQUEST"),
        (json!([1]), "", "BAD_REQUEST"),
    ] {
        socket.say(message.clone()).await;
        let said = socket.next().await;
        assert_eq!(said["type"], "error", "{message}: {said}");
        assert_eq!(said["error"]["code"], code, "{message}: {said}");
        assert_eq!(said["id"].as_str().unwrap_or_default(), id, "{message}");
    }
    // What is asked for at all goes before the rest.
    socket.say(json!({"type": "nope"})).await;
    let said = socket.next().await["error"]["message"].to_string();
    assert!(said.contains("subscribe, unsubscribe and ping"), "{said}");
    socket.send(Message::text("{")).await;
    assert_eq!(socket.next().await["error"]["code"], "BAD_JSON");
    emit(&server, "n", json!(1)).await;
    assert_eq!(event(&mut socket, "k").await["event"]["data"], 1);
    socket.send(Message::text("x".repeat(70_000))).await;
    assert_eq!(socket.closed().await.0, 1009);
}

#[tokio::test]
async fn a_socket_has_so_many_subscriptions() {
    let server = Server::new().await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    for n in 0..1_000 {
        let began = subscribe(&mut socket, &n.to_string(), json!({"kinds": ["n"]})).await;
        assert_eq!(began["type"], "subscribed");
    }
    let refused = subscribe(&mut socket, "more", json!({"kinds": ["n"]})).await;
    assert_eq!(refused["error"]["code"], "TOO_MANY_SUBSCRIPTIONS");
    socket.say(json!({"type": "unsubscribe", "id": "7"})).await;
    assert_eq!(socket.next().await["type"], "unsubscribed");
    let began = subscribe(&mut socket, "more", json!({"kinds": ["n"]})).await;
    assert_eq!(began["type"], "subscribed");
}

#[tokio::test]
async fn a_slow_subscriber_gets_a_notice_and_misses_nothing() {
    const EVENTS: usize = 1_500;
    let server = Server::new().await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    subscribe(&mut socket, "k", json!({"kinds": ["n"]})).await;
    subscribe(&mut socket, "s", json!({"stream": "nq:test:slow"})).await;
    let name = StreamName::new("test", "slow");
    for n in 0..EVENTS {
        let fill = "x".repeat(10_000);
        let event = Json::of(&json!({"type": "n", "data": {"n": n, "fill": fill}}));
        server
            .runtime
            .events()
            .append(&name, &[event])
            .await
            .unwrap();
    }
    let (mut kinds, mut stream, mut late) = (0, 0, 0);
    while kinds < EVENTS || stream < EVENTS {
        let said = socket.next().await;
        let next = match said["id"].as_str() {
            Some("k") => &mut kinds,
            _ => &mut stream,
        };
        match said["type"].as_str() {
            Some("late") => late += 1,
            _ => {
                assert_eq!(said["event"]["data"]["n"], *next, "{}", said["id"]);
                *next += 1;
            }
        }
    }
    assert!(
        late >= 2,
        "each subscription got the message that it is late"
    );
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let server = Server::new().await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    subscribe(&mut socket, "k", json!({"kinds": ["n"]})).await;
    server.options.closing.cancel();
    assert_eq!(socket.closed().await.0, 1012);
}

/// A manual trigger that was fired three times, and whose stream has forgotten all but the last
/// event. Gives the ids that its four events have.
async fn forgetful(server: &Server) -> Vec<String> {
    server.order().await;
    let trigger = json!({"id": "t", "type": "manual", "flow": "order"});
    server.post("/api/triggers", trigger).await.expect(201);
    for _ in 0..3 {
        server
            .post("/api/triggers/t/fire", json!({}))
            .await
            .expect(201);
    }
    let events = server.get("/api/events/trigger/t").await.expect(200);
    let events = events["items"].as_array().unwrap().iter();
    let ids = events.map(|event| text(&event["id"])).collect();
    let trim = Change::Trim {
        stream: StreamName::new("trigger", "t"),
        keep: 1,
    };
    server
        .runtime
        .base()
        .commit(Commit::of(trim))
        .await
        .unwrap();
    ids
}

#[tokio::test]
async fn a_reader_behind_the_kept_events_gets_the_number_of_deleted_ones() {
    let server = Server::new().await;
    let ids = forgetful(&server).await;
    let mut socket = Socket::connect(&server.listen().await, PATH).await;
    let wanted = json!({"stream": "nq:trigger:t", "from": ids[0]});
    subscribe(&mut socket, "a", wanted).await;
    let said = socket.next().await;
    assert_eq!(said, json!({"type": "missed", "id": "a", "missed": 2}));
    let kept = event(&mut socket, "a").await;
    assert_eq!(kept["event"]["id"], ids[3]);
    // Who has seen all that is gone has missed nothing, and who begins takes what there is.
    for (id, from) in [("b", ids[2].as_str()), ("c", "start")] {
        let wanted = json!({"stream": "nq:trigger:t", "from": from});
        subscribe(&mut socket, id, wanted).await;
        assert_eq!(event(&mut socket, id).await["event"]["id"], ids[3]);
    }
    let path = "/api/events/trigger/t/stream";
    let mut reader = Reader::open(&server, path, Some(&ids[1])).await;
    let missed = reader.next().await.unwrap();
    assert_eq!(
        (&*missed.event, missed.json()),
        ("stream.missed", json!({"missed": 1}))
    );
    assert_eq!(reader.next().await.unwrap().id, ids[3]);
}

#[tokio::test]
async fn the_state_of_a_trigger_counts_what_is_not_kept() {
    let server = Server::new().await;
    forgetful(&server).await;
    let shown = server.get("/api/events/trigger/t").await.expect(200);
    let state = &shown["state"];
    assert_eq!((&shown["events"], &state["fired"]), (&json!(4), &json!(3)));
    assert_eq!(
        (&state["type"], &state["status"]),
        (&json!("manual"), &json!("fired"))
    );
    let trigger = server.get("/api/triggers/t").await.expect(200);
    assert_eq!(state["registeredAt"], trigger["updatedAt"]);
}
