//! Parked visits do nothing until they are released.

use riverrun_engine::{Parked, VisitKey};
use riverrun_store::{ClaimJobs, RunFilter};
use riverrun_types::{RunId, RunStatus};
use serde_json::{Value, json};

use super::{World, flow, step, with};

fn visit(step: &str) -> VisitKey {
    VisitKey {
        step: step.into(),
        visit: 1,
    }
}

impl World {
    async fn park(&self, run: &RunId, step: &str) {
        let parked = Parked::new("TEST", "it is tested");
        let state = self
            .runtime
            .runs()
            .park(run, visit(step), parked)
            .await
            .unwrap();
        assert!(state.visit(&visit(step)).unwrap().parked().is_some());
    }

    async fn has_job(&self, run: &RunId) -> bool {
        let id = RunId::new(&format!("{run}__a"));
        self.store.job(&id).await.unwrap().is_some()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_parked_step_of_a_process_waits_until_the_run_is_resumed() {
    let world = World::new().await;
    let steps = json!({
        "a": with(step("work"), json!({"retry": {"maxAttempts": 1}, "transitions": {"onFailure": "b"}})),
        "b": {"type": "set", "config": {"value": "failed"}},
    });
    world
        .register(with(flow(steps), json!({"timeoutMs": 60_000})))
        .await;
    let run = world.start("f", json!({})).await;
    assert!(world.has_job(&run).await);
    world.park(&run, "a").await;
    assert!(!world.has_job(&run).await);
    let view = world.runtime.runs().run(&run).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Waiting);
    assert_eq!(view.loaded.record.wake_ms, None);
    let filter = RunFilter {
        status: vec![RunStatus::Waiting],
        limit: 10,
        ..RunFilter::default()
    };
    let waiting = world.runtime.runs().list(&filter).await.unwrap().items;
    assert_eq!(waiting[0].id, run);
    let why = serde_json::to_value(world.runtime.reasons().why(&run).await.unwrap()).unwrap();
    let reason = &why["reasons"][0];
    assert_eq!(
        (&reason["kind"], &reason["code"]),
        (&"parked".into(), &"TEST".into())
    );
    assert_eq!(reason["release"], format!("riverrun runs resume {run}"));
    assert!(
        reason["since"].is_string() && reason["until"].is_null(),
        "{why:#}"
    );

    // What runs the step now has nothing to run.
    world.put("work", Value::Null, script!(|_call| Ok(json!("done"))));
    let copy = world.runtime.runs().fork(&run, None).await.unwrap().run;
    let rerun = world
        .runtime
        .runs()
        .rerun(&run, None, false)
        .await
        .unwrap()
        .run;
    assert_eq!(world.end(&rerun).await.state().status, RunStatus::Completed);
    let copied = world.runtime.runs().run(&copy).await.unwrap();
    assert_eq!(copied.state().status, RunStatus::Waiting);
    world.runtime.runs().pause(&run, None).await.unwrap();
    world.runtime.runs().resume(&run).await.unwrap();
    let ended = world.end(&run).await;
    assert_eq!(ended.state().status, RunStatus::Completed);
    assert_eq!(ended.state().result, Some(json!("done").into()));
    let events = world.events(&run).await;
    let expected = [
        "flow.started",
        "step.parked a#1/0",
        "flow.paused",
        "step.released a#1/0",
        "flow.resumed",
        "step.started a#1/1",
        "step.completed a#1/1",
        "flow.completed",
    ];
    assert_eq!(events, expected);
    let again = world.runtime.runs().resume(&run).await;
    assert_eq!(again.unwrap_err().code(), "RUN_ENDED");
    let cancelled = world.runtime.runs().cancel(&copy, None).await.unwrap();
    assert_eq!(cancelled.status, RunStatus::Cancelled);
    world.runtime.runs().delete(&copy).await.unwrap();
}

/// An attempt that runs when its visit is parked is asked to stop, and its outcome counts no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_when_it_is_parked_begins_anew() {
    let world = World::new().await;
    world.put(
        "work",
        Value::Null,
        script!(|call| {
            if call.invoke.job.attempt == 1 {
                call.cancel.cancelled().await;
            }
            Ok(json!(call.invoke.job.attempt))
        }),
    );
    world.register(flow(json!({"a": step("work")}))).await;
    let run = world.start("f", json!({})).await;
    world.until_event_of(&run, "step.started").await;
    world.park(&run, "a").await;
    world.runtime.runs().resume(&run).await.unwrap();
    let ended = world.end(&run).await;
    assert_eq!(ended.state().result, Some(json!(2).into()));
    let history = ended.state().steps["a"].clone();
    assert_eq!((history.attempt, history.visits), (2, 1));
}

/// The job of a step is lost ten times before its start was ever recorded.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_was_lost_ten_times_in_a_row_is_parked() {
    let world = World::new().await;
    let steps = json!({
        "a": with(step("work"), json!({"retry": {"maxAttempts": 1}, "transitions": {"onFailure": "b"}})),
        "b": {"type": "set", "config": {"value": "failed"}},
    });
    world.register(flow(steps)).await;
    let run = world.start("f", json!({})).await;
    for _ in 0..10 {
        let claim = ClaimJobs {
            queue: "work".into(),
            owner: "gone".into(),
            limit: 1,
            now_ms: 1,
            until_ms: 2,
            limits: Default::default(),
        };
        let claimed = world.store.claim_jobs(claim).await.unwrap();
        let lease = &claimed.jobs[0].lease;
        let error = json!({"code": "WORKER_LOST", "message": "gone"}).into();
        let lost = riverrun_store::Settled::Lost { error };
        let lost = riverrun_store::Settle::new(lease, lost, 1);
        let commit = riverrun_store::Commit::of(lost.into());
        world.runtime.base().commit(commit).await.unwrap();
    }
    world.put("work", Value::Null, script!(|_call| Ok(json!("done"))));
    world.until_event_of(&run, "step.parked").await;
    let view = world.runtime.runs().run(&run).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Waiting);
    let why = serde_json::to_value(world.runtime.reasons().why(&run).await.unwrap()).unwrap();
    assert_eq!(why["reasons"][0]["code"], "QUARANTINED");
    world.runtime.runs().resume(&run).await.unwrap();
    let ended = world.end(&run).await;
    assert_eq!(ended.state().result, Some(json!("done").into()));
}
