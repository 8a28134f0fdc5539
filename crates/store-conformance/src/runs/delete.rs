//! Removing runs.

use riverrun_store::{Change, Commit, NewRun, Place, RunFilter, Snapshot};
use riverrun_types::{ErrorCode, StreamName};

use crate::given::*;

pub async fn a_deleted_run_is_gone_with_all_that_is_its_own(store: S) {
    let new = NewRun {
        tags: names(["t"]),
        tenant: Some("acme".into()),
        snapshot: Some(Snapshot {
            len: 2,
            body: json("{}"),
        }),
        ..finished("r1")
    };
    create(&store, new).await;
    create(&store, finished("r2")).await;
    must(change(&store, Change::Delete(id("r1"))).await);
    assert!(must(store.run(&id("r1")).await).is_none());
    assert!(stream_of(&store, "r1").await.is_empty());
    assert!(must(store.snapshot(&id("r1"), 9).await).is_none());
    let stream = StreamName::flow(&id("r1"));
    assert_eq!(must(store.locate(&stream, Place::Time(T0 + 9)).await), 0);
    let tagged = RunFilter {
        tags: vec!["t".into()],
        ..RunFilter::default()
    };
    assert!(ids(&store, tagged).await.is_empty());
    assert_eq!(ids(&store, RunFilter::default()).await, ["r2"]);
    assert_eq!(
        refusal(change(&store, Change::Delete(id("r1"))).await),
        ErrorCode::RunNotFound
    );
}

pub async fn only_an_ended_run_can_be_deleted(store: S) {
    create(&store, run("r1")).await;
    let refused = change(&store, Change::Delete(id("r1"))).await;
    assert_eq!(refusal(refused), ErrorCode::RunNotEnded);
    let both = Commit::of(Change::Advance(Box::new(finish("r1")))).and(Change::Delete(id("r1")));
    must(commit(&store, both).await);
    assert!(must(store.run(&id("r1")).await).is_none());
}

pub async fn an_id_is_free_again_after_deletion(store: S) {
    let tagged = NewRun {
        tags: names(["old"]),
        ..finished("r1")
    };
    create(&store, tagged).await;
    must(change(&store, Change::Delete(id("r1"))).await);
    create(&store, run("r1")).await;
    let got = record(&store, "r1").await;
    assert_eq!((got.len, got.tags.len()), (1, 0));
    assert_eq!(stream_of(&store, "r1").await.len(), 1);
}

pub async fn a_run_may_be_deleted_and_made_again_in_one_commit(store: S) {
    let keyed = |name: &str| NewRun {
        idempotency_key: Some("k".into()),
        ..finished(name)
    };
    create(&store, keyed("r1")).await;
    let again = Commit::of(Change::Delete(id("r1"))).and(Change::Create(Box::new(keyed("r1"))));
    must(commit(&store, again).await);
    let other = Commit::of(Change::Delete(id("r1"))).and(Change::Create(Box::new(keyed("r2"))));
    must(commit(&store, other).await);
    assert_eq!(ids(&store, RunFilter::default()).await, ["r2"]);
}
