//! Moments in a stream.

use riverrun_store::{Change, NewRun, Place};
use riverrun_types::{EventId, EventType, StreamName};

use crate::given::*;

async fn count(store: &S, place: Place) -> u64 {
    must(store.locate(&StreamName::flow(&id("r1")), place).await)
}

fn event(ms: i64, seq: u64) -> Place {
    Place::Event(EventId { ms: T0 + ms, seq })
}

/// Events at 0, 10, 10, 10, 20, 35.
async fn six(store: &S) {
    let new = NewRun {
        events: [0, 10].map(|ms| draft(T0 + ms, EventType::Emit)).into(),
        ..run("r1")
    };
    create(store, new).await;
    for group in [&[10, 10][..], &[20, 35]] {
        let events = group
            .iter()
            .map(|ms| draft(T0 + ms, EventType::Emit))
            .collect();
        must(change(store, Change::Append(append_to("r1", events))).await);
    }
}

pub async fn an_event_is_the_last_one_included(store: S) {
    six(&store).await;
    for (seq, event) in stream_of(&store, "r1").await.iter().enumerate() {
        assert_eq!(count(&store, Place::Event(event.id)).await, seq as u64 + 1);
    }
}

pub async fn an_id_between_two_names_the_earlier(store: S) {
    six(&store).await;
    assert_eq!(count(&store, event(5, 0)).await, 1);
    assert_eq!(count(&store, event(5, 99)).await, 1);
    assert_eq!(count(&store, event(10, 0)).await, 1);
    assert_eq!(count(&store, event(10, 99)).await, 4);
    assert_eq!(count(&store, event(34, 0)).await, 5);
    assert_eq!(count(&store, event(99, 0)).await, 6);
    assert_eq!(count(&store, event(-1, 99)).await, 0);
}

pub async fn a_time_includes_its_millisecond(store: S) {
    six(&store).await;
    for (ms, expected) in [
        (-1, 0),
        (0, 1),
        (9, 1),
        (10, 4),
        (19, 4),
        (20, 5),
        (34, 5),
        (35, 6),
    ] {
        assert_eq!(
            count(&store, Place::Time(T0 + ms)).await,
            expected,
            "at {ms}"
        );
    }
    assert_eq!(count(&store, Place::Time(i64::MAX)).await, 6);
    assert_eq!(count(&store, Place::Time(i64::MIN)).await, 0);
}

pub async fn an_empty_stream_has_no_places(store: S) {
    assert_eq!(count(&store, Place::Time(T0)).await, 0);
    assert_eq!(count(&store, event(0, 0)).await, 0);
    let new = NewRun {
        events: [].into(),
        ..run("r1")
    };
    create(&store, new).await;
    assert_eq!(count(&store, Place::Time(T0)).await, 0);
}

pub async fn every_place_of_a_long_stream(store: S) {
    let new = NewRun {
        events: logs(T0, 700),
        ..run("r1")
    };
    create(&store, new).await;
    for at in 0..30 {
        let events = logs(T0 + 700 + at * 3, 3);
        must(change(&store, Change::Append(append_to("r1", events))).await);
    }
    for ms in 0..790 {
        assert_eq!(count(&store, Place::Time(T0 + ms)).await, ms as u64 + 1);
        assert_eq!(count(&store, event(ms, ms as u64)).await, ms as u64 + 1);
    }
}
