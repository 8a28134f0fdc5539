//! Runs that leave one server and come to another: what is whole comes in as it was, what was
//! meddled with does not come in at all.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

use std::{sync::Arc, time::Duration};

use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Exported, Options, Runtime, StartRequest, function};
use riverrun_store::{EventQuery, RunFilter};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(20);

async fn open() -> Runtime {
    let mut handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    handlers.push(function("flaky", |input: Value| async move {
        match input["n"].as_u64() {
            Some(n) if n > 1 => Ok(input),
            _ => Err(Failure::new("FLAKY", "not this time")),
        }
    }));
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let store = SqliteStore::memory().unwrap();
    let runtime = Runtime::open(store, sandbox, handlers, Options::default())
        .await
        .unwrap();
    for (id, first, steps) in [
        (
            "busy",
            "list",
            json!({
                "list": {"type": "map", "input": {"type": "key", "key": "items"}, "config": {"step": "one"}, "outputKey": "ones", "transitions": {"onSuccess": "try"}},
                "one": {"type": "set", "config": {"value": "${item}"}},
                "try": {"type": "flaky", "retry": {"maxAttempts": 2, "backoffMs": 1}, "transitions": {"onFailure": "say"}},
                "say": {"type": "log", "config": {"message": "gave up"}, "transitions": {"onSuccess": "nap"}},
                "nap": {"type": "delay", "config": {"ms": 1}},
            }),
        ),
        (
            "rest",
            "nap",
            json!({"nap": {"type": "delay", "config": {"ms": 3_600_000}}}),
        ),
        (
            "above",
            "sub",
            json!({"sub": {"type": "sub-flow", "input": {"type": "full"}, "config": {"flowId": "below"}, "outputKey": "sub"}}),
        ),
        (
            "below",
            "nap",
            json!({"nap": {"type": "delay", "config": {"ms": "${ms}"}}}),
        ),
    ] {
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
        let registered = runtime.register(&flow).await;
        registered.unwrap_or_else(|error| panic!("{id}: {error:?}"));
    }
    runtime
}

async fn export(runtime: &Runtime, run: &RunId) -> Value {
    let query = EventQuery::forward(0, 1_000);
    let events = runtime.store().events(&StreamName::flow(run), &query).await;
    json!({"run": runtime.run(run).await.unwrap(), "events": events.unwrap()})
}

async fn import(runtime: &Runtime, exported: &Value) -> Result<RunStatus, (&'static str, String)> {
    let exported = Json::of(exported).read::<Exported>().unwrap();
    let imported = runtime.import(exported).await;
    imported
        .map(|started| started.status)
        .map_err(|error| (error.code(), error.to_string()))
}

async fn busy(runtime: &Runtime) -> RunId {
    let mut request = StartRequest::new("busy", json!({"items": [1, 2, 3]}));
    request.tenant = Some("acme".to_owned());
    request.tags = vec!["a".to_owned(), "b".to_owned()];
    request.idempotency_key = Some("k".to_owned());
    request.metadata = Some(Json::of(&json!({"by": 12345678901234567u64})));
    let run = runtime.start(request).await.unwrap().run;
    let view = runtime.wait(&run, LONG).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Completed);
    run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_run_comes_in_as_it_was() {
    let (here, there) = (open().await, open().await);
    let run = busy(&here).await;
    // A copy from the middle: it is younger than its first event.
    let middle = export(&here, &run).await["events"][4]["id"].clone();
    let at = middle.as_str().unwrap().parse().unwrap();
    let copy = here.fork(&run, Some(at)).await.unwrap().run;
    here.wait(&copy, LONG).await.unwrap();
    let below = json!({"ms": 1});
    let above = here.start(StartRequest::new("above", below)).await;
    let above = above.unwrap().run;
    here.wait(&above, LONG).await.unwrap();
    let children = RunFilter {
        parent: Some(above.clone()),
        limit: 9,
        ..RunFilter::default()
    };
    let child = here.list(&children).await.unwrap().items[0].id.clone();
    for run in [&run, &copy, &above, &child] {
        let exported = export(&here, run).await;
        import(&there, &exported).await.unwrap();
        assert_eq!(export(&there, run).await, exported);
    }
    assert_eq!(there.list(&children).await.unwrap().items[0].id, child);
}

