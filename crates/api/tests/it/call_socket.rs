//! Calls over one WebSocket.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_api::ApiOptions;
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_tungstenite::tungstenite::Message;

use crate::{
    harness::{Server, until},
    socket::Socket,
};

/// Does what its input says.
struct Deeds {
    go_on: Arc<Semaphore>,
}

#[async_trait]
impl Provider for Deeds {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let input = invocation.invoke.job.input.clone().unwrap_or_default();
        match input.as_text().as_ref() {
            "fail" => return Err(WorkError::new("CARD_DECLINED", "no money").permanent()),
            "hang" => {
                invocation.cancel.cancelled().await;
                return Err(WorkError::new("CANCELLED", "stopped"));
            }
            "wait" => drop(self.go_on.acquire().await),
            "talk" => {
                invocation.host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: "hello".to_owned(),
                    meta: None,
                });
                let (pct, detail) = (Some(50.0), None);
                invocation.host.frame(Frame::Progress { pct, detail });
                invocation.host.frame(Frame::Heartbeat);
            }
            _ => {}
        }
        Ok(Reply {
            value: Some(input),
            ..Reply::default()
        })
    }
}

struct Called {
    server: Server,
    go_on: Arc<Semaphore>,
    address: String,
}

async fn called() -> Called {
    let server = Server::with(ApiOptions {
        max_body_bytes: 10_000,
        ..ApiOptions::default()
    })
    .await;
    let go_on = Arc::new(Semaphore::new(0));
    let config = json!({"runMode": "call", "timeoutMs": 60_000});
    server.runtime.queues().put_process(Process {
        id: "deeds".into(),
        config: ProcessConfig::read(&Json::of(&config), "deeds").unwrap_or_else(|_| panic!()),
        provider: Arc::new(Deeds {
            go_on: go_on.clone(),
        }),
        source: Source::default(),
    });
    let address = server.listen().await;
    Called {
        server,
        go_on,
        address,
    }
}

impl Called {
    async fn socket(&self) -> Socket {
        Socket::connect(&self.address, "/api/runner/ws").await
    }

    /// Waits until the last thing that was recorded of a call is this.
    async fn recorded(&self, call: &str, last: &str) {
        until(async || {
            let path = format!("/api/events/call/{call}");
            let stream = self.server.get(&path).await.json();
            (stream["last"]["type"] == last).then_some(())
        })
        .await;
    }
}

fn call(id: Value, input: &str) -> Value {
    json!({"id": id, "process": "deeds", "input": input})
}

