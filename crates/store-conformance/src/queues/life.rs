//! The stream of a job: its life, derived from its row, and what is appended.

use riverrun_store::{
    Change, Commit, Direction, EventQuery, Expect, JobLease, JobState, NewJob, Place, Reason,
    Settle, Settled, Steer, Waits,
};
use riverrun_types::{ErrorCode, Event, EventId, EventType, Millis, Name, StreamName, time::NEVER};

use super::given::claim_jobs;
use crate::given::*;

fn stream() -> StreamName {
    StreamName::job(&id("j1"))
}

async fn add(store: &S) {
    let job = NewJob {
        name: Some("welcome".into()),
        data: json("1"),
        ..queued("j1")
    };
    must(change(store, Change::Enqueue([job].into())).await);
}

async fn begin(store: &S, now_ms: Millis) -> JobLease {
    let mut jobs = claim_jobs(store, now_ms, 1).await;
    jobs.pop().expect("the job waits").lease
}

fn settled(lease: &JobLease, now_ms: Millis, outcome: Settled) -> Change {
    Settle::new(lease, outcome, now_ms).into()
}

fn completed() -> Settled {
    Settled::Completed {
        result: json("[12345678901234567890]"),
    }
}

fn said(ms: Millis, n: usize) -> Change {
    Change::Append(append(stream(), logs(ms, n)))
}

fn waits(ms: Millis, reason: Reason) -> Change {
    let queue = Name::from("mail");
    let draft = Waits::new(&queue, reason).draft(ms);
    Change::Append(append(stream(), [draft].into()))
}

async fn events(store: &S) -> Vec<Event> {
    all_events(store, &stream()).await
}

fn ids_of(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id).collect()
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

fn data(event: &Event) -> &str {
    event.data.as_ref().expect("it has data").as_str()
}