/// What a stream may be turned into, and what is said of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_was_meddled_with_is_refused() {
    let (here, there) = (open().await, open().await);
    let whole = export(&here, &busy(&here).await).await;
    let at = |kind: &str| {
        let events = whole["events"].as_array().unwrap();
        events
            .iter()
            .position(|event| event["type"] == kind)
            .unwrap()
    };
    let refused = async |what: &str, meddle: &dyn Fn(&mut Vec<Value>), says: &str| {
        let mut exported = whole.clone();
        meddle(exported["events"].as_array_mut().unwrap());
        let answer = import(&there, &exported).await;
        let Err((code, message)) = answer else {
            panic!("{what} came in");
        };
        assert_eq!(code, "BAD_EVENT", "{what}: {message}");
        assert!(message.contains(says), "{what}: {message}");
    };
    let (log, retry, started) = (at("log.info"), at("step.retry"), at("step.started"));
    let renumber = |events: &mut Vec<Value>| {
        for (at, event) in events.iter_mut().enumerate() {
            let (ms, _) = event["id"].as_str().unwrap().split_once('-').unwrap();
            event["id"] = json!(format!("{ms}-{at}"));
        }
    };
    refused("nothing", &|events| events.clear(), "no events").await;
    refused("a hole", &|events| drop(events.remove(3)), "event 3").await;
    refused(
        "a hole that was renumbered",
        &|events| {
            events.remove(started);
            renumber(events);
        },
        "event",
    )
    .await;
    refused(
        "two in the other order",
        &|events| {
            events.swap(started, started + 1);
            renumber(events);
        },
        &format!("event {started}"),
    )
    .await;
    refused(
        "one twice",
        &|events| {
            events.insert(started, events[started].clone());
            renumber(events);
        },
        "step.started",
    )
    .await;
    refused("no beginning", &|events| drop(events.remove(0)), "event 0").await;
    let deep = (0..105).fold(json!(1), |value, _| json!([value]));
    let start = json!({"input": deep, "version": "1.0.0", "next": "list"});
    let fields: [(usize, &str, Value); 14] = [
        (0, "data", start),
        (log, "type", json!("x\nevent: flow.completed\ndata: {}")),
        (log, "type", json!("flow.exploded")),
        (log, "type", json!("x".repeat(129))),
        (log, "id", json!(format!("{}-{log}", i64::MAX))),
        (log, "id", json!(format!("4102444800000-{log}"))),
        (log, "id", json!(format!("-5-{log}"))),
        (log, "ts", json!("2001-01-01T00:00:00.000Z")),
        (log, "runId", json!("other")),
        (log, "stepName", json!("a\u{1b}[2J")),
        (log, "correlationId", json!("x".repeat(257))),
        (log, "data", json!({"message": "x".repeat(1 << 20)})),
        (started, "attempt", json!(u32::MAX)),
        (retry, "data", json!({"reason": 5})),
    ];
    for (at, field, value) in fields {
        let what = format!("{field} of event {at}");
        let meddle = |events: &mut Vec<Value>| events[at][field] = value.clone();
        refused(&what, &meddle, &format!("event {at}")).await;
    }
    // Attempts and visits that agree with themselves, but not with what came before.
    for (attempt, visit) in [(u32::MAX, 1), (1, u32::MAX), (0, 1), (2, 1), (1, 2)] {
        let meddle = |events: &mut Vec<Value>| {
            let event = &mut events[started];
            let (run, step) = (event["runId"].as_str(), event["stepName"].as_str());
            let (run, step) = (run.unwrap(), step.unwrap());
            let id = match visit {
                1 => format!("{run}__{step}__attempt-{attempt}"),
                visit => format!("{run}__{step}#{visit}__attempt-{attempt}"),
            };
            (event["stepId"], event["attempt"]) = (json!(id), json!(attempt));
        };
        let what = format!("attempt {attempt} of visit {visit}");
        refused(&what, &meddle, "step.started").await;
    }
    assert!(
        there
            .list(&RunFilter::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    import(&there, &whole).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_of_a_run_is_checked_like_a_start() {
    let (here, there) = (open().await, open().await);
    let whole = export(&here, &busy(&here).await).await;
    for (field, value) in [
        ("flow", json!("a\nb")),
        ("flow", json!("x".repeat(129))),
        ("version", json!("")),
        ("version", json!("x".repeat(65))),
        ("tenantId", json!("")),
        ("tenantId", json!("x".repeat(257))),
        ("idempotencyKey", json!("\u{7}")),
        ("tags", json!(["a\nb"])),
        ("tags", json!(vec!["a"; 65])),
        ("createdAt", json!("9999-01-01T00:00:00Z")),
        ("createdAt", json!("-5")),
        ("forkedFrom", json!({"runId": "a b"})),
    ] {
        let mut exported = whole.clone();
        exported["run"][field] = value.clone();
        let (code, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(code, "BAD_REQUEST", "{field} {value}: {message}");
        assert!(message.contains(field), "{message}");
    }
    for id in ["a b", "latest", &"x".repeat(129)] {
        let mut exported = whole.clone();
        exported["run"]["runId"] = json!(id);
        let (code, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(code, "BAD_ID", "{id}: {message}");
    }
    // A name that is right in itself and not the stream's.
    for (field, value) in [("runId", "other"), ("flow", "other"), ("tenantId", "other")] {
        let mut exported = whole.clone();
        exported["run"][field] = json!(value);
        let (code, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(code, "BAD_EVENT", "{field}: {message}");
    }
    let mut exported = whole;
    exported["run"]["version"] = json!("2.0.0");
    let (code, _) = import(&there, &exported).await.unwrap_err();
    assert_eq!(code, "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_that_wait_for_each_other_do_not_come_in_apart() {
    let (here, there) = (open().await, open().await);
    let request = StartRequest::new("above", json!({"ms": 3_600_000}));
    let above = here.start(request).await.unwrap().run;
    let children = RunFilter {
        parent: Some(above.clone()),
        limit: 9,
        ..RunFilter::default()
    };
    let child = here.list(&children).await.unwrap().items[0].id.clone();
    let waiting = export(&here, &above).await;
    for run in [&above, &child] {
        let exported = export(&here, run).await;
        let (code, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(code, "RUN_TIED", "{message}");
        assert!(message.contains(above.as_str()), "{message}");
        assert!(message.contains(child.as_str()), "{message}");
    }
    // The child has ended since, and comes first: its parent finds it, and goes on.
    here.cancel(&child, None).await.unwrap();
    let ended = export(&here, &child).await;
    import(&there, &ended).await.unwrap();
    import(&there, &waiting).await.unwrap();
    let view = there.wait(&above, LONG).await.unwrap();
    assert_eq!(view.failure().unwrap().code, "CHILD_FAILED");
    // One that waits for time alone is free to go.
    let rest = here.start(StartRequest::new("rest", json!({}))).await;
    let rest = export(&here, &rest.unwrap().run).await;
    assert_eq!(import(&there, &rest).await, Ok(RunStatus::Waiting));
}
