//! Steps of built-in handlers in flows of events: what they emit, what they wait for, and what that
//! brought them.

use std::{sync::Arc, time::Duration};

use riverrun_engine::Failure;
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{CallbackAnswer, Options, Runtime, SimulatedClock, StartRequest, function};
use riverrun_store::{AwaitRecord, AwaitState, EventQuery, Store};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, RunId, RunStatus, StreamName};
use serde_json::{Value, json};

struct World {
    clock: SimulatedClock,
    runtime: Runtime,
    store: Arc<dyn Store>,
}

impl World {
    /// A server with the built-in handlers, and `buy`, which talks to the world.
    async fn new() -> Self {
        let clock = SimulatedClock::starting_at_ms(0);
        let options = Options {
            clock: (&clock).into(),
            grace: Duration::from_millis(1),
            ..Options::default()
        };
        let store: Arc<dyn Store> = SqliteStore::memory().unwrap();
        let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
        let mut handlers = riverrun_handlers::all(Default::default());
        handlers.push(function("buy", |what: Value| async move {
            Ok::<_, Failure>(json!({"bought": what}))
        }));
        let runtime = Runtime::open(store.clone(), sandbox, handlers, options);
        let runtime = runtime.await.unwrap();
        Self {
            clock,
            runtime,
            store,
        }
    }

    async fn start(&self, steps: Value, input: Value) -> RunId {
        self.start_as("f", steps, input).await
    }

    async fn start_as(&self, id: &str, steps: Value, input: Value) -> RunId {
        let first = steps.as_object().unwrap().keys().next().unwrap().clone();
        let flow = json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps});
        if let Err(error) = self.runtime.flows().register(&flow).await {
            panic!("{error:?}");
        }
        let request = StartRequest::new(id, Json::of(&input));
        self.runtime.runs().start(request).await.unwrap().run
    }

    async fn after(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms)).await.unwrap();
    }

    async fn events(&self, run: &RunId) -> Vec<Event> {
        let query = EventQuery::forward(0, 100_000);
        let events = self.store.events(&StreamName::flow(run), &query).await;
        events.unwrap()
    }

    /// What happened after the start, and when.
    async fn story(&self, run: &RunId) -> Vec<String> {
        let line = |event: &Event| {
            let step = event.step.as_ref();
            let step = step.map_or_else(String::new, |at| format!(" {}", at.name));
            format!("{} {}{step}", event.id.ms, event.kind)
        };
        self.events(run).await.iter().skip(1).map(line).collect()
    }

    async fn emit(&self, kind: &str, data: Value) {
        let event = Json::of(&json!({"type": kind, "data": data}));
        let stream = StreamName::new("global", "global");
        self.runtime
            .events()
            .append(&stream, &[event])
            .await
            .unwrap();
        self.after(1).await;
    }

    async fn result(&self, run: &RunId) -> Value {
        let loaded = self.runtime.runs().load(run).await.unwrap();
        assert_eq!(
            loaded.state.status,
            RunStatus::Completed,
            "{:#?}",
            loaded.state
        );
        loaded.state.result.as_ref().unwrap().value()
    }
}

#[tokio::test]
async fn what_a_built_in_step_gives_enters_the_steps_that_subscribe() {
    let world = World::new().await;
    let steps = json!({
        "begin": {"type": "transform", "config": {"transform": "({n: input.n + 1})"}, "input": {"type": "full"},
                  "outputKey": "made", "emits": ["made"]},
        "small": {"type": "log", "config": {"message": "small"},
                  "subscriptions": [{"eventKind": "made", "when": "event.data.n < 0"}]},
        "buy": {"type": "buy", "subscriptions": [
            {"eventKind": "made", "when": "(event, ctx) => event.stepName === 'begin' && ctx.state.made.n === event.data.n", "map": "event.data.n * 10"}],
            "emits": ["bought"]},
        "rest": {"type": "delay", "config": {"ms": 5}, "subscriptions": [{"eventKind": "bought"}], "emits": ["rested"]},
        "last": {"type": "transform", "config": {"transform": "input"}, "subscriptions": [{"eventKind": "rested"}]},
    });
    // An await of such an event in another run is fired as well.
    let listener = json!({
        "hear": {"type": "set", "config": {"value": "${awaited.data}"}, "await": {"type": "event", "eventKind": "made"}},
    });
    let listener = world.start_as("listener", listener, json!({})).await;
    let run = world.start(steps, json!({"n": 1})).await;
    world.after(5).await;
    assert_eq!(world.result(&listener).await, json!({"n": 2}));
    assert_eq!(
        world.story(&run).await,
        [
            "0 step.started begin",
            "0 step.completed begin",
            "0 made begin",
            "0 step.entered buy",
            "0 step.started buy",
            "0 step.completed buy",
            "0 bought buy",
            "0 step.entered rest",
            "0 step.started rest",
            "0 step.await.time rest",
            "5 step.resumed rest",
            "5 step.completed rest",
            "5 rested rest",
            "5 step.entered last",
            "5 step.started last",
            "5 step.completed last",
            "5 flow.completed",
        ]
    );
    let events = world.events(&run).await;
    let bought = events.iter().find(|event| event.kind.as_str() == "bought");
    let data = bought.unwrap().data.as_ref().unwrap().value();
    assert_eq!(data, json!({"bought": 20}));
}

