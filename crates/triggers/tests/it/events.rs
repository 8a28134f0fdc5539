//! Emitted events that start runs.

use riverrun_runtime::{Listener, StartRequest};
use riverrun_store::{Change, Commit, EmitRecord, EventQuery, Signal, SignalRecord, SignalsOf};
use riverrun_types::{Json, RunId, StreamName};
use serde_json::{Value, json};

use crate::given::*;

fn signal(seq: u64, kind: &str, data: Value) -> SignalRecord {
    SignalRecord {
        no: seq,
        emit: EmitRecord {
            seq,
            kind: kind.into(),
            ms: 1,
            stream: StreamName::new("shop", "s"),
            tenant: None,
            event: Json::of(&json!({"type": kind, "data": data})),
        },
        only: None,
    }
}

fn paid(config: Value) -> Value {
    json!({"id": "e", "type": "event", "flow": "order", "config": config})
}

#[tokio::test]
async fn an_event_starts_one_run() {
    let given = Given::new().await;
    given.put(paid(json!({"kind": "order.paid", "when": "event.data.total > 10", "map": "({order: event.data.id})"}))).await;
    let large = signal(1, "order.paid", json!({"id": 7, "total": 11}));
    given.triggers.on_signal(&large).await.unwrap();
    // Delivered again after a crash, it starts none.
    given.triggers.on_signal(&large).await.unwrap();
    given
        .triggers
        .on_signal(&signal(2, "order.paid", json!({"id": 8, "total": 10})))
        .await
        .unwrap();
    given
        .triggers
        .on_signal(&signal(3, "order.sent", json!({"id": 9, "total": 99})))
        .await
        .unwrap();
    // One that only an await looks back on is that await's.
    let mut back = signal(4, "order.paid", json!({"id": 7, "total": 11}));
    back.only = Some("a".into());
    given.triggers.on_signal(&back).await.unwrap();
    let runs = given.runs().await;
    assert_eq!(runs.len(), 1);
    let view = given.runtime.runs().run(&runs[0].id).await.unwrap();
    assert_eq!(view.state().input.value(), json!({"order": 7}));
    let origin = origin(&runs[0]);
    assert_eq!(
        (&origin["source"], &origin["requestId"]),
        (&json!("order.paid"), &json!("1"))
    );
    given.triggers.enable("e", false).await.unwrap();
    given
        .triggers
        .on_signal(&signal(5, "order.paid", json!({"total": 11})))
        .await
        .unwrap();
    assert_eq!(given.runs().await.len(), 1);
}

#[tokio::test]
async fn tenants_and_failures() {
    let given = Given::new().await;
    let mut own = paid(json!({"kind": "k", "map": "event.data.a.b"}));
    own["tenantId"] = json!("acme");
    given.put(own).await;
    let of = |seq, tenant: &str, data| {
        let mut signal = signal(seq, "k", data);
        signal.emit.tenant = Some(tenant.into());
        signal
    };
    given
        .triggers
        .on_signal(&of(1, "acme", json!({"a": {"b": {"n": 1}}})))
        .await
        .unwrap();
    given
        .triggers
        .on_signal(&of(2, "other", json!({"a": {"b": 1}})))
        .await
        .unwrap();
    // An expression that throws is the trigger's failure, not the listener's. It is part of the
    // event's story.
    let mut throws = of(3, "acme", json!({}));
    throws.emit.event = Json::of(&json!({"type": "k", "correlationId": "c-77"}));
    given.triggers.on_signal(&throws).await.unwrap();
    assert_eq!(given.runs().await.len(), 1);
    assert_eq!(
        given.kinds("e").await,
        ["trigger.registered", "trigger.fired", "trigger.failed"]
    );
    let failed = given.events("e").await.pop().unwrap();
    assert_eq!(failed.correlation_id.as_deref(), Some("c-77"));
    assert_eq!(
        given.shown("e").await["stats"]["lastError"]["code"],
        "TRIGGER_EXPRESSION"
    );
}

