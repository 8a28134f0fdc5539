//! Calls: work without a queue.

use std::time::Duration;

use riverrun_protocol::Frame;
use riverrun_runtime::CallRequest;
use riverrun_store::EventQuery;
use riverrun_types::{Json, RunId, StreamName};
use serde_json::{Value, json};

use super::{LONG, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_answers_at_once_and_is_recorded() {
    let world =
        World::new(json!({"runMode": "call", "outputSchema": {"type": ["string", "object"]}}))
            .await;
    let call = async |input: Value| {
        world
            .runtime
            .queues()
            .call(CallRequest {
                process: "work".to_owned(),
                input: Json::of(&input),
                call_id: Some(RunId::new("c1")),
                timeout: Some(Duration::from_millis(200)),
                ..CallRequest::default()
            })
            .await
    };
    assert_eq!(
        call(json!({"n": 1})).await.unwrap().value(),
        json!({"n": 1})
    );
    assert_eq!(
        call(json!({"do": "fail"})).await.unwrap_err().code,
        "BROKEN"
    );
    assert_eq!(
        call(json!({"do": "hang"})).await.unwrap_err().code,
        "TIMEOUT"
    );
    assert_eq!(call(json!(7)).await.unwrap_err().code, "OUTPUT_INVALID");
    let unknown = CallRequest {
        process: "nobody".to_owned(),
        ..CallRequest::default()
    };
    let unknown = world.runtime.queues().call(unknown).await.unwrap_err();
    assert_eq!(unknown.code, "PROCESS_NOT_FOUND");
    let recorded = async {
        while world.events("call", &RunId::new("c1")).await.len() < 8 {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, recorded).await.unwrap();
    let mut events = world.events("call", &RunId::new("c1")).await;
    events.retain(|event| event != "call.started");
    // Each is recorded after its answer, so not always in the order of the calls.
    events.sort();
    assert_eq!(
        events,
        [
            "call.completed",
            "call.failed",
            "call.failed",
            "call.failed"
        ]
    );
}

fn meet(id: &str, wait: bool, forget: bool) -> CallRequest {
    CallRequest {
        process: "work".to_owned(),
        input: Json::of(&json!({"do": "meet", "wait": wait})),
        call_id: Some(RunId::new(id)),
        forget,
        ..CallRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_has_the_whole_context_and_can_be_followed_while_it_runs() {
    let schema = json!({"type": "object", "properties": {"c": {"type": "number"}}});
    let world = World::new(json!({"runMode": "call", "state": schema})).await;
    let request = meet("met", true, false);
    let cancel = request.cancel.clone();
    let runtime = world.runtime.clone();
    let running = tokio::spawn(async move { runtime.queues().call(request).await });
    let stream = StreamName::new("call", "met");
    let recorded = async {
        loop {
            let events = world.events("call", &RunId::new("met")).await;
            if events.iter().any(|kind| kind == "log.info") {
                return events;
            }
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    let events = tokio::time::timeout(LONG, recorded).await.unwrap();
    assert_eq!(events[0], "call.started");
    for kind in ["state.set", "step.memo", "guest.came"] {
        assert!(
            events.iter().any(|recorded| recorded == kind),
            "{kind}: {events:?}"
        );
    }
    let again = world.runtime.queues().call(meet("met", false, false)).await;
    assert_eq!(again.unwrap_err().code, "CALL_EXISTS");
    cancel.cancel(riverrun_protocol::CancelReason::User);
    // It ends there and then, whatever its handler still brings.
    assert_eq!(running.await.unwrap().unwrap_err().code, "CANCELLED");
    let other = world
        .runtime
        .queues()
        .call(meet("other", false, false))
        .await;
    let value = other.unwrap().value();
    let expected = json!({
        "version": 2, "state": {"at": "the gate"}, "checkpoint": "NOT_IN_A_CALL",
        "own": "RESERVED_TYPE", "lease": true, "called": 5,
    });
    assert_eq!(value, expected);
    let ended = async {
        while world
            .events("call", &RunId::new("met"))
            .await
            .last()
            .unwrap()
            != "call.cancelled"
        {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, ended).await.unwrap();
    let query = EventQuery::forward(0, 1);
    let first = world.store.events(&stream, &query).await.unwrap().remove(0);
    assert_eq!(first.data.unwrap().value()["process"], "work");
    // The id is free again.
    let after = world.runtime.queues().call(meet("met", false, false)).await;
    after.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_not_recorded_keeps_its_state_while_it_runs() {
    let schema = json!({"type": "object", "properties": {"c": {"type": "number"}}});
    let world = World::new(json!({"runMode": "call", "state": schema})).await;
    let value = world.runtime.queues().call(meet("off", false, true)).await;
    let value = value.unwrap().value();
    assert_eq!(value["state"], json!({"at": "the gate"}));
    assert_eq!(value["version"], 1);
    assert!(world.events("call", &RunId::new("off")).await.is_empty());
    // What it emitted is for others, and theirs to read.
    let query = EventQuery::forward(0, 9);
    let recorded = world.store.events(&StreamName::global(), &query).await;
    let recorded = recorded.unwrap();
    let recorded: Vec<_> = recorded
        .iter()
        .map(|e| (e.kind.as_str(), e.causation_id.as_deref()))
        .collect();
    assert_eq!(recorded, [("guest.came", Some("off"))]);
    world.put("quiet", json!({"runMode": "call", "persistFrames": false}));
    let quiet = CallRequest {
        process: "quiet".to_owned(),
        call_id: Some(RunId::new("quiet")),
        ..CallRequest::default()
    };
    world.runtime.queues().call(quiet).await.unwrap();
    assert!(world.events("call", &RunId::new("quiet")).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_of_frames_gets_the_number_of_missing_ones() {
    let world = World::new(json!({})).await;
    let (frames, mut receiver) = tokio::sync::mpsc::channel(8);
    let call = CallRequest {
        process: "work".to_owned(),
        input: Json::of(&json!({"do": "chatter", "lines": 100})),
        frames: Some(frames),
        ..CallRequest::default()
    };
    world.runtime.queues().call(call).await.unwrap();
    let mut said = Vec::new();
    while let Some(frame) = receiver.recv().await {
        if let Frame::Log { message, meta, .. } = frame {
            said.push((message, meta));
        }
    }
    assert_eq!(said.len(), 8);
    assert_eq!(said[6].0, "line 6");
    let (last, meta) = &said[7];
    assert!(last.starts_with("93 frames were dropped"), "{last}");
    assert_eq!(meta.as_ref().unwrap().value(), json!({"missed": 93}));
}
