//! Jobs and queues as they are shown.

use riverrun_store::{JobFilter, JobState, MAX_AHEAD, NewJob, Settled, Wanted};
use riverrun_types::ErrorCode;

use super::given::*;
use crate::given::*;

pub async fn jobs_are_listed_by_state_in_pages(store: S) {
    let with = |text: &str, priority| NewJob {
        priority,
        ..job(text)
    };
    add(&store, (0..4).map(|n| job(&format!("done{n}")))).await;
    for (n, claimed) in claim_jobs(&store, T0, 4).await.iter().enumerate() {
        must(settle(&store, &claimed.lease, T0 + n as i64, done("1")).await);
    }
    add(&store, [job("act1"), job("act2")]).await;
    claim_jobs(&store, T0, 2).await;
    add(
        &store,
        [
            with("w2", 0),
            with("w1", 3),
            with("w3", 0),
            keyed("w4", "k"),
        ],
    )
    .await;
    let later = |text: &str, at| NewJob {
        at_ms: Some(T0 + at),
        ..job(text)
    };
    add(&store, [later("d2", 200), later("d1", 100)]).await;
    assert_eq!(
        list(&store, &[JobState::Waiting]).await,
        ["w1", "w2", "w3", "w4"]
    );
    assert_eq!(list(&store, &[JobState::Delayed]).await, ["d1", "d2"]);
    assert_eq!(
        list(&store, &[JobState::Completed]).await,
        ["done3", "done2", "done1", "done0"]
    );
    assert_eq!(
        list(&store, &[]).await,
        [
            "act1", "act2", "w1", "w2", "w3", "w4", "d1", "d2", "done3", "done2", "done1", "done0"
        ]
    );
    let bad = JobFilter {
        queue: "mail".into(),
        limit: 1,
        cursor: Some("waiting.x".to_owned()),
        ..JobFilter::default()
    };
    assert_eq!(refusal(store.list_jobs(&bad).await), ErrorCode::BadCursor);
    // A cursor of a state that is not wanted leads on with the next that is.
    let active = JobFilter {
        queue: "mail".into(),
        limit: 1,
        ..JobFilter::default()
    };
    let cursor = must(store.list_jobs(&active).await).next;
    let without = |states: &[JobState]| JobFilter {
        queue: "mail".into(),
        states: states.to_vec(),
        limit: 1,
        cursor: cursor.clone(),
        ..JobFilter::default()
    };
    let next = must(
        store
            .list_jobs(&without(&[JobState::Delayed, JobState::Failed]))
            .await,
    );
    assert_eq!(next.items[0].id, id("d1"));
    let last = must(store.list_jobs(&without(&[JobState::Failed])).await);
    assert!(last.items.is_empty() && last.next.is_none(), "{last:?}");
    let unknown = JobFilter {
        queue: "nobody".into(),
        limit: 1,
        ..JobFilter::default()
    };
    assert_eq!(
        refusal(store.list_jobs(&unknown).await),
        ErrorCode::QueueNotFound
    );
}