#[tokio::test]
async fn a_chain_of_runs_that_start_each_other_ends() {
    let given = Given::new().await;
    given.put(paid(json!({"kind": "ping"}))).await;
    // Each run emits what starts the next.
    let of = |seq: u64, run: Option<&str>| {
        let mut signal = signal(seq, "ping", json!({}));
        // The second run is the first that others led to.
        let chain = seq
            .checked_sub(2)
            .filter(|chain| *chain > 0 && run.is_some());
        let event = json!({"type": "ping", "data": {}, "runId": run, "chain": chain});
        signal.emit.event = Json::of(&event);
        if let Some(run) = run {
            signal.emit.stream = StreamName::new("flow", run);
        }
        signal
    };
    given.triggers.on_signal(&of(1, None)).await.unwrap();
    for seq in 2..=102 {
        let last = given.runs().await.pop().unwrap();
        let signal = of(seq, Some(last.id.as_str()));
        given.triggers.on_signal(&signal).await.unwrap();
    }
    let runs = given.runs().await;
    assert_eq!(runs.len(), 101);
    assert_eq!(origin(&runs[0])["depth"], Value::Null);
    assert_eq!(origin(&runs[100])["depth"], 100);
    let failed = given.until("e", "trigger.failed", 1).await;
    assert_eq!(failed[0]["error"]["code"], "TRIGGER_CHAIN");
    // An event from outside begins a chain of its own.
    given.triggers.on_signal(&of(103, None)).await.unwrap();
    assert_eq!(given.runs().await.len(), 102);
}

/// Starts a run of a flow whose only step fails, or does not.
async fn run_once(given: &Given, flow: &str, transform: &str, correlation: Option<&str>) -> RunId {
    let definition = json!({
        "id": flow, "version": "1.0.0", "initialStepId": "a",
        "steps": {"a": {"type": "transform", "config": {"transform": transform}}},
    });
    given.runtime.flows().register(&definition).await.unwrap();
    let mut request = StartRequest::new(flow, Json::of(&json!({})));
    request.correlation_id = correlation.map(str::to_owned);
    let started = given.runtime.runs().start(request).await.unwrap();
    given.run(&started).await;
    started.run
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_run_starts_another() {
    let given = Given::new().await;
    let throws = "(() => { throw new Error('no') })()";
    run_once(&given, "before", throws, None).await;
    let alarm = json!({
        "kind": "flow.failed",
        "map": "({id: event.id, run: event.runId, flow: event.flowName, code: event.data.error.code})",
    });
    given.put(paid(alarm)).await;
    run_once(&given, "fine", "({})", None).await;
    let failed = run_once(&given, "broken", throws, Some("tale")).await;
    given.until("e", "trigger.fired", 1).await;
    let runs = given.runs().await;
    let runs: Vec<_> = runs.iter().filter(|run| &*run.flow == "order").collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].correlation.as_deref(), Some("tale"));
    let input = given
        .runtime
        .runs()
        .run(&runs[0].id)
        .await
        .unwrap()
        .state()
        .input
        .value();
    assert_eq!(input["run"], failed.as_str());
    assert_eq!(input["flow"], "broken");
    assert_eq!(input["code"], "TRANSFORM_ERROR");
    let (stream, query) = (StreamName::flow(&failed), EventQuery::forward(0, 100));
    let events = given
        .runtime
        .base()
        .store()
        .events(&stream, &query)
        .await
        .unwrap();
    assert_eq!(input["id"], events.last().unwrap().id.to_string());
}

