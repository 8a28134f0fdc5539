//! Which jobs are added, and which may begin.

use std::sync::atomic::Ordering;

use riverrun_protocol::WorkError;
use riverrun_runtime::{CallRequest, JobRequest};
use riverrun_store::JobState;
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunId};
use serde_json::{Value, json};

use super::{LONG, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_jobs_are_refused_and_none_is_added() {
    let world = World::new(json!({"inputSchema": {"type": "object", "required": ["n"]}})).await;
    let refused = async |queue: &str, requests: Value| {
        let requests: Vec<JobRequest> = serde_json::from_value(requests).unwrap();
        let refused = world.runtime.queues().enqueue(queue, requests, false).await;
        refused.unwrap_err().code()
    };
    assert_eq!(refused("nobody", json!([{}])).await, "QUEUE_NOT_FOUND");
    assert_eq!(refused("a b", json!([{}])).await, "BAD_ID");
    assert_eq!(refused("work", json!([])).await, "BAD_REQUEST");
    let good = json!({"data": {"n": 1}});
    assert_eq!(
        refused("work", json!([good, {"data": {}}])).await,
        "INPUT_INVALID"
    );
    for options in [
        json!({"attempts": 0}),
        json!({"backoff": {"type": "sideways", "delayMs": 1}}),
        json!({"delayMs": u64::MAX}),
        json!({"key": ""}),
        json!({"timeoutMs": 0}),
        json!({"backoff": ["fixed", 1]}),
    ] {
        let request = json!([{"data": {"n": 1}, "options": options}]);
        assert_eq!(refused("work", request).await, "BAD_REQUEST", "{options}");
    }
    for options in [
        json!({"delayMs": 1, "runAt": 1}),
        json!({"runAt": "2999-01-01T00:00:00Z"}),
        json!({"idempotency": {"key": "a"}, "idempotencyKey": "b"}),
        json!({"idempotencyWindowMs": 5}),
        json!({"idempotencyKey": "k", "throttle": {"windowMs": 5}}),
        json!({"dedupe": {"key": "k"}, "debounce": {"delayMs": 5}}),
        json!({"debounce": {"delayMs": 5}, "delayMs": 5}),
    ] {
        let request = json!([{"data": {"n": 1}, "options": options}]);
        assert_eq!(refused("work", request).await, "UNPROCESSABLE", "{options}");
    }
    for id in ["a b", "latest", ".", ".."] {
        let request = json!([{"data": {"n": 1}, "options": {"jobId": id}}]);
        assert_eq!(refused("work", request).await, "BAD_ID", "{id}");
    }
    let view = world.runtime.queues().queue("work").await.unwrap();
    assert_eq!(view.record.waiting + view.record.completed, 0);
    // An id that another queue's job has is no answer to this request.
    world.put("other", Value::Null);
    let named = json!({"data": {"n": 1}, "options": {"jobId": "mine"}});
    world.add_to("other", json!([named])).await;
    assert_eq!(refused("work", json!([good, named])).await, "JOB_ID_TAKEN");
    let view = world.runtime.queues().queue("work").await.unwrap();
    assert_eq!(view.record.waiting + view.record.completed, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_for_a_process_that_does_not_load_get_its_error() {
    let world = World::bare(SqliteStore::memory().unwrap(), LONG).await;
    world
        .runtime
        .processes()
        .put_broken(riverrun_runtime::BrokenProcess {
            id: "mail/send".into(),
            queue: "send".into(),
            file: None,
            language: None,
            mentions: Vec::new(),
            error: WorkError::new("MODULE_SYNTAX", "a bracket is missing"),
        });
    let add = || async {
        let request: JobRequest = serde_json::from_value(json!({"data": 1})).unwrap();
        let added = world
            .runtime
            .queues()
            .enqueue("send", vec![request], false)
            .await;
        added.unwrap_err()
    };
    let error = add().await;
    assert_eq!(error.code(), "PROCESS_BROKEN");
    assert_eq!(error.to_string(), "a bracket is missing");
    for process in ["mail/send", "mail/send.later"] {
        let request = CallRequest {
            process: process.to_owned(),
            ..CallRequest::default()
        };
        let error = world.runtime.queues().call(request).await.unwrap_err();
        assert_eq!(error.code, "MODULE_SYNTAX");
    }
    world.runtime.processes().forget_broken("mail/send");
    assert_eq!(add().await.code(), "QUEUE_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_deduplicated_throttled_and_debounced() {
    let world = World::new(json!({"concurrency": 1})).await;
    world.runtime.queues().pause("work", true).await.unwrap();
    let add = async |options: Value, data: i64| {
        world.add(json!({"data": data, "options": options})).await
    };
    let same = async |options: Value| {
        let (first, second) = (add(options.clone(), 1).await, add(options, 2).await);
        first == second
    };
    assert!(same(json!({"jobId": "mine"})).await);
    assert!(same(json!({"idempotencyKey": "k"})).await);
    assert!(same(json!({"dedupe": {"key": "d"}})).await);
    assert!(same(json!({"throttle": {"windowMs": 60_000}})).await);
    assert!(!same(json!({})).await);
    let debounced = json!({"debounce": {"delayMs": 30}});
    let first = add(debounced.clone(), 1).await;
    assert_eq!(first, add(debounced, 2).await);
    world.runtime.queues().pause("work", false).await.unwrap();
    assert_eq!(world.end(&first).await.result.unwrap().value(), json!(2));
    world.put("work", json!({"idempotencyKey": "auto"}));
    assert_eq!(add(json!({}), 5).await, add(json!({}), 5).await);
    world.put(
        "work",
        json!({"idempotencyKey": {"$function": "(input) => 'n' + input % 10"}}),
    );
    assert_eq!(add(json!({}), 16).await, add(json!({}), 26).await);
    assert_ne!(add(json!({}), 16).await, add(json!({}), 17).await);
    // What a job says itself holds instead.
    let own = |key: &str| json!({"dedupe": {"key": key, "windowMs": 60_000}});
    assert_ne!(add(own("a"), 16).await, add(own("b"), 16).await);
    assert_eq!(add(own("a"), 1).await, add(own("a"), 2).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_user_does_not_take_the_place_of_another() {
    let world = World::new(json!({"key": "input.user", "debounce": {"delayMs": 60_000}})).await;
    let add = async |user: &str| world.add(json!({"data": {"user": user}})).await;
    let first = add("a").await;
    assert_ne!(first, add("b").await);
    assert_eq!(first, add("a").await);
    world.put(
        "work",
        json!({"throttle": {"windowMs": 60_000, "key": "input.user"}}),
    );
    let first = add("a").await;
    assert_ne!(first, add("b").await);
    assert_eq!(first, add("a").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn equal_data_is_one_job_and_no_digit_is_lost() {
    let world = World::new(json!({"idempotencyKey": "auto"})).await;
    let add = async |data: &str| {
        let request = JobRequest::new(Json::parse_text(data.to_owned()).unwrap());
        let added = world
            .runtime
            .queues()
            .enqueue("work", vec![request], false)
            .await;
        added.unwrap().remove(0).id
    };
    let first = add(r#"{"a": 1, "b": [2]}"#).await;
    assert_eq!(first, add(r#"{"b":[2.0],"a":1}"#).await);
    let big = add("12345678901234567890123").await;
    assert_ne!(big, add("12345678901234567890124").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_may_ask_for_the_key_of_its_data() {
    let world = World::new(json!({})).await;
    for options in [
        json!({"idempotencyKey": "auto"}),
        json!({"idempotency": {"key": "auto"}}),
    ] {
        let job = |data: Value| json!({"data": data, "options": options});
        let first = world.add(job(json!({"a": 1, "b": 2}))).await;
        assert_eq!(world.add(job(json!({"b": 2.0, "a": 1}))).await, first);
        assert_ne!(world.add(job(json!({"a": 1, "b": 3}))).await, first);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idempotency_key_may_have_a_window() {
    let world = World::new(Value::Null).await;
    let keyed =
        |ms: u64| json!({"data": 1, "options": {"idempotency": {"key": "k", "windowMs": ms}}});
    let first = world.add(keyed(60_000)).await;
    assert_eq!(first, world.add(keyed(60_000)).await);
    world.put(
        "work",
        json!({"idempotency": {"key": "auto", "windowMs": 1}}),
    );
    let first = world.add(json!({"data": 2})).await;
    let over = async {
        while world.add(json!({"data": 2})).await == first {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LONG, over).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_without_a_key_has_a_lane_of_its_own() {
    let world = World::new(json!({"concurrency": 1})).await;
    world.runtime.queues().pause("work", true).await.unwrap();
    let of = |tenant: &str| json!({"data": {}, "options": {"tenantId": tenant}});
    let jobs = world
        .add_all(json!([of("big"), of("big"), of("big"), of("small")]))
        .await;
    let own = json!({"data": {}, "options": {"tenantId": "big", "key": "own"}});
    let own = world.add(own).await;
    let key = async |job: &RunId| world.runtime.queues().job(job).await.unwrap().key;
    assert_eq!(key(&jobs[0]).await.as_deref(), Some("big"));
    assert_eq!(key(&own).await.as_deref(), Some("own"));
    world.runtime.queues().pause("work", false).await.unwrap();
    let mut ends = Vec::new();
    for job in &jobs {
        ends.push(world.end(job).await.started_ms);
    }
    assert!(ends[3] <= ends[2], "the small tenant waits for the big one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_run_at_once_than_may() {
    let world = World::new(json!({"concurrency": 3})).await;
    let data = json!({"data": {"do": "slow", "ms": 10}});
    let jobs = world.add_all(json!(vec![data; 20])).await;
    for job in &jobs {
        assert_eq!(world.end(job).await.state, JobState::Completed);
    }
    assert_eq!(world.most.load(Ordering::SeqCst), 3);
}
