//! Pages of a stream.

use riverrun_store::{Change, Direction, EventQuery, NewRun};
use riverrun_types::{Event, EventType, Json, StepRef, StreamName};

use crate::given::*;

fn stream() -> StreamName {
    StreamName::flow(&id("r1"))
}

fn backward(from: Option<u64>, limit: usize) -> EventQuery {
    EventQuery {
        direction: Direction::Backward,
        from,
        ..EventQuery::forward(0, limit)
    }
}

async fn seqs(store: &S, query: EventQuery) -> Vec<u64> {
    let events = must(store.events(&stream(), &query).await);
    events.iter().map(|event| event.id.seq).collect()
}

/// A run of 20 events in chunks of 1, 2, 3, …
async fn twenty(store: &S) {
    let new = NewRun {
        events: logs(T0, 1),
        ..run("r1")
    };
    create(store, new).await;
    let mut len = 1;
    for count in [2, 3, 4, 5, 5] {
        let events = logs(T0 + len, count);
        must(change(store, Change::Append(append_to("r1", events))).await);
        len += count as i64;
    }
    assert_eq!(len, 20);
}

pub async fn forward_and_backward_pages(store: S) {
    twenty(&store).await;
    assert_eq!(seqs(&store, EventQuery::forward(0, 3)).await, [0, 1, 2]);
    assert_eq!(seqs(&store, EventQuery::forward(4, 4)).await, [4, 5, 6, 7]);
    assert_eq!(seqs(&store, EventQuery::forward(18, 9)).await, [18, 19]);
    assert_eq!(seqs(&store, backward(None, 3)).await, [19, 18, 17]);
    assert_eq!(seqs(&store, backward(Some(5), 3)).await, [4, 3, 2]);
    assert_eq!(seqs(&store, backward(Some(2), 9)).await, [1, 0]);
    let all: Vec<u64> = (0..20).collect();
    assert_eq!(seqs(&store, EventQuery::forward(0, usize::MAX)).await, all);
    let beginning = EventQuery {
        from: None,
        ..EventQuery::forward(0, 2)
    };
    assert_eq!(seqs(&store, beginning).await, [0, 1]);
    for from in 0..=20 {
        let forth = seqs(&store, EventQuery::forward(from, 100)).await;
        assert_eq!(forth, (from..20).collect::<Vec<_>>());
        let back = seqs(&store, backward(Some(from), 100)).await;
        assert_eq!(back, (0..from).rev().collect::<Vec<_>>());
    }
}

pub async fn positions_bound_a_page(store: S) {
    twenty(&store).await;
    let none: [u64; 0] = [];
    assert_eq!(seqs(&store, EventQuery::forward(20, 5)).await, none);
    assert_eq!(seqs(&store, EventQuery::forward(u64::MAX, 5)).await, none);
    assert_eq!(seqs(&store, EventQuery::forward(0, 0)).await, none);
    assert_eq!(seqs(&store, backward(Some(0), 5)).await, none);
    assert_eq!(seqs(&store, backward(Some(u64::MAX), 2)).await, [19, 18]);
    assert_eq!(seqs(&store, backward(None, 0)).await, none);
}

fn step(name: &str, visit: u32) -> StepRef {
    StepRef {
        name: name.into(),
        visit,
        attempt: 1,
    }
}

/// One event of each kind that the filters tell apart.
async fn mixed(store: &S) {
    let kinds = [
        "flow.started",
        "step.started",
        "log.info",
        "logbook",
        "log.warn",
        "custom",
        "custom.part",
        "step.completed",
        "log",
        "flow.completed",
    ];
    let events = kinds.iter().zip(0..).map(|(kind, at)| {
        let event = draft(T0 + at * 10, EventType::parse(kind));
        match kind.split('.').next() {
            Some("step") => event.step(step("first", 1)),
            Some("custom") => event.step(step("second", 2)),
            _ => event,
        }
    });
    let new = NewRun {
        events: events.collect(),
        ..run("r1")
    };
    create(store, new).await;
}

pub async fn types_and_families(store: S) {
    mixed(&store).await;
    for (types, expected) in [
        (&["log.info"][..], &[2u64][..]),
        (&["log"], &[2, 4, 8]),
        (&["custom"], &[5, 6]),
        (&["custom.part"], &[6]),
        (&["flow", "step.completed"], &[0, 7, 9]),
        (&["lo"], &[]),
        (&["nothing"], &[]),
    ] {
        let query = EventQuery {
            types: types.iter().map(|kind| EventType::parse(kind)).collect(),
            ..EventQuery::forward(0, 100)
        };
        assert_eq!(seqs(&store, query.clone()).await, expected, "{types:?}");
        let query = EventQuery {
            direction: Direction::Backward,
            from: None,
            ..query
        };
        let mut found = seqs(&store, query).await;
        found.reverse();
        assert_eq!(found, expected, "{types:?}");
    }
}

