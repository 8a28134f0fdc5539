//! What handlers say and ask for while they run.

use riverrun_store::{EventQuery, JobRecord, JobState};
use riverrun_types::{EventType, RunId, StreamName};
use serde_json::{Value, json};

use super::{World, code, script::BIG};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_says_is_in_the_jobs_stream() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"do": "talk"}})).await;
    world.end(&job).await;
    // What was said before the event was emitted stands before it.
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "log.warn",
            "job.progress",
            "order.paid",
            "job.completed",
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_says_beyond_its_limit_is_counted_in_a_last_line() {
    let world = World::new(json!({"logs": {"maxLines": 20, "maxBytes": 100_000}})).await;
    let job = world
        .add(json!({"data": {"do": "chatter", "lines": 1_000}}))
        .await;
    world.end(&job).await;
    let stream = StreamName::job(&job);
    let query = EventQuery::forward(0, 2_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let said: Vec<String> = events
        .iter()
        .filter(|event| event.kind.family() == "log")
        .map(|event| {
            event.data.as_ref().unwrap().value()["message"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(said.len(), 21, "{said:?}");
    assert_eq!(said[19], "line 19");
    assert!(
        said[20].starts_with("980 lines were dropped"),
        "{}",
        said[20]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_has_state_that_its_schema_guards() {
    let world = World::new(json!({
        "state": {"type": "object", "properties": {"c": {"type": "number"}}},
    }))
    .await;
    let job = world.add(json!({"data": {"do": "state"}})).await;
    assert_eq!(
        world.end(&job).await.result.unwrap().value(),
        json!({
            "state": {"a": {"b": 1}, "c": 2}, "refused": "STATE_CONFLICT",
            "broken": "STATE_INVALID", "c": 5, "none": true,
        })
    );
    assert_eq!(
        world.events("job", &job).await,
        [
            "job.added",
            "job.active",
            "state.set",
            "state.batch",
            "state.delete",
            "state.set",
            "job.completed"
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_number_is_rounded_on_its_way() {
    let world = World::new(Value::Null).await;
    let job = world.add(json!({"data": {"do": "big"}})).await;
    let result = world.end(&job).await.result.unwrap();
    assert!(result.as_str().contains(BIG), "{result:?}");
    let stream = StreamName::new("job", job.as_str());
    let query = EventQuery::forward(0, 10);
    for event in world.store.events(&stream, &query).await.unwrap() {
        if !matches!(event.kind, EventType::JobAdded | EventType::JobActive) {
            let data = event.data.unwrap();
            assert!(data.as_str().contains(BIG), "{data:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_asks_at_once_is_taken_in_the_order_in_which_it_was_asked() {
    let world = World::new(Value::Null).await;
    // A queue that no process here takes: the store is asked whether it is there.
    let first = serde_json::from_value(json!([{"data": "first"}])).unwrap();
    let made = world.runtime.queues().enqueue("other", first, true).await;
    assert!(made.is_ok());
    let job = world.add(json!({"data": {"do": "at-once"}})).await;
    let ended = world.end(&job).await;
    assert_eq!(
        ended.result.unwrap().value(),
        9,
        "a read sees what was written before it"
    );
    let stream = StreamName::new("job", job.as_str());
    let query = EventQuery::forward(0, 1_000);
    let events = world.store.events(&stream, &query).await.unwrap();
    let own = |event: &riverrun_types::Event| match event.kind.as_str() {
        "item" => Some(("item", event.data.as_ref()?.value())),
        "state.set" => Some(("set", event.data.as_ref()?.value()["value"].clone())),
        _ => None,
    };
    let seen: Vec<_> = events.iter().filter_map(own).collect();
    let expected = (0..10).flat_map(|n| [("item", json!(n)), ("set", json!(n))]);
    assert_eq!(seen, expected.collect::<Vec<_>>());
    let filter = riverrun_store::JobFilter {
        queue: "other".into(),
        states: vec![JobState::Waiting],
        wanted: riverrun_store::Wanted::default(),
        limit: 100,
        cursor: None,
    };
    let waiting = world.runtime.queues().jobs(&filter).await.unwrap().items;
    let data = |job: &JobRecord| job.data.value();
    let mut seen: Vec<Value> = waiting.iter().map(data).collect();
    if seen.last() == Some(&json!("first")) {
        seen.reverse();
    }
    assert_eq!(
        seen,
        json!(["first", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
            .as_array()
            .unwrap()[..]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_adds_jobs_that_know_where_they_come_from() {
    let world = World::new(Value::Null).await;
    world.put("other", Value::Null);
    let job = world
        .add(json!({"data": {"do": "enqueue"}, "options": {"correlationId": "story-1"}}))
        .await;
    let added = world.end(&job).await.result.unwrap().value();
    let child = RunId::new(added["jobs"][0]["jobId"].as_str().unwrap());
    let child = world.end(&child).await;
    let options = child.options.unwrap().value();
    assert_eq!(options["causationId"], json!(job));
    assert_eq!(options["correlationId"], "story-1");
    assert_eq!(child.priority, 1);
    // A job of which nobody said where it belongs begins a story of its own.
    let first = world.add(json!({"data": {"do": "enqueue"}})).await;
    let added = world.end(&first).await.result.unwrap().value();
    let child = RunId::new(added["jobs"][0]["jobId"].as_str().unwrap());
    let options = world.end(&child).await.options.unwrap().value();
    assert_eq!(options["correlationId"], json!(first));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_adds_jobs_to_several_queues_all_or_none() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    world.put("other", Value::Null);
    let many = |jobs: Value| json!({"data": {"do": "enqueue-many", "jobs": jobs}});
    let job = world
        .add(many(
            json!([{"queue": "work", "data": 7}, {"queue": "other", "name": "sent", "data": 8}]),
        ))
        .await;
    let added = world.end(&job).await.result.unwrap().value();
    let id = |at: usize| RunId::new(added["jobs"][at]["jobId"].as_str().unwrap());
    let (first, second) = (world.end(&id(0)).await, world.end(&id(1)).await);
    assert_eq!((&*first.queue, &*second.queue), ("work", "other"));
    assert_eq!(second.name.as_deref(), Some("sent"));
    for (jobs, expected) in [
        (
            json!([{"queue": "other", "data": 1}, {"queue": "nobody", "data": 2}]),
            "QUEUE_NOT_FOUND",
        ),
        (
            json!([{"queue": "other", "data": 1}, {"data": 2}]),
            "BAD_REQUEST",
        ),
    ] {
        let job = world.add(many(jobs)).await;
        assert_eq!(code(&world.end(&job).await), expected);
    }
    let other = world.runtime.queues().queue("other").await.unwrap().record;
    assert_eq!((other.completed, other.waiting), (1, 0));
}
