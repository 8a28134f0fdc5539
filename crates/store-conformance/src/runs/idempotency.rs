//! Idempotency keys.

use riverrun_store::{Change, Commit, NewRun, RunFilter};
use riverrun_types::ErrorCode;

use crate::given::*;

fn keyed(name: &str) -> NewRun {
    NewRun {
        idempotency_key: Some("key".into()),
        ..run(name)
    }
}

async fn start(store: &S, new: NewRun) -> riverrun_store::Result<riverrun_store::Receipt> {
    change(store, Change::Create(Box::new(new))).await
}

pub async fn a_key_names_one_run(store: S) {
    must(start(&store, keyed("r1")).await);
    let refused = start(&store, keyed("r2")).await;
    assert_eq!(refusal(refused.clone()), ErrorCode::Duplicate);
    assert_eq!(named(refused), id("r1"), "the answer is the first run");
    // A request that is sent again with its own id is answered the same way.
    assert_eq!(
        refusal(start(&store, keyed("r1")).await),
        ErrorCode::Duplicate
    );
    assert!(must(store.run(&id("r2")).await).is_none());
    must(start(&store, run("r3")).await);
    must(start(&store, run("r4")).await);
}

pub async fn a_key_is_a_flows_own(store: S) {
    must(start(&store, keyed("r1")).await);
    let other = NewRun {
        flow: "g".into(),
        ..keyed("r2")
    };
    must(start(&store, other).await);
}

pub async fn a_key_is_a_tenants_own(store: S) {
    let of = |name: &str, tenant: &str| NewRun {
        tenant: Some(tenant.into()),
        ..keyed(name)
    };
    must(start(&store, keyed("r1")).await);
    must(start(&store, of("r2", "acme")).await);
    must(start(&store, of("r3", "globex")).await);
    assert_eq!(named(start(&store, of("r4", "acme")).await), id("r2"));
    assert_eq!(named(start(&store, keyed("r5")).await), id("r1"));
}

pub async fn a_key_holds_across_versions(store: S) {
    must(start(&store, keyed("r1")).await);
    let newer = NewRun {
        version: "2".into(),
        ..keyed("r2")
    };
    assert_eq!(named(start(&store, newer).await), id("r1"));
}

pub async fn a_key_is_free_again_after_deletion(store: S) {
    let ended = NewRun {
        idempotency_key: Some("key".into()),
        ..finished("r1")
    };
    must(start(&store, ended).await);
    must(change(&store, Change::Delete(id("r1"))).await);
    must(start(&store, keyed("r2")).await);
}

pub async fn a_key_twice_in_one_commit_is_refused(store: S) {
    let twice = Commit::of(Change::Create(Box::new(keyed("r1"))))
        .and(Change::Create(Box::new(keyed("r2"))));
    assert_eq!(refusal(commit(&store, twice).await), ErrorCode::Duplicate);
    assert!(ids(&store, RunFilter::default()).await.is_empty());
}

pub async fn a_race_for_a_key_has_one_winner(store: S) {
    let group = (0..20).map(|at| Commit::of(Change::Create(Box::new(keyed(&format!("r{at}"))))));
    let results = commit_all(&store, group).await;
    let won = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(won, 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_eq!(named(result), id("r0"));
    }
    assert_eq!(ids(&store, RunFilter::default()).await, ["r0"]);
}
