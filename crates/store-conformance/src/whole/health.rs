//! The store about itself.

use riverrun_store::{EventQuery, NewRun, NewRunTask, RunFilter};
use riverrun_types::{ErrorCode, StreamName, time::NEVER};

use crate::given::*;

pub async fn a_check_passes(store: S) {
    must(store.check().await);
    must(store.check().await);
}

pub async fn it_describes_itself(store: S) {
    let facts = must(store.describe().await);
    assert!(facts.get("adapter").is_some(), "{facts:?}");
}

pub async fn stats_count_jobs(store: S) {
    assert_eq!(must(store.stats().await).ready, 0);
    for (name, at_ms) in [("r1", T0), ("r2", T0), ("r3", NEVER), ("r4", T0)] {
        let new = NewRun {
            task: Some(NewRunTask::Ready { at_ms }),
            ..run(name)
        };
        create(&store, new).await;
    }
    claim(&store, T0, 1).await;
    let stats = must(store.stats().await);
    assert_eq!((stats.ready, stats.leased, stats.parked), (2, 1, 1));
}

pub async fn a_closed_store_says_so(store: S) {
    create(&store, run("r1")).await;
    must(store.close().await);
    assert_eq!(
        refusal(decide(&store, advance("r1")).await),
        ErrorCode::StoreClosed
    );
    assert_eq!(refusal(store.run(&id("r1")).await), ErrorCode::StoreClosed);
    assert_eq!(refusal(store.check().await), ErrorCode::StoreClosed);
    assert_eq!(
        refusal(store.list_runs(&RunFilter::default()).await),
        ErrorCode::StoreClosed
    );
    let stream = StreamName::flow(&id("r1"));
    let events = store.events(&stream, &EventQuery::forward(0, 1)).await;
    assert_eq!(refusal(events), ErrorCode::StoreClosed);
    assert_eq!(refusal(store.close().await), ErrorCode::StoreClosed);
}

pub async fn markers_are_kept_until_they_are_removed(store: S) {
    assert_eq!(must(store.marker("a").await), None);
    must(store.set_marker("a", Some(json("{\"n\":1}"))).await);
    must(store.set_marker("b", Some(json("2"))).await);
    must(store.set_marker("a", Some(json("{\"n\":2}"))).await);
    assert_eq!(must(store.marker("a").await), Some(json("{\"n\":2}")));
    must(store.set_marker("a", None).await);
    assert_eq!(must(store.marker("a").await), None);
    assert_eq!(must(store.marker("b").await), Some(json("2")));
}
