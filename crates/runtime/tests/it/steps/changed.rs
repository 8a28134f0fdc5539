//! Code that does not fit what it recorded before is parked, and goes on when fitting code is loaded.

use riverrun_protocol::WorkError;
use riverrun_types::{RunId, RunStatus};
use serde_json::{Value, json};

use super::{LONG, World, ask, flow, input, step, with};

async fn parked(world: &World, run: &RunId) {
    let waits = async {
        loop {
            let view = world.runtime.runs().run(run).await.unwrap();
            if view.loaded.state.parked.is_some() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, waits).await.unwrap();
}

/// A worker of another version: its code asks for something else than what is recorded.
async fn changed() -> (World, RunId) {
    let world = World::new().await;
    world.put(
        "order",
        Value::Null,
        script!(|call| {
            if input(&call)["fits"] == true {
                return Ok(json!("done"));
            }
            ask(&call, "memo", json!({"name": "charge", "value": 1})).await?;
            let details = json!({
                "recorded": [{"op": "memo", "name": "charge"}],
                "done": [{"op": "memo", "name": "pay"}],
            });
            let error = WorkError::new("JOURNAL_MISMATCH", "the code has changed");
            Err(error.permanent().details(&details))
        }),
    );
    let undone = with(
        step("order"),
        json!({"compensation": {"step": "undo"}, "transitions": {"onFailure": "undo"}}),
    );
    let steps = json!({"order": undone, "undo": {"type": "set", "config": {"value": 1}}});
    world.register(flow(steps)).await;
    let run = world.start("f", json!({})).await;
    parked(&world, &run).await;
    (world, run)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed_code_is_parked_with_both_sequences_and_resumes_with_fitting_code() {
    let (world, run) = changed().await;
    let view = world.runtime.runs().run(&run).await.unwrap();
    assert_eq!(view.loaded.state.status, RunStatus::Waiting);
    let why = serde_json::to_value(world.runtime.reasons().why(&run).await.unwrap()).unwrap();
    let reason = &why["reasons"][0];
    assert_eq!(
        (&reason["kind"], &reason["code"]),
        (&json!("parked"), &json!("JOURNAL_MISMATCH"))
    );
    assert_eq!(reason["details"]["recorded"][0]["name"], "charge", "{why}");
    assert_eq!(reason["details"]["done"][0]["name"], "pay", "{why}");
    let events = world.events(&run).await;
    let is_wrong = |line: &String| line.starts_with("step.failed") || line.contains("undo");
    assert!(!events.iter().any(is_wrong), "{events:#?}");
    // The file is changed back.
    world.put(
        "order",
        Value::Null,
        script!(|call| {
            let journal = &call.invoke.job.journal;
            Ok(json!(
                journal.iter().map(|entry| &entry.name).collect::<Vec<_>>()
            ))
        }),
    );
    let view = world.end(&run).await;
    let result = view.loaded.state.result.as_ref().unwrap();
    assert_eq!(result.value(), json!(["charge"]), "with what was recorded");
    let events = world.events(&run).await;
    let released = events
        .iter()
        .filter(|line| line.starts_with("step.released"));
    assert_eq!(released.count(), 1, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_still_does_not_fit_is_parked_again_and_can_be_cancelled() {
    let (world, run) = changed().await;
    world.put(
        "order",
        Value::Null,
        script!(|_call| {
            let error = WorkError::new("JOURNAL_MISMATCH", "changed once more");
            Err(error.permanent())
        }),
    );
    let parks = async {
        loop {
            let events = world.events(&run).await;
            let parked = events.iter().filter(|line| line.starts_with("step.parked"));
            if parked.count() == 2 {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, parks).await.unwrap();
    parked(&world, &run).await;
    world.runtime.runs().cancel(&run, None).await.unwrap();
    let view = world.end(&run).await;
    assert_eq!(view.loaded.state.status, RunStatus::Cancelled);
}