#[tokio::test]
async fn calls_run_in_parallel_and_their_frames_have_ids() {
    let called = called().await;
    let mut socket = called.socket().await;
    socket.say(call(json!("slow"), "wait")).await;
    socket.say(call(json!(7), "talk")).await;
    let kinds = ["log", "progress", "heartbeat", "result"];
    for kind in kinds {
        let frame = socket.next().await;
        assert_eq!((&frame["id"], &frame["type"]), (&json!(7), &json!(kind)));
        match kind {
            "log" => assert_eq!(frame["data"]["message"], "hello"),
            "progress" => assert_eq!(frame["data"], json!({"pct": 50.0})),
            "result" => {
                assert_eq!(frame["data"], json!({"value": "talk"}));
                assert!(frame["callId"].is_string());
            }
            _ => {}
        }
    }
    socket.say(call(json!("bad"), "fail")).await;
    let failed = socket.next().await;
    assert_eq!(
        (&failed["id"], &failed["type"]),
        (&json!("bad"), &json!("error"))
    );
    assert_eq!(failed["data"]["code"], "CARD_DECLINED");
    called.go_on.add_permits(1);
    let slow = socket.next().await;
    assert_eq!(
        (&slow["id"], &slow["type"]),
        (&json!("slow"), &json!("result"))
    );
    // An id whose call has ended can be used again, and numbers keep their text.
    let text = r#"{"type":"call","id":"slow","process":"deeds","input":1.000000000000000000010}"#;
    socket.send(Message::text(text)).await;
    let again = socket.next_text().await;
    assert!(again.contains("1.000000000000000000010"), "{again}");
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_message() {
    let called = called().await;
    let mut socket = called.socket().await;
    socket.say(call(json!(1), "hang")).await;
    socket.say(json!({"type": "cancel", "id": 1})).await;
    let frame = socket.next().await;
    assert_eq!(
        (&frame["id"], &frame["type"]),
        (&json!(1), &json!("cancelled"))
    );
    // One that is not there needs none.
    socket.say(json!({"type": "cancel", "id": 1})).await;
    socket.say(call(json!(2), "x")).await;
    assert_eq!(socket.next().await["id"], 2);
}

#[tokio::test]
async fn what_is_stopped_is_answered_before_its_handler_obeys() {
    let called = called().await;
    let mut socket = called.socket().await;
    // They ignore every message.
    socket.say(call(json!("stubborn"), "wait")).await;
    let bored = json!({"type": "cancel", "id": "stubborn", "reason": "bored"});
    socket.say(bored).await;
    let frame = socket.next().await;
    assert_eq!(frame["type"], "cancelled", "{frame}");
    assert_eq!(frame["data"]["reason"], "bored");
    let mut slow = call(json!("slow"), "wait");
    slow["timeoutMs"] = json!(20);
    slow["callId"] = json!("slow");
    socket.say(slow).await;
    let frame = socket.next().await;
    assert_eq!(frame["data"]["code"], "TIMEOUT", "{frame}");
    called.recorded("slow", "call.failed").await;
    let body = json!({"process": "deeds", "input": "wait", "timeoutMs": 20});
    let answer = called.server.post("/api/runner/execute", body).await;
    assert_eq!(answer.json()["error"]["code"], "CALL_TIMEOUT");
    called.go_on.add_permits(3);
}

#[tokio::test]
async fn a_client_that_goes_cancels_what_it_wants_cancelled() {
    let called = called().await;
    let mut socket = called.socket().await;
    let mut stops = call(json!(1), "hang");
    stops["callId"] = json!("stops");
    let mut stays = call(json!(2), "wait");
    stays["callId"] = json!("stays");
    stays["cancelOnDisconnect"] = json!(false);
    socket.say(stops).await;
    socket.say(stays).await;
    // Both have begun when this is answered: they came before it.
    socket.say(call(json!(3), "x")).await;
    assert_eq!(socket.next().await["id"], 3);
    drop(socket);
    called.recorded("stops", "call.cancelled").await;
    called.go_on.add_permits(1);
    called.recorded("stays", "call.completed").await;
}

#[tokio::test]
async fn what_cannot_be_a_call_is_refused_and_the_others_go_on() {
    let called = called().await;
    let mut socket = called.socket().await;
    socket.say(call(json!("under way"), "wait")).await;
    let cases = [
        ("{nonsense", "BAD_JSON", Value::Null),
        ("[]", "BAD_REQUEST", Value::Null),
        (r#"{"process":"deeds"}"#, "BAD_REQUEST", Value::Null),
        (r#"{"id":"","process":"deeds"}"#, "BAD_REQUEST", Value::Null),
        (r#"{"id":-1,"process":"deeds"}"#, "BAD_REQUEST", Value::Null),
        (r#"{"id":1,"type":"dance"}"#, "BAD_REQUEST", json!(1)),
        (r#"{"id":1}"#, "BAD_REQUEST", json!(1)),
        (
            r#"{"id":"under way","type":"dance"}"#,
            "BAD_REQUEST",
            Value::Null,
        ),
        (
            r#"{"id":1,"process":"deeds","imput":1}"#,
            "BAD_REQUEST",
            json!(1),
        ),
        (
            r#"{"id":1,"process":"deeds","callId":"a b"}"#,
            "BAD_ID",
            json!(1),
        ),
        (
            r#"{"id":1,"process":"absent"}"#,
            "PROCESS_NOT_FOUND",
            json!(1),
        ),
        (
            r#"{"id":"under way","process":"deeds"}"#,
            "DUPLICATE_CALL",
            Value::Null,
        ),
    ];
    for (text, code, id) in cases {
        socket.send(Message::text(text)).await;
        let refused = socket.next().await;
        assert_eq!(refused["type"], "error", "{text}: {refused}");
        assert_eq!(refused["data"]["code"], code, "{text}: {refused}");
        assert_eq!(refused["id"], id, "{text}: {refused}");
    }
    called.go_on.add_permits(1);
    assert_eq!(socket.next().await["id"], "under way");

    let mut many = called.socket().await;
    for id in 0..257 {
        many.say(call(json!(id), "hang")).await;
    }
    let refused = many.next().await;
    assert_eq!(
        (&refused["id"], &refused["data"]["code"]),
        (&json!(256), &json!("TOO_MANY_CALLS"))
    );

    for (message, code) in [
        (Message::binary([1, 2, 3].as_slice()), 1003),
        (Message::text("x".repeat(20_000)), 1009),
    ] {
        let mut socket = called.socket().await;
        socket.send(message).await;
        let (closed, reason) = socket.closed().await;
        assert_eq!(closed, code, "{reason}");
    }
}

#[tokio::test]
async fn a_stop_lets_calls_end_and_says_so() {
    let called = called().await;
    let mut socket = called.socket().await;
    socket.say(call(json!(1), "wait")).await;
    socket.say(call(json!(2), "x")).await;
    assert_eq!(socket.next().await["id"], 2);
    called.server.options.closing.cancel();
    called.go_on.add_permits(1);
    assert_eq!(socket.next().await["id"], 1);
    assert_eq!(socket.closed().await.0, 1012);
}
