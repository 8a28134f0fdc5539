//! Commits in groups and from many producers at once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use riverrun_store::{
    Advance, Change, ClaimRunTasks, Commit, Expect, Hub, NewRun, RunFilter, RunTaskChange, Writer,
};
use riverrun_types::{ErrorCode, EventType, RunStatus, StreamName};

use crate::given::*;

pub async fn a_refusal_touches_nobody_else(store: S) {
    create(&store, run("r1")).await;
    let making = |name: &str| Commit::of(Change::Create(Box::new(run(name))));
    let stale =
        Commit::of(Change::Create(Box::new(run("r9")))).and(Change::Advance(Box::new(Advance {
            expect: Expect::Turn(99),
            ..advance("r1")
        })));
    let group = vec![
        making("r2"),
        making("r1"),
        stale,
        making("r3"),
        Commit::of(Change::Append(append_to("nobody", logs(T0, 1)))),
        Commit::of(Change::Append(append_to("r1", logs(T0, 1)))),
    ];
    let codes: Vec<&str> = commit_all(&store, group)
        .await
        .into_iter()
        .map(|result| result.map_or_else(|error| error.code().as_str(), |_| "ok"))
        .collect();
    assert_eq!(
        codes,
        [
            "ok",
            ErrorCode::RunExists.as_str(),
            ErrorCode::Conflict.as_str(),
            "ok",
            ErrorCode::RunNotFound.as_str(),
            "ok"
        ]
    );
    assert_eq!(ids(&store, RunFilter::default()).await, ["r3", "r2", "r1"]);
    assert_eq!(stream_of(&store, "r1").await.len(), 2);
}

pub async fn commits_of_a_group_see_those_before(store: S) {
    let step = |turn| {
        Commit::of(Change::Advance(Box::new(Advance {
            expect: Expect::Turn(turn),
            events: logs(T0, 1),
            ..advance("r1")
        })))
    };
    let group = vec![
        Commit::of(Change::Create(Box::new(run("r1")))),
        step(1),
        step(2),
        step(2),
        Commit::of(Change::Advance(Box::new(finish("r1")))),
        step(4),
        Commit::of(Change::Delete(id("r1"))),
        Commit::of(Change::Create(Box::new(run("r1")))),
    ];
    let codes: Vec<&str> = commit_all(&store, group)
        .await
        .into_iter()
        .map(|result| result.map_or_else(|error| error.code().as_str(), |_| "ok"))
        .collect();
    assert_eq!(
        codes,
        [
            "ok",
            "ok",
            "ok",
            ErrorCode::Conflict.as_str(),
            "ok",
            ErrorCode::RunEnded.as_str(),
            "ok",
            "ok"
        ]
    );
    assert_eq!(record(&store, "r1").await.len, 1);
}

pub async fn an_empty_group_is_fine(store: S) {
    assert!(commit_all(&store, []).await.is_empty());
    assert!(
        must(commit(&store, Commit::default()).await)
            .placed
            .is_empty()
    );
}

pub async fn two_hundred_producers_lose_nothing(store: S) {
    const EACH: usize = 5;
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    let producers: Vec<_> = (0..200)
        .map(|producer| {
            let writer = writer.clone();
            tokio::spawn(async move {
                for at in 0..EACH {
                    let name = format!("p{producer:03}-{at}");
                    let new = NewRun {
                        flow: format!("f{}", producer % 7).into(),
                        events: logs(T0, 3),
                        ..run(&name)
                    };
                    must(
                        writer
                            .commit(Commit::of(Change::Create(Box::new(new))))
                            .await,
                    );
                    must(
                        writer
                            .commit(Commit::of(Change::Advance(Box::new(finish(&name)))))
                            .await,
                    );
                }
            })
        })
        .collect();
    for producer in producers {
        producer.await.expect("a producer panicked");
    }
    let filter = RunFilter {
        status: vec![RunStatus::Completed],
        limit: 300,
        ..RunFilter::default()
    };
    let found: HashSet<String> = ids(&store, filter).await.into_iter().collect();
    assert_eq!(found.len(), 200 * EACH);
    for producer in [0, 99, 199] {
        let events = stream_of(&store, &format!("p{producer:03}-{}", EACH - 1)).await;
        assert_eq!(events.len(), 4);
        assert_eq!(events[3].kind, EventType::FlowCompleted);
    }
    assert!(claim(&store, T0 + 1_000_000, 10).await.is_empty());
}

pub async fn one_stream_from_many_producers_has_one_order(store: S) {
    const EACH: usize = 20;
    let stream = StreamName::new("global", "global");
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    let producers: Vec<_> = (0..50i64)
        .map(|producer| {
            let (writer, stream) = (writer.clone(), stream.clone());
            tokio::spawn(async move {
                let mut last = None;
                for at in 0..EACH {
                    let event = draft(T0 + producer, EventType::Emit).data((producer, at));
                    let change = Change::Append(append(stream.clone(), [event].into()));
                    let receipt = must(writer.commit(Commit::of(change)).await);
                    assert!(Some(receipt.placed[0].first) > last, "later is further on");
                    last = Some(receipt.placed[0].first);
                }
            })
        })
        .collect();
    for producer in producers {
        producer.await.expect("a producer panicked");
    }
    let events = all_events(&store, &stream).await;
    assert_eq!(events.len(), 50 * EACH);
    let mut next = [0; 50];
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.id.seq, at as u64);
        let data = event.data.as_ref().expect("every event has data");
        let (producer, count): (usize, usize) = data.read().expect("a pair");
        assert_eq!(
            count, next[producer],
            "each producer's events keep their order"
        );
        next[producer] += 1;
    }
    assert!(events.is_sorted_by_key(|event| event.id));
}

pub async fn claims_and_commits_at_once_do_each_job_once(store: S) {
    const JOBS: usize = 120;
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    for at in 0..JOBS {
        let new = Commit::of(Change::Create(Box::new(run(&format!("r{at:03}")))));
        must(writer.commit(new).await);
    }
    let done = Arc::new(Mutex::new(Vec::new()));
    let workers: Vec<_> = (0..6)
        .map(|worker| {
            let (store, writer, done) = (store.clone(), writer.clone(), done.clone());
            tokio::spawn(async move {
                loop {
                    let claim = ClaimRunTasks {
                        owner: format!("w{worker}").into(),
                        limit: 5,
                        now_ms: T0,
                        until_ms: T0 + 60_000,
                    };
                    let claimed = must(store.claim_run_tasks(claim).await);
                    if claimed.is_empty() {
                        return;
                    }
                    for task in claimed {
                        let end = Advance {
                            task: RunTaskChange::Finish,
                            ..finish(task.lease.run.as_str())
                        };
                        let end = Commit::of(Change::Advance(Box::new(end)));
                        must(writer.commit(end.under(Some(task.lease.clone()))).await);
                        done.lock()
                            .expect("nobody panics with it")
                            .push(task.lease.run.to_string());
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.expect("a worker panicked");
    }
    let done = done.lock().expect("nobody panics with it");
    assert_eq!(done.len(), JOBS);
    assert_eq!(done.iter().collect::<HashSet<_>>().len(), JOBS);
}
