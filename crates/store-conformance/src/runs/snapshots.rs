//! Reduced runs.

use riverrun_store::{Advance, NewRun, Snapshot};

use crate::given::*;

fn covering(len: u64) -> Option<Snapshot> {
    Some(Snapshot {
        len,
        body: json(&format!(r#"{{"covers":{len},"big":12345678901234567890}}"#)),
    })
}

pub async fn the_latest_that_fits(store: S) {
    create(&store, run("r1")).await;
    for at in 1..=3u64 {
        let change = Advance {
            events: logs(T0, 10),
            snapshot: covering(at * 10 + 1),
            ..advance("r1")
        };
        must(decide(&store, change).await);
    }
    for (len, expected) in [
        (0, None),
        (10, None),
        (11, Some(11)),
        (20, Some(11)),
        (21, Some(21)),
        (31, Some(31)),
        (u64::MAX, Some(31)),
    ] {
        let found = must(store.snapshot(&id("r1"), len).await);
        assert_eq!(found, expected.and_then(covering), "at {len}");
    }
    // The same length again replaces.
    let change = Advance {
        snapshot: Some(Snapshot {
            len: 31,
            body: json("[]"),
        }),
        ..advance("r1")
    };
    must(decide(&store, change).await);
    let found = must(store.snapshot(&id("r1"), 31).await);
    assert_eq!(found.map(|snapshot| snapshot.body), Some(json("[]")));
}

pub async fn none_without_one(store: S) {
    create(&store, run("r1")).await;
    assert_eq!(must(store.snapshot(&id("r1"), 9).await), None);
    assert_eq!(must(store.snapshot(&id("nobody"), 9).await), None);
}

pub async fn a_new_run_may_bring_one(store: S) {
    let new = NewRun {
        events: logs(T0, 40),
        snapshot: covering(40),
        ..run("r1")
    };
    create(&store, new).await;
    assert_eq!(must(store.snapshot(&id("r1"), 40).await), covering(40));
}