#[tokio::test]
async fn a_step_that_feeds_itself_by_what_it_gives_meets_the_limit_and_is_undone() {
    let world = World::new().await;
    let spin = json!({
        "spin": {"type": "set", "config": {"value": 1}, "emits": ["again"], "subscriptions": [{"eventKind": "again"}],
                 "compensation": {"step": "unspin"}},
        "unspin": {"type": "buy", "input": {"type": "full"}},
    });
    let run = world.start(spin, json!({})).await;
    world.after(1).await;
    let state = world.runtime.runs().load(&run).await.unwrap().state;
    assert_eq!(state.status, RunStatus::Failed);
    assert_eq!(state.error.as_ref().unwrap().code, "MAX_STEPS");
    let story = world.story(&run).await;
    let count = |end: &str| story.iter().filter(|line| line.ends_with(end)).count();
    assert_eq!(count(" again spin"), 1_000);
    assert_eq!(count(" step.completed unspin"), 1_000);
}

#[tokio::test]
async fn a_declared_time_passes_after_every_handler() {
    let world = World::new().await;
    let pause = |delay: Value| json!({"type": "time", "delay": delay});
    let steps = json!({
        "set": {"type": "set", "config": {"value": 7}, "await": pause(json!("3s")), "transitions": {"onSuccess": "log"}},
        "log": {"type": "log", "config": {"message": "hello"}, "await": pause(json!(1000)), "transitions": {"onSuccess": "sum"}},
        "sum": {"type": "transform", "config": {"transform": "({ms: 500})"}, "await": pause(json!("(result) => result.ms")),
                "transitions": {"onSuccess": "buy"}},
        "buy": {"type": "buy", "input": {"type": "full"}, "await": pause(json!("result.bought === undefined ? 0 : 40")),
                "transitions": {"onSuccess": "rest"}},
        "rest": {"type": "delay", "config": {"ms": 100}, "await": pause(json!(60)), "transitions": {"onSuccess": "choose"}},
        "choose": {"type": "switch", "config": {"path": "colour", "cases": {"red": "all"}}, "await": pause(json!(10)),
                   "transitions": {"onSuccess": "set"}},
        "all": {"type": "parallel", "config": {"branches": ["one", "two"]}, "await": pause(json!("1m")), "transitions": {"onSuccess": "last"}},
        "one": {"type": "set", "config": {"value": 1}},
        "two": {"type": "set", "config": {"value": 2}, "await": pause(json!(30))},
        "last": {"type": "set", "config": {"value": "done"}},
    });
    let run = world.start(steps, json!({"colour": "red"})).await;
    world.after(100_000).await;
    assert_eq!(world.result(&run).await, "done");
    let story = world.story(&run).await;
    let ends = story.iter().filter(|line| line.contains("step.completed"));
    let ends: Vec<&str> = ends.map(String::as_str).collect();
    assert_eq!(
        ends,
        [
            "3000 step.completed set",
            "4000 step.completed log",
            "4500 step.completed sum",
            "4540 step.completed buy",
            "4700 step.completed rest",
            "4710 step.completed choose",
            "4710 step.completed one",
            "4740 step.completed two",
            "64740 step.completed all",
            "64740 step.completed last",
        ]
    );
}

#[tokio::test]
async fn what_came_reaches_a_built_in_step() {
    let world = World::new().await;
    let steps = json!({
        "pay": {"type": "transform", "config": {"transform": "(input, {awaited}) => awaited.data.by + '/' + input.id"},
                "input": {"type": "full"},
                "await": {"type": "event", "eventKind": "paid", "match": {"data.id": "input.id"}},
                "outputKey": "by", "transitions": {"onSuccess": "callback"}},
        "callback": {"type": "set", "config": {"value": {"text": "answer: ${awaited.yes}", "all": "${awaited}"}},
                 "await": {"type": "trigger", "triggerType": "user"},
                 "outputKey": "answer", "transitions": {"onSuccess": "ask"}},
        "ask": {"type": "branch", "config": {"conditions": [
                    {"path": "awaited.data.yes", "op": "eq", "value": true, "goto": "buy"}], "default": "no"},
                "await": {"type": "event", "eventKind": "said"}},
        "no": {"type": "set", "config": {"value": "no"}},
        "buy": {"type": "buy", "input": {"type": "template", "template": "by ${by}, ${awaited.data.n}"},
                "await": {"type": "event", "eventKind": "counted"}},
    });
    let run = world.start(steps, json!({"id": 7})).await;
    world.after(1).await;
    world.emit("paid", json!({"id": 7, "by": "card"})).await;
    let awaits = world.store.awaits_of(&run).await.unwrap();
    let is_open = |callback: &&AwaitRecord| callback.state == AwaitState::Open;
    let callback = awaits.iter().find(is_open).unwrap();
    let callback_answer = CallbackAnswer {
        payload: Json::of(&json!({"yes": true})),
        body: b"",
        signature: None,
        source: "api",
    };
    world
        .runtime
        .awaits()
        .resume_callback(&callback.id, callback_answer)
        .await
        .unwrap();
    world.after(1).await;
    world.emit("said", json!({"yes": true})).await;
    world.emit("counted", json!({"n": 3})).await;
    assert_eq!(world.result(&run).await, json!({"bought": "by card/7, 3"}));
    let state = world.runtime.runs().load(&run).await.unwrap().state;
    let answer = state.state.get("answer").unwrap().value();
    assert_eq!(
        answer,
        json!({"text": "answer: true", "all": {"yes": true}})
    );
}
