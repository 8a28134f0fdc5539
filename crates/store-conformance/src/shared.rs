//! Two instances on the same data.

use std::{collections::BTreeSet, sync::Arc};

use riverrun_store::{
    Advance, Awaited, Change, ClaimRunTasks, Commit, Expect, Fire, GroupId, Kinds, Lasts, LogQuery,
    Matcher, NewAwait, NewRun, NewTrigger, NextDue, RunFilter, Settle, Settled, SignalsOf,
};
use riverrun_types::{ErrorCode, QueueLimits, Rate};

use crate::{
    awaits::given::{
        awaits, by_filter, callback, end, event, expires, found, is_open, says, signal, sleepers,
        wait, waits,
    },
    given::*,
    queues::given::{add, asking, claim_within, done, ids_of, job, keyed, settle, unique, wrong},
};

/// Groups at once from each side of races.
const ROUNDS: usize = 20;

/// The answers of both handles to a change of each, made at the same time.
async fn race(one: &S, other: &S, first: Change, second: Change) -> [Result<(), &'static str>; 2] {
    let code =
        |result: riverrun_store::Result<_>| result.map(drop).map_err(|error| error.code().as_str());
    let (first, second) = tokio::join!(change(one, first), change(other, second));
    [code(first), code(second)]
}

pub async fn groups_on_the_same_runs_in_opposite_order_both_end(one: S, other: S) {
    create(&one, run("r1")).await;
    create(&one, run("r2")).await;
    let step = |name: &str| {
        Commit::of(Change::Advance(Box::new(Advance {
            events: logs(T0, 1),
            ..advance(name)
        })))
    };
    for _ in 0..ROUNDS {
        let (first, second) = tokio::join!(
            commit_all(&one, [step("r1"), step("r2")]),
            commit_all(&other, [step("r2"), step("r1")]),
        );
        for result in first.into_iter().chain(second) {
            must(result);
        }
    }
    let steps = 1 + 2 * ROUNDS as u64;
    assert_eq!(record(&other, "r1").await.turn, steps);
    assert_eq!(record(&one, "r2").await.len, steps);
}

pub async fn a_race_for_an_idempotency_key_has_one_winner(one: S, other: S) {
    for round in 0..ROUNDS {
        let new = |side: &str| {
            Change::Create(Box::new(NewRun {
                idempotency_key: Some(format!("k{round}").into()),
                ..run(&format!("{side}{round}"))
            }))
        };
        let mut answers = race(&one, &other, new("a"), new("b")).await;
        answers.sort();
        assert_eq!(answers, [Ok(()), Err(ErrorCode::Duplicate.as_str())]);
    }
    assert_eq!(ids(&other, RunFilter::default()).await.len(), ROUNDS);
}

pub async fn a_race_for_a_route_has_one_winner(one: S, other: S) {
    for round in 0..ROUNDS {
        let new = |side: &str| {
            Change::Trigger(Box::new(NewTrigger {
                id: format!("{side}{round}").into(),
                version: 1,
                kind: "http".into(),
                enabled: true,
                definition: json("{}"),
                route: Some(format!("GET /{round}").into()),
                due: NextDue::Keep,
                now_ms: T0,
            }))
        };
        let mut answers = race(&one, &other, new("a"), new("b")).await;
        answers.sort();
        assert_eq!(
            answers,
            [Ok(()), Err(ErrorCode::TriggerRouteTaken.as_str())]
        );
    }
}

pub async fn a_race_for_a_unique_name_adds_one_job(one: S, other: S) {
    let (first, second) = tokio::join!(
        add(&one, [unique("a", Lasts::UntilEnd, false)]),
        add(&other, [unique("b", Lasts::UntilEnd, false)]),
    );
    let all: Vec<_> = first.into_iter().chain(second).collect();
    assert_eq!(all.iter().filter(|added| added.created).count(), 1);
    assert_eq!(all[0].id, all[1].id);
}

pub async fn a_concurrency_limit_holds_for_both(one: S, other: S) {
    add(&one, (0..10).map(|at| job(&format!("j{at}")))).await;
    let limits = QueueLimits {
        concurrency: Some(3),
        ..QueueLimits::default()
    };
    let (first, second) = tokio::join!(
        claim_within(&one, T0, limits),
        claim_within(&other, T0, limits),
    );
    assert_eq!(first.jobs.len() + second.jobs.len(), 3);
}

