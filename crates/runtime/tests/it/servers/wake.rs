//! Runs that one server takes up while the other moves them.

use riverrun_store::{Change, Commit, Fire, GroupId};
use riverrun_types::{Json, RunId, RunStatus, StreamName};
use serde_json::json;

use super::pair::{LONG, Servers, flow};

/// Resumes the callback of a run, which no server knows yet.
async fn open(servers: &Servers, run: &RunId) {
    let fire = Fire {
        id: servers.callback(run).await,
        value: Json::null(),
        now_ms: servers.one.base().now_ms(),
        most: None,
    };
    let fire = Commit::of(Change::Fire(Box::new(fire)));
    let fired = servers.store.commit(GroupId::first(), [fire].into()).await;
    assert!(fired.iter().all(Result::is_ok), "{fired:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_was_woken_for_counts_though_somebody_moves_the_run_meanwhile() {
    let subscription = json!([{"eventKind": "tick"}]);
    let count = json!({"type": "set", "config": {"value": 1}, "subscriptions": subscription});
    let servers = Servers::new(&[flow("counts", json!({"count": count}))]).await;
    let run = servers.start("counts").await;
    let pen = &servers.pens[0];
    let held = pen.hold().await;
    open(&servers, &run).await;
    // The one takes the run up, and what it decides on comes too late to be stored.
    servers.one.base().hub().due_at(0);
    pen.is_waiting().await;
    let tick = Json::of(&json!({"type": "tick"}));
    let moved = servers
        .other
        .events()
        .append(&StreamName::flow(&run), &[tick])
        .await;
    assert_eq!(moved.unwrap().len(), 1);
    drop(held);
    let view = servers.one.runs().wait(&run, LONG).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Completed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_was_woken_for_counts_though_it_is_paused_before_it_is_taken_up() {
    let servers = Servers::new(&[flow("holds", json!({}))]).await;
    let run = servers.start("holds").await;
    open(&servers, &run).await;
    servers.one.runs().pause(&run, None).await.unwrap();
    servers.one.runs().resume(&run).await.unwrap();
    servers.one.base().hub().due_at(0);
    let view = servers.one.runs().wait(&run, LONG).await.unwrap();
    assert_eq!(view.state().status, RunStatus::Completed);
}