pub async fn a_list_shows_the_jobs_that_are_wanted(store: S) {
    let tagged = NewJob {
        options: Some(json(r#"{"tags":["t","u"]}"#)),
        ..job("tagged")
    };
    let named = NewJob {
        name: Some("welcome".into()),
        created_ms: T0 + 10,
        ..job("named")
    };
    add(&store, [job("plain"), tagged, named, keyed("keyed", "k")]).await;
    let list = async |states: &[JobState], wanted: Wanted, limit: usize| {
        let mut filter = JobFilter {
            queue: "mail".into(),
            states: states.to_vec(),
            wanted,
            limit,
            cursor: None,
        };
        let mut found = Vec::new();
        loop {
            let page = must(store.list_jobs(&filter).await);
            assert!(page.items.len() <= limit);
            found.extend(page.items.iter().map(|job| job.id.to_string()));
            match page.next {
                Some(next) => filter.cursor = Some(next),
                None => return found,
            }
        }
    };
    let wanted = Wanted::default;
    let some = |text: &str| Some(text.to_owned());
    let tag = Wanted {
        tags: vec!["u".to_owned()],
        ..wanted()
    };
    assert_eq!(list(&[], tag, 1).await, ["tagged"]);
    let name = Wanted {
        name: some("welcome"),
        ..wanted()
    };
    assert_eq!(list(&[], name, 1).await, ["named"]);
    let own = Wanted {
        name: some("mail"),
        ..wanted()
    };
    assert_eq!(list(&[], own, 2).await, ["plain", "tagged", "keyed"]);
    let key = Wanted {
        key: some("k"),
        ..wanted()
    };
    assert_eq!(list(&[], key, 1).await, ["keyed"]);
    let before = Wanted {
        before_ms: Some(T0 + 9),
        name: some("welcome"),
        ..wanted()
    };
    assert!(list(&[], before, 1).await.is_empty());
    for (at, claimed) in claim_jobs(&store, T0 + 20, 4).await.iter().enumerate() {
        let error = match at {
            0 => json(r#"{"code":"OTHER"}"#),
            _ => wrong(),
        };
        let ms = T0 + 100 + at as i64;
        must(settle(&store, &claimed.lease, ms, Settled::Failed { error }).await);
    }
    let code = Wanted {
        code: some("SMTP"),
        ..wanted()
    };
    assert_eq!(list(&[JobState::Failed], code, 1).await.len(), 3);
    let times = Wanted {
        before_ms: Some(T0 + 102),
        after_ms: Some(T0 + 101),
        ..wanted()
    };
    assert_eq!(list(&[JobState::Failed], times, 1).await.len(), 2);
}

pub async fn queues_are_listed_with_their_oldest_job(store: S) {
    let other = NewJob {
        queue: "audit".into(),
        ..job("o1")
    };
    let early = NewJob {
        created_ms: T0 - 500,
        ..keyed("early", "k")
    };
    add(&store, [job("j1"), other, early]).await;
    let queues = must(store.queues(None).await);
    let names: Vec<&str> = queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["audit", "mail"]);
    assert_eq!(queues[1].oldest_ms, Some(T0 - 500));
    assert_eq!(queues[1].created_ms, T0);
}

pub async fn a_delayed_job_is_as_old_as_it_has_waited(store: S) {
    let late = |text: &str, at_ms| NewJob {
        created_ms: T0 - 5_000,
        at_ms: Some(at_ms),
        ..job(text)
    };
    let oldest = async || must(store.queue("mail").await).and_then(|queue| queue.oldest_ms);
    add(&store, [late("a", T0 + 20), late("b", T0 + 10)]).await;
    assert_eq!(oldest().await, None);
    must(store.stalled_jobs(T0 + 30, 10).await);
    assert_eq!(oldest().await, Some(T0 + 10));
    // The jobs behind them in the queue have waited longer.
    add(&store, [job("c")]).await;
    assert_eq!(oldest().await, Some(T0));
}

pub async fn the_jobs_before_a_waiting_one_are_counted(store: S) {
    assert_eq!(must(store.jobs_ahead(&id("gone")).await), None);
    let urgent = NewJob {
        priority: 5,
        ..job("urgent")
    };
    let later = NewJob {
        at_ms: Some(T0 + 1_000),
        ..job("later")
    };
    let elsewhere = NewJob {
        queue: "other".into(),
        ..job("elsewhere")
    };
    add(&store, [job("a"), elsewhere, keyed("k1", "k"), job("b")]).await;
    add(&store, [later, urgent, keyed("k2", "k"), keyed("o1", "o")]).await;
    for (job, ahead) in [
        ("urgent", Some(0)),
        ("a", Some(1)),
        ("b", Some(2)),
        ("k1", Some(0)),
        ("k2", Some(1)),
        ("o1", Some(0)),
        ("elsewhere", Some(0)),
        ("later", None),
    ] {
        assert_eq!(must(store.jobs_ahead(&id(job)).await), ahead, "{job}");
    }
    let many = 5 + MAX_AHEAD;
    add(&store, (0..many).map(|n| job(&format!("m{n}")))).await;
    let last = format!("m{}", many - 1);
    let ahead = must(store.jobs_ahead(&id(&last)).await);
    assert_eq!(ahead, Some(MAX_AHEAD));
    claim_jobs(&store, T0, 10).await;
    assert_eq!(must(store.jobs_ahead(&id("urgent")).await), None);
}