pub async fn a_rate_limit_holds_for_both(one: S, other: S) {
    add(&one, (0..10).map(|at| job(&format!("j{at}")))).await;
    let limits = QueueLimits {
        rate: Some(Rate {
            max: 4,
            window_ms: 1_000,
        }),
        ..QueueLimits::default()
    };
    let (first, second) = tokio::join!(
        claim_within(&one, T0, limits),
        claim_within(&other, T0, limits),
    );
    assert_eq!(first.jobs.len() + second.jobs.len(), 4);
}

pub async fn an_expired_lease_is_taken_over_and_fences_its_holder(one: S, other: S) {
    create(&one, run("r1")).await;
    let claim = |owner: &str, now_ms| ClaimRunTasks {
        owner: owner.into(),
        limit: 1,
        now_ms,
        until_ms: now_ms + 100,
    };
    let held = must(one.claim_run_tasks(claim("a", T0)).await)
        .remove(0)
        .lease;
    assert!(must(other.claim_run_tasks(claim("b", T0 + 99)).await).is_empty());
    let taken = must(other.claim_run_tasks(claim("b", T0 + 100)).await)
        .remove(0)
        .lease;
    let park = |at_ms| Change::Advance(Box::new(park("r1", at_ms)));
    let late = commit(&one, Commit::of(park(T0 + 500)).under(Some(held))).await;
    assert_eq!(refusal(late), ErrorCode::LeaseLost);
    must(commit(&other, Commit::of(park(T0 + 900)).under(Some(taken))).await);
    assert_eq!(must(one.next_due().await), Some(T0 + 900));
    // The same holds for jobs.
    add(&other, [job("j1")]).await;
    let held = must(one.claim_jobs(asking(T0, 1)).await).jobs.remove(0);
    let (stalled, _) = must(other.stalled_jobs(T0 + 30_000, 10).await);
    assert_eq!(stalled[0].job.lease, held.lease);
    let lost = Settled::Lost { error: wrong() };
    let take_over = |now_ms| Settle {
        if_expired: true,
        ..Settle::new(&held.lease, lost.clone(), now_ms)
    };
    let early = change(&other, take_over(T0 + 29_999).into()).await;
    assert_eq!(refusal(early), ErrorCode::JobLost);
    must(change(&other, take_over(T0 + 30_000).into()).await);
    let next = must(other.claim_jobs(asking(T0 + 30_000, 1)).await).jobs;
    assert_eq!(ids_of(&next), ["j1"]);
    let late = settle(&one, &held.lease, T0 + 30_000, done("1")).await;
    assert_eq!(refusal(late), ErrorCode::JobLost);
}

pub async fn a_reader_of_the_log_misses_nothing_of_two_writers(one: S, other: S) {
    create(&one, run("r1")).await;
    create(&one, run("r2")).await;
    let write = |store: S, name: &'static str| {
        tokio::spawn(async move {
            for at in 0..ROUNDS as u64 {
                let append = riverrun_store::Append {
                    expect: Expect::Len(1 + at),
                    ..append_to(name, logs(T0, 1))
                };
                must(change(&store, Change::Append(append)).await);
            }
        })
    };
    let writers = [write(one.clone(), "r1"), write(other.clone(), "r2")];
    let mut seen = BTreeSet::new();
    let mut after = 0;
    while seen.len() < 2 + 2 * ROUNDS {
        let query = LogQuery {
            after,
            kinds: Kinds::default(),
            limit: 3,
            max_bytes: 1 << 20,
        };
        // Asked before the page is read: the page contains everything that was written by then.
        let are_over = writers.iter().all(|writer| writer.is_finished());
        let page = must(other.log(&query).await);
        for logged in page.events {
            assert!(seen.insert(logged.no), "{} came twice", logged.no);
        }
        let is_done = are_over && page.is_end && page.next == after;
        assert!(
            !is_done || seen.len() == 2 + 2 * ROUNDS,
            "events are missing"
        );
        after = page.next;
        tokio::task::yield_now().await;
    }
    for writer in writers {
        writer.await.expect("a writer panicked");
    }
}

