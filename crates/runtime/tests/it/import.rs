//! Runs that leave one server and come to another: what is whole comes in as it was, what was
//! meddled with does not come in at all.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_protocol::{Reply, WorkError};
use riverrun_runtime::{
    CallbackAnswer, Exported, Invocation, Options, Process, ProcessConfig, Provider, Runtime,
    Source, StartRequest, function,
};
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
        (
            "pay",
            "wait",
            json!({"wait": {"type": "set", "config": {"value": "paid"}, "await": {
                "type": "event", "eventKind": "paid", "match": {"data.id": "input.id"},
            }}}),
        ),
        (
            "judge",
            "wait",
            json!({"wait": {"type": "set", "config": {"value": "paid"}, "await": {
                "type": "event", "eventKind": "paid",
                "where": "(event, ctx) => event.data.total > ctx.state.price",
            }}}),
        ),
        (
            "approve",
            "wait",
            json!({
                "wait": {"type": "set", "config": {"value": "approved"}, "await": {
                    "type": "trigger", "triggerType": "user", "timeout": "1h", "onTimeout": "late",
                }},
                "late": {"type": "set", "config": {"value": "late"}},
            }),
        ),
        (
            "hurry",
            "wait",
            json!({
                "wait": {"type": "set", "config": {"value": "paid"}, "await": {
                    "type": "event", "eventKind": "paid", "timeout": 1_500, "onTimeout": "late",
                }},
                "late": {"type": "set", "config": {"value": "late"}},
            }),
        ),
        (
            "ask",
            "ask",
            json!({"ask": {"type": "process", "config": {"process": "ask"}}}),
        ),
    ] {
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
        let registered = runtime.flows().register(&flow).await;
        registered.unwrap_or_else(|error| panic!("{id}: {error:?}"));
    }
    runtime.queues().put_process(Process {
        id: "ask".into(),
        config: ProcessConfig::read(&Json::null(), "ask").ok().unwrap(),
        provider: Arc::new(Asks),
        source: Source::default(),
    });
    runtime
}

/// Creates the callback that its input describes, and waits for it.
struct Asks;

#[async_trait]
impl Provider for Asks {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let answered = call.invoke.job.journal.iter().find(|e| e.op == "await");
        if let Some(entry) = answered {
            return Ok(Reply {
                value: entry.value.clone(),
                ..Reply::default()
            });
        }
        let callback = call.invoke.job.input.clone().unwrap_or_default();
        let callback = call.host.ask("await.trigger", callback).await?.value();
        let wait = json!({"type": "trigger", "triggerId": callback["id"]});
        Ok(Reply {
            suspended: serde_json::from_value(wait).ok(),
            ..Reply::default()
        })
    }
}

async fn export(runtime: &Runtime, run: &RunId) -> Value {
    let query = EventQuery::forward(0, 1_000);
    let events = runtime
        .base()
        .store()
        .events(&StreamName::flow(run), &query)
        .await;
    let awaits = runtime.runs().awaits(run, false).await.unwrap();
    json!({"run": runtime.runs().run(run).await.unwrap(), "events": events.unwrap(), "awaits": awaits})
}

async fn import(runtime: &Runtime, exported: &Value) -> Result<RunStatus, (&'static str, String)> {
    let exported = Json::of(exported).read::<Exported>().unwrap();
    let imported = runtime.runs().import(exported).await;
    imported
        .map(|started| started.status)
        .map_err(|error| (error.code().as_str(), error.to_string()))
}

