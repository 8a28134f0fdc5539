//! Dead letters and their redrive.

use std::time::Duration;

use riverrun_runtime::Redrive;
use riverrun_store::{JobState, Steer, Wanted};
use riverrun_types::RunId;
use serde_json::{Value, json};

use super::{LONG, World, quick};

impl World {
    /// A queue with so many dead letters.
    async fn with_dead_letters(count: usize) -> (Self, Vec<RunId>) {
        let world = Self::new(json!({"retryPolicy": {"attempts": 1}})).await;
        let failing = vec![json!({"data": {"do": "fail"}}); count];
        let jobs = world.add_all(json!(failing)).await;
        for job in &jobs {
            world.end(job).await;
        }
        (world, jobs)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redriven_job_goes_on_and_one_that_ended_well_begins_anew() {
    let world = World::new(json!({"retryPolicy": quick(1)})).await;
    let job = world.add(json!({"data": {"do": "charge"}})).await;
    assert_eq!(world.end(&job).await.state, JobState::Failed);
    let again = async || {
        let steered = world
            .runtime
            .queues()
            .steer(&job, Steer::Retry { at_ms: 0 })
            .await;
        steered.unwrap();
    };
    // Its first attempt once more: what it has done it need not do again.
    again().await;
    let record = world.until(&job, &[JobState::Completed]).await;
    assert_eq!(record.attempt, 1);
    assert_eq!(
        record.result.unwrap().value(),
        json!({"checkpoint": {"page": 3}, "journal": [{"op": "memo", "name": "charge", "value": 42}]})
    );
    // What has ended well is to be done once more, from its beginning.
    again().await;
    world.until(&job, &[JobState::Failed]).await;
    let memos = world.events("job", &job).await;
    let memos = memos.iter().filter(|kind| *kind == "step.memo").count();
    assert_eq!(memos, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dead_letters_are_redriven() {
    let (world, _) = World::with_dead_letters(3).await;
    world.runtime.queues().pause("work", true).await.unwrap();
    let two = Redrive {
        most: Some(2),
        ..Redrive::default()
    };
    let redriven = world.runtime.queues().redrive("work", two).await.unwrap();
    assert_eq!((redriven.redriven, redriven.goes_on), (2, false));
    let view = world.runtime.queues().queue("work").await.unwrap();
    assert_eq!((view.record.waiting, view.record.failed), (2, 1));
    let drained = world.runtime.queues().drain("work", true).await.unwrap();
    assert_eq!((drained.removed, drained.left), (2, 0));
    let over = i64::MAX;
    let purged = world
        .runtime
        .queues()
        .purge("work", JobState::Failed, over, None)
        .await;
    assert_eq!(purged.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_letter_that_fails_again_is_redriven_once() {
    let (world, _) = World::with_dead_letters(700).await;
    let redrive = world.runtime.queues().redrive("work", Redrive::default());
    let redriven = tokio::time::timeout(LONG, redrive).await.unwrap().unwrap();
    assert_eq!(redriven.redriven, 700);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_chooses_dead_letters() {
    let world = World::new(json!({"retryPolicy": {"attempts": 1}})).await;
    let failing_job = |code: &str, name: &str, options: Value| json!({"name": name, "data": {"do": "fail", "code": code}, "options": options});
    let jobs = world
        .add_all(json!([
            failing_job("A", "one", json!({"tags": ["t", "u"]})),
            failing_job("B", "one", json!({"key": "k"})),
            failing_job("B", "two", json!({})),
        ]))
        .await;
    let mut last = 0;
    for job in &jobs {
        last = last.max(world.end(job).await.ended_ms.unwrap());
    }
    world.runtime.queues().pause("work", true).await.unwrap();
    let redrive = async |wanted: Wanted| {
        let redrive = Redrive {
            wanted,
            ..Redrive::default()
        };
        world
            .runtime
            .queues()
            .redrive("work", redrive)
            .await
            .unwrap()
            .redriven
    };
    let any = Wanted::default;
    let some = |text: &str| Some(text.to_owned());
    for (expected, wanted) in [
        (
            0,
            Wanted {
                code: some("C"),
                ..any()
            },
        ),
        (
            0,
            Wanted {
                code: some("A"),
                name: some("two"),
                ..any()
            },
        ),
        (
            0,
            Wanted {
                after_ms: Some(last + 1),
                ..any()
            },
        ),
        (
            0,
            Wanted {
                before_ms: Some(1),
                ..any()
            },
        ),
        (
            1,
            Wanted {
                key: some("k"),
                ..any()
            },
        ),
        (
            1,
            Wanted {
                tags: vec!["u".into()],
                code: some("A"),
                ..any()
            },
        ),
    ] {
        assert_eq!(redrive(wanted.clone()).await, expected, "{wanted:?}");
    }
    let two = Wanted {
        name: some("two"),
        ..any()
    };
    let none = Wanted {
        name: some("one"),
        ..any()
    };
    let purge = async |wanted| {
        let purged = world
            .runtime
            .queues()
            .purge_wanted("work", JobState::Failed, wanted, None);
        purged.await.unwrap()
    };
    assert_eq!((purge(none).await, purge(two).await), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_redrive_goes_on_without_whoever_asked() {
    let (world, jobs) = World::with_dead_letters(700).await;
    let slow = Redrive {
        patience: Duration::ZERO,
        per_second: std::num::NonZeroU32::new(1),
        ..Redrive::default()
    };
    world.runtime.queues().pause("work", true).await.unwrap();
    let redriven = world.runtime.queues().redrive("work", slow).await.unwrap();
    assert_eq!((redriven.redriven, redriven.goes_on), (500, true));
    for job in &jobs {
        world
            .until(job, &[JobState::Waiting, JobState::Delayed])
            .await;
    }
    // One a second: nearly all of them have a time that is far away.
    let view = world.runtime.queues().queue("work").await.unwrap();
    assert!(view.record.delayed >= 600, "{:?}", view.record);
}
