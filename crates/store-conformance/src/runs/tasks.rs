//! Jobs and leases: claiming, keeping, parking, waking, fencing.

use std::collections::HashSet;

use riverrun_store::{
    Advance, Beat, Change, ClaimRunTasks, Commit, NewRun, NewRunTask, Reclaimed, RunLease,
    RunTaskChange,
};
use riverrun_types::{ErrorCode, Millis, time::NEVER};

use crate::given::*;

fn ready(name: &str, at_ms: Millis) -> NewRun {
    NewRun {
        task: Some(NewRunTask::Ready { at_ms }),
        ..run(name)
    }
}

async fn beat(store: &S, lease: &RunLease, until_ms: Millis) -> Beat {
    let beats = must(store.heartbeat(std::slice::from_ref(lease), until_ms).await);
    assert_eq!(beats.len(), 1);
    beats[0]
}

async fn wake(store: &S, run: &str) {
    must(change(store, Change::Wake(id(run))).await);
}

pub async fn a_ready_task_is_claimed_once(store: S) {
    create(&store, ready("r1", T0)).await;
    let claimed = claim(&store, T0, 10).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].lease.run, id("r1"));
    assert_eq!((&*claimed[0].flow, &*claimed[0].version), ("f", "1"));
    assert_eq!(claimed[0].due_ms, T0);
    assert!(claim(&store, T0 + 1, 10).await.is_empty());
}

pub async fn a_task_is_not_claimed_before_its_time(store: S) {
    create(&store, ready("r1", T0 + 50)).await;
    create(&store, ready("never", NEVER)).await;
    assert!(claim(&store, T0 + 49, 10).await.is_empty());
    assert_eq!(claim_one(&store, T0 + 50).await.run, id("r1"));
}

pub async fn the_earliest_due_comes_first(store: S) {
    for (name, at) in [("c", 30), ("a", 10), ("d", 40), ("b", 20)] {
        create(&store, ready(name, T0 + at)).await;
    }
    // A lease that ran out between them takes its place by when it ran out.
    let lease = claim(&store, T0 + 10, 1).await.remove(0).lease;
    assert_eq!(lease.run, id("a"));
    beat(&store, &lease, T0 + 25).await;
    let order: Vec<String> = claim(&store, T0 + 100, 10)
        .await
        .iter()
        .map(|claimed| format!("{}@{}", claimed.lease.run, claimed.due_ms - T0))
        .collect();
    assert_eq!(order, ["b@20", "a@25", "c@30", "d@40"]);
}

pub async fn a_claim_takes_no_more_than_its_limit(store: S) {
    for at in 0..7 {
        create(&store, ready(&format!("r{at}"), T0)).await;
    }
    assert!(claim(&store, T0, 0).await.is_empty());
    let counts = [
        claim(&store, T0, 3).await.len(),
        claim(&store, T0, 3).await.len(),
        claim(&store, T0, 3).await.len(),
    ];
    assert_eq!(counts, [3, 3, 1]);
}

pub async fn a_lease_that_ran_out_is_claimed_again(store: S) {
    create(&store, run("r1")).await;
    let first = claim_one(&store, T0).await;
    assert!(claim(&store, T0 + 999, 10).await.is_empty());
    let second = claim(&store, T0 + 1_000, 10).await.remove(0);
    assert_eq!(second.lease.run, first.run);
    assert_ne!(second.lease.token, first.token);
    assert_eq!(second.due_ms, T0 + 1_000);
}

pub async fn a_heartbeat_keeps_a_lease(store: S) {
    create(&store, run("r1")).await;
    create(&store, run("r2")).await;
    let leases: Vec<RunLease> = claim(&store, T0, 10)
        .await
        .into_iter()
        .map(|c| c.lease)
        .collect();
    let strange = RunLease {
        run: id("nobody"),
        token: 1,
    };
    let asked = [leases[0].clone(), strange, leases[1].clone()];
    let beats = must(store.heartbeat(&asked, T0 + 5_000).await);
    assert_eq!(beats, [Beat::Held, Beat::Lost, Beat::Held]);
    assert!(claim(&store, T0 + 4_999, 10).await.is_empty());
    assert_eq!(claim(&store, T0 + 5_000, 10).await.len(), 2);
    let beats = must(store.heartbeat(&asked, T0 + 9_000).await);
    assert_eq!(beats, [Beat::Lost; 3]);
    assert!(must(store.heartbeat(&[], T0).await).is_empty());
}

