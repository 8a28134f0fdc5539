//! Events that lead from step to step.

use std::time::Duration;

use riverrun_protocol::{Frame, LogLevel};
use riverrun_store::EventQuery;
use riverrun_types::{Json, RunStatus, StreamName};
use serde_json::{Value, json};

use super::{World, ask, flow, input, step, with};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_lead_from_step_to_step() {
    let world = World::new().await;
    world.put(
        "order",
        Value::Null,
        script!(|call| {
            let order = input(&call);
            ask(
                &call,
                "emit",
                json!({"type": "order.created", "data": order}),
            )
            .await?;
            Ok(json!("ordered"))
        }),
    );
    world.put(
        "ship",
        Value::Null,
        script!(|call| Ok(json!({"shipped": input(&call)}))),
    );
    world
        .register(flow(json!({
            "order": with(step("order"), json!({"emits": ["order.created"]})),
            "ship": with(step("ship"), json!({"outputKey": "small", "subscriptions": [{
                "eventKind": "order.created", "when": "(event) => event.data.total < 100",
                "map": "(event, ctx) => ({id: event.data.id, for: ctx.input.who})",
            }]})),
            "check": with(step("ship"), json!({"outputKey": "large", "subscriptions": [{
                "eventKind": "order.created", "when": "event.data.total >= 100",
            }]})),
            "thrown": with(step("ship"), json!({"subscriptions": [{
                "eventKind": "order.created", "when": "event.data.nothing.here > 1",
            }]})),
        })))
        .await;
    let run = world
        .start("f", json!({"id": 7, "total": 5, "who": "ann"}))
        .await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    let state = view.loaded.state.state.json().value();
    assert_eq!(state["small"], json!({"shipped": {"id": 7, "for": "ann"}}));
    assert_eq!(state.get("large"), None);
    let events = world.events(&run).await;
    assert!(events.contains(&"log.warn".to_owned()), "{events:?}");
    let run = world.start("f", json!({"id": 8, "total": 500})).await;
    let state = world.end(&run).await.loaded.state.state.json().value();
    assert_eq!(state["large"], json!({"shipped": {"id": 8, "total": 500}}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_step_emits_leads_on_while_it_still_runs() {
    static LED_ON: tokio::sync::Notify = tokio::sync::Notify::const_new();
    let world = World::new().await;
    world.put(
        "a",
        Value::Null,
        script!(|call| {
            ask(&call, "emit", json!({"type": "one"})).await?;
            LED_ON.notified().await;
            Ok(json!("after b"))
        }),
    );
    world.put(
        "b",
        Value::Null,
        script!(|_call| {
            LED_ON.notify_one();
            Ok(json!(null))
        }),
    );
    let b = with(step("b"), json!({"subscriptions": [{"eventKind": "one"}]}));
    world.register(flow(json!({"a": step("a"), "b": b}))).await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_from_outside_enter_steps_too_and_a_hundred_at_once() {
    let world = World::new().await;
    world.put(
        "count",
        json!({"concurrency": 64}),
        script!(|call| Ok(input(&call))),
    );
    world.put(
        "hold",
        Value::Null,
        script!(|call| {
            loop {
                let seen = ask(&call, "state.get", json!({"key": "last"})).await?;
                if seen["value"] == json!(true) {
                    return Ok(json!(null));
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }),
    );
    world
        .register(flow(json!({
            "hold": step("hold"),
            "count": with(step("count"), json!({"subscriptions": [{"eventKind": "tick"}]})),
        })))
        .await;
    let run = world.start("f", json!({})).await;
    let stream = StreamName::flow(&run);
    let ticks: Vec<Json> = (0..100)
        .map(|n| Json::of(&json!({"type": "tick", "data": n})))
        .collect();
    let ids = world
        .runtime
        .events()
        .append(&stream, &ticks)
        .await
        .unwrap();
    assert_eq!(ids.len(), 100);
    let last = Json::of(&json!({"type": "state.set", "data": {"key": "last", "value": true}}));
    world
        .runtime
        .events()
        .append(&stream, &[last])
        .await
        .unwrap();
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Completed);
    assert_eq!(view.loaded.state.steps["count"].visits, 100);
    let events = world.events(&run).await;
    let ended = events
        .iter()
        .filter(|e| e.starts_with("step.completed count"));
    assert_eq!(ended.count(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_under_a_key_enters_a_step_once() {
    let world = World::new().await;
    world.put("count", Value::Null, script!(|call| Ok(input(&call))));
    let callbacks = json!({"await": {"type": "trigger"}});
    world
        .register(flow(json!({
            "hold": with(step("count"), callbacks),
            "count": with(step("count"), json!({"subscriptions": [{"eventKind": "tick"}]})),
        })))
        .await;
    let run = world.start("f", json!({})).await;
    world.until(&run, RunStatus::Waiting).await;
    let stream = StreamName::flow(&run);
    let tick = |n: u32| Json::of(&json!({"type": "tick", "data": n}));
    // Ten at once under each of two keys, each with other data.
    let sent = (0..20).map(|n| {
        let (runtime, stream) = (world.runtime.clone(), stream.clone());
        let key = format!("key-{}", n % 2);
        let event = tick(n);
        async move {
            runtime
                .events()
                .append_once(&stream, &[event], &key)
                .await
                .unwrap()
        }
    });
    let sent = futures::future::join_all(sent).await;
    let firsts = sent.iter().filter(|sent| !sent.is_repeated);
    assert_eq!(firsts.count(), 2);
    for (n, again) in sent.iter().enumerate() {
        assert_eq!(again.ids, sent[n % 2].ids);
        assert_eq!(again.ids.len(), 1);
    }
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let ticks = events.iter().filter(|event| event.kind.as_str() == "tick");
    let mut ids: Vec<_> = ticks.map(|event| event.id).collect();
    ids.sort();
    let mut given_ids = vec![sent[0].ids[0], sent[1].ids[0]];
    given_ids.sort();
    assert_eq!(ids, given_ids);
    // The same key for another stream is another.
    let global = StreamName::new("global", "global");
    let ticks = [tick(1)];
    let other = world
        .runtime
        .events()
        .append_once(&global, &ticks, "key-0")
        .await;
    assert!(!other.unwrap().is_repeated);
    for key in ["", &"x".repeat(257)] {
        let refused = world
            .runtime
            .events()
            .append_once(&global, &[tick(1)], key)
            .await;
        assert_eq!(refused.err().unwrap().code(), "BAD_EVENT");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_enters_a_step_once_by_the_first_subscription_that_holds() {
    let world = World::new().await;
    world.put(
        "begin",
        Value::Null,
        script!(|call| ask(&call, "emit", json!({"type": "x", "data": {"n": 5}})).await),
    );
    world.put("take", Value::Null, script!(|call| Ok(input(&call))));
    let taken = json!({"outputKey": "got", "subscriptions": [
        {"eventKind": "x", "when": "event.data.n > 100", "map": "'no'"},
        {"eventKind": "x", "when": "event.data.n > 1", "map": "'first'"},
        {"eventKind": "x", "when": "event.data.n > 2", "map": "'second'"},
        {"eventKind": "x"},
    ]});
    world
        .register(flow(
            json!({"a": step("begin"), "b": with(step("take"), taken)}),
        ))
        .await;
    let run = world.start("f", json!({})).await;
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.state.json().value()["got"], "first");
    let events = world.events(&run).await;
    let entered = events
        .iter()
        .filter(|line| line.starts_with("step.entered"));
    assert_eq!(entered.count(), 1, "{events:#?}");
}

/// What `when` and `map` of a subscription see is what the stream has, its id included, also while
/// others write to the stream.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscriptions_get_the_event_as_it_is_stored() {
    let world = World::new().await;
    world.put(
        "begin",
        Value::Null,
        script!(|call| {
            for n in 0..5 {
                call.host.frame(Frame::Log {
                    level: LogLevel::Info,
                    message: format!("line {n}"),
                    meta: None,
                });
                ask(&call, "emit", json!({"type": "x", "data": {"n": n}})).await?;
            }
            Ok(Value::Null)
        }),
    );
    world.put("take", Value::Null, script!(|call| Ok(input(&call))));
    let taken = json!({"subscriptions": [{"eventKind": "x", "when": "event.id.length > 3", "map": "(event) => event"}]});
    world
        .register(flow(
            json!({"a": step("begin"), "b": with(step("take"), taken)}),
        ))
        .await;
    let run = world.start("f", json!({})).await;
    let from_outside = Json::of(&json!({"type": "x", "data": {"n": 5}}));
    let stream = StreamName::flow(&run);
    world
        .runtime
        .events()
        .append(&stream, &[from_outside])
        .await
        .unwrap();
    world.end(&run).await;
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let of = |kind: &'static str| events.iter().filter(move |it| it.kind.as_str() == kind);
    let mut emitted = of("x");
    let mut entered = 0;
    for event in of("step.entered") {
        let input = event.data.as_ref().unwrap().value()["input"].clone();
        let mut stored = Json::of(emitted.next().unwrap()).value();
        stored["kind"] = json!("x");
        assert_eq!(input, stored);
        entered += 1;
    }
    assert_eq!(entered, 6);
}

/// The card is charged, and a pause follows before the step has ended: the money goes back too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_did_is_undone_also_while_its_time_passes() {
    let world = World::new().await;
    world.put("charge", Value::Null, script!(|_call| Ok(json!("paid 7"))));
    world.put("refund", Value::Null, script!(|call| Ok(input(&call))));
    world.put(
        "ship",
        json!({"retryPolicy": {"attempts": 1}}),
        script!(|_call| Err(riverrun_protocol::WorkError::new("LOST", "at sea"))),
    );
    let begin = json!({"type": "set", "config": {"value": 1}, "emits": ["go"]});
    let on_go = json!([{"eventKind": "go"}]);
    let charge = json!({"subscriptions": on_go, "compensation": {"step": "refund"},
        "await": {"type": "time", "delay": "1h"}});
    let ship = json!({"subscriptions": on_go, "await": {"type": "event", "eventKind": "ready"}});
    world
        .register(flow(json!({
            "a": begin, "charge": with(step("charge"), charge),
            "ship": with(step("ship"), ship), "refund": step("refund"),
        })))
        .await;
    let run = world.start("f", json!({})).await;
    let lets_pass = async {
        while !world
            .events(&run)
            .await
            .iter()
            .any(|event| event == "step.await.time charge#1/1")
        {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(super::LONG, lets_pass).await.unwrap();
    world.emit("ready", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.error.as_ref().unwrap().code, "LOST");
    assert_eq!(state.result, None, "a failed run has no result");
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&StreamName::flow(&run), &query).await;
    let events = events.unwrap();
    let entered = |event: &&riverrun_types::Event| {
        let at = event.step.as_ref();
        event.kind.as_str() == "step.completed" && at.is_some_and(|at| &*at.name == "refund")
    };
    let refunded = events.iter().find(entered).expect("it is undone");
    let result = refunded.data.as_ref().unwrap().value()["result"].clone();
    assert_eq!(
        (&result["step"], &result["result"]),
        (&json!("charge"), &json!("paid 7"))
    );
}

/// What a step and those that it starts know of the story that they belong to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_gets_the_story_of_its_run() {
    let world = World::new().await;
    world.put(
        "tell",
        Value::Null,
        script!(|call| {
            let added = ask(&call, "enqueue", json!({"queue": "later", "data": 1})).await?;
            Ok(json!([
                call.invoke.job.correlation_id,
                added["jobs"][0]["jobId"]
            ]))
        }),
    );
    world.put("later", Value::Null, script!(|call| Ok(input(&call))));
    world.register(flow(json!({"a": step("tell")}))).await;
    for story in [Some("tale"), None] {
        let mut request = riverrun_runtime::StartRequest::new("f", json!({}));
        request.correlation_id = story.map(str::to_owned);
        let run = world.runtime.runs().start(request).await.unwrap().run;
        let result = world.result(&run).await;
        let expected = story.unwrap_or(run.as_str());
        assert_eq!(result[0], expected);
        let job = riverrun_types::RunId::new(result[1].as_str().unwrap());
        let job = world.runtime.queues().job(&job).await.unwrap();
        let options = job.options.unwrap().value();
        assert_eq!(options["correlationId"], expected);
    }
}

/// A branch is done and has an event to emit, and the run fails with it: both are true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_finished_step_emits_is_there_though_the_run_fails() {
    let world = World::new().await;
    world.put_waiting("wait", |_| json!({"type": "event", "eventKind": "done"}));
    world.register(flow(json!({"a": step("wait")}))).await;
    let fails = json!({"id": "fails", "version": "1.0.0", "initialStepId": "both", "steps": {
        "both": {"type": "parallel", "config": {"branches": ["bad", "good"], "failFast": false}},
        "bad": {"type": "transform", "config": {"transform": "nothing.at.all"}},
        "good": {"type": "set", "config": {"value": 7}, "emits": ["done"]},
    }});
    world.register(fails).await;
    let waits = world.start("f", json!({})).await;
    world.until(&waits, RunStatus::Waiting).await;
    let run = world.start("fails", json!({})).await;
    let state = world.end(&run).await.loaded.state;
    assert_eq!(state.error.as_ref().unwrap().code, "BRANCH_FAILED");
    let events = world.events(&run).await;
    let last = &events[events.len() - 2..];
    assert_eq!(last, ["done good#1/1", "flow.failed"]);
    assert_eq!(world.result(&waits).await["value"]["data"], 7);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_too_large_for_an_event_is_not_emitted() {
    let world = World::new().await;
    world.put(
        "large",
        json!({"retryPolicy": {"attempts": 3}}),
        script!(|call| {
            let bytes = input(&call)["bytes"].as_u64().unwrap() as usize;
            let data = "x".repeat(bytes - 2);
            match input(&call)["callback"].as_bool().unwrap() {
                true => ask(&call, "await.trigger", json!({ "payload": data })).await,
                false => ask(&call, "emit", json!({"type": "big", "data": data})).await,
            }
        }),
    );
    world.register(flow(json!({"a": step("large")}))).await;
    for (callback, bytes, code) in [
        (false, 1 << 20, None),
        (false, (1 << 20) + 1, Some("TOO_LARGE")),
        (true, 1 << 20, None),
        (true, (1 << 20) + 1, Some("TOO_LARGE")),
    ] {
        let run = world
            .start("f", json!({"bytes": bytes, "callback": callback}))
            .await;
        let view = world.end(&run).await;
        let error = view.loaded.state.error.as_ref();
        assert_eq!(error.map(|error| error.code.as_str()), code, "{error:?}");
        let events = world.events(&run).await;
        assert!(
            !events.contains(&"step.retry a#1/1".to_owned()),
            "{events:#?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_the_server_says_is_not_emitted() {
    let world = World::new().await;
    world.put(
        "liar",
        Value::Null,
        script!(|call| {
            let mut codes = Vec::new();
            for event in [
                json!({"type": "flow.completed"}),
                json!({"type": "log.info", "data": {"message": "x"}}),
                json!({"type": "emit", "data": {"topic": "step.failed"}}),
                json!({"type": "emit", "data": {"kind": "trigger.fired", "payload": 1}}),
                json!({"type": "emit", "data": {"topic": "two words"}}),
                json!({"type": "emit", "data": {"topic": "order.paid"}}),
            ] {
                let asked = ask(&call, "emit", event).await;
                codes.push(
                    asked
                        .err()
                        .map_or("fine".to_owned(), |error| error.code.into()),
                );
            }
            Ok(json!(codes))
        }),
    );
    let expected = json!([
        "RESERVED_TYPE",
        "RESERVED_TYPE",
        "RESERVED_TYPE",
        "RESERVED_TYPE",
        "BAD_EVENT",
        "fine"
    ]);
    world.register(flow(json!({"a": step("liar")}))).await;
    let run = world.start("f", json!({})).await;
    assert_eq!(world.result(&run).await, expected);
    // A call, and so a job, is held to the same.
    let call = riverrun_runtime::CallRequest {
        process: "liar".to_owned(),
        ..Default::default()
    };
    assert_eq!(
        world.runtime.queues().call(call).await.unwrap().value(),
        expected
    );
    let outside = Json::of(&json!({"type": "emit", "data": {"topic": "flow.completed"}}));
    let stream = StreamName::new("global", "global");
    let refused = world.runtime.events().append(&stream, &[outside]).await;
    assert_eq!(refused.unwrap_err().code(), "RESERVED_TYPE");
}
