//! Time that a test moves, as a program that uses the library sees it.

#![expect(clippy::unwrap_used, reason = "a surprise ends the test")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use riverrun::{
    Failure, Json, Riverrun, RunStatus, SimulatedClock, StartRequest, StreamName, TriggerOrigin,
    function, json,
};
use serde_json::Value;

const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);
/// 2030-01-01T00:00:00Z, a Tuesday.
const NEW_YEAR_MS: i64 = 1_893_456_000_000;

async fn open() -> (SimulatedClock, Riverrun) {
    let clock = SimulatedClock::starting_at_ms(NEW_YEAR_MS);
    let river = Riverrun::builder().memory().clock(&clock);
    (clock, river.open().await.unwrap())
}

fn flow(id: &str, steps: Value) -> Value {
    let first = steps.as_object().unwrap().keys().next().unwrap().clone();
    json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps})
}

/// When each event of a run was, in ms since the beginning, with its type.
async fn story(river: &Riverrun, run: &riverrun::RunId) -> Vec<(i64, String)> {
    let events = river.events(run).await.unwrap();
    let line = |event: &riverrun::Event| (event.id.ms - NEW_YEAR_MS, event.kind.to_string());
    events.iter().map(line).collect()
}

#[tokio::test]
async fn a_flow_that_waits_for_thirty_days_ends_at_once() {
    let (clock, river) = open().await;
    let steps = json!({
        "wait": {"type": "delay", "config": {"ms": "30 days"}, "transitions": {"onSuccess": "again"}},
        "again": {"type": "delay", "config": {"ms": "30 days"}, "transitions": {"onSuccess": "say"}},
        "say": {"type": "set", "config": {"value": "it is time"}},
    });
    river.register(flow("patient", steps)).await.unwrap();
    let run = river.start("patient", json!({})).await.unwrap();
    clock.advance(59 * DAY).await.unwrap();
    assert_eq!(river.get(&run).await.unwrap().status, RunStatus::Waiting);
    clock.advance(DAY).await.unwrap();
    let ended = river.get(&run).await.unwrap();
    assert_eq!(ended.result, Some(json!("it is time")));
    // It went on when its time had come, not when the test was done with waiting.
    let resumed = story(&river, &run).await;
    let resumed = resumed.iter().filter(|(_, kind)| kind == "step.resumed");
    let at: Vec<i64> = resumed.map(|(at, _)| *at).collect();
    assert_eq!(at, [30 * 86_400_000, 60 * 86_400_000]);
}

#[tokio::test]
async fn a_cron_schedule_starts_a_run_at_each_of_its_times() {
    let clock = SimulatedClock::starting_at_ms(NEW_YEAR_MS);
    let rung: Arc<Mutex<Vec<i64>>> = Arc::default();
    let (ringing, hands) = (rung.clone(), clock.clone());
    let river = Riverrun::builder()
        .memory()
        .clock(&clock)
        .handler(function("ring", move |_: Value| {
            ringing.lock().unwrap().push(hands.now_ms());
            async { Ok(()) }
        }))
        .open()
        .await
        .unwrap();
    let steps = json!({"ring": {"type": "ring"}});
    river.register(flow("wake", steps)).await.unwrap();
    let schedule = json!({"id": "mornings", "type": "schedule", "flow": "wake",
        "config": {"cron": "0 8 * * 1-5", "timezone": "Europe/Berlin"}});
    let put = river.triggers().put(schedule, TriggerOrigin::Api).await;
    assert!(put.unwrap().created);
    clock.advance(30 * DAY).await.unwrap();
    let rung = rung.lock().unwrap().clone();
    // January 1 to 30, 2030, has 22 days from Monday to Friday. Eight in Berlin is seven in UTC.
    assert_eq!(rung.len(), 22);
    assert_eq!(rung[0] - NEW_YEAR_MS, 7 * 3_600_000);
    assert!(rung.iter().all(|at| at % 86_400_000 == 7 * 3_600_000));
}

#[tokio::test]
async fn a_step_that_fails_is_tried_again_after_its_backoff() {
    let clock = SimulatedClock::starting_at_ms(NEW_YEAR_MS);
    let tries = Arc::new(AtomicU32::new(0));
    let counted = tries.clone();
    let river = Riverrun::builder()
        .memory()
        .clock(&clock)
        .handler(function("flaky", move |_: Value| {
            let tries = counted.fetch_add(1, Ordering::AcqRel) + 1;
            async move {
                match tries {
                    4 => Ok("at last"),
                    _ => Err(Failure::new("NOT_YET", "try again")),
                }
            }
        }))
        .open()
        .await
        .unwrap();
    let steps = json!({"try": {"type": "flaky", "retry": {
        "maxAttempts": 5, "backoffMs": 3_600_000, "backoffMultiplier": 2, "maxBackoffMs": 86_400_000}}});
    river.register(flow("stubborn", steps)).await.unwrap();
    let run = river.start("stubborn", json!({})).await.unwrap();
    clock.advance(HOUR / 2).await.unwrap();
    assert_eq!(tries.load(Ordering::Acquire), 1);
    clock.advance(HOUR / 2).await.unwrap();
    assert_eq!(tries.load(Ordering::Acquire), 2);
    let ended = river.advance_to_end(&clock, &run).await.unwrap();
    assert_eq!(ended.result, Some(json!("at last")));
    // After one hour, two and four.
    assert_eq!(clock.now_ms() - NEW_YEAR_MS, 7 * 3_600_000);
}

