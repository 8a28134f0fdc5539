//! Jobs in queues.

use riverrun_store::{
    Added, Change, ClaimJobs, ClaimedJob, ClaimedJobs, Commit, Gather, JobFilter, JobLease,
    JobRecord, JobState, Lasts, MAX_AHEAD, NewQueued, Note, Purge, QueueLimits, QueueRecord, Rate,
    RateWindow, Result, Retention, Settle, Settled, Steer, Unique, Wanted,
};
use riverrun_types::{EventType, Json, Millis, RunId, StreamName};

use crate::given::*;

/// A job of the queue `mail`.
fn job(text: &str) -> NewQueued {
    NewQueued {
        id: id(text),
        is_named: false,
        queue: "mail".into(),
        name: None,
        data: json(&format!(r#"{{"to":"{text}"}}"#)),
        priority: 0,
        at_ms: None,
        created_ms: T0,
        key: None,
        unique: None,
        correlation: None,
        options: None,
    }
}

fn keyed(text: &str, key: &str) -> NewQueued {
    NewQueued {
        key: Some(key.into()),
        ..job(text)
    }
}

async fn add(store: &S, jobs: impl IntoIterator<Item = NewQueued>) -> Vec<Added> {
    let jobs: Vec<NewQueued> = jobs.into_iter().collect();
    must(change(store, Change::Enqueue(jobs.into())).await).added
}

async fn added(store: &S, job: NewQueued) -> Added {
    let mut added = add(store, [job]).await;
    added.pop().expect("one receipt for one job")
}

fn asking(now_ms: Millis, limit: usize) -> ClaimJobs {
    ClaimJobs {
        queue: "mail".into(),
        owner: "w1".into(),
        limit,
        now_ms,
        until_ms: now_ms + 30_000,
        limits: QueueLimits::default(),
    }
}

async fn claim_jobs(store: &S, now_ms: Millis, limit: usize) -> Vec<ClaimedJob> {
    must(store.claim_jobs(asking(now_ms, limit)).await).jobs
}

async fn claim_within(store: &S, now_ms: Millis, limits: QueueLimits) -> ClaimedJobs {
    let claim = ClaimJobs {
        limits,
        ..asking(now_ms, 100)
    };
    must(store.claim_jobs(claim).await)
}

async fn only(store: &S, now_ms: Millis) -> ClaimedJob {
    let mut jobs = claim_jobs(store, now_ms, 10).await;
    assert_eq!(jobs.len(), 1, "{jobs:#?}");
    jobs.remove(0)
}

fn ids_of(jobs: &[ClaimedJob]) -> Vec<&str> {
    jobs.iter().map(|job| job.lease.id.as_str()).collect()
}

async fn settle(store: &S, lease: &JobLease, now_ms: Millis, outcome: Settled) -> Result<()> {
    let settle = Settle::new(lease, outcome, now_ms);
    change(store, settle.into()).await.map(drop)
}

fn done(text: &str) -> Settled {
    Settled::Completed { result: json(text) }
}

fn wrong() -> Json {
    json(r#"{"code":"SMTP","message":"refused"}"#)
}

async fn steer(store: &S, job: &str, steer: Steer, now_ms: Millis) -> Result<()> {
    let steer = Change::Steer {
        job: id(job),
        steer,
        now_ms,
    };
    change(store, steer).await.map(drop)
}

async fn read(store: &S, job: &str) -> JobRecord {
    must(store.job(&id(job)).await).expect("the job is there")
}

async fn queue(store: &S) -> QueueRecord {
    must(store.queue("mail").await).expect("the queue is there")
}

/// Waiting, delayed, active, completed, failed, cancelled.
async fn counts(store: &S) -> [u64; 6] {
    let queue = queue(store).await;
    [
        queue.waiting,
        queue.delayed,
        queue.active,
        queue.completed,
        queue.failed,
        queue.cancelled,
    ]
}

async fn list(store: &S, states: &[JobState]) -> Vec<String> {
    let mut filter = JobFilter {
        queue: "mail".into(),
        states: states.to_vec(),
        limit: 3,
        ..JobFilter::default()
    };
    let mut found = Vec::new();
    loop {
        let page = must(store.list_jobs(&filter).await);
        found.extend(page.items.iter().map(|job| job.id.to_string()));
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => return found,
        }
    }
}

pub async fn a_job_lives_from_its_add_to_its_end(store: S) {
    assert_eq!(must(store.queue("mail").await), None);
    let new = NewQueued {
        name: Some("welcome".into()),
        options: Some(json(r#"{"attempts":3}"#)),
        ..job("j1")
    };
    let added = added(&store, new).await;
    assert!(added.created);
    assert_eq!(counts(&store).await, [1, 0, 0, 0, 0, 0]);
    let claimed = only(&store, T0 + 5).await;
    assert_eq!(claimed.attempt, 1);
    assert_eq!(claimed.name.as_deref(), Some("welcome"));
    assert_eq!(claimed.data, json(r#"{"to":"j1"}"#));
    assert_eq!(claimed.options, Some(json(r#"{"attempts":3}"#)));
    let active = read(&store, "j1").await;
    assert_eq!(active.state, JobState::Active);
    assert_eq!(active.owner.as_deref(), Some("w1"));
    assert_eq!(active.until_ms, Some(T0 + 30_005));
    assert_eq!(counts(&store).await, [0, 0, 1, 0, 0, 0]);
    must(settle(&store, &claimed.lease, T0 + 9, done("[1]")).await);
    let ended = read(&store, "j1").await;
    assert_eq!(ended.state, JobState::Completed);
    assert_eq!(ended.result, Some(json("[1]")));
    assert_eq!(
        (ended.created_ms, ended.started_ms, ended.ended_ms),
        (T0, Some(T0 + 5), Some(T0 + 9))
    );
    assert_eq!(ended.owner, None);
    assert_eq!(counts(&store).await, [0, 0, 0, 1, 0, 0]);
    assert!(claim_jobs(&store, T0 + 10, 10).await.is_empty());
}

pub async fn many_jobs_are_added_in_one_commit(store: S) {
    let jobs = (0..500).map(|n| job(&format!("j{n:03}")));
    let added = add(&store, jobs).await;
    assert!(added.iter().all(|added| added.created));
    assert_eq!(queue(&store).await.waiting, 500);
    let first = claim_jobs(&store, T0, 300).await;
    let rest = claim_jobs(&store, T0, 300).await;
    assert_eq!((first.len(), rest.len()), (300, 200));
    assert_eq!(ids_of(&first)[..3], ["j000", "j001", "j002"]);
    assert_eq!(ids_of(&rest)[199], "j499");
}

pub async fn a_commit_with_a_refusal_adds_no_job(store: S) {
    let refused =
        Commit::of(Change::Enqueue([job("j1")].into())).and(Change::Delete(RunId::new("nobody")));
    assert_eq!(refusal(commit(&store, refused).await), "RUN_NOT_FOUND");
    assert_eq!(must(store.job(&id("j1")).await), None);
}

pub async fn the_same_id_is_the_same_job(store: S) {
    assert!(added(&store, job("j1")).await.created);
    let again = NewQueued {
        data: json("2"),
        ..keyed("j1", "k")
    };
    let again = added(&store, again).await;
    assert_eq!((again.id.as_str(), again.created), ("j1", false));
    assert_eq!(read(&store, "j1").await.data, json(r#"{"to":"j1"}"#));
    assert_eq!(queue(&store).await.waiting, 1);
}

pub async fn large_data_comes_back_whole(store: S) {
    let text = format!("\"{}\"", "x".repeat(300_000));
    let large = NewQueued {
        data: json(&text),
        ..job("j1")
    };
    add(&store, [large]).await;
    assert_eq!(read(&store, "j1").await.data.bytes(), text.len());
    let claimed = only(&store, T0).await;
    assert_eq!(claimed.data.bytes(), text.len());
    must(settle(&store, &claimed.lease, T0, done(&text)).await);
    assert_eq!(
        read(&store, "j1").await.result.map(|r| r.bytes()),
        Some(text.len())
    );
}

pub async fn data_that_is_null_stays_null(store: S) {
    let empty = NewQueued {
        data: Json::null(),
        ..job("j1")
    };
    add(&store, [empty]).await;
    assert!(only(&store, T0).await.data.is_null());
}

pub async fn higher_priority_goes_first(store: S) {
    let with = |text: &str, priority| NewQueued {
        priority,
        ..job(text)
    };
    add(
        &store,
        [with("low", -5), with("a", 0), with("high", 9), with("b", 0)],
    )
    .await;
    let claimed = claim_jobs(&store, T0, 10).await;
    assert_eq!(ids_of(&claimed), ["high", "a", "b", "low"]);
}

pub async fn a_delayed_job_waits_for_its_time(store: S) {
    let later = NewQueued {
        at_ms: Some(T0 + 1_000),
        ..job("later")
    };
    add(&store, [later]).await;
    assert_eq!(counts(&store).await, [0, 1, 0, 0, 0, 0]);
    assert_eq!(read(&store, "later").await.at_ms, Some(T0 + 1_000));
    let early = must(store.claim_jobs(asking(T0 + 999, 10)).await);
    assert_eq!((early.jobs.len(), early.next_ms), (0, Some(T0 + 1_000)));
    assert_eq!(only(&store, T0 + 1_000).await.lease.id.as_str(), "later");
}

pub async fn a_retry_comes_back_with_the_next_attempt(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    let note = Note {
        progress: Some(json("50")),
        checkpoint: Some(json(r#"{"page":7}"#)),
        ..Note::new(&first.lease, T0)
    };
    must(change(&store, note.into()).await);
    let retry = Settled::Retry {
        at_ms: T0 + 500,
        error: wrong(),
    };
    must(settle(&store, &first.lease, T0 + 10, retry).await);
    assert_eq!(counts(&store).await, [0, 1, 0, 0, 0, 0]);
    assert_eq!(read(&store, "j1").await.error, Some(wrong()));
    let second = only(&store, T0 + 500).await;
    assert_eq!(second.attempt, 2);
    assert_eq!(second.checkpoint, Some(json(r#"{"page":7}"#)));
    assert_eq!(read(&store, "j1").await.progress, Some(json("50")));
}

pub async fn a_job_that_was_not_begun_counts_no_attempt(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    must(settle(&store, &first.lease, T0, Settled::Released).await);
    assert_eq!(only(&store, T0).await.attempt, 1);
}

pub async fn an_outcome_without_the_lease_is_refused(store: S) {
    add(&store, [job("j1")]).await;
    let first = only(&store, T0).await;
    must(settle(&store, &first.lease, T0, Settled::Released).await);
    let second = only(&store, T0).await;
    for outcome in [
        done("1"),
        Settled::Failed { error: wrong() },
        Settled::Cancelled { error: wrong() },
        Settled::Retry {
            at_ms: T0,
            error: wrong(),
        },
        Settled::Released,
        Settled::Dropped,
    ] {
        let late = settle(&store, &first.lease, T0, outcome).await;
        assert_eq!(refusal(late), "JOB_LOST");
    }
    let note = Note {
        progress: Some(json("1")),
        ..Note::new(&first.lease, T0)
    };
    let note = change(&store, note.into()).await;
    assert_eq!(refusal(note), "JOB_LOST");
    must(settle(&store, &second.lease, T0, done("2")).await);
    assert_eq!(
        refusal(settle(&store, &second.lease, T0, done("3")).await),
        "JOB_LOST"
    );
    assert_eq!(read(&store, "j1").await.result, Some(json("2")));
    assert_eq!(counts(&store).await, [0, 0, 0, 1, 0, 0]);
}

pub async fn an_outcome_and_what_follows_are_one_commit(store: S) {
    add(&store, [job("j1")]).await;
    let lease = only(&store, T0).await.lease;
    let follow = |lease: &JobLease| {
        let settle = Settle::new(lease, done("1"), T0);
        Commit::of(settle.into()).and(Change::Enqueue([job("next")].into()))
    };
    must(commit(&store, follow(&lease)).await);
    assert_eq!(read(&store, "next").await.state, JobState::Waiting);
    must(steer(&store, "next", Steer::Remove, T0).await);
    assert_eq!(refusal(commit(&store, follow(&lease)).await), "JOB_LOST");
    assert_eq!(must(store.job(&id("next")).await), None);
}

pub async fn a_lease_is_kept_and_runs_out(store: S) {
    add(&store, [job("j1"), job("j2")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    let token = claimed[0].lease.token;
    let beats = must(store.keep_jobs(&[token, 12_345], T0 + 60_000).await);
    assert_eq!(beats.lost, [12_345]);
    let (none, next) = must(store.stalled_jobs(T0 + 59_999, 10).await);
    assert_eq!((none.len(), next), (0, Some(T0 + 60_000)));
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    let (stalled, _) = must(store.stalled_jobs(T0 + 60_000, 10).await);
    assert_eq!(stalled.len(), 1);
    assert_eq!(&*stalled[0].queue, "mail");
    assert_eq!(stalled[0].job.lease, claimed[1].lease);
    assert_eq!(stalled[0].job.attempt, 1);
    // The holder was only slow: as long as nobody settled it, its outcome counts.
    must(settle(&store, &claimed[1].lease, T0, done("2")).await);
    let (none, next) = must(store.stalled_jobs(T0 + 60_000, 10).await);
    assert_eq!((none.len(), next), (0, None));
}

pub async fn others_settle_only_what_has_run_out(store: S) {
    add(&store, [job("j1")]).await;
    let lease = only(&store, T0).await.lease;
    let reap = |now_ms| {
        let failed = Settled::Failed { error: wrong() };
        let settle = Settle {
            if_expired: true,
            ..Settle::new(&lease, failed, now_ms)
        };
        Commit::of(settle.into())
    };
    assert_eq!(refusal(commit(&store, reap(T0 + 29_999)).await), "JOB_LOST");
    must(commit(&store, reap(T0 + 30_000)).await);
    assert_eq!(
        refusal(settle(&store, &lease, T0, done("1")).await),
        "JOB_LOST"
    );
    let job = read(&store, "j1").await;
    assert_eq!((job.state, job.error), (JobState::Failed, Some(wrong())));
}

pub async fn a_queue_has_at_most_so_many_active_jobs(store: S) {
    add(&store, (0..5).map(|n| job(&format!("j{n}")))).await;
    let limits = QueueLimits {
        concurrency: Some(2),
        ..QueueLimits::default()
    };
    let first = claim_within(&store, T0, limits).await.jobs;
    assert_eq!(ids_of(&first), ["j0", "j1"]);
    assert!(claim_within(&store, T0, limits).await.jobs.is_empty());
    must(settle(&store, &first[0].lease, T0, done("1")).await);
    assert_eq!(ids_of(&claim_within(&store, T0, limits).await.jobs), ["j2"]);
}

pub async fn a_key_has_at_most_so_many_active_jobs(store: S) {
    add(
        &store,
        [
            keyed("a1", "a"),
            keyed("a2", "a"),
            keyed("b1", "b"),
            job("x1"),
            job("x2"),
        ],
    )
    .await;
    let limits = QueueLimits {
        per_key: Some(1),
        ..QueueLimits::default()
    };
    let claimed = claim_within(&store, T0, limits).await.jobs;
    let mut found = ids_of(&claimed);
    found.sort_unstable();
    assert_eq!(found, ["a1", "b1", "x1", "x2"]);
    for (queue, key, active) in [("mail", "a", 1), ("mail", "none", 0), ("none", "a", 0)] {
        assert_eq!(must(store.active_of_key(queue, key).await), active);
    }
    assert!(claim_within(&store, T0, limits).await.jobs.is_empty());
    let a1 = claimed.iter().find(|job| job.lease.id.as_str() == "a1");
    let a1 = a1.expect("it was claimed");
    must(settle(&store, &a1.lease, T0, done("1")).await);
    assert_eq!(must(store.active_of_key("mail", "a").await), 0);
    assert_eq!(ids_of(&claim_within(&store, T0, limits).await.jobs), ["a2"]);
}

pub async fn a_key_with_many_jobs_starves_nobody(store: S) {
    add(
        &store,
        (0..200).map(|n| keyed(&format!("big{n:03}"), "big")),
    )
    .await;
    add(&store, (0..3).map(|n| keyed(&format!("small{n}"), "small"))).await;
    add(&store, (0..3).map(|n| job(&format!("own{n}")))).await;
    let claimed = claim_jobs(&store, T0, 12).await;
    let of = |prefix: &str| {
        let ids = ids_of(&claimed);
        ids.iter().filter(|id| id.starts_with(prefix)).count()
    };
    assert_eq!(
        (of("small"), of("own"), of("big")),
        (3, 3, 6),
        "{claimed:#?}"
    );
    // One at a time they take turns as well.
    add(&store, (3..6).map(|n| keyed(&format!("small{n}"), "small"))).await;
    let mut turns = Vec::new();
    for _ in 0..6 {
        turns.extend(claim_jobs(&store, T0, 1).await);
    }
    let small = ids_of(&turns)
        .iter()
        .filter(|id| id.starts_with("small"))
        .count();
    assert_eq!(small, 3, "{:?}", ids_of(&turns));
}

pub async fn a_rate_lets_so_many_begin_in_a_window(store: S) {
    add(&store, (0..5).map(|n| job(&format!("j{n}")))).await;
    let limits = QueueLimits {
        rate: Some(Rate {
            max: 2,
            window_ms: 1_000,
        }),
        ..QueueLimits::default()
    };
    let first = claim_within(&store, T0, limits).await;
    assert_eq!((first.jobs.len(), first.next_ms), (2, Some(T0 + 1_000)));
    let held = claim_within(&store, T0 + 400, limits).await;
    assert_eq!((held.jobs.len(), held.next_ms), (0, Some(T0 + 1_000)));
    assert_eq!(claim_within(&store, T0 + 1_000, limits).await.jobs.len(), 2);
    assert_eq!(claim_within(&store, T0 + 2_000, limits).await.jobs.len(), 1);
}

pub async fn a_batch_gathers(store: S) {
    add(&store, [job("j1"), job("j2")]).await;
    let limits = QueueLimits {
        gather: Some(Gather {
            count: 3,
            wait_ms: 100,
        }),
        ..QueueLimits::default()
    };
    let held = claim_within(&store, T0 + 50, limits).await;
    assert_eq!((held.jobs.len(), held.next_ms), (0, Some(T0 + 100)));
    assert_eq!(claim_within(&store, T0 + 100, limits).await.jobs.len(), 2);
    add(&store, [job("j3"), job("j4"), job("j5")]).await;
    assert_eq!(claim_within(&store, T0 + 1, limits).await.jobs.len(), 3);
}

pub async fn nothing_of_a_paused_queue_is_claimed(store: S) {
    let pause = async |paused| {
        let pause = Change::Pause {
            queue: "mail".into(),
            paused,
            now_ms: T0,
        };
        must(change(&store, pause).await);
    };
    pause(true).await;
    add(&store, [job("j1")]).await;
    assert!(queue(&store).await.paused);
    assert!(claim_jobs(&store, T0, 10).await.is_empty());
    pause(false).await;
    assert_eq!(only(&store, T0).await.lease.id.as_str(), "j1");
}

pub async fn a_delay_is_over_though_nobody_claims(store: S) {
    let later = |text: &str| NewQueued {
        at_ms: Some(T0 + 10),
        ..job(text)
    };
    add(&store, [later("j1"), later("j2")]).await;
    must(store.stalled_jobs(T0 + 9, 10).await);
    assert_eq!(read(&store, "j1").await.state, JobState::Delayed);
    must(store.stalled_jobs(T0 + 10, 10).await);
    assert_eq!(read(&store, "j1").await.state, JobState::Waiting);
    assert_eq!(counts(&store).await, [2, 0, 0, 0, 0, 0]);
    // Who empties a queue takes them too.
    add(&store, [later("j3")]).await;
    let purge = Purge {
        queue: "mail".into(),
        state: JobState::Waiting,
        before_ms: T0 + 10,
        limit: 10,
        spare: None,
    };
    assert_eq!(must(store.purge_jobs(&purge).await), 3);
}

fn unique(text: &str, lasts: Lasts, replace: bool) -> NewQueued {
    NewQueued {
        unique: Some(Unique {
            key: "k".into(),
            lasts,
            replace,
        }),
        ..job(text)
    }
}

pub async fn a_unique_name_is_taken_until_the_job_ends(store: S) {
    assert!(
        added(&store, unique("j1", Lasts::UntilEnd, false))
            .await
            .created
    );
    let second = added(&store, unique("j2", Lasts::UntilEnd, false)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, done("1")).await);
    assert!(
        added(&store, unique("j3", Lasts::UntilEnd, false))
            .await
            .created
    );
    must(steer(&store, "j3", Steer::Cancel { reason: None }, T0).await);
    assert!(
        added(&store, unique("j4", Lasts::UntilEnd, false))
            .await
            .created
    );
}

pub async fn a_job_that_is_tried_again_has_its_name_back_unless_another_had_it(store: S) {
    let retry = async |id: &str| {
        let retry = Steer::Retry { at_ms: T0 + 50 };
        must(steer(&store, id, retry, T0).await);
    };
    let fail = async |id: &str| {
        let claimed = claim_jobs(&store, T0 + 100, 1).await;
        assert_eq!(claimed[0].lease.id.as_str(), id);
        let failed = Settled::Failed { error: wrong() };
        must(settle(&store, &claimed[0].lease, T0 + 100, failed).await);
    };
    let name = |text: &str, replace| unique(text, Lasts::UntilEnd, replace);
    add(&store, [name("j1", false)]).await;
    fail("j1").await;
    retry("j1").await;
    let second = added(&store, name("j2", false)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    // What would take the place of one that has not begun does not take that of this one, but its
    // name.
    let third = NewQueued {
        at_ms: Some(T0 + 90),
        ..name("j3", true)
    };
    assert!(added(&store, third).await.created);
    fail("j1").await;
    retry("j1").await;
    let fourth = added(&store, name("j4", false)).await;
    assert_eq!((fourth.id.as_str(), fourth.created), ("j3", false));
    fail("j1").await;
    fail("j3").await;
    assert!(added(&store, name("j5", false)).await.created);
}

pub async fn a_unique_name_is_taken_for_a_time_or_as_long_as_the_job_is_known(store: S) {
    assert!(
        added(&store, unique("j1", Lasts::Until(T0 + 100), false))
            .await
            .created
    );
    let at = |text: &str, ms| NewQueued {
        created_ms: ms,
        ..unique(text, Lasts::Always, false)
    };
    assert!(!added(&store, at("j2", T0 + 99)).await.created);
    assert!(added(&store, at("j3", T0 + 100)).await.created);
    let claimed = claim_jobs(&store, T0 + 100, 10).await;
    for job in &claimed {
        must(settle(&store, &job.lease, T0 + 100, done("1")).await);
    }
    let kept = added(&store, at("j4", T0 + 9_999_999)).await;
    assert_eq!((kept.id.as_str(), kept.created), ("j3", false));
    must(steer(&store, "j3", Steer::Remove, T0).await);
    assert!(added(&store, at("j5", T0 + 9_999_999)).await.created);
}

pub async fn a_name_that_is_taken_for_a_time_outlives_the_retention_of_its_job(store: S) {
    let at = |text: &str, created_ms| NewQueued {
        created_ms,
        ..unique(text, Lasts::Until(created_ms + 1_000), false)
    };
    assert!(added(&store, at("j1", T0)).await.created);
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0 + 1, done("1")).await);
    let retention = Retention {
        completed_ms: Some(100),
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&retention, T0 + 500, 10).await), 1);
    assert!(must(store.job(&id("j1")).await).is_none());
    let second = added(&store, at("j2", T0 + 999)).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    // Its time is over, noticed by the next job or by the next sweep.
    assert_eq!(must(store.sweep(&retention, T0 + 1_000, 10).await), 0);
    assert!(added(&store, at("j3", T0 + 1_000)).await.created);
    assert!(must(store.job(&id("j3")).await).is_some());
}

pub async fn a_job_that_has_not_begun_is_replaced(store: S) {
    let with = |text: &str, at_ms, data: &str| NewQueued {
        at_ms: Some(at_ms),
        data: json(data),
        ..unique(text, Lasts::UntilEnd, true)
    };
    assert!(added(&store, with("j1", T0 + 100, "1")).await.created);
    let second = added(&store, with("j2", T0 + 200, "2")).await;
    assert_eq!((second.id.as_str(), second.created), ("j1", false));
    assert!(claim_jobs(&store, T0 + 100, 10).await.is_empty());
    let claimed = only(&store, T0 + 200).await;
    assert_eq!(claimed.data, json("2"));
    // It has begun: the next one is a job of its own.
    assert!(added(&store, with("j3", T0 + 300, "3")).await.created);
    assert_eq!(counts(&store).await, [0, 1, 1, 0, 0, 0]);
    // So it has if it failed and waits for its next attempt.
    let third = only(&store, T0 + 300).await;
    let again = Settled::Retry {
        at_ms: T0 + 900,
        error: wrong(),
    };
    must(settle(&store, &third.lease, T0 + 300, again).await);
    assert!(added(&store, with("j4", T0 + 400, "4")).await.created);
    let third = read(&store, "j3").await;
    assert_eq!((third.data, third.at_ms), (json("3"), Some(T0 + 900)));
}

pub async fn what_replaces_a_job_does_so_as_a_whole(store: S) {
    let with = |text: &str, key: Option<&str>| NewQueued {
        at_ms: Some(T0 + 100),
        key: key.map(Into::into),
        ..unique(text, Lasts::UntilEnd, true)
    };
    assert!(added(&store, with("j1", Some("a"))).await.created);
    let last = NewQueued {
        name: Some("hurry".into()),
        priority: 7,
        options: Some(json(r#"{"tags":["last"]}"#)),
        ..with("j2", Some("b"))
    };
    assert!(!added(&store, last).await.created);
    let now = read(&store, "j1").await;
    assert_eq!(now.name.as_deref(), Some("hurry"));
    assert_eq!((now.priority, now.key.as_deref()), (7, Some("b")));
    assert_eq!(now.options, Some(json(r#"{"tags":["last"]}"#)));
    assert!(!added(&store, with("j3", None)).await.created);
    assert_eq!(read(&store, "j1").await.key, None);
    // Keys that have no job any more hold nothing up.
    add(&store, [keyed("a1", "a"), keyed("b1", "b")]).await;
    assert_eq!(counts(&store).await, [2, 1, 0, 0, 0, 0]);
    assert_eq!(claim_jobs(&store, T0 + 100, 10).await.len(), 3);
}

pub async fn people_steer_jobs(store: S) {
    let later = NewQueued {
        at_ms: Some(T0 + 9_000),
        ..job("later")
    };
    add(&store, [job("a"), job("b"), later]).await;
    must(steer(&store, "b", Steer::Priority(5), T0).await);
    must(steer(&store, "later", Steer::Promote, T0).await);
    must(steer(&store, "a", Steer::Delay { at_ms: T0 + 50 }, T0).await);
    assert_eq!(ids_of(&claim_jobs(&store, T0, 10).await), ["b", "later"]);
    let a = only(&store, T0 + 50).await;
    must(
        settle(
            &store,
            &a.lease,
            T0 + 60,
            Settled::Failed { error: wrong() },
        )
        .await,
    );
    must(steer(&store, "a", Steer::Retry { at_ms: T0 }, T0 + 70).await);
    let again = only(&store, T0 + 70).await;
    assert_eq!((again.lease.id.as_str(), again.attempt), ("a", 1));
    assert_eq!(read(&store, "a").await.ended_ms, None);
    must(settle(&store, &again.lease, T0 + 80, done("1")).await);
    must(steer(&store, "a", Steer::Remove, T0).await);
    assert_eq!(must(store.job(&id("a")).await), None);
    assert_eq!(counts(&store).await, [0, 0, 2, 0, 0, 0]);
}

pub async fn a_wish_that_does_not_fit_is_refused(store: S) {
    let unknown = steer(&store, "nobody", Steer::Promote, T0).await;
    assert_eq!(refusal(unknown), "JOB_NOT_FOUND");
    add(&store, [job("a")]).await;
    for wish in [Steer::Promote, Steer::Retry { at_ms: T0 }] {
        assert_eq!(refusal(steer(&store, "a", wish, T0).await), "JOB_STATE");
    }
    let lease = only(&store, T0).await.lease;
    for wish in [
        Steer::Promote,
        Steer::Retry { at_ms: T0 },
        Steer::Remove,
        Steer::Priority(1),
        Steer::Delay { at_ms: T0 + 1 },
    ] {
        assert_eq!(refusal(steer(&store, "a", wish, T0).await), "JOB_STATE");
    }
    must(settle(&store, &lease, T0, done("1")).await);
    let cancel = Steer::Cancel { reason: None };
    assert_eq!(refusal(steer(&store, "a", cancel, T0).await), "JOB_STATE");
}

pub async fn cancelling_ends_what_waits_and_tells_the_holder_of_what_runs(store: S) {
    add(&store, [job("runs"), job("waits")]).await;
    let lease = claim_jobs(&store, T0, 1).await.remove(0).lease;
    let cancel = Steer::Cancel {
        reason: Some("enough".to_owned()),
    };
    must(steer(&store, "waits", cancel.clone(), T0 + 1).await);
    let waits = read(&store, "waits").await;
    assert_eq!(
        (waits.state, waits.ended_ms),
        (JobState::Cancelled, Some(T0 + 1))
    );
    assert_eq!(
        waits.error,
        Some(json(r#"{"code":"CANCELLED","message":"enough"}"#))
    );
    must(steer(&store, "runs", cancel, T0 + 1).await);
    assert!(read(&store, "runs").await.cancelling);
    let beats = must(store.keep_jobs(&[lease.token], T0 + 1_000).await);
    assert_eq!(beats.cancelling, [id("runs")]);
    let error = wrong();
    must(settle(&store, &lease, T0 + 2, Settled::Cancelled { error }).await);
    let runs = read(&store, "runs").await;
    assert_eq!((runs.state, runs.cancelling), (JobState::Cancelled, false));
    // Why somebody wanted it to stop is worth more than what its handler made of that.
    assert_eq!(runs.error, waits.error);
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 2]);
}

/// The holder decided on another attempt before it heard that nobody wants one any more.
pub async fn a_job_that_was_cancelled_is_not_tried_again(store: S) {
    let again = |at_ms| Settled::Retry {
        at_ms,
        error: wrong(),
    };
    for (at, outcome) in [again(T0 + 5), again(T0), Settled::Released]
        .into_iter()
        .enumerate()
    {
        let name = format!("a{at}");
        add(&store, [unique(&name, Lasts::UntilEnd, false)]).await;
        let lease = only(&store, T0).await.lease;
        let cancel = Steer::Cancel { reason: None };
        must(steer(&store, &name, cancel, T0 + 1).await);
        must(settle(&store, &lease, T0 + 2, outcome).await);
        let job = read(&store, &name).await;
        assert_eq!(
            (job.state, job.cancelling, job.ended_ms),
            (JobState::Cancelled, false, Some(T0 + 2))
        );
        assert!(claim_jobs(&store, T0 + 100, 10).await.is_empty());
    }
    assert_eq!(counts(&store).await, [0, 0, 0, 0, 0, 3]);
}

pub async fn the_reason_of_a_cancel_outlives_the_attempt(store: S) {
    let again = Settled::Retry {
        at_ms: T0,
        error: wrong(),
    };
    for (name, outcome) in [("a", again), ("b", Settled::Released)] {
        add(&store, [job(name)]).await;
        let lease = only(&store, T0).await.lease;
        let cancel = |reason: Option<&str>| Steer::Cancel {
            reason: reason.map(str::to_owned),
        };
        must(steer(&store, name, cancel(Some("enough")), T0).await);
        // Whoever cancels again without a word does not take it away.
        must(steer(&store, name, cancel(None), T0).await);
        must(settle(&store, &lease, T0 + 2, outcome).await);
        let ended = read(&store, name).await;
        assert_eq!(ended.state, JobState::Cancelled);
        let reason = json(r#"{"code":"CANCELLED","message":"enough"}"#);
        assert_eq!(ended.error, Some(reason));
    }
}

pub async fn a_job_that_succeeds_has_no_error_any_more(store: S) {
    add(&store, [job("a")]).await;
    let lease = only(&store, T0).await.lease;
    let again = Settled::Retry {
        at_ms: T0,
        error: wrong(),
    };
    must(settle(&store, &lease, T0, again).await);
    assert_eq!(read(&store, "a").await.error, Some(wrong()));
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, done("1")).await);
    assert_eq!(read(&store, "a").await.error, None);
}

pub async fn a_claim_says_since_when_a_job_could_begin(store: S) {
    let later = NewQueued {
        at_ms: Some(T0 + 500),
        ..job("later")
    };
    add(&store, [later]).await;
    let claimed = only(&store, T0 + 900).await;
    assert_eq!((claimed.created_ms, claimed.ready_ms), (T0, T0 + 500));
    let again = Settled::Retry {
        at_ms: T0 + 2_000,
        error: wrong(),
    };
    must(settle(&store, &claimed.lease, T0 + 1_000, again).await);
    let claimed = only(&store, T0 + 2_100).await;
    assert_eq!(claimed.ready_ms, T0 + 2_000);
    let error = wrong();
    must(
        settle(
            &store,
            &claimed.lease,
            T0 + 2_200,
            Settled::Failed { error },
        )
        .await,
    );
    must(steer(&store, "later", Steer::Retry { at_ms: 0 }, T0 + 5_000).await);
    assert_eq!(only(&store, T0 + 5_100).await.ready_ms, T0 + 5_000);
}

pub async fn a_list_shows_the_jobs_that_are_wanted(store: S) {
    let tagged = NewQueued {
        options: Some(json(r#"{"tags":["t","u"]}"#)),
        ..job("tagged")
    };
    let named = NewQueued {
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
        tag: some("u"),
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

pub async fn jobs_are_listed_by_state_in_pages(store: S) {
    let with = |text: &str, priority| NewQueued {
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
    let later = |text: &str, at| NewQueued {
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
    assert_eq!(refusal(store.list_jobs(&bad).await), "BAD_CURSOR");
    let unknown = JobFilter {
        queue: "nobody".into(),
        limit: 1,
        ..JobFilter::default()
    };
    assert_eq!(refusal(store.list_jobs(&unknown).await), "QUEUE_NOT_FOUND");
}

pub async fn queues_are_listed_with_their_oldest_job(store: S) {
    let other = NewQueued {
        queue: "audit".into(),
        ..job("o1")
    };
    let early = NewQueued {
        created_ms: T0 - 500,
        ..keyed("early", "k")
    };
    add(&store, [job("j1"), other, early]).await;
    let queues = must(store.queues().await);
    let names: Vec<&str> = queues.iter().map(|queue| &*queue.name).collect();
    assert_eq!(names, ["audit", "mail"]);
    assert_eq!(queues[1].oldest_ms, Some(T0 - 500));
    assert_eq!(queues[1].created_ms, T0);
}

pub async fn a_delayed_job_is_as_old_as_it_has_waited(store: S) {
    let late = |text: &str, at_ms| NewQueued {
        created_ms: T0 - 5_000,
        at_ms: Some(at_ms),
        ..job(text)
    };
    let oldest = async || must(store.queue("mail").await).and_then(|queue| queue.oldest_ms);
    add(&store, [late("a", T0 + 20), late("b", T0 + 10)]).await;
    assert_eq!(oldest().await, None);
    must(store.stalled_jobs(T0 + 30, 10).await);
    assert_eq!(oldest().await, Some(T0 + 10));
    // What is behind them in the line has waited longer.
    add(&store, [job("c")]).await;
    assert_eq!(oldest().await, Some(T0));
}

pub async fn jobs_are_purged_by_state_and_age(store: S) {
    add(&store, (0..5).map(|n| job(&format!("j{n}")))).await;
    let claimed = claim_jobs(&store, T0, 3).await;
    for (n, claimed) in claimed[..2].iter().enumerate() {
        must(settle(&store, &claimed.lease, T0 + 10 * n as i64, done("1")).await);
    }
    let purge = async |state, before_ms, limit| {
        let purge = Purge {
            queue: "mail".into(),
            state,
            before_ms,
            spare: None,
            limit,
        };
        store.purge_jobs(&purge).await
    };
    assert_eq!(must(purge(JobState::Completed, T0 + 9, 10).await), 1);
    assert_eq!(must(purge(JobState::Active, T0 + 9, 10).await), 0);
    assert_eq!(must(purge(JobState::Waiting, T0, 1).await), 1);
    assert_eq!(must(purge(JobState::Waiting, T0, 10).await), 1);
    assert_eq!(counts(&store).await, [0, 0, 1, 1, 0, 0]);
    let unknown = Purge {
        queue: "nobody".into(),
        state: JobState::Failed,
        before_ms: T0,
        spare: None,
        limit: 1,
    };
    assert_eq!(refusal(store.purge_jobs(&unknown).await), "QUEUE_NOT_FOUND");
}

pub async fn a_purge_spares_what_others_wait_for(store: S) {
    let with = |text: &str, at_ms, options: &str| NewQueued {
        at_ms,
        options: Some(json(options)),
        ..job(text)
    };
    let step = r#"{"step":{"run":"r1"}}"#;
    let no_step = r#"{"metadata":{"step":{"run":"r1"}}}"#;
    add(
        &store,
        [
            job("plain"),
            with("of-run", None, step),
            with("other", None, no_step),
            with("later", Some(T0 + 50), step),
        ],
    )
    .await;
    for (state, gone) in [(JobState::Waiting, 2), (JobState::Delayed, 0)] {
        let purge = Purge {
            queue: "mail".into(),
            state,
            before_ms: T0,
            spare: Some("step"),
            limit: 10,
        };
        assert_eq!(must(store.purge_jobs(&purge).await), gone, "{state:?}");
    }
    assert_eq!(list(&store, &[]).await, ["of-run", "later"]);
}

pub async fn an_id_that_was_chosen_is_not_that_of_another_queue(store: S) {
    let named = |text: &str, queue: &str| NewQueued {
        is_named: true,
        queue: queue.into(),
        ..job(text)
    };
    assert!(added(&store, named("j1", "mail")).await.created);
    assert!(!added(&store, named("j1", "mail")).await.created);
    let both = [named("j2", "audit"), named("j1", "audit")];
    let refused = change(&store, Change::Enqueue(both.into())).await;
    assert_eq!(refusal(refused), "JOB_ID_TAKEN");
    assert_eq!(must(store.job(&id("j2")).await), None, "all or none");
}

pub async fn a_time_that_is_over_is_no_waiting(store: S) {
    let past = NewQueued {
        at_ms: Some(T0 - 86_400_000),
        ..job("past")
    };
    add(&store, [past]).await;
    assert_eq!(only(&store, T0 + 5).await.ready_ms, T0);
}

pub async fn a_lowered_limit_of_a_key_holds_up_no_other(store: S) {
    let of = |key: &str, n: std::ops::Range<usize>| {
        let jobs: Vec<NewQueued> = n.map(|n| keyed(&format!("{key}{n}"), key)).collect();
        jobs
    };
    add(&store, of("a", 0..5)).await;
    assert_eq!(claim_jobs(&store, T0, 3).await.len(), 3);
    add(&store, of("b", 0..2)).await;
    let limits = QueueLimits {
        per_key: Some(1),
        ..QueueLimits::default()
    };
    let one = |limits| ClaimJobs {
        limits,
        ..asking(T0, 1)
    };
    let first = must(store.claim_jobs(one(limits)).await).jobs;
    assert_eq!(ids_of(&first), ["b0"]);
    must(settle(&store, &first[0].lease, T0, done("1")).await);
    // The key that has three running has none to begin: the other goes on.
    let second = must(store.claim_jobs(one(limits)).await).jobs;
    assert_eq!(ids_of(&second), ["b1"]);
}

pub async fn what_ended_well_begins_anew_and_what_failed_goes_on(store: S) {
    add(&store, [job("well"), job("failed")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    assert!(claimed.iter().all(|job| !job.has_stream));
    for job in &claimed {
        let note = Note {
            checkpoint: Some(json("7")),
            ..Note::new(&job.lease, T0)
        };
        must(change(&store, note.into()).await);
    }
    let stream = StreamName::new("job", "failed");
    must(change(&store, Change::Append(append(stream, logs(T0, 1)))).await);
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    let failed = Settled::Failed { error: wrong() };
    must(settle(&store, &claimed[1].lease, T0, failed).await);
    for job in ["well", "failed"] {
        must(steer(&store, job, Steer::Retry { at_ms: 0 }, T0 + 1).await);
    }
    let again = claim_jobs(&store, T0 + 1, 2).await;
    assert_eq!(ids_of(&again), ["well", "failed"]);
    let kept: Vec<_> = again.iter().map(|job| job.checkpoint.clone()).collect();
    assert_eq!(kept, [None, Some(json("7"))]);
    let streams: Vec<bool> = again.iter().map(|job| job.has_stream).collect();
    assert_eq!(streams, [false, true]);
}

pub async fn retention_removes_ended_jobs_with_their_streams(store: S) {
    add(&store, [job("old"), job("new"), job("waits")]).await;
    let claimed = claim_jobs(&store, T0, 2).await;
    must(settle(&store, &claimed[0].lease, T0, done("1")).await);
    must(settle(&store, &claimed[1].lease, T0 + 1_000, done("1")).await);
    let stream = StreamName::new("job", "old");
    must(change(&store, Change::Append(append(stream.clone(), logs(T0, 2)))).await);
    let last = all_events(&store, &stream).await.pop();
    assert_eq!(last.map(|event| event.kind), Some(EventType::LogInfo));
    let retention = Retention {
        completed_ms: Some(100),
        failed_ms: None,
        cancelled_ms: None,
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&retention, T0 + 500, 10).await), 1);
    assert_eq!(must(store.job(&id("old")).await), None);
    assert!(all_events(&store, &stream).await.is_empty());
    assert_eq!(counts(&store).await, [1, 0, 0, 1, 0, 0]);
}

pub async fn a_dropped_job_leaves_nothing(store: S) {
    add(&store, [keyed("j1", "k")]).await;
    let lease = only(&store, T0).await.lease;
    must(settle(&store, &lease, T0, Settled::Dropped).await);
    assert_eq!(must(store.job(&id("j1")).await), None);
    assert_eq!(counts(&store).await, [0; 6]);
}

pub async fn the_newest_job_is_the_one_added_last(store: S) {
    assert_eq!(must(store.newest_job().await), None);
    let elsewhere = NewQueued {
        queue: "other".into(),
        ..job("b")
    };
    add(&store, [job("z"), job("a"), elsewhere]).await;
    assert_eq!(must(store.newest_job().await), Some(id("b")));
    // One that is there already is not added.
    added(&store, job("z")).await;
    assert_eq!(must(store.newest_job().await), Some(id("b")));
}

pub async fn the_jobs_before_a_waiting_one_are_counted(store: S) {
    assert_eq!(must(store.jobs_ahead(&id("gone")).await), None);
    let urgent = NewQueued {
        priority: 5,
        ..job("urgent")
    };
    let later = NewQueued {
        at_ms: Some(T0 + 1_000),
        ..job("later")
    };
    let elsewhere = NewQueued {
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

pub async fn the_window_of_a_rate_is_shown(store: S) {
    add(&store, [job("a"), job("b"), job("c")]).await;
    assert_eq!(queue(&store).await.rate, None);
    let limits = QueueLimits {
        rate: Some(Rate {
            max: 2,
            window_ms: 1_000,
        }),
        ..QueueLimits::default()
    };
    claim_within(&store, T0, limits).await;
    let window = RateWindow {
        from_ms: T0,
        begun: 2,
    };
    assert_eq!(queue(&store).await.rate, Some(window));
    claim_within(&store, T0 + 1_000, limits).await;
    let window = RateWindow {
        from_ms: T0 + 1_000,
        begun: 1,
    };
    assert_eq!(queue(&store).await.rate, Some(window));
}

pub async fn many_claimers_share_a_queue_without_a_job_twice(store: S) {
    add(
        &store,
        (0..300).map(|n| keyed(&format!("j{n}"), &format!("k{}", n % 7))),
    )
    .await;
    let claimers = (0..4).map(|_| async {
        let mut mine = Vec::new();
        loop {
            let jobs = claim_jobs(&store, T0, 7).await;
            if jobs.is_empty() {
                return mine;
            }
            mine.extend(jobs.into_iter().map(|job| job.lease.id.to_string()));
        }
    });
    let mut all: Vec<String> = futures::future::join_all(claimers)
        .await
        .into_iter()
        .flatten()
        .collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 300);
    assert_eq!(queue(&store).await.active, 300);
}