pub async fn a_lost_lease_can_record_nothing(store: S) {
    create(&store, run("r1")).await;
    let old = claim_one(&store, T0).await;
    let new = claim_one(&store, T0 + 5_000).await;
    let refused = decide_under(&store, finish("r1"), &old).await;
    assert_eq!(refusal(refused.clone()), ErrorCode::LeaseLost);
    assert_eq!(named(refused), id("r1"));
    let other = Commit::of(Change::Create(Box::new(run("r2")))).under(Some(old));
    assert_eq!(refusal(commit(&store, other).await), ErrorCode::LeaseLost);
    assert!(must(store.run(&id("r2")).await).is_none());
    assert_eq!(record(&store, "r1").await.len, 1);
    must(decide_under(&store, finish("r1"), &new).await);
}

pub async fn a_commit_under_a_held_lease_passes(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    let log = Commit::of(Change::Append(append_to("r1", logs(T0, 1))));
    must(commit(&store, log.under(Some(lease.clone()))).await);
    // An expired lease is held until another instance claims the task.
    must(decide_under(&store, finish("r1"), &lease).await);
    assert_eq!(
        refusal(decide_under(&store, advance("r1"), &lease).await),
        ErrorCode::LeaseLost
    );
}

pub async fn tokens_are_never_given_twice(store: S) {
    for at in 0..10 {
        create(&store, run(&format!("r{at}"))).await;
    }
    let mut seen = HashSet::new();
    for round in 0..5 {
        for claimed in claim(&store, T0 + round * 1_000, 10).await {
            assert!(seen.insert(claimed.lease.token));
        }
    }
    assert_eq!(seen.len(), 50);
}

pub async fn parking_gives_the_lease_back(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    must(decide_under(&store, park("r1", T0 + 500), &lease).await);
    assert_eq!(beat(&store, &lease, T0 + 9_000).await, Beat::Lost);
    assert!(claim(&store, T0 + 499, 10).await.is_empty());
    let claimed = claim(&store, T0 + 500, 10).await;
    assert_eq!(claimed[0].due_ms, T0 + 500);
}

pub async fn a_task_woken_while_leased_is_due_when_parked(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    wake(&store, "r1").await;
    assert!(
        claim(&store, T0 + 1, 10).await.is_empty(),
        "it is still held"
    );
    let receipt = must(decide_under(&store, park("r1", NEVER), &lease).await);
    assert_eq!(receipt.woken, [id("r1")], "the receipt names the woken run");
    let lease = claim_one(&store, T0 + 1).await;
    // The wake is used up.
    let receipt = must(decide_under(&store, park("r1", NEVER), &lease).await);
    assert!(receipt.woken.is_empty());
    assert!(claim(&store, T0 + 1, 10).await.is_empty());
}

pub async fn a_wake_is_reported_once_and_not_forgotten(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Held);
    wake(&store, "r1").await;
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Woken);
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Held);
    wake(&store, "r1").await;
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Woken);
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Held);
    must(decide_under(&store, park("r1", NEVER), &lease).await);
    claim_one(&store, T0).await;
}

pub async fn a_new_claim_starts_unwoken(store: S) {
    create(&store, run("r1")).await;
    claim_one(&store, T0).await;
    wake(&store, "r1").await;
    let second = claim_one(&store, T0 + 5_000).await;
    assert_eq!(beat(&store, &second, T0 + 9_000).await, Beat::Held);
    must(decide_under(&store, park("r1", NEVER), &second).await);
    assert!(claim(&store, T0 + 5_000, 10).await.is_empty());
}

pub async fn parking_by_somebody_else_wakes_the_holder(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    must(decide(&store, park("r1", T0 + 7_000)).await);
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Woken);
    must(decide_under(&store, park("r1", NEVER), &lease).await);
    let lease = claim_one(&store, T0).await;
    // So does the holder of another run's lease.
    create(&store, run("r2")).await;
    let other = claim_one(&store, T0).await;
    must(decide_under(&store, park("r1", NEVER), &other).await);
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Woken);
    assert_eq!(beat(&store, &other, T0 + 2_000).await, Beat::Held);
}

pub async fn parking_a_free_task_moves_it(store: S) {
    create(&store, ready("r1", T0 + 10)).await;
    must(decide(&store, park("r1", T0 + 500)).await);
    assert!(claim(&store, T0 + 499, 10).await.is_empty());
    must(decide(&store, park("r1", T0 + 20)).await);
    claim_one(&store, T0 + 20).await;
    // A run that has no task gets one.
    let jobless = NewRun {
        task: None,
        ..run("r2")
    };
    create(&store, jobless).await;
    must(decide(&store, park("r2", T0 + 5)).await);
    assert_eq!(claim_one(&store, T0 + 5).await.run, id("r2"));
}

