//! Jobs are added: many at once, by an id of their own, with any data.

use riverrun_store::{Change, Commit, NewJob};
use riverrun_types::{ErrorCode, Json, RunId};

use super::given::*;
use crate::given::*;

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
    assert_eq!(
        refusal(commit(&store, refused).await),
        ErrorCode::RunNotFound
    );
    assert_eq!(must(store.job(&id("j1")).await), None);
}

pub async fn the_same_id_is_the_same_job(store: S) {
    assert!(added(&store, job("j1")).await.created);
    let again = NewJob {
        data: json("2"),
        ..keyed("j1", "k")
    };
    let again = added(&store, again).await;
    assert_eq!((again.id.as_str(), again.created), ("j1", false));
    assert_eq!(read(&store, "j1").await.data, json(r#"{"to":"j1"}"#));
    assert_eq!(queue(&store).await.waiting, 1);
}

pub async fn an_id_that_was_chosen_is_not_that_of_another_queue(store: S) {
    let named = |text: &str, queue: &str| NewJob {
        is_named: true,
        queue: queue.into(),
        ..job(text)
    };
    assert!(added(&store, named("j1", "mail")).await.created);
    assert!(!added(&store, named("j1", "mail")).await.created);
    let both = [named("j2", "audit"), named("j1", "audit")];
    let refused = change(&store, Change::Enqueue(both.into())).await;
    assert_eq!(refusal(refused), ErrorCode::JobIdTaken);
    assert_eq!(must(store.job(&id("j2")).await), None, "all or none");
}

pub async fn large_data_comes_back_whole(store: S) {
    let text = format!("\"{}\"", "x".repeat(300_000));
    let large = NewJob {
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
    let empty = NewJob {
        data: Json::null(),
        ..job("j1")
    };
    add(&store, [empty]).await;
    assert!(only(&store, T0).await.data.is_null());
}

pub async fn the_newest_job_is_the_one_added_last(store: S) {
    assert_eq!(must(store.newest_job().await), None);
    let elsewhere = NewJob {
        queue: "other".into(),
        ..job("b")
    };
    add(&store, [job("z"), job("a"), elsewhere]).await;
    assert_eq!(must(store.newest_job().await), Some(id("b")));
    // One that is there already is not added.
    added(&store, job("z")).await;
    assert_eq!(must(store.newest_job().await), Some(id("b")));
}
