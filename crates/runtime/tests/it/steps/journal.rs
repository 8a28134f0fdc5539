//! What is recorded of code, and given to it when it goes on.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_protocol::{Frame, LogLevel, Reply, WorkError};
use riverrun_runtime::{Invocation, Process, ProcessConfig, Provider, Source};
use riverrun_store::EventQuery;
use riverrun_types::{EventType, Json, StreamName};
use serde_json::{Value, json};

use super::{World, ask, awaits::suspend, flow, input, step};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_at_once_is_recorded_in_the_order_in_which_it_was_asked() {
    let world = World::new().await;
    world.put(
        "eager",
        Value::Null,
        script!(|call| {
            let mut asked = Vec::new();
            for n in 0..10 {
                asked.push(ask(&call, "emit", json!({"type": "item", "data": n})));
                asked.push(ask(&call, "state.set", json!({"key": "last", "value": n})));
                asked.push(ask(&call, "emit", json!({"type": "after", "data": n})));
            }
            asked.push(ask(&call, "state.get", json!({"key": "last"})));
            asked.push(ask(&call, "memo", json!({"name": "m", "value": 1})));
            // As a link does: each is begun before the next is read.
            let mut answers = Vec::new();
            for mut question in asked.into_iter().map(Box::pin) {
                let first = futures::poll!(question.as_mut());
                call.host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: "line".to_owned(),
                    meta: None,
                });
                answers.push(async move {
                    match first {
                        std::task::Poll::Ready(answer) => answer,
                        std::task::Poll::Pending => question.await,
                    }
                });
            }
            // The last first: who waits longest is no earlier for it.
            answers.reverse();
            let answers = futures::future::try_join_all(answers).await?;
            Ok(answers[1]["value"].clone())
        }),
    );
    world.register(flow(json!({"a": step("eager")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(
        view.loaded.state.result.as_ref().unwrap().value(),
        json!(9),
        "a read sees what was written before it"
    );
    let seen = world.events(&run).await;
    let kinds: Vec<&str> = seen
        .iter()
        .map(|line| line.split(' ').next().unwrap())
        .filter(|kind| !["flow", "step"].contains(&kind.split('.').next().unwrap()))
        .collect();
    let round = [
        "item",
        "log.info",
        "state.set",
        "log.info",
        "after",
        "log.info",
    ];
    let expected: Vec<&str> = round.iter().copied().cycle().take(60).collect();
    assert_eq!(kinds[..60], expected);
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&StreamName::flow(&run), &query).await;
    let values = |kind: &str, path: &str| -> Vec<Value> {
        let events = events.as_ref().unwrap().iter();
        let of_kind = events.filter(|event| event.kind.as_str() == kind);
        let value = |data: &Json| data.value().pointer(path).cloned().unwrap();
        of_kind
            .map(|event| value(event.data.as_ref().unwrap()))
            .collect()
    };
    let all: Vec<Value> = (0..10).map(Value::from).collect();
    assert_eq!(values("item", ""), all);
    assert_eq!(values("after", ""), all);
    assert_eq!(values("state.set", "/value"), all);
}

/// Code that records five times 3 MB in every execution, and as much again where its input says so.
struct Large;

#[async_trait]
impl Provider for Large {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        let large = || "x".repeat(3_000_000);
        let has_waited = journal.iter().any(|entry| entry.op == "await");
        if !has_waited {
            for _ in 0..5 {
                ask(&call, "memo", json!({"name": "page", "value": large()})).await?;
            }
        }
        let which = input(&call)["then"].as_str().unwrap().to_owned();
        match which.as_str() {
            _ if !has_waited && which.starts_with("later ") => {
                return suspend(json!({"type": "time", "resumeAt": "2020-01-01T00:00:00Z"}));
            }
            "event" => {
                ask(
                    &call,
                    "memo",
                    json!({"name": "rest", "value": "y".repeat(1_000_000)}),
                )
                .await?;
                return suspend(json!({"type": "event", "eventKind": "paid"}));
            }
            "memo" | "later memo" => {
                ask(&call, "memo", json!({"name": "page", "value": large()})).await?;
            }
            "state" => {
                ask(&call, "state.set", json!({"key": "page", "value": large()})).await?;
            }
            "conflicts" => {
                let set = |version: u64| json!({"key": "n", "value": "z".repeat(500_000), "ifVersion": version});
                for _ in 0..5 {
                    let refused = ask(&call, "state.set", set(0)).await.unwrap_err();
                    assert_eq!(refused.code, "STATE_CONFLICT");
                }
                let read = ask(&call, "state.get", json!({"key": "n"})).await?;
                ask(&call, "state.set", set(read["version"].as_u64().unwrap())).await?;
            }
            "inside" => {
                let inside = json!({"key": "page", "value": large(), "inRun": true});
                ask(&call, "state.set", inside).await?;
            }
            _ => {
                let seen = json!([{"op": "state.get", "name": "page", "value": large()}]);
                ask(&call, "emit", json!({"type": "read", "seen": seen})).await?;
            }
        }
        Ok(Reply::default())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_not_fit_a_message_is_refused_while_it_is_recorded() {
    let world = World::new().await;
    let config = json!({"retryPolicy": {"attempts": 3, "backoff": {"delayMs": 1}}});
    world.runtime.queues().put_process(Process {
        id: "l".into(),
        config: ProcessConfig::read(&Json::of(&config), "l").ok().unwrap(),
        provider: Arc::new(Large),
        source: Source::default(),
    });
    let mut large = flow(json!({"a": step("l")}));
    large["limits"] = json!({"maxValueBytes": 20_000_000, "maxStateBytes": 20_000_000});
    world.register(large).await;
    for (then, is_refused) in [
        ("memo", true),
        ("later memo", true),
        ("state", true),
        ("seen", true),
        ("event", true),
        ("inside", false),
        ("conflicts", false),
    ] {
        let run = world.start("f", json!({ "then": then })).await;
        let view = world.end(&run).await;
        let error = view.loaded.state.error.as_ref();
        let code = error.map(|error| error.code.as_str());
        let expected = is_refused.then_some("JOURNAL_TOO_LARGE");
        assert_eq!(code, expected, "{then}: {error:?}");
        let failed = EventQuery {
            types: vec![EventType::StepFailed],
            ..EventQuery::forward(0, 10)
        };
        let failed = world.store.events(&StreamName::flow(&run), &failed).await;
        let attempts = failed.unwrap().len();
        assert_eq!(
            attempts,
            usize::from(is_refused),
            "{then}: it is tried again"
        );
    }
}

/// Code that reads and writes the state, and waits if its input says so.
struct Stateful;

#[async_trait]
impl Provider for Stateful {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        if journal.iter().any(|entry| entry.op == "await") {
            return Ok(Reply {
                value: Some(Json::of(journal)),
                ..Reply::default()
            });
        }
        let seen = json!([{"op": "state.get", "name": "n", "value": {}}]);
        if input(&call)["waits"] != true {
            ask(&call, "emit", json!({"type": "read", "seen": seen})).await?;
            return Ok(Reply::default());
        }
        let set = json!({"key": "n", "value": 1, "seen": seen});
        ask(&call, "state.set", set).await?;
        let inside = json!({"key": "inner", "value": {"big": 1}, "inRun": true});
        ask(&call, "state.set", inside).await?;
        ask(&call, "state.delete", json!({"key": "old"})).await?;
        let values = json!({"values": {"a": 1, "b": null}});
        ask(&call, "state.setBatch", values).await?;
        let mut reply = suspend(json!({"type": "time", "resumeAt": "2020-01-01T00:00:00Z"}))?;
        let seen = json!([{"op": "state.has", "name": "x", "value": false}]);
        reply.seen = serde_json::from_value(seen).unwrap();
        Ok(reply)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_waits_is_given_what_it_read_and_wrote_of_the_state() {
    let world = World::new().await;
    world.runtime.queues().put_process(Process {
        id: "s".into(),
        config: ProcessConfig::read(&Json::null(), "s").ok().unwrap(),
        provider: Arc::new(Stateful),
        source: Source::default(),
    });
    world.register(flow(json!({"a": step("s")}))).await;
    let run = world.start("f", json!({"waits": true})).await;
    let view = world.end(&run).await;
    let journal = view.loaded.state.result.as_ref().unwrap().value();
    let expected = json!([
        {"op": "state.get", "name": "n", "value": {}},
        {"op": "state.set", "name": "n", "value": 1},
        {"op": "state.delete", "name": "old"},
        {"op": "state.setBatch", "name": "", "value": {"a": 1, "b": null}},
        {"op": "state.has", "name": "x", "value": false},
        {"op": "await", "name": "time"},
    ]);
    assert_eq!(journal, expected);
    let state = view.loaded.state.state.json().value();
    assert_eq!(
        (&state["n"], &state["inner"]["big"]),
        (&json!(1), &json!(1))
    );

    // One that never waits stores nothing of what it read.
    let run = world.start("f", json!({})).await;
    world.end(&run).await;
    let events = world.events(&run).await;
    assert!(events.iter().any(|line| line.starts_with("read ")));
    let has_memo = events.iter().any(|line| line.starts_with("step.memo"));
    assert!(!has_memo, "{events:#?}");
}

/// Code whose calls end in another order than they began in.
struct SideBySide;

#[async_trait]
impl Provider for SideBySide {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        if journal.is_empty() {
            let third = json!({"op": "call", "name": "slow", "nth": 3, "value": 3});
            ask(&call, "memo", third).await?;
            let members = json!({"status": 402, "code": 7});
            let error = json!({"message": "declined", "name": "Declined", "members": members});
            let first = json!({"op": "call", "name": "slow", "error": error});
            ask(&call, "memo", first).await?;
            return suspend(json!({"type": "time", "afterMs": 1}));
        }
        Ok(Reply {
            value: Some(Json::of(journal)),
            ..Reply::default()
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_gets_which_use_of_a_name_a_record_is_and_all_of_its_error() {
    let world = World::new().await;
    world.runtime.queues().put_process(Process {
        id: "side".into(),
        config: ProcessConfig::read(&Json::null(), "side").ok().unwrap(),
        provider: Arc::new(SideBySide),
        source: Source::default(),
    });
    world.register(flow(json!({"a": step("side")}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    let expected = json!([
        {"op": "call", "name": "slow", "nth": 3, "value": 3},
        {"op": "call", "name": "slow", "error": {
            "message": "declined", "name": "Declined", "members": {"status": 402, "code": 7},
        }},
        {"op": "await", "name": "time"},
    ]);
    assert_eq!(view.loaded.state.result.as_ref().unwrap().value(), expected);
}

/// Waits for a word, emits, and gives back the journal that it got.
struct Emitting;

#[async_trait]
impl Provider for Emitting {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let journal = &call.invoke.job.journal;
        if !journal.iter().any(|entry| entry.op == "await") {
            return suspend(json!({"type": "event", "eventKind": "go"}));
        }
        ask(&call, "emit", json!({"type": "k.e", "data": {"own": 1}})).await?;
        let operations = journal.iter().map(|entry| &*entry.op);
        Ok(Reply {
            value: Some(Json::of(&operations.collect::<Vec<_>>())),
            ..Reply::default()
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_comes_from_outside_in_the_name_of_a_step_is_not_what_its_code_did() {
    let world = World::new().await;
    world.runtime.queues().put_process(Process {
        id: "emitting".into(),
        config: ProcessConfig::read(&Json::of(&Value::Null), "emitting").unwrap(),
        provider: Arc::new(Emitting),
        source: Source::default(),
    });
    world.register(flow(json!({"a": step("emitting")}))).await;
    let run = world.start("f", json!({})).await;
    world.until_awaits(&run, "a").await;
    let stream = StreamName::flow(&run);
    for event in [
        json!({"type": "k.e", "stepName": "a", "data": {"fake": 1}}),
        json!({"kind": "k.e", "step": "a", "meta": {"attempt": 1}}),
        json!({"type": "state.set", "stepName": "a", "data": {"key": "x", "value": 1}}),
        json!({"type": "go"}),
    ] {
        let appended = world
            .runtime
            .events()
            .append(&stream, &[Json::of(&event)])
            .await;
        appended.unwrap();
    }
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.result.as_ref().unwrap().value(), json!(["await"]));
    // Readers see whom an event names, and by what it lacks that the step did not say it.
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let emitted = events.iter().filter(|event| event.kind.as_str() == "k.e");
    let seen = emitted.map(|event| {
        let event = Json::of(event).value();
        (event["stepName"].clone(), event["stepId"].is_string())
    });
    let named = |own: bool| (json!("a"), own);
    assert_eq!(seen.collect::<Vec<_>>(), [false, false, true].map(named));
}