pub async fn waking_makes_a_parked_task_due(store: S) {
    create(&store, ready("r1", NEVER)).await;
    assert!(claim(&store, T0, 10).await.is_empty());
    wake(&store, "r1").await;
    claim_one(&store, T0).await;
}

pub async fn parking_by_somebody_else_takes_back_no_wake(store: S) {
    create(&store, ready("r1", T0 + 10)).await;
    wake(&store, "r1").await;
    must(decide(&store, park("r1", NEVER)).await);
    let lease = claim_one(&store, T0).await;
    // The woken holder has looked.
    must(decide_under(&store, park("r1", T0 + 500), &lease).await);
    must(decide(&store, park("r1", NEVER)).await);
    assert!(claim(&store, T0 + 500, 10).await.is_empty());
}

pub async fn waking_a_run_without_task_changes_nothing(store: S) {
    create(&store, finished("r1")).await;
    wake(&store, "r1").await;
    wake(&store, "nobody").await;
    assert!(claim(&store, T0 + 1, 10).await.is_empty());
}

pub async fn a_finished_task_is_gone_and_so_is_its_lease(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    // Another writer, such as a cancel request, ends the run.
    must(decide(&store, finish("r1")).await);
    assert_eq!(beat(&store, &lease, T0 + 9_000).await, Beat::Lost);
    assert_eq!(
        refusal(decide_under(&store, advance("r1"), &lease).await),
        ErrorCode::LeaseLost
    );
    assert!(claim(&store, T0 + 1_000_000, 10).await.is_empty());
}

pub async fn keeping_a_task_leaves_its_lease(store: S) {
    create(&store, run("r1")).await;
    let lease = claim_one(&store, T0).await;
    let keep = Advance {
        task: RunTaskChange::Keep,
        ..advance("r1")
    };
    must(decide_under(&store, keep.clone(), &lease).await);
    must(decide(&store, keep).await);
    assert_eq!(beat(&store, &lease, T0 + 2_000).await, Beat::Held);
}

pub async fn next_due_is_the_earliest_of_both(store: S) {
    assert_eq!(must(store.next_due().await), None);
    create(&store, ready("never", NEVER)).await;
    assert_eq!(must(store.next_due().await), None);
    create(&store, ready("r1", T0 + 5_000)).await;
    create(&store, ready("r2", T0)).await;
    assert_eq!(must(store.next_due().await), Some(T0));
    claim_one(&store, T0).await;
    assert_eq!(must(store.next_due().await), Some(T0 + 1_000));
    let lease = claim_one(&store, T0 + 1_000).await;
    beat(&store, &lease, T0 + 9_000).await;
    assert_eq!(must(store.next_due().await), Some(T0 + 5_000));
    must(decide_under(&store, finish("r2"), &lease).await);
    assert_eq!(must(store.next_due().await), Some(T0 + 5_000));
}

/// Only a store with one owner may hand leases back; another says of nothing, and waits for expiry.
pub async fn reclaim_hands_back_every_lease_or_none(store: S) {
    for at in 0..3 {
        create(&store, run(&format!("r{at}"))).await;
    }
    let held = claim(&store, T0, 2).await;
    match must(store.reclaim().await) {
        Reclaimed { runs, .. } if runs.is_empty() => {
            assert_eq!(claim(&store, T0, 10).await.len(), 1)
        }
        reclaimed => {
            let runs: Vec<_> = held.iter().map(|held| held.lease.run.clone()).collect();
            let jobs = Vec::new();
            assert_eq!(reclaimed, Reclaimed { runs, jobs });
            let old = &held[0].lease;
            assert_eq!(beat(&store, old, T0 + 9_000).await, Beat::Lost);
            assert_eq!(claim(&store, T0, 10).await.len(), 3);
            assert_eq!(
                refusal(decide_under(&store, advance("r0"), old).await),
                ErrorCode::LeaseLost
            );
        }
    }
}

pub async fn a_park_under_a_lost_lease_is_refused(store: S) {
    create(&store, run("r1")).await;
    let old = claim_one(&store, T0).await;
    let claim = ClaimRunTasks {
        owner: "other".into(),
        limit: 1,
        now_ms: T0 + 5_000,
        until_ms: T0 + 9_000,
    };
    let new = must(store.claim_run_tasks(claim).await).remove(0).lease;
    assert_eq!(
        refusal(decide_under(&store, park("r1", T0), &old).await),
        ErrorCode::LeaseLost
    );
    assert_eq!(beat(&store, &new, T0 + 9_000).await, Beat::Held);
}