/// A flow that starts whenever any ends would else start itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_is_not_started_by_the_ends_of_its_own_runs() {
    let given = Given::new().await;
    given.put(paid(json!({"kind": "flow.completed"}))).await;
    let mut other = paid(json!({"kind": "flow.completed"}));
    (other["id"], other["flow"]) = (json!("other"), json!("strict"));
    other["inputMap"] = json!("({n: 1})");
    given.put(other).await;
    // Each of the two flows starts the other, until the chain is too long.
    run_once(&given, "fine", "({})", None).await;
    let ended = given.until("e", "trigger.failed", 1).await;
    assert_eq!(ended[0]["error"]["code"], "TRIGGER_CHAIN");
}

#[tokio::test]
async fn a_kind_that_no_event_has_is_refused() {
    let given = Given::new().await;
    for kind in [
        "job.completed",
        "log.error",
        "flow.flown",
        "flow.registered",
        "worker.stopped",
    ] {
        assert_eq!(
            given.refused(paid(json!({ "kind": kind }))).await,
            "BAD_KIND",
            "{kind}"
        );
    }
    for kind in ["flow.failed", "step.completed", "flows.any"] {
        given.put(paid(json!({ "kind": kind }))).await;
    }
}

/// Whether an event of a kind goes into the outbox.
async fn is_listened_to(given: &Given, kind: &str) -> bool {
    let before = given
        .runtime
        .base()
        .store()
        .signals(SignalsOf::All, 0, 1_000)
        .await
        .unwrap()
        .len();
    let signal = Signal {
        kind: kind.into(),
        event: Json::of(&json!({"type": kind})),
        tenant: None,
        now_ms: 1,
        stream: StreamName::new("shop", "s"),
        has_subscriber: false,
        place: None,
    };
    let commit = Commit::of(Change::Signal(Box::new(signal)));
    let receipt = given.runtime.base().commit(commit).await.unwrap();
    // Somebody may have read it from there already.
    let after = given
        .runtime
        .base()
        .store()
        .signals(SignalsOf::All, 0, 1_000)
        .await
        .unwrap()
        .len();
    receipt.signalled || after > before
}

#[tokio::test]
async fn an_event_from_outside_is_its_tenants() {
    let given = Given::new().await;
    for (id, tenant) in [("all", None), ("mine", Some("t1")), ("other", Some("t2"))] {
        let of = json!({
            "id": id, "type": "event", "flow": "order", "config": {"kind": "k"}, "tenantId": tenant,
        });
        given.put(of).await;
    }
    let event = Json::of(&json!({"type": "k", "tenantId": "t2"}));
    let global = StreamName::global();
    given
        .runtime
        .events()
        .append(&global, &[event])
        .await
        .unwrap();
    // Triggers get the event in the order of their ids.
    given.until("other", "trigger.fired", 1).await;
    assert_eq!(given.kinds("mine").await, ["trigger.registered"]);
    assert_eq!(given.events("all").await.len(), 2);
    let stored = EventQuery::forward(0, 10);
    let stored = given.runtime.base().store().events(&global, &stored);
    let stored = stored.await.unwrap().pop().unwrap();
    assert_eq!(stored.context.tenant_id.as_deref(), Some("t2"));
}

#[tokio::test]
async fn kinds_are_listened_to_as_long_as_somebody_wants_them() {
    let given = Given::new().await;
    let of = |id: &str, kind: &str| json!({"id": id, "type": "event", "flow": "order", "config": {"kind": kind}});
    assert!(!is_listened_to(&given, "a").await);
    given.put(of("one", "a")).await;
    given.put(of("two", "a")).await;
    assert!(is_listened_to(&given, "a").await);
    given.triggers.remove("one").await.unwrap();
    assert!(is_listened_to(&given, "a").await);
    given.put(of("two", "b")).await;
    assert!(!is_listened_to(&given, "a").await);
    assert!(is_listened_to(&given, "b").await);
    given.triggers.enable("two", false).await.unwrap();
    assert!(!is_listened_to(&given, "b").await);
    given.triggers.enable("two", true).await.unwrap();
    assert!(is_listened_to(&given, "b").await);
}
