//! The limits of a claim: of a queue and of a key, rates, batches, a pause.

use riverrun_store::{Change, ClaimJobs, NewJob, RateWindow};
use riverrun_types::{Gather, QueueLimits, Rate};

use super::given::*;
use crate::given::*;

pub async fn a_queue_has_at_most_so_many_active_jobs(store: S) {
    add(&store, (0..3).map(|n| job(&format!("j{n}")))).await;
    let limits = QueueLimits {
        concurrency: Some(2),
        ..QueueLimits::default()
    };
    let claimed = claim_within(&store, T0, limits).await;
    assert!(claimed.are_left, "one of three has to wait");
    let first = claimed.jobs;
    assert_eq!(ids_of(&first), ["j0", "j1"]);
    let none = claim_within(&store, T0, limits).await;
    assert!(none.jobs.is_empty() && none.are_left);
    must(settle(&store, &first[0].lease, T0, done("1")).await);
    let last = claim_within(&store, T0, limits).await;
    assert_eq!(ids_of(&last.jobs), ["j2"]);
    assert!(!last.are_left);
    assert!(!claim_within(&store, T0, limits).await.are_left);
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

pub async fn a_lowered_limit_of_a_key_holds_up_no_other(store: S) {
    let of = |key: &str, n: std::ops::Range<usize>| {
        let jobs: Vec<NewJob> = n.map(|n| keyed(&format!("{key}{n}"), key)).collect();
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

fn batches_of(count: u32, wait_ms: i64) -> QueueLimits {
    QueueLimits {
        gather: Some(Gather { count, wait_ms }),
        ..QueueLimits::default()
    }
}

pub async fn a_batch_is_whole_and_what_is_left_waits_for_the_next(store: S) {
    let limits = batches_of(4, 1_000);
    add(&store, (1..6).map(|n| job(&format!("j{n}")))).await;
    let whole = claim_within(&store, T0 + 10, limits).await;
    assert_eq!(ids_of(&whole.jobs), ["j1", "j2", "j3", "j4"]);
    assert_eq!(whole.next_ms, Some(T0 + 1_000));
    add(&store, (6..9).map(|n| job(&format!("j{n}")))).await;
    let whole = claim_within(&store, T0 + 200, limits).await;
    assert_eq!(ids_of(&whole.jobs), ["j5", "j6", "j7", "j8"]);
    assert_eq!(whole.next_ms, None);
    // A part of a batch begins when it has waited, together with the whole batches beside it.
    add(&store, (1..6).map(|n| job(&format!("k{n}")))).await;
    let late = claim_within(&store, T0 + 1_000, limits).await;
    assert_eq!((late.jobs.len(), late.next_ms), (5, None));
    // Without a wait for a batch, all jobs begin at once.
    add(&store, (1..6).map(|n| job(&format!("l{n}")))).await;
    let claimed = claim_within(&store, T0, batches_of(4, 0)).await;
    assert_eq!(claimed.jobs.len(), 5);
}

pub async fn a_batch_is_not_cut_where_there_is_room_for_less(store: S) {
    add(&store, (0..40).map(|n| job(&format!("j{n:02}")))).await;
    let asking_for = |limit, limits| ClaimJobs {
        limits,
        ..asking(T0 + 5_000, limit)
    };
    let limits = batches_of(10, 1_000);
    let first = must(store.claim_jobs(asking_for(16, limits)).await).jobs;
    assert_eq!(first.len(), 10, "they have waited, and yet none is cut off");
    let limits = QueueLimits {
        concurrency: Some(25),
        ..limits
    };
    let second = must(store.claim_jobs(asking_for(100, limits)).await).jobs;
    assert_eq!(second.len(), 10, "ten of twenty-five run");
    let none = must(store.claim_jobs(asking_for(100, limits)).await).jobs;
    assert!(none.is_empty(), "there is room for five");
}

pub async fn a_batch_is_no_larger_than_its_rate(store: S) {
    add(&store, (0..20).map(|n| job(&format!("j{n:02}")))).await;
    let within = |max, wait_ms| QueueLimits {
        rate: Some(Rate {
            max,
            window_ms: 1_000,
        }),
        ..batches_of(5, wait_ms)
    };
    // More than three never begin in a window: that is a batch.
    let few = claim_within(&store, T0, within(3, 60_000)).await;
    assert_eq!((few.jobs.len(), few.next_ms), (3, Some(T0 + 1_000)));
    let some = claim_within(&store, T0 + 1_000, within(7, 60_000)).await;
    assert_eq!((some.jobs.len(), some.next_ms), (5, Some(T0 + 2_000)));
    let left = claim_within(&store, T0 + 1_500, within(7, 1_000)).await;
    assert_eq!(left.jobs.len(), 2, "they have waited, and may begin");
}

pub async fn a_batch_counts_what_its_keys_let_begin(store: S) {
    let limits = QueueLimits {
        per_key: Some(1),
        ..batches_of(3, 1_000)
    };
    add(&store, (0..4).map(|n| keyed(&format!("a{n}"), "a"))).await;
    let held = claim_within(&store, T0, limits).await;
    assert_eq!((held.jobs.len(), held.next_ms), (0, Some(T0 + 1_000)));
    add(&store, [keyed("b0", "b"), job("x0")]).await;
    let whole = claim_within(&store, T0 + 10, limits).await.jobs;
    let mut found = ids_of(&whole);
    found.sort_unstable();
    assert_eq!(found, ["a0", "b0", "x0"]);
    // Those that their key holds back have waited long: they do not hurry others.
    let mut young = job("x1");
    young.created_ms = T0 + 5_000;
    add(&store, [young]).await;
    let held = claim_within(&store, T0 + 5_000, limits).await;
    assert_eq!((held.jobs.len(), held.next_ms), (0, Some(T0 + 6_000)));
    let late = claim_within(&store, T0 + 6_000, limits).await.jobs;
    assert_eq!(ids_of(&late), ["x1"]);
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