pub async fn a_row_tells_its_life(store: S) {
    assert!(events(&store).await.is_empty());
    add(&store).await;
    assert_eq!(kinds(&events(&store).await), ["job.added"]);
    let lease = begin(&store, T0 + 5).await;
    assert_eq!((lease.queue.as_ref(), lease.attempt), ("mail", 1));
    assert_eq!(kinds(&events(&store).await), ["job.added", "job.active"]);
    must(change(&store, settled(&lease, T0 + 9, completed())).await);
    let life = events(&store).await;
    assert_eq!(kinds(&life), ["job.added", "job.active", "job.completed"]);
    let expected = [(T0, 0), (T0 + 5, 1), (T0 + 9, 2)].map(|(ms, seq)| EventId { ms, seq });
    assert_eq!(ids_of(&life), expected);
    assert_eq!(data(&life[0]), r#"{"queue":"mail","name":"welcome"}"#);
    assert_eq!(data(&life[1]), r#"{"queue":"mail","attempt":1}"#);
    assert_eq!(
        data(&life[2]),
        r#"{"queue":"mail","attempt":1,"result":[12345678901234567890]}"#
    );
    // It is derived: nothing of it is stored.
    let streams = must(store.list_streams(StreamName::JOB, 10, None).await);
    assert!(streams.items.is_empty(), "{streams:?}");
}

pub async fn an_event_has_one_id_before_and_after_more_is_appended(store: S) {
    add(&store).await;
    let lease = begin(&store, T0 + 5).await;
    let before = events(&store).await;
    let receipt = must(change(&store, said(T0 + 1, 2)).await);
    // The caller gets the places of its own events, and no time goes back.
    assert_eq!((receipt.placed[0].first, receipt.placed[0].len), (2, 4));
    assert_eq!(receipt.placed[0].floor_ms, T0 + 5);
    let after = events(&store).await;
    assert_eq!(after[..2], before[..]);
    assert_eq!(
        kinds(&after),
        ["job.added", "job.active", "log.info", "log.info"]
    );
    must(change(&store, settled(&lease, T0 + 9, completed())).await);
    let ended = events(&store).await;
    assert_eq!(ended[..4], after[..]);
    assert_eq!(ended[4].kind, EventType::JobCompleted);
    // A later event: the end keeps its place.
    must(change(&store, said(T0 + 20, 1)).await);
    let all = events(&store).await;
    assert_eq!(all[..5], ended[..]);
    assert_eq!(all[5].kind, EventType::LogInfo);
}

pub async fn every_attempt_has_its_events(store: S) {
    add(&store).await;
    for attempt in [1, 2] {
        let lease = begin(&store, T0 + attempt * 10).await;
        let retry = Settled::Retry {
            at_ms: T0,
            error: json(r#"{"code":"SMTP"}"#),
        };
        let over = T0 + attempt * 10 + 1;
        let commit = Commit::of(waits(over, Reason::Retry)).and(settled(&lease, over, retry));
        must(crate::given::commit(&store, commit).await);
    }
    let lease = begin(&store, T0 + 50).await;
    let failed = Settled::Failed {
        error: json(r#"{"code":"SMTP"}"#),
    };
    must(change(&store, settled(&lease, T0 + 60, failed)).await);
    let steer = Change::Steer {
        job: id("j1"),
        steer: Steer::Retry { at_ms: 0 },
        now_ms: T0 + 70,
    };
    let before = events(&store).await;
    let commit = Commit::of(waits(T0 + 70, Reason::Redriven)).and(steer);
    let receipt = must(crate::given::commit(&store, commit).await);
    let was = &receipt.steered[0];
    assert_eq!(
        (was.queue.as_ref(), was.state, was.attempt),
        ("mail", JobState::Failed, 3)
    );
    let lease = begin(&store, T0 + 80).await;
    must(change(&store, settled(&lease, T0 + 90, completed())).await);
    let all = events(&store).await;
    assert_eq!(
        kinds(&all),
        [
            "job.added",
            "job.active",
            "job.waiting",
            "job.active",
            "job.waiting",
            "job.active",
            "job.failed",
            "job.waiting",
            "job.active",
            "job.completed"
        ]
    );
    assert_eq!(all[..7], before[..]);
    assert_eq!(data(&all[5]), r#"{"queue":"mail","attempt":3}"#);
    assert_eq!(data(&all[8]), r#"{"queue":"mail","attempt":1}"#);
    assert!(ids_of(&all).is_sorted());
}

pub async fn what_is_cancelled_before_it_begins_says_so(store: S) {
    add(&store).await;
    let steer = Change::Steer {
        job: id("j1"),
        steer: Steer::Cancel {
            reason: Some("a mistake".to_owned()),
        },
        now_ms: T0 + 3,
    };
    must(change(&store, steer).await);
    let life = events(&store).await;
    assert_eq!(kinds(&life), ["job.added", "job.cancelled"]);
    assert!(data(&life[1]).contains("a mistake"), "{life:?}");
}

pub async fn derived_events_have_places_and_pages(store: S) {
    add(&store).await;
    let lease = begin(&store, T0 + 5).await;
    must(change(&store, said(T0 + 6, 1)).await);
    must(change(&store, settled(&lease, T0 + 9, completed())).await);
    let all = events(&store).await;
    let places = ids_of(&all);
    for (seen, place) in places.iter().enumerate() {
        let located = must(store.locate(&stream(), Place::Event(*place)).await);
        assert_eq!(located, seen as u64 + 1, "{place}");
        let query = EventQuery::forward(located, 10);
        let rest = must(store.events(&stream(), &query).await);
        assert_eq!(rest[..], all[seen + 1..]);
    }
    let end = must(store.locate(&stream(), Place::Time(NEVER)).await);
    assert_eq!(end, 4);
    let between = must(store.locate(&stream(), Place::Time(T0 + 7)).await);
    assert_eq!(between, 3);
    let mut backward = Vec::new();
    let mut from = None;
    loop {
        let query = EventQuery {
            direction: Direction::Backward,
            from,
            limit: 1,
            ..EventQuery::forward(0, 1)
        };
        let page = must(store.events(&stream(), &query).await);
        let Some(event) = page.first() else { break };
        from = Some(event.id.seq);
        backward.push(event.id);
    }
    backward.reverse();
    assert_eq!(backward, places);
    let query = EventQuery {
        types: vec![EventType::parse("job")],
        since_ms: Some(T0 + 5),
        until_ms: Some(T0 + 9),
        ..EventQuery::forward(0, 10)
    };
    let some = must(store.events(&stream(), &query).await);
    assert_eq!(kinds(&some), ["job.active"]);
}

pub async fn an_expected_length_counts_what_is_derived(store: S) {
    add(&store).await;
    begin(&store, T0 + 5).await;
    let expecting = |len| {
        let mut append = append(stream(), logs(T0 + 6, 1));
        append.expect = Expect::Len(len);
        Change::Append(append)
    };
    assert_eq!(
        refusal(change(&store, expecting(0)).await),
        ErrorCode::Conflict
    );
    must(change(&store, expecting(2)).await);
    must(change(&store, expecting(3)).await);
    let two = Commit::of(expecting(4)).and(expecting(5));
    must(commit(&store, two).await);
    assert_eq!(events(&store).await.len(), 6);
}
