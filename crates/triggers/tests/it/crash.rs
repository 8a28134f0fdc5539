//! Deaths at every moment at which a trigger writes something, on a real embedded store.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex},
};

use riverrun_store::{EventQuery, adapter::HealthStore};
use riverrun_store_conformance::{mortal::Mortal, through::Through};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, RunStatus, StreamName, time};
use serde_json::{Value, json};

use crate::given::*;

/// Due times of the schedule that are waited for, and events that are emitted.
const TICKS: usize = 3;
const PINGS: usize = 2;

/// The events that were acknowledged, in whatever life.
type Acknowledged = Arc<Mutex<Vec<usize>>>;

#[test]
fn nothing_is_started_twice_or_forgotten_whenever_the_server_dies() {
    for moment in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let acknowledged = Acknowledged::default();
        eprintln!("the first life ends at moment {moment}");
        if live(folder.path(), &acknowledged, moment) {
            assert!(moment > 2 * (TICKS + PINGS));
            return;
        }
        if !live(folder.path(), &acknowledged, moment % 5) {
            assert!(live(folder.path(), &acknowledged, usize::MAX));
        }
    }
}

/// Whether it lived to the end of the story.
fn live(folder: &Path, acknowledged: &Acknowledged, moments: usize) -> bool {
    let threads = tokio::runtime::Runtime::new().unwrap();
    let mortal = Arc::new(Mortal::after(moments));
    let options = riverrun_store_sqlite::Options::new(folder);
    let sqlite = SqliteStore::open(options).unwrap();
    let lived = threads.block_on(async {
        let store = Through::new(sqlite.clone(), mortal.clone());
        let acknowledged = acknowledged.clone();
        let running =
            tokio::spawn(async move { send_all(Given::on(store).await, &acknowledged).await });
        tokio::select! {
            done = running => {
                done.unwrap();
                true
            }
            () = mortal.died() => false,
        }
    });
    threads.shutdown_timeout(LONG);
    // Triggers and runtime hold each other until a shutdown, which the dead do not have.
    let close = tokio::runtime::Runtime::new().unwrap();
    let _ = close.block_on(sqlite.close());
    lived
}

async fn send_all(given: Given, acknowledged: &Acknowledged) {
    for (id, missed) in [("all", "all"), ("once", "once")] {
        if given.triggers.show(id).await.is_err() {
            let config = json!({"everyMs": 100, "missed": missed});
            let schedule = json!({"id": id, "type": "schedule", "flow": "order", "config": config});
            given.put(schedule).await;
        }
    }
    if given.triggers.show("ping").await.is_err() {
        let config = json!({"kind": "ping", "when": "event.data.n >= 0"});
        given
            .put(json!({"id": "ping", "type": "event", "flow": "order", "config": config}))
            .await;
    }
    for n in 0..PINGS {
        if acknowledged.lock().unwrap().contains(&n) {
            continue;
        }
        let event = Json::of(&json!({"type": "ping", "data": {"n": n}}));
        let stream = StreamName::new("global", "global");
        given
            .runtime
            .events()
            .append(&stream, &[event])
            .await
            .unwrap();
        acknowledged.lock().unwrap().push(n);
    }
    given.until("all", "trigger.fired", TICKS).await;
    given.until("once", "trigger.fired", 1).await;
    let stream = StreamName::new("global", "global");
    let query = EventQuery::forward(0, 1_000);
    let store = given.runtime.base().store();
    let mut emitted = store.events(&stream, &query).await.unwrap();
    emitted.retain(|event| event.kind.as_str() == "ping");
    given.until("ping", "trigger.fired", emitted.len()).await;
    for id in ["all", "once"] {
        given.triggers.enable(id, false).await.unwrap();
    }
    let mut of: HashMap<String, Vec<Value>> = HashMap::new();
    for run in given.runs().await {
        let view = given.runtime.runs().wait(&run.id, LONG).await.unwrap();
        assert_eq!(view.state().status, RunStatus::Completed);
        let origin = origin(&run);
        let id = origin["id"].as_str().unwrap().to_owned();
        of.entry(id).or_default().push(origin);
    }
    for (id, runs) in &of {
        let fired = given.shown(id).await["stats"]["fired"].clone();
        assert_eq!(fired, runs.len(), "{id}: {runs:#?}");
    }
    let due = |id: &str| {
        let due = of[id].iter().map(|origin| &origin["dueAt"]);
        let mut due: Vec<i64> = due
            .map(|due| time::parse(due.as_str().unwrap()).unwrap())
            .collect();
        due.sort_unstable();
        due
    };
    let ticks = due("all");
    assert!(
        ticks.windows(2).all(|pair| pair[1] - pair[0] == 100),
        "each once and none left out: {ticks:?}"
    );
    let ticks = due("once");
    assert!(ticks.windows(2).all(|pair| pair[1] > pair[0]), "{ticks:?}");
    // Every event that is there started one run, and what was acknowledged is there.
    let mut seqs: Vec<u64> = of["ping"]
        .iter()
        .map(|origin| origin["requestId"].as_str().unwrap().parse().unwrap())
        .collect();
    seqs.sort_unstable();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "{seqs:?}");
    assert_eq!(seqs.len(), emitted.len());
    let there: Vec<Value> = emitted
        .iter()
        .map(|event| event.data.as_ref().unwrap().value()["n"].clone())
        .collect();
    assert!((0..PINGS).all(|n| there.contains(&json!(n))), "{there:?}");
    given.runtime.shutdown().await.unwrap();
}
