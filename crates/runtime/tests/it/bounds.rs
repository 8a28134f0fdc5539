//! What one run may take from the others, and from the machine.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_engine::{Outcome, SchemaIssue};
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{
    Action, Call, Effects, Handler, Options, RunView, Runtime, StartRequest, function,
};
use riverrun_store::Store;
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{RunId, RunStatus};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(60);

/// A step without effects that keeps its thread for two milliseconds, and notes how many turns
/// another task has had by then.
#[derive(Clone, Default)]
struct Heavy {
    turns: Arc<AtomicUsize>,
    noted: Arc<Mutex<Vec<usize>>>,
}

impl Handler for Heavy {
    fn kind(&self) -> &str {
        "heavy"
    }

    fn about(&self) -> &str {
        "Keeps its thread."
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn effects(&self) -> Effects {
        Effects::None
    }

    fn prepare(&self, _config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Action for Heavy {
    async fn run(&self, _call: &Call<'_>) -> Outcome {
        std::thread::sleep(Duration::from_millis(2));
        self.noted.lock().push(self.turns.load(Ordering::SeqCst));
        Outcome::success(json!(1))
    }
}

async fn open(store: Arc<dyn Store>, heavy: Heavy) -> Runtime {
    let mut handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    handlers.push(Arc::new(heavy));
    handlers.push(function("echo", |input: Value| async move {
        Ok::<_, riverrun_engine::Failure>(input)
    }));
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    Runtime::open(store, sandbox, handlers, Options::default())
        .await
        .unwrap()
}

async fn register(runtime: &Runtime, first: &str, max_steps: u64, steps: Value) {
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": first,
        "limits": {"maxSteps": max_steps}, "steps": steps});
    runtime.flows().register(&flow).await.unwrap();
}

async fn start(runtime: &Runtime, input: Value) -> RunId {
    let request = StartRequest::new("f", input);
    runtime.runs().start(request).await.unwrap().run
}

async fn end(runtime: &Runtime, run: &RunId) -> RunView {
    let view = runtime.runs().wait(run, LONG).await.unwrap();
    assert!(view.state().status.is_ended(), "{:?}", view.state().status);
    view
}

/// On one thread, so that blocking it fails the test.
#[tokio::test]
async fn a_long_chain_of_steps_lets_others_have_their_turn() {
    let heavy = Heavy::default();
    let runtime = open(SqliteStore::memory().unwrap(), heavy.clone()).await;
    let again = json!({"heavy": {"type": "heavy", "transitions": {"onSuccess": "heavy"}}});
    register(&runtime, "heavy", 40, again).await;
    let turns = heavy.turns.clone();
    let other = tokio::spawn(async move {
        loop {
            turns.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
        }
    });
    let run = start(&runtime, json!({})).await;
    other.abort();
    assert_eq!(end(&runtime, &run).await.state().step_count, 40);
    let mut noted = heavy.noted.lock().clone();
    noted.dedup();
    assert!(noted.len() > 20, "{} turns during 40 steps", noted.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_leads_to_its_own_fork_ends_soon() {
    let runtime = open(SqliteStore::memory().unwrap(), Heavy::default()).await;
    let itself = json!({"p": {"type": "parallel", "config": {"branches": ["p"]}}});
    register(&runtime, "p", 10_000_000, itself).await;
    let run = start(&runtime, json!({})).await;
    let view = end(&runtime, &run).await;
    assert_eq!(view.state().status, RunStatus::Failed);
    assert_eq!(view.state().step_count, 33);
    let message = &view.failure().unwrap().message;
    assert!(message.contains("FORK_LIMIT: 32 forks"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_snapshots_of_a_wide_run_are_no_larger_than_its_stream() {
    let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
    let runtime = open(store.clone(), Heavy::default()).await;
    let steps = json!({
        "all": {"type": "map", "config": {"step": "one", "concurrency": 1000, "maxItems": 4000},
            "input": {"type": "key", "key": "items"}},
        "one": {"type": "set", "config": {"value": "${item}"}},
    });
    register(&runtime, "all", 10_000, steps).await;
    let items: Vec<u32> = (0..4_000).collect();
    let run = start(&runtime, json!({ "items": items })).await;
    let view = end(&runtime, &run).await;
    assert_eq!(view.state().status, RunStatus::Completed);
    let (mut bytes, mut count, mut len) = (0, 0, view.state().len);
    while let Some(snapshot) = store.snapshot(&run, len).await.unwrap() {
        bytes += snapshot.body.bytes();
        count += 1;
        len = snapshot.len - 1;
    }
    let largest_event = 4_000 * r#"{"step":"one","item":1000},"#.len();
    assert!(count > 0);
    assert!(
        bytes < 12 * largest_event,
        "{count} snapshots, {bytes} bytes"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_wraps_its_own_value_fails_before_nobody_can_read_it() {
    let runtime = open(SqliteStore::memory().unwrap(), Heavy::default()).await;
    let wrap = json!({"w": {"type": "set", "config": {"value": {"in": "${v}"}}, "outputKey": "v",
        "transitions": {"onSuccess": "w"}}});
    register(&runtime, "w", 1_000, wrap).await;
    let run = start(&runtime, json!({"v": 1})).await;
    let view = end(&runtime, &run).await;
    assert_eq!(view.failure().unwrap().code, "TOO_DEEP");
    assert_eq!(view.state().step_count, 101);
    assert!(view.state().state.json().value().is_object());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_input_that_a_template_wraps_too_deep_fails_its_step() {
    let runtime = open(SqliteStore::memory().unwrap(), Heavy::default()).await;
    let template = (0..30).fold(json!("${v}"), |inner, _| json!([inner]));
    for kind in ["echo", "heavy"] {
        let steps =
            json!({"s": {"type": kind, "input": {"type": "template", "template": template}}});
        let flow = json!({"id": kind, "version": "1.0.0", "initialStepId": "s", "steps": steps});
        runtime.flows().register(&flow).await.unwrap();
        let deep = (0..95).fold(json!(1), |inner, _| json!([inner]));
        let request = StartRequest::new(kind, json!({ "v": deep }));
        let run = runtime.runs().start(request).await.unwrap().run;
        let view = end(&runtime, &run).await;
        assert_eq!(view.failure().unwrap().code, "INPUT_ERROR", "{kind}");
    }
}

/// No run waits for the children, and a cancel of one does not reach the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flow_that_starts_itself_and_does_not_wait_ends_somewhere() {
    let store = SqliteStore::memory().unwrap();
    let runtime = open(store.clone(), Heavy::default()).await;
    let itself = json!({"s": {"type": "sub-flow",
        "config": {"flowId": "f", "waitForCompletion": false}}});
    register(&runtime, "s", 10, itself).await;
    let mut run = start(&runtime, json!({})).await;
    for depth in 0.. {
        let view = end(&runtime, &run).await;
        let Some(child) = &view.state().result else {
            assert_eq!(view.failure().unwrap().code, "SUBFLOW_DEPTH");
            assert_eq!(depth, 32);
            return;
        };
        run = child.get("runId").unwrap().read().unwrap();
    }
}

#[tokio::test]
async fn a_runtime_opens_with_any_number_of_drivers() {
    let options = Options {
        max_drivers: usize::MAX,
        ..Options::default()
    };
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let store = SqliteStore::memory().unwrap();
    let runtime = Runtime::open(store, sandbox, [], options).await.unwrap();
    runtime.shutdown().await.unwrap();
}
