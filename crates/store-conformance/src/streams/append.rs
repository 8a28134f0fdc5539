//! Events that take no decision.

use riverrun_store::{Append, Change, Expect, NewRun};
use riverrun_types::{ErrorCode, EventType, StreamName};

use crate::given::*;

pub async fn events_to_a_run_keep_their_order(store: S) {
    create(&store, run("r1")).await;
    for at in 0..5 {
        let receipt = must(change(&store, Change::Append(append_to("r1", logs(T0, 2)))).await);
        assert_eq!(receipt.placed[0].first, 1 + 2 * at);
    }
    let events = stream_of(&store, "r1").await;
    let seqs: Vec<u64> = events.iter().map(|event| event.id.seq).collect();
    assert_eq!(seqs, (0..11).collect::<Vec<_>>());
    let got = record(&store, "r1").await;
    assert_eq!((got.len, got.turn, got.updated_ms), (11, 1, T0 + 1));
}

pub async fn times_never_decrease_along_a_stream(store: S) {
    create(&store, run("r1")).await;
    must(change(&store, Change::Append(append_to("r1", logs(T0 + 100, 1)))).await);
    let late = must(change(&store, Change::Append(append_to("r1", logs(T0 + 50, 3)))).await);
    assert_eq!(late.placed[0].floor_ms, T0 + 100);
    let times: Vec<_> = stream_of(&store, "r1")
        .await
        .iter()
        .map(|e| e.id.ms - T0)
        .collect();
    assert_eq!(times, [0, 100, 100, 100, 100]);
    // A run that is made from another's past brings its times along.
    let fork = NewRun {
        events: logs(T0 - 5_000, 2),
        ..run("fork")
    };
    create(&store, fork).await;
    assert_eq!(stream_of(&store, "fork").await[0].id.ms, T0 - 5_000);
}

pub async fn times_never_decrease_within_a_change(store: S) {
    let zigzag = NewRun {
        events: [3, 1, 7, 2]
            .map(|ms| draft(T0 + ms, EventType::Emit))
            .into(),
        ..run("r1")
    };
    create(&store, zigzag).await;
    let times: Vec<_> = stream_of(&store, "r1")
        .await
        .iter()
        .map(|e| e.id.ms - T0)
        .collect();
    assert_eq!(times, [3, 3, 7, 7]);
    let next = must(change(&store, Change::Append(append_to("r1", logs(T0, 1)))).await);
    assert_eq!(next.placed[0].floor_ms, T0 + 7);
}

pub async fn an_unknown_run_takes_no_events(store: S) {
    let refused = change(&store, Change::Append(append_to("nobody", logs(T0, 1)))).await;
    assert_eq!(refusal(refused), ErrorCode::RunNotFound);
}

pub async fn an_ended_run_takes_no_events(store: S) {
    create(&store, finished("r1")).await;
    let refused = change(&store, Change::Append(append_to("r1", logs(T0, 1)))).await;
    assert_eq!(refusal(refused), ErrorCode::RunEnded);
    assert_eq!(stream_of(&store, "r1").await.len(), 2);
}

pub async fn a_stream_is_made_by_its_first_event(store: S) {
    let stream = StreamName::new("webhook", "w1");
    let nothing = must(change(&store, Change::Append(append(stream.clone(), [].into()))).await);
    assert_eq!((nothing.placed[0].first, nothing.placed[0].len), (0, 0));
    assert!(
        must(store.list_streams("webhook", 10, None).await)
            .items
            .is_empty()
    );
    for at in 0..3u64 {
        let events = logs(T0 + at as i64, 1);
        let receipt = must(change(&store, Change::Append(append(stream.clone(), events))).await);
        assert_eq!(receipt.placed[0].first, at);
    }
    let events = all_events(&store, &stream).await;
    assert_eq!(events.len(), 3);
    assert_eq!(&*events[0].context.run_id, "w1");
    assert_eq!(&*events[0].context.flow_name, "webhook");
    // The same id under another type is another stream.
    assert!(
        all_events(&store, &StreamName::new("trigger", "w1"))
            .await
            .is_empty()
    );
}

pub async fn an_expected_length_guards_any_stream(store: S) {
    let stream = StreamName::new("registry", "registry");
    let expecting = |len| {
        Change::Append(Append {
            expect: Expect::Len(len),
            ..append(stream.clone(), logs(T0, 1))
        })
    };
    assert_eq!(
        refusal(change(&store, expecting(1)).await),
        ErrorCode::Conflict
    );
    must(change(&store, expecting(0)).await);
    assert_eq!(
        refusal(change(&store, expecting(0)).await),
        ErrorCode::Conflict
    );
    must(change(&store, expecting(1)).await);
    create(&store, run("r1")).await;
    let to_run = |expect| {
        Change::Append(Append {
            expect,
            ..append_to("r1", logs(T0, 1))
        })
    };
    assert_eq!(
        refusal(change(&store, to_run(Expect::Len(0))).await),
        ErrorCode::Conflict
    );
    must(change(&store, to_run(Expect::Len(1))).await);
    must(change(&store, to_run(Expect::Turn(1))).await);
    assert_eq!(
        refusal(change(&store, to_run(Expect::Turn(2))).await),
        ErrorCode::Conflict
    );
}

pub async fn many_events_in_one_change(store: S) {
    create(&store, run("r1")).await;
    must(change(&store, Change::Append(append_to("r1", logs(T0, 2_000)))).await);
    let events = stream_of(&store, "r1").await;
    assert_eq!(events.len(), 2_001);
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.id.seq, at as u64);
    }
    assert_eq!(events[2_000].data, Some(json("1999")));
}

pub async fn large_payloads_come_back(store: S) {
    create(&store, run("r1")).await;
    let large = |bytes: usize| draft(T0, EventType::Partial).data("x".repeat(bytes));
    let events = [1 << 10, 40 << 10, 70 << 10, 1 << 20, 3].map(large);
    must(
        change(
            &store,
            Change::Append(append_to("r1", events.clone().into())),
        )
        .await,
    );
    let got = stream_of(&store, "r1").await;
    for (sent, got) in events.iter().zip(&got[1..]) {
        assert_eq!(sent.data, got.data);
    }
}