#[tokio::test]
async fn an_await_goes_on_with_its_event_or_without() {
    let (clock, river) = open().await;
    let steps = json!({
        "pay": {"type": "set", "config": {"value": "paid"}, "await": {
            "type": "event", "eventKind": "payment", "match": {"data.order": "input.order"},
            "timeout": "24h", "onTimeout": "cancel"}},
        "cancel": {"type": "set", "config": {"value": "cancelled"}},
    });
    river.register(flow("order", steps)).await.unwrap();
    let paid = river.start("order", json!({"order": 1})).await.unwrap();
    let late = river.start("order", json!({"order": 2})).await.unwrap();
    clock.advance(23 * HOUR).await.unwrap();
    let event = Json::of(&json!({"type": "payment", "data": {"order": 1}}));
    let global = StreamName::new("global", "global");
    river
        .runtime()
        .events()
        .append(&global, &[event])
        .await
        .unwrap();
    clock.settle().await.unwrap();
    assert_eq!(river.get(&paid).await.unwrap().result, Some(json!("paid")));
    assert_eq!(river.get(&late).await.unwrap().status, RunStatus::Waiting);
    clock.advance(HOUR).await.unwrap();
    assert_eq!(
        river.get(&late).await.unwrap().result,
        Some(json!("cancelled"))
    );
}

#[tokio::test]
async fn a_run_that_waits_for_somebody_is_as_it_is_when_nothing_is_due() {
    let (clock, river) = open().await;
    let steps = json!({"ask": {"type": "set", "config": {"value": 1},
        "await": {"type": "trigger"}}});
    river.register(flow("ask", steps)).await.unwrap();
    let run = river.start("ask", json!({})).await.unwrap();
    let shown = river.advance_to_end(&clock, &run).await.unwrap();
    let events = story(&river, &run).await;
    assert_eq!(shown.status, RunStatus::Waiting, "{events:?}");
}

#[tokio::test]
async fn a_run_begins_after_its_delay_and_fails_at_its_deadline() {
    let (clock, river) = open().await;
    let mut slow = flow(
        "slow",
        json!({"wait": {"type": "delay", "config": {"ms": "10 days"}}}),
    );
    slow["timeoutMs"] = json!(5 * 86_400_000_u64);
    river.register(slow).await.unwrap();
    let mut request = StartRequest::new("slow", json!({}));
    request.delay_ms = Some(86_400_000);
    let run = river.start_with(request).await.unwrap().run;
    clock.advance(DAY - Duration::from_millis(1)).await.unwrap();
    assert_eq!(river.get(&run).await.unwrap().status, RunStatus::Pending);
    let ended = river.advance_to_end(&clock, &run).await.unwrap();
    assert_eq!(ended.error.unwrap().code, "TIMEOUT");
}

#[tokio::test]
async fn an_attempt_that_hangs_meets_its_timeout() {
    let clock = SimulatedClock::starting_at_ms(NEW_YEAR_MS);
    let (began, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let river = Riverrun::builder()
        .memory()
        .clock(&clock)
        .handler(function("hang", move |_: Value| {
            began.send(()).unwrap();
            std::future::pending::<Result<(), Failure>>()
        }))
        .open()
        .await
        .unwrap();
    let steps =
        json!({"hang": {"type": "hang", "timeoutMs": 120_000, "retry": {"maxAttempts": 1}}});
    river.register(flow("hang", steps)).await.unwrap();
    let run = river.start("hang", json!({})).await.unwrap();
    has_begun.recv().await.unwrap();
    // Longer than a lease: it is kept while the handler runs.
    clock
        .advance_regardless(Duration::from_secs(119))
        .await
        .unwrap();
    assert_eq!(river.get(&run).await.unwrap().status, RunStatus::Running);
    clock
        .advance_regardless(Duration::from_secs(1))
        .await
        .unwrap();
    let ended = river.get(&run).await.unwrap();
    assert_eq!(ended.error.unwrap().code, "TIMEOUT");
    assert!(has_begun.try_recv().is_err(), "it was tried once");
}

#[tokio::test]
async fn what_has_ended_is_forgotten_when_its_time_is_over() {
    let (clock, river) = open().await;
    let steps = json!({"say": {"type": "set", "config": {"value": 1}}});
    river.register(flow("f", steps)).await.unwrap();
    let run = river.run("f", json!({})).await.unwrap();
    clock.advance(6 * DAY).await.unwrap();
    river.get(&run.id).await.unwrap();
    clock.advance(2 * DAY).await.unwrap();
    assert!(
        river.get(&run.id).await.is_err(),
        "seven days are the default"
    );
}

#[tokio::test]
async fn the_same_test_gives_the_same_story() {
    let mut stories = Vec::new();
    for _ in 0..3 {
        let (clock, river) = open().await;
        let wait = |ms: u64| json!({"type": "delay", "config": {"ms": ms}});
        let steps = json!({
            "all": {"type": "parallel", "config": {"branches": ["a", "b", "c"]},
                "transitions": {"onSuccess": "end"}},
            "a": wait(1_000), "b": wait(1_000), "c": wait(500),
            "end": {"type": "set", "config": {"value": 1}},
        });
        river.register(flow("many", steps)).await.unwrap();
        let run = river.start("many", json!({})).await.unwrap();
        river.advance_to_end(&clock, &run).await.unwrap();
        stories.push(story(&river, &run).await);
    }
    assert_eq!(stories[0], stories[1]);
    assert_eq!(stories[0], stories[2]);
    assert_eq!(
        stories[0].last().unwrap(),
        &(1_000, "flow.completed".to_owned())
    );
}