async fn busy(runtime: &Runtime) -> RunId {
    let mut request = StartRequest::new("busy", json!({"items": [1, 2, 3]}));
    request.tenant = Some("acme".to_owned());
    request.tags = vec!["a".to_owned(), "b".to_owned()];
    request.idempotency_key = Some("k".to_owned());
    request.metadata = Some(Json::of(&json!({"by": 12345678901234567u64})));
    let run = runtime.runs().start(request).await.unwrap().run;
    let view = runtime.runs().wait(&run, LONG).await.unwrap();
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
    let copy = here.runs().fork(&run, Some(at)).await.unwrap().run;
    here.runs().wait(&copy, LONG).await.unwrap();
    let below = json!({"ms": 1});
    let above = here.runs().start(StartRequest::new("above", below)).await;
    let above = above.unwrap().run;
    here.runs().wait(&above, LONG).await.unwrap();
    let children = RunFilter {
        parent: Some(above.clone()),
        limit: 9,
        ..RunFilter::default()
    };
    let child = here.runs().list(&children).await.unwrap().items[0]
        .id
        .clone();
    for run in [&run, &copy, &above, &child] {
        let exported = export(&here, run).await;
        import(&there, &exported).await.unwrap();
        assert_eq!(export(&there, run).await, exported);
    }
    assert_eq!(
        there.runs().list(&children).await.unwrap().items[0].id,
        child
    );
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
            .runs()
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
    let above = here.runs().start(request).await.unwrap().run;
    let children = RunFilter {
        parent: Some(above.clone()),
        limit: 9,
        ..RunFilter::default()
    };
    let child = here.runs().list(&children).await.unwrap().items[0]
        .id
        .clone();
    let waiting = export(&here, &above).await;
    for run in [&above, &child] {
        let exported = export(&here, run).await;
        let (code, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(code, "RUN_TIED", "{message}");
        assert!(message.contains(above.as_str()), "{message}");
        assert!(message.contains(child.as_str()), "{message}");
    }
    // The child has ended since, and comes first: its parent finds it, and goes on.
    here.runs().cancel(&child, None).await.unwrap();
    let ended = export(&here, &child).await;
    import(&there, &ended).await.unwrap();
    import(&there, &waiting).await.unwrap();
    let view = there.runs().wait(&above, LONG).await.unwrap();
    assert_eq!(view.failure().unwrap().code, "CHILD_FAILED");
    // One that waits for time alone is free to go.
    let rest = here
        .runs()
        .start(StartRequest::new("rest", json!({})))
        .await;
    let rest = export(&here, &rest.unwrap().run).await;
    assert_eq!(import(&there, &rest).await, Ok(RunStatus::Waiting));
}

/// Starts a run that waits, and exports it once it does.
async fn waiting(runtime: &Runtime, flow: &str, input: Value) -> (RunId, Value) {
    let request = StartRequest::new(flow, Json::of(&input));
    let run = runtime.runs().start(request).await.unwrap().run;
    let mut tail = runtime.streams().tail(StreamName::flow(&run), 0);
    let waits = async {
        while runtime.runs().awaits(&run, false).await.unwrap().is_empty()
            || !is_waiting(runtime, &run).await
        {
            tail.next().await.unwrap();
        }
    };
    tokio::time::timeout(LONG, waits).await.unwrap();
    let exported = export(runtime, &run).await;
    (run, exported)
}

async fn is_waiting(runtime: &Runtime, run: &RunId) -> bool {
    let view = runtime.runs().run(run).await.unwrap();
    view.state().status == RunStatus::Waiting
}

async fn emit(runtime: &Runtime, data: Value) {
    let event = Json::of(&json!({"type": "paid", "data": data}));
    let stream = StreamName::new("global", "global");
    runtime.events().append(&stream, &[event]).await.unwrap();
}

async fn result(runtime: &Runtime, run: &RunId) -> Value {
    let view = runtime.runs().wait(run, LONG).await.unwrap();
    let result = view.state().result.clone();
    result
        .unwrap_or_else(|| panic!("{:?}", view.state()))
        .value()
}

async fn resume_callback(
    runtime: &Runtime,
    id: &str,
    signature: Option<&str>,
) -> Result<(), &'static str> {
    let callback_answer = CallbackAnswer {
        payload: Json::of(&json!({"ok": true})),
        body: b"{\"ok\":true}",
        signature,
        source: "webhook",
    };
    let opened = runtime.awaits().resume_callback(id, callback_answer).await;
    opened.map(drop).map_err(|error| error.code().as_str())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_goes_on_where_it_comes_in() {
    let (here, there) = (open().await, open().await);
    // By an event that an index finds, and by one that only an expression can judge.
    let (pay, exported) = waiting(&here, "pay", json!({"id": 7})).await;
    assert_eq!(import(&there, &exported).await, Ok(RunStatus::Waiting));
    let (judge, exported) = waiting(&here, "judge", json!({"price": 100})).await;
    assert_eq!(import(&there, &exported).await, Ok(RunStatus::Waiting));
    emit(&there, json!({"id": 6, "total": 99})).await;
    emit(&there, json!({"id": 7, "total": 101})).await;
    assert_eq!(result(&there, &pay).await, "paid");
    assert_eq!(result(&there, &judge).await, "paid");
    // By its time, which is the same.
    let (hurry, exported) = waiting(&here, "hurry", json!({})).await;
    import(&there, &exported).await.unwrap();
    assert_eq!(result(&there, &hurry).await, "late");
    // With the callback's URL, which is the same too, and once.
    let (approve, exported) = waiting(&here, "approve", json!({})).await;
    import(&there, &exported).await.unwrap();
    let callback = exported["awaits"][0]["id"].as_str().unwrap();
    assert_eq!(resume_callback(&there, callback, None).await, Ok(()));
    assert_eq!(result(&there, &approve).await, "approved");
    assert_eq!(
        resume_callback(&there, callback, None).await,
        Err("AWAIT_USED")
    );
    let stream = StreamName::new("trigger", callback);
    let query = EventQuery::forward(0, 9);
    let events = there.base().store().events(&stream, &query).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["trigger.registered", "trigger.fired"]);
    // What had come and was not taken note of has come.
    let (approve, mut exported) = waiting(&here, "approve", json!({})).await;
    exported["awaits"][0]["values"] = json!([{"ok": true}]);
    exported["awaits"][0]["firedAt"] = exported["awaits"][0]["createdAt"].clone();
    import(&there, &exported).await.unwrap();
    assert_eq!(result(&there, &approve).await, "approved");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signed_callback_moves_with_its_secret_or_not_at_all() {
    let (here, there) = (open().await, open().await);
    let callback = json!({"type": "webhook", "secret": "s3cret-s3cret"});
    let (run, mut exported) = waiting(&here, "ask", callback).await;
    assert_eq!(exported["awaits"][0]["trigger"], json!({"type": "webhook"}));
    assert_eq!(exported["awaits"][0]["signed"], true);
    let (code, message) = import(&there, &exported).await.unwrap_err();
    assert_eq!(code, "SECRET_MISSING", "{message}");
    exported["awaits"] = json!(here.runs().awaits(&run, true).await.unwrap());
    import(&there, &exported).await.unwrap();
    let callback = exported["awaits"][0]["id"].as_str().unwrap();
    assert_eq!(
        resume_callback(&there, callback, None).await,
        Err("SIGNATURE_INVALID")
    );
    // HMAC-SHA256 of the body with the secret.
    let signature = "6504a3b5e5b07f3fbe8f3533c37aed6fef17a2c6a48a67a16a0ee74073137c43";
    assert_eq!(
        resume_callback(&there, callback, Some(signature)).await,
        Ok(())
    );
    assert_eq!(result(&there, &run).await, json!({"ok": true}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_await_is_amiss_does_not_come_in_at_all() {
    let (here, there) = (open().await, open().await);
    let (run, whole) = waiting(&here, "approve", json!({})).await;
    let refused = async |meddle: &dyn Fn(&mut Value), code: &str| {
        let mut exported = whole.clone();
        meddle(&mut exported);
        let (found, message) = import(&there, &exported).await.unwrap_err();
        assert_eq!(found, code, "{message}");
        assert!(there.runs().run(&run).await.is_err());
    };
    let first =
        |exported: &mut Value, field: &str, value: Value| exported["awaits"][0][field] = value;
    refused(&|it| it["awaits"] = json!([]), "RUN_TIED").await;
    refused(&|it| first(it, "id", json!("other")), "RUN_TIED").await;
    refused(&|it| first(it, "trigger", Value::Null), "BAD_REQUEST").await;
    refused(
        &|it| first(it, "event", json!({"kind": "paid"})),
        "BAD_REQUEST",
    )
    .await;
    refused(&|it| first(it, "createdAt", json!("soon")), "BAD_REQUEST").await;
    refused(&|it| first(it, "values", json!([1, 2])), "BAD_REQUEST").await;
    refused(&|it| first(it, "values", json!([1])), "BAD_REQUEST").await;
    // An id that another run has there.
    import(&there, &whole).await.unwrap();
    // The run itself is named, although its awaits are there as well.
    let (code, message) = import(&there, &whole).await.unwrap_err();
    assert_eq!(code, "RUN_EXISTS", "{message}");
    let other = RunId::fresh();
    let text = whole.to_string().replace(run.as_str(), other.as_str());
    let (code, message) = import(&there, &serde_json::from_str(&text).unwrap())
        .await
        .unwrap_err();
    assert_eq!(code, "AWAIT_EXISTS", "{message}");
    assert!(there.runs().run(&other).await.is_err());
    // What it does not wait for is left out.
    let (_, mut more) = waiting(&here, "pay", json!({"id": 1})).await;
    let mut extra = whole["awaits"][0].clone();
    extra["id"] = json!("0123456789abcdef");
    more["awaits"].as_array_mut().unwrap().push(extra);
    import(&there, &more).await.unwrap();
    assert!(there.awaits().callback("0123456789abcdef").await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_callback_stays_closed_after_an_import() {
    let (here, there) = (open().await, open().await);
    let callback_of = |exported: &Value| exported["awaits"][0]["id"].as_str().unwrap().to_owned();
    // Of a run that has ended: one that was used, declared and made by code.
    for (flow, input) in [("approve", json!({})), ("ask", json!({"type": "webhook"}))] {
        let (run, exported) = waiting(&here, flow, input).await;
        let callback = callback_of(&exported);
        assert_eq!(resume_callback(&here, &callback, None).await, Ok(()));
        result(&here, &run).await;
        let exported = export(&here, &run).await;
        assert_eq!(exported["awaits"][0]["closed"], true, "{exported}");
        import(&there, &exported).await.unwrap();
        assert_eq!(
            resume_callback(&there, &callback, None).await,
            Err("AWAIT_USED")
        );
        let record = there
            .base()
            .store()
            .await_by(&callback)
            .await
            .unwrap()
            .unwrap();
        assert_eq!((record.fired, record.values.len()), (1, 1));
    }
    // One that was cancelled, and a signed one without its secret.
    let signed = json!({"type": "webhook", "secret": "s3cret-s3cret"});
    for (flow, input) in [("approve", json!({})), ("ask", signed)] {
        let (run, exported) = waiting(&here, flow, input).await;
        here.runs().cancel(&run, None).await.unwrap();
        let exported_later = export(&here, &run).await;
        import(&there, &exported_later).await.unwrap();
        let callback = callback_of(&exported);
        assert_eq!(
            resume_callback(&there, &callback, None).await,
            Err("AWAIT_CLOSED")
        );
        let stream = StreamName::new("trigger", &callback);
        let query = EventQuery::forward(0, 9);
        let events = there.base().store().events(&stream, &query).await.unwrap();
        assert_eq!(events.last().unwrap().kind.as_str(), "trigger.cancelled");
    }
    // One that the run's stream does not speak of is left out.
    let (run, exported) = waiting(&here, "approve", json!({})).await;
    here.runs().cancel(&run, None).await.unwrap();
    let mut meddled = export(&here, &run).await;
    meddled["awaits"][0]["id"] = json!("0123456789abcdef");
    import(&there, &meddled).await.unwrap();
    for callback in ["0123456789abcdef".to_owned(), callback_of(&exported)] {
        assert!(there.awaits().callback(&callback).await.is_err());
    }
}
