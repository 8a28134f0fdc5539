//! How jobs end, and which are tried again.

use std::time::Duration;

use riverrun_store::{JobState, Steer};
use serde_json::{Value, json};

use super::{LONG, World, code, quick};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_run_and_its_result_kept() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"n": 1}, "name": "first"})).await;
    let record = world.end(&job).await;
    assert_eq!(record.state, JobState::Completed);
    assert_eq!(record.result.unwrap().value(), json!({"n": 1}));
    assert_eq!((record.attempt, record.name.as_deref()), (1, Some("first")));
    let view = world.runtime.queues().queue("work").await.unwrap();
    assert_eq!((view.stats.completed, view.record.completed), (1, 1));
    assert_eq!(view.process.as_deref(), Some("work"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_is_tried_again_and_then_a_dead_letter() {
    let world = World::new(json!({"retryPolicy": quick(3)})).await;
    let job = world.add(json!({"data": {"do": "fail"}})).await;
    let record = world.end(&job).await;
    assert_eq!((record.state, record.attempt), (JobState::Failed, 3));
    assert_eq!(code(&record), "BROKEN");
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "job.waiting",
            "job.active",
            "job.waiting",
            "job.active",
            "job.failed"
        ]
    );
    // One that says so, or that the policy does not list, is not tried again.
    let job = world
        .add(json!({"data": {"do": "fail", "retriable": false}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 1);
    let job = world
        .add(json!({"data": {"do": "fail"}, "options": {"retriableErrors": ["OTHER"]}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 1);
    let job = world
        .add(json!({"data": {"do": "fail"}, "options": {"attempts": 2}}))
        .await;
    assert_eq!(world.end(&job).await.attempt, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_attempt_gets_checkpoint_and_journal() {
    let world = World::new(json!({"retryPolicy": quick(2)})).await;
    let job = world.add(json!({"data": {"do": "fail-once"}})).await;
    let record = world.end(&job).await;
    assert_eq!(
        record.result.unwrap().value(),
        json!({"checkpoint": {"page": 3}, "journal": [
            {"op": "memo", "name": "charge", "nth": 2, "value": 42},
        ]})
    );
    assert_eq!(record.error, None, "what went wrong before is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_jobs_go_where_the_process_says() {
    let world = World::new(json!({
        "retryPolicy": {"attempts": 1}, "dlq": {"queue": "morgue"},
    }))
    .await;
    let options_of = json!({"tenantId": "acme", "tags": ["red"]});
    let failing = json!({"data": {"do": "fail"}, "options": options_of});
    let job = world.add(failing).await;
    world.end(&job).await;
    let dead = world.only("morgue").await;
    let options = dead.options.unwrap().value();
    assert_eq!(options["metadata"]["deadLetterOf"]["jobId"], json!(job));
    assert_eq!(
        (&options["tenantId"], &options["tags"]),
        (&options_of["tenantId"], &options_of["tags"])
    );
    assert_eq!(dead.name.as_deref(), Some("work"));
    world.put(
        "work",
        json!({"retryPolicy": {"attempts": 1, "onFail": "drop"}}),
    );
    let job = world.add(json!({"data": {"do": "fail"}})).await;
    let gone = async {
        while world.runtime.queues().job(&job).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(3)).await;
        }
    };
    tokio::time::timeout(LONG, gone).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_is_retriable_by_its_code_or_its_name() {
    let world = World::new(json!({"retryPolicy": {
        "attempts": 2, "backoff": {"type": "fixed", "delayMs": 1}, "retriableErrors": ["TypeError"],
    }}))
    .await;
    for (name, attempts) in [("TypeError", 2), ("RangeError", 1)] {
        let job = world
            .add(json!({"data": {"do": "fail", "name": name}}))
            .await;
        assert_eq!(world.end(&job).await.attempt, attempts, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_takes_too_long_is_stopped() {
    let world = World::new(json!({"timeoutMs": 30, "retryPolicy": {"attempts": 1}})).await;
    let job = world.add(json!({"data": {"do": "hang"}})).await;
    let record = world.end(&job).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Failed, "TIMEOUT")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_is_final_whatever_the_handler_still_brings() {
    let world = World::new(json!({"timeoutMs": 30, "retryPolicy": {"attempts": 1}})).await;
    let job = world.add(json!({"data": {"do": "late"}})).await;
    let ended = world.end(&job).await;
    assert_eq!(ended.state, JobState::Failed);
    assert_eq!(ended.error.unwrap().value()["code"], "TIMEOUT");
    assert_eq!(ended.result, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_job_is_cancelled_and_a_waiting_one_too() {
    let world = World::new(json!({"concurrency": 1})).await;
    let runs = world.add(json!({"data": {"do": "hang"}})).await;
    world.until(&runs, &[JobState::Active]).await;
    let waits = world.add(json!({"data": {}})).await;
    let cancel = || Steer::Cancel {
        reason: Some("enough".to_owned()),
    };
    world
        .runtime
        .queues()
        .steer(&waits, cancel())
        .await
        .unwrap();
    assert_eq!(world.end(&waits).await.state, JobState::Cancelled);
    world.runtime.queues().steer(&runs, cancel()).await.unwrap();
    let record = world.end(&runs).await;
    assert_eq!(
        (record.state, code(&record).as_str()),
        (JobState::Cancelled, "CANCELLED")
    );
    assert_eq!(record.error.unwrap().value()["message"], "enough");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_job_is_cancelled_whatever_its_handler_throws() {
    let world = World::new(json!({})).await;
    for (reason, message) in [(None, "it was cancelled"), (Some("enough"), "enough")] {
        let job = world.add(json!({"data": {"do": "protest"}})).await;
        world.until(&job, &[JobState::Active]).await;
        let reason = reason.map(str::to_owned);
        let cancel = Steer::Cancel { reason };
        world.runtime.queues().steer(&job, cancel).await.unwrap();
        let record = world.end(&job).await;
        assert_eq!(record.state, JobState::Cancelled);
        let error = json!({"code": "CANCELLED", "message": message});
        assert_eq!(record.error.unwrap().value(), error);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queues_that_name_each_other_copy_a_failed_job_once() {
    let dead = |queue: &str| json!({"retryPolicy": {"attempts": 1}, "dlq": {"queue": queue}});
    let world = World::new(dead("first-aid")).await;
    world.put("first-aid", dead("morgue"));
    world.put("morgue", dead("work"));
    let job = world.add(json!({"data": {"do": "fail"}})).await;
    world.end(&job).await;
    let mut before = json!(null);
    for queue in ["work", "first-aid", "morgue"] {
        let copy = world.only(queue).await;
        world.end(&copy.id).await;
        let metadata = copy
            .options
            .map(|options| options.value()["metadata"].clone());
        let of = metadata.map_or(json!(null), |metadata| metadata["deadLetterOf"].clone());
        assert_eq!(of["before"]["queue"], before["queue"]);
        before = of;
    }
    // What failed last is not copied to where it all began.
    assert_eq!(world.only("work").await.id, job);
}
