//! Triggers: versions, routes, due times that are taken once, and how long all of it is kept.

use riverrun_store::{
    Change, Commit, Fired, Firing, NewTrigger, NextDue, Place, Retention, Take, TriggerRecord,
};
use riverrun_types::{ErrorCode, EventType, Json, Millis, StreamName};

use crate::given::*;

fn trigger(id: &str, version: u64) -> NewTrigger {
    NewTrigger {
        id: id.into(),
        version,
        kind: "manual".into(),
        enabled: true,
        definition: json(r#"{"flow":"f","n":12345678901234567890}"#),
        route: None,
        due: NextDue::At(None),
        now_ms: T0,
    }
}

fn schedule(id: &str, version: u64, due_ms: Millis) -> NewTrigger {
    NewTrigger {
        kind: "schedule".into(),
        due: NextDue::At(Some(due_ms)),
        ..trigger(id, version)
    }
}

fn route(id: &str, version: u64, route: &str) -> NewTrigger {
    NewTrigger {
        kind: "http".into(),
        route: Some(route.into()),
        ..trigger(id, version)
    }
}

fn put(new: NewTrigger) -> Change {
    Change::Trigger(Box::new(new))
}

fn removal(id: &str, version: u64, now_ms: Millis) -> Change {
    Change::Untrigger {
        id: id.into(),
        version,
        now_ms,
    }
}

/// A firing that takes a due time and moves the schedule by a second.
fn taking(id: &str, version: u64, from_ms: Millis, run: &str) -> Firing {
    Firing {
        trigger: id.into(),
        now_ms: from_ms + 1,
        outcome: Fired::Run(self::id(run)),
        due: Some(Take {
            version,
            from_ms,
            to_ms: Some(from_ms + 1_000),
            missed: 0,
        }),
    }
}

fn fired(firing: Firing) -> Change {
    Change::Fired(Box::new(firing))
}

async fn get(store: &S, id: &str) -> TriggerRecord {
    let found = must(store.trigger(id).await);
    found.unwrap_or_else(|| panic!("trigger {id} is gone"))
}

pub async fn a_trigger_reads_back_whole(store: S) {
    must(change(&store, put(schedule("t", 1, T0 + 5))).await);
    let got = get(&store, "t").await;
    assert_eq!((&*got.id, got.version, &*got.kind), ("t", 1, "schedule"));
    assert_eq!(got.definition.as_str(), trigger("t", 1).definition.as_str());
    assert_eq!((got.created_ms, got.updated_ms), (T0, T0));
    assert_eq!(got.due_ms, Some(T0 + 5));
    assert!(got.enabled);
    assert_eq!(got.stats, Default::default());
    assert_eq!(must(store.trigger("nobody").await), None);
    assert_eq!(must(store.trigger_version("nobody").await), None);
}

pub async fn every_change_is_the_next_version(store: S) {
    let refused = |version| {
        let store = store.clone();
        async move { refusal(change(&store, put(trigger("t", version))).await) }
    };
    assert_eq!(refused(2).await, ErrorCode::TriggerMoved);
    must(change(&store, put(trigger("t", 1))).await);
    assert_eq!(refused(1).await, ErrorCode::TriggerMoved);
    let second = NewTrigger {
        enabled: false,
        now_ms: T0 + 9,
        ..trigger("t", 2)
    };
    must(change(&store, put(second)).await);
    let got = get(&store, "t").await;
    assert_eq!((got.version, got.enabled), (2, false));
    assert_eq!((got.created_ms, got.updated_ms), (T0, T0 + 9));
    assert_eq!(refused(2).await, ErrorCode::TriggerMoved);
    // Two changes of one commit see each other.
    let twice = Commit::of(put(trigger("t", 3))).and(put(trigger("t", 3)));
    assert_eq!(
        refusal(commit(&store, twice).await),
        ErrorCode::TriggerMoved
    );
    must(
        commit(
            &store,
            Commit::of(put(trigger("t", 3))).and(put(trigger("t", 4))),
        )
        .await,
    );
    assert_eq!(get(&store, "t").await.version, 4);
}

pub async fn a_trigger_that_was_removed_keeps_its_version(store: S) {
    must(change(&store, put(schedule("t", 1, T0))).await);
    let refused = refusal(change(&store, removal("t", 7, T0)).await);
    assert_eq!(refused, ErrorCode::TriggerMoved);
    must(change(&store, removal("t", 1, T0 + 1)).await);
    assert_eq!(must(store.trigger("t").await), None);
    assert!(must(store.list_triggers(10, None).await).items.is_empty());
    assert!(must(store.due_triggers(T0 + 9, 10).await).due.is_empty());
    let refused = refusal(change(&store, removal("t", 1, T0)).await);
    assert_eq!(refused, ErrorCode::TriggerNotFound);
    assert_eq!(must(store.trigger_version("t").await), Some(1));
    assert_eq!(
        refusal(change(&store, put(trigger("t", 1))).await),
        ErrorCode::TriggerMoved
    );
    let again = NewTrigger {
        now_ms: T0 + 50,
        ..trigger("t", 2)
    };
    must(change(&store, put(again)).await);
    let got = get(&store, "t").await;
    assert_eq!((got.version, got.created_ms), (2, T0 + 50));
}

pub async fn a_route_belongs_to_one(store: S) {
    must(change(&store, put(route("a", 1, "POST /x"))).await);
    let refused = change(&store, put(route("b", 1, "POST /x"))).await;
    assert_eq!(refusal(refused), ErrorCode::TriggerRouteTaken);
    assert_eq!(must(store.trigger("b").await), None);
    must(change(&store, put(route("b", 1, "PUT /x"))).await);
    // One may keep its route, and leave it to another.
    must(change(&store, put(route("a", 2, "POST /x"))).await);
    must(change(&store, put(route("a", 3, "POST /y"))).await);
    must(change(&store, put(route("b", 2, "POST /x"))).await);
    must(change(&store, removal("b", 2, T0)).await);
    must(change(&store, put(route("c", 1, "POST /x"))).await);
    let both = Commit::of(put(route("d", 1, "GET /z"))).and(put(route("e", 1, "GET /z")));
    assert_eq!(
        refusal(commit(&store, both).await),
        ErrorCode::TriggerRouteTaken
    );
    assert_eq!(must(store.trigger("d").await), None);
}

pub async fn triggers_are_listed_by_id(store: S) {
    for id in ["c", "a", "d", "b"] {
        must(change(&store, put(trigger(id, 1))).await);
    }
    must(change(&store, removal("c", 1, T0)).await);
    let first = must(store.list_triggers(2, None).await);
    let ids = |items: &[TriggerRecord]| -> Vec<String> {
        items.iter().map(|item| item.id.to_string()).collect()
    };
    assert_eq!(ids(&first.items), ["a", "b"]);
    let rest = must(store.list_triggers(2, first.next.as_deref()).await);
    assert_eq!(ids(&rest.items), ["d"]);
    assert_eq!(rest.next, None);
}

pub async fn schedules_come_when_they_are_due(store: S) {
    for (id, due_ms) in [("late", T0 + 30), ("early", T0 + 10), ("later", T0 + 99)] {
        must(change(&store, put(schedule(id, 1, due_ms))).await);
    }
    must(change(&store, put(trigger("never", 1))).await);
    let none = must(store.due_triggers(T0, 10).await);
    assert!(none.due.is_empty());
    assert_eq!(none.next_ms, Some(T0 + 10));
    let some = must(store.due_triggers(T0 + 30, 10).await);
    let ids: Vec<&str> = some.due.iter().map(|record| &*record.id).collect();
    assert_eq!(ids, ["early", "late"]);
    assert_eq!(some.next_ms, Some(T0 + 99));
    let one = must(store.due_triggers(T0 + 30, 1).await);
    assert_eq!(one.due.len(), 1);
}

pub async fn a_due_time_and_its_run_are_one_commit(store: S) {
    must(change(&store, put(schedule("t", 1, T0))).await);
    let take = |new: &str| {
        Commit::of(Change::Create(Box::new(run(new)))).and(fired(taking("t", 1, T0, new)))
    };
    must(commit(&store, take("first")).await);
    assert_eq!(record(&store, "first").await.id, id("first"));
    let got = get(&store, "t").await;
    assert_eq!(got.due_ms, Some(T0 + 1_000));
    assert_eq!(
        (got.stats.fired, got.stats.last_run),
        (1, Some(id("first")))
    );
    assert_eq!(got.stats.last_fired_ms, Some(T0 + 1));
    // The second one starts no run.
    assert_eq!(
        refusal(commit(&store, take("second")).await),
        ErrorCode::TriggerMoved
    );
    assert_eq!(must(store.run(&id("second")).await), None);
    assert_eq!(get(&store, "t").await.stats.fired, 1);
    // A run that is refused leaves the time where it is.
    let again = Commit::of(Change::Create(Box::new(run("first")))).and(fired(taking(
        "t",
        1,
        T0 + 1_000,
        "first",
    )));
    assert_eq!(refusal(commit(&store, again).await), ErrorCode::RunExists);
    assert_eq!(get(&store, "t").await.due_ms, Some(T0 + 1_000));
}

pub async fn a_race_for_a_due_time_has_one_winner(store: S) {
    must(change(&store, put(schedule("t", 1, T0))).await);
    let racers = (0..20).map(|at| {
        let store = store.clone();
        tokio::spawn(async move {
            let new = format!("r{at}");
            let commit = Commit::of(Change::Create(Box::new(run(&new))))
                .and(fired(taking("t", 1, T0, &new)));
            commit_all(&store, [commit]).await.remove(0).is_ok()
        })
    });
    let mut won = 0;
    for racer in racers.collect::<Vec<_>>() {
        won += usize::from(racer.await.unwrap_or_default());
    }
    assert_eq!(won, 1);
    assert_eq!(ids(&store, Default::default()).await.len(), 1);
}

pub async fn a_change_of_the_schedule_counts_from_then_on(store: S) {
    must(change(&store, put(schedule("t", 1, T0))).await);
    let kept = NewTrigger {
        due: NextDue::Keep,
        ..schedule("t", 2, T0)
    };
    must(change(&store, put(kept)).await);
    assert_eq!(get(&store, "t").await.due_ms, Some(T0));
    let refused = change(&store, fired(taking("t", 1, T0, "r"))).await;
    assert_eq!(refusal(refused), ErrorCode::TriggerMoved);
    must(change(&store, put(schedule("t", 3, T0 + 7))).await);
    let refused = change(&store, fired(taking("t", 3, T0, "r"))).await;
    assert_eq!(refusal(refused), ErrorCode::TriggerMoved);
    must(change(&store, fired(taking("t", 3, T0 + 7, "r"))).await);
    must(change(&store, removal("t", 3, T0)).await);
    let refused = change(&store, fired(taking("t", 3, T0 + 1_007, "r"))).await;
    assert_eq!(refusal(refused), ErrorCode::TriggerNotFound);
}

pub async fn what_failed_or_was_missed_is_counted(store: S) {
    must(change(&store, put(schedule("t", 1, T0))).await);
    let error = json(&format!(
        r#"{{"code":"{}","message":"no"}}"#,
        ErrorCode::InputInvalid
    ));
    let failed = Firing {
        outcome: Fired::Failed(error.clone()),
        ..taking("t", 1, T0, "-")
    };
    must(change(&store, fired(failed)).await);
    let mut missed = Firing {
        outcome: Fired::Nothing,
        ..taking("t", 1, T0 + 1_000, "-")
    };
    missed.due = missed.due.map(|take| Take {
        missed: 3,
        to_ms: None,
        ..take
    });
    must(change(&store, fired(missed)).await);
    let got = get(&store, "t").await;
    let stats = &got.stats;
    assert_eq!((stats.fired, stats.failed, stats.missed), (0, 1, 3));
    assert_eq!(
        stats.last_error.as_ref().map(Json::as_str),
        Some(error.as_str())
    );
    assert_eq!(stats.last_failed_ms, Some(T0 + 1));
    assert_eq!(got.due_ms, None);
}

pub async fn the_beginning_of_a_stream_can_be_forgotten(store: S) {
    let stream = StreamName::new("trigger", "t");
    for at in 0..20 {
        let log = append(stream.clone(), logs(T0 + at * 10, 1));
        let trim = Change::Trim {
            stream: stream.clone(),
            keep: 5,
        };
        must(commit(&store, Commit::of(Change::Append(log)).and(trim)).await);
    }
    let events = all_events(&store, &stream).await;
    let places: Vec<u64> = events.iter().map(|event| event.id.seq).collect();
    assert_eq!(places, [15, 16, 17, 18, 19]);
    assert!(events.iter().all(|event| event.kind == EventType::LogInfo));
    let locate = |place| store.locate(&stream, place);
    assert_eq!(must(locate(Place::Time(T0 + 175)).await), 18);
    assert_eq!(must(locate(Place::Time(T0 + 1_000)).await), 20);
    assert_eq!(must(locate(Place::Event(events[0].id)).await), 16);
    // A run's stream is not touched.
    create(&store, run("r")).await;
    let trim = Change::Trim {
        stream: StreamName::flow(&id("r")),
        keep: 0,
    };
    must(change(&store, trim).await);
    assert_eq!(stream_of(&store, "r").await.len(), 1);
}

pub async fn a_removed_trigger_is_swept_with_its_stream(store: S) {
    let stream = StreamName::new("trigger", "t");
    must(change(&store, put(trigger("t", 1))).await);
    must(change(&store, Change::Append(append(stream.clone(), logs(T0, 2)))).await);
    must(change(&store, removal("t", 1, T0)).await);
    let retention = Retention {
        cancelled_ms: Some(1_000),
        ..Retention::default()
    };
    assert_eq!(must(store.sweep(&retention, T0 + 999, 10).await), 0);
    assert_eq!(all_events(&store, &stream).await.len(), 2);
    assert_eq!(must(store.sweep(&retention, T0 + 1_000, 10).await), 1);
    assert!(all_events(&store, &stream).await.is_empty());
    assert_eq!(must(store.trigger_version("t").await), None);
    must(change(&store, put(trigger("t", 1))).await);
}
