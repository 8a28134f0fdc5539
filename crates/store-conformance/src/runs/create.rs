//! Runs that begin.

use riverrun_store::{Change, Commit, NewRun, NewRunTask, Origin, Parent, Projection};
use riverrun_types::{ErrorCode, EventId, EventType, RunStatus};

use crate::given::*;

pub async fn a_created_run_reads_back_whole(store: S) {
    let new = NewRun {
        flow: "orders".into(),
        version: "2.1.0".into(),
        idempotency_key: Some("key".into()),
        tenant: Some("acme".into()),
        tags: names(["b", "a"]),
        metadata: Some(json(r#"{"big":12345678901234567890123,"x":[1.10]}"#)),
        parent: Some(Parent {
            run: id("mother"),
            step: "spawn".into(),
            visit: 3,
        }),
        origin: Some(Origin {
            run: id("source"),
            event: Some(EventId { ms: T0, seq: 4 }),
        }),
        projection: Projection {
            status: RunStatus::Waiting,
            wake_ms: Some(T0 + 60_000),
            ended_ms: None,
            error: Some(json(r#"{"code":"E","message":"m"}"#)),
        },
        turn: 5,
        events: logs(T0 + 5, 3),
        ..run("r1")
    };
    let receipt = create(&store, new.clone()).await;
    assert_eq!((receipt.placed[0].first, receipt.placed[0].len), (0, 3));
    let got = record(&store, "r1").await;
    assert_eq!(
        (got.id, got.flow, got.version),
        (new.id, new.flow, new.version)
    );
    assert_eq!(got.status, RunStatus::Waiting);
    assert_eq!(got.created_ms, T0);
    assert_eq!(got.updated_ms, T0 + 7, "the time of the last event");
    assert_eq!((got.wake_ms, got.ended_ms), (Some(T0 + 60_000), None));
    assert_eq!(got.error, new.projection.error);
    assert_eq!(got.idempotency_key, new.idempotency_key);
    assert_eq!(got.tenant, new.tenant);
    assert_eq!(got.tags, new.tags);
    assert_eq!(
        got.metadata.map(|json| json.as_str().to_owned()),
        new.metadata.map(|json| json.as_str().to_owned())
    );
    assert_eq!(got.parent, new.parent);
    assert_eq!(got.origin, new.origin);
    assert_eq!((got.len, got.turn), (3, 5));
}

pub async fn a_plain_run_has_nothing_it_was_not_given(store: S) {
    let new = NewRun {
        events: [].into(),
        turn: 0,
        ..run("r1")
    };
    let receipt = create(&store, new).await;
    assert_eq!(receipt.placed.len(), 1, "a place even for no events");
    assert_eq!((receipt.placed[0].first, receipt.placed[0].len), (0, 0));
    let null = NewRun {
        metadata: Some(json("null")),
        ..run("null")
    };
    create(&store, null).await;
    assert!(record(&store, "null").await.metadata.is_some());
    let got = record(&store, "r1").await;
    assert_eq!(got.updated_ms, T0, "without events, when it was created");
    assert_eq!((got.idempotency_key, got.tenant), (None, None));
    assert_eq!((got.parent, got.origin), (None, None));
    assert!(got.tags.is_empty() && got.metadata.is_none() && got.error.is_none());
    assert!(stream_of(&store, "r1").await.is_empty());
    assert!(must(store.run(&id("r2")).await).is_none());
}

pub async fn an_id_is_taken_once(store: S) {
    create(&store, run("r1")).await;
    let again = NewRun {
        flow: "other".into(),
        ..run("r1")
    };
    let refused = change(&store, Change::Create(Box::new(again))).await;
    assert_eq!(refusal(refused.clone()), ErrorCode::RunExists);
    assert_eq!(named(refused), id("r1"));
    assert_eq!(&*record(&store, "r1").await.flow, "f");
    assert_eq!(stream_of(&store, "r1").await.len(), 1);
    let twice =
        Commit::of(Change::Create(Box::new(run("r2")))).and(Change::Create(Box::new(run("r2"))));
    assert_eq!(refusal(commit(&store, twice).await), ErrorCode::RunExists);
    assert!(must(store.run(&id("r2")).await).is_none());
}

pub async fn a_run_may_be_born_ended(store: S) {
    create(&store, finished("r1")).await;
    let got = record(&store, "r1").await;
    assert_eq!(got.status, RunStatus::Completed);
    assert_eq!(got.ended_ms, Some(T0 + 1));
    assert!(claim(&store, T0 + 1_000_000, 10).await.is_empty());
}

pub async fn a_run_may_be_born_leased(store: S) {
    let lease = riverrun_store::RunLease {
        run: id("r1"),
        token: u64::MAX - 1,
    };
    let new = NewRun {
        task: Some(NewRunTask::Leased {
            token: lease.token,
            owner: "me".into(),
            until_ms: T0 + 100,
        }),
        ..run("r1")
    };
    create(&store, new).await;
    assert!(claim(&store, T0 + 99, 10).await.is_empty());
    must(decide_under(&store, advance("r1"), &lease).await);
    let again = claim(&store, T0 + 100, 10).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].due_ms, T0 + 100);
    assert_eq!(
        refusal(decide_under(&store, advance("r1"), &lease).await),
        ErrorCode::LeaseLost
    );
}

pub async fn several_runs_in_one_commit(store: S) {
    create(&store, run("mother")).await;
    let child = |name: &str| NewRun {
        parent: Some(Parent {
            run: id("mother"),
            step: "each".into(),
            visit: 1,
        }),
        ..run(name)
    };
    let both = Commit::of(Change::Create(Box::new(child("c1"))))
        .and(Change::Create(Box::new(child("c2"))))
        .and(Change::Advance(Box::new(advance("mother"))));
    assert_eq!(must(commit(&store, both).await).placed.len(), 3);
    for child in ["c1", "c2"] {
        assert_eq!(record(&store, child).await.len, 1);
        assert_eq!(
            stream_of(&store, child).await[0].context.run_id,
            child.into()
        );
    }
}

pub async fn a_payload_comes_back_as_its_text(store: S) {
    let text = r#"{"z": 1, "a":12345678901234567890, "f":1.50, "s":"\u00e4 ü 🦀"}"#;
    let mut event = draft(T0, EventType::Emit);
    event.data = Some(json(text));
    let new = NewRun {
        events: [event].into(),
        ..run("r1")
    };
    create(&store, new).await;
    let events = stream_of(&store, "r1").await;
    assert_eq!(
        events[0].data.as_ref().map(|data| data.as_str()),
        Some(text)
    );
}