pub async fn steps_and_times_narrow(store: S) {
    mixed(&store).await;
    let all = || EventQuery::forward(0, 100);
    let query = EventQuery {
        step: Some("first".into()),
        ..all()
    };
    assert_eq!(seqs(&store, query).await, [1, 7]);
    let times = |since_ms, until_ms| EventQuery {
        since_ms,
        until_ms,
        ..all()
    };
    // Since is included, until is not, as for runs.
    let query = times(Some(T0 + 20), Some(T0 + 40));
    assert_eq!(seqs(&store, query.clone()).await, [2, 3]);
    let query = EventQuery {
        direction: Direction::Backward,
        from: None,
        ..query
    };
    assert_eq!(seqs(&store, query).await, [3, 2]);
    assert_eq!(seqs(&store, times(Some(T0 + 81), None)).await, [9]);
    assert_eq!(seqs(&store, times(None, Some(T0 + 1))).await, [0]);
    assert!(seqs(&store, times(None, Some(T0))).await.is_empty());
    assert!(seqs(&store, times(Some(T0 + 91), None)).await.is_empty());
    assert_eq!(
        seqs(&store, times(Some(i64::MIN), Some(i64::MAX)))
            .await
            .len(),
        10
    );
    let query = EventQuery {
        step: Some("second".into()),
        since_ms: Some(T0 + 51),
        ..all()
    };
    assert_eq!(seqs(&store, query).await, [6]);
}

pub async fn filters_fill_the_page_across_chunks(store: S) {
    let new = NewRun {
        events: [].into(),
        ..run("r1")
    };
    create(&store, new).await;
    for at in 0..50 {
        let kind = if at % 10 == 0 {
            EventType::Emit
        } else {
            EventType::LogInfo
        };
        let events = [draft(T0 + at, kind)].into();
        must(change(&store, Change::Append(append_to("r1", events))).await);
    }
    let emitted = EventQuery {
        types: vec![EventType::Emit],
        ..EventQuery::forward(1, 3)
    };
    assert_eq!(seqs(&store, emitted.clone()).await, [10, 20, 30]);
    let emitted = EventQuery {
        direction: Direction::Backward,
        from: Some(31),
        ..emitted
    };
    assert_eq!(seqs(&store, emitted).await, [30, 20, 10]);
}

pub async fn an_unknown_stream_is_empty(store: S) {
    assert!(stream_of(&store, "nobody").await.is_empty());
    assert!(
        all_events(&store, &StreamName::new("global", "global"))
            .await
            .is_empty()
    );
}

pub async fn the_envelope_comes_back(store: S) {
    let mut event = draft(T0, EventType::parse("custom.kind")).step(StepRef {
        name: "s".into(),
        visit: 2,
        attempt: 3,
    });
    event.correlation_id = Some("cor".into());
    event.causation_id = Some("cause".into());
    let mut null = draft(T0, EventType::Emit);
    null.data = Some(json("null"));
    let new = NewRun {
        tenant: Some("acme".into()),
        events: [event.clone(), null.clone()].into(),
        ..run("r1")
    };
    create(&store, new.clone()).await;
    let got = stream_of(&store, "r1").await;
    let expected: Vec<Event> = [event, null]
        .into_iter()
        .zip(0..)
        .map(|(event, seq)| event.at(seq, T0, &new.context()))
        .collect();
    assert_eq!(got, expected);
    assert!(got[1].data.is_some(), "null is a payload");
}

pub async fn ids_are_what_the_receipt_said(store: S) {
    create(&store, run("r1")).await;
    let mut expected = vec![stream_of(&store, "r1").await[0].id];
    for ms in [5, 2, 9, 9] {
        let events = [ms, ms + 1, ms - 3].map(|ms| draft(T0 + ms, EventType::Emit));
        let events: std::sync::Arc<[_]> = events.into();
        let receipt = must(change(&store, Change::Append(append_to("r1", events.clone()))).await);
        expected.extend(receipt.placed[0].ids(&events));
    }
    let got: Vec<_> = stream_of(&store, "r1")
        .await
        .iter()
        .map(|event| event.id)
        .collect();
    assert_eq!(got, expected);
    assert!(got.is_sorted());
}

pub async fn a_long_stream_is_read_in_pages(store: S) {
    let new = NewRun {
        events: logs(T0, 5_000),
        ..run("r1")
    };
    create(&store, new).await;
    let mut from = 0;
    loop {
        let page = seqs(&store, EventQuery::forward(from, 777)).await;
        let Some(last) = page.last() else {
            break;
        };
        assert_eq!(page, (from..=*last).collect::<Vec<_>>());
        from = last + 1;
    }
    assert_eq!(from, 5_000);
    assert_eq!(seqs(&store, backward(Some(4_000), 1)).await, [3_999]);
}

pub async fn a_page_of_large_events_ends_early(store: S) {
    let mut events = logs(T0, 12).to_vec();
    for event in &mut events {
        event.data = Some(Json::from("x".repeat(1 << 20).as_str()));
    }
    let new = NewRun {
        events: events.into(),
        ..run("r1")
    };
    create(&store, new).await;
    let mut from = 0;
    loop {
        let page = seqs(&store, EventQuery::forward(from, 100)).await;
        let Some(last) = page.last() else {
            break;
        };
        assert!(page.len() < 12, "the page holds all {} MiB", page.len());
        assert_eq!(page, (from..=*last).collect::<Vec<_>>());
        from = last + 1;
    }
    assert_eq!(from, 12);
    assert!(seqs(&store, backward(None, 100)).await.len() < 12);
}