pub async fn a_limit_of_a_key_holds_for_both(one: S, other: S) {
    add(&one, (0..10).map(|at| keyed(&format!("j{at}"), "k"))).await;
    let limits = QueueLimits {
        per_key: Some(2),
        ..QueueLimits::default()
    };
    let (first, second) = tokio::join!(
        claim_within(&one, T0, limits),
        claim_within(&other, T0, limits),
    );
    assert_eq!(first.jobs.len() + second.jobs.len(), 2);
}

pub async fn an_await_expires_or_its_event_arrives(one: S, other: S) {
    for (kind, what) in [("plain", Matcher::Any), ("filtered", by_filter(&[]))] {
        for round in 0..ROUNDS {
            let name = format!("{kind}-{round}");
            sleepers(&one, &[&name]).await;
            wait(&one, awaits(&name, &name, event(kind, what.clone()))).await;
            let (expired, said) = tokio::join!(
                change(&one, expires(name.as_str().into(), 0, 0)),
                change(&other, says(signal(kind, "{}"))),
            );
            let said = must(said);
            let has_arrived = said.signalled || said.woken == [id(&name)];
            match expired {
                Ok(_) => assert!(!has_arrived, "{name} was over"),
                Err(error) => {
                    assert_eq!(error.code(), ErrorCode::Conflict);
                    assert!(has_arrived, "{name} expired because of its event");
                }
            }
            end(&one, &name).await;
        }
    }
}

pub async fn an_await_that_looks_back_misses_no_event(one: S, other: S) {
    for (kind, what) in [("plain", Matcher::Any), ("filtered", by_filter(&[]))] {
        for round in 0..ROUNDS {
            let (name, kind) = (format!("{kind}-{round}"), format!("{kind}-{round}"));
            sleepers(&one, &[&name]).await;
            let looks_back = NewAwait {
                what: Awaited::Event {
                    kind: kind.as_str().into(),
                    matcher: what.clone(),
                    lookback_ms: Some(5_000),
                },
                ..awaits(&name, &name, callback(false))
            };
            let (waits, said) = tokio::join!(
                change(&one, waits(looks_back)),
                change(&other, says(signal(&kind, "{}"))),
            );
            must(waits);
            must(said);
            let signals = must(other.signals(SignalsOf::Await(&name), 0, 10).await);
            match what {
                Matcher::Any => assert!(!is_open(&one, &name).await),
                _ => assert_eq!(signals.len(), 1, "{name} has its event to judge"),
            }
        }
    }
}

pub async fn a_callback_is_used_up_once(one: S, other: S) {
    for round in 0..ROUNDS {
        let name = format!("a{round}");
        sleepers(&one, &[&name]).await;
        wait(&one, awaits(&name, &name, callback(true))).await;
        let fire = |store: &S, value: usize| {
            let fire = Change::Fire(Box::new(Fire {
                id: name.as_str().into(),
                value: json(&value.to_string()),
                now_ms: T0,
                most: Some(3),
            }));
            let store = store.clone();
            async move { change(&store, fire).await }
        };
        let fires = (0..3).flat_map(|at| [fire(&one, at), fire(&other, 3 + at)]);
        let fired = futures::future::join_all(fires).await;
        let (fired, refused): (Vec<_>, Vec<_>) = fired.into_iter().partition(Result::is_ok);
        assert_eq!(fired.len(), 3);
        for refused in refused {
            assert_eq!(refusal(refused), ErrorCode::AwaitUsed);
        }
        assert_eq!(found(&other, &name).await.values.len(), 3);
    }
}

/// A writer that has lost an answer sends its group again under the same id.
pub async fn a_group_that_is_sent_again_is_applied_once(one: S, other: S) {
    create(&one, run("r1")).await;
    let append = riverrun_store::Append {
        expect: Expect::Len(1),
        ..append_to("r1", logs(T0, 1))
    };
    let group: Arc<[Commit]> = [Commit::of(Change::Append(append))].into();
    let group_id = GroupId::first();
    let first = must(one.commit(group_id.clone(), group.clone()).await.remove(0));
    let again = other.commit(group_id, group).await.remove(0);
    match one.remembers_groups() {
        true => assert_eq!(must(again), first),
        false => assert_eq!(refusal(again), ErrorCode::Conflict),
    }
    assert_eq!(record(&one, "r1").await.len, 2);
}
