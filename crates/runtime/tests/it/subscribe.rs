//! Subscribing to streams and to kinds of events: nothing is missed, nothing comes twice.

use std::{sync::Arc, time::Duration};

use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Begin, Delivery, OnKind, Options, Runtime, StartRequest, Subject};
use riverrun_store::{Change, Commit, Logged};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Event, Json, StreamName};
use serde_json::json;

const LONG: Duration = Duration::from_secs(20);

async fn runtime() -> Runtime {
    let store = SqliteStore::memory().unwrap();
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let echo = riverrun_runtime::function("echo", |input: serde_json::Value| async move {
        Ok::<_, riverrun_engine::Failure>(input)
    });
    Runtime::open(store, sandbox, [echo], Options::default())
        .await
        .unwrap()
}

async fn say(runtime: &Runtime, stream: &StreamName, kind: &str, n: usize) {
    let event = Json::of(&json!({"type": kind, "data": n}));
    runtime.events().append(stream, &[event]).await.unwrap();
}

fn webhook(id: &str) -> StreamName {
    StreamName::new("webhook", id)
}

async fn next_delivery(kinds: &mut OnKind) -> Delivery<Logged> {
    let delivery = tokio::time::timeout(LONG, kinds.next()).await;
    delivery.expect("nothing came").unwrap()
}

/// The next event, whether the subscriber is late or not.
async fn next_event(kinds: &mut OnKind) -> Logged {
    loop {
        if let Delivery::Event(logged) = next_delivery(kinds).await {
            return logged;
        }
    }
}

async fn event(subject: &mut Subject) -> Event {
    loop {
        let delivery = tokio::time::timeout(LONG, subject.next()).await;
        match delivery.expect("nothing came").unwrap() {
            Delivery::Event(event) => return event,
            Delivery::Late => {}
            Delivery::Missed(_) | Delivery::Gone => panic!("the stream is gone"),
        }
    }
}

/// A subscriber gets an error if the store was replaced by an older one while it was away.
#[tokio::test]
async fn a_cursor_that_was_never_given_out_is_refused() {
    let runtime = runtime().await;
    say(&runtime, &webhook("a"), "x.y", 1).await;
    let end = runtime.base().store().log_end().await.unwrap();
    assert!(
        runtime
            .streams()
            .on_kind(["x.y"], Begin::After(end))
            .await
            .is_ok()
    );
    let beyond = runtime
        .streams()
        .on_kind(["x.y"], Begin::After(end + 1))
        .await;
    assert_eq!(beyond.err().unwrap().code(), "BAD_CURSOR");
    let query = riverrun_store::LogQuery {
        after: end + 1,
        kinds: riverrun_store::Kinds::new(["x.y"]),
        limit: 9,
        max_bytes: riverrun_store::EventQuery::PAGE_BYTES,
    };
    let beyond = runtime.streams().events_of_kind(&query).await;
    assert_eq!(beyond.err().unwrap().code(), "BAD_CURSOR");
}

#[tokio::test]
async fn kinds_are_delivered_across_runs_and_streams() {
    let runtime = runtime().await;
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "one",
        "steps": {"one": {"type": "echo"}}});
    runtime.flows().register(&flow).await.unwrap();
    let kinds = ["flow.completed", "order"];
    let mut live = runtime.streams().on_kind(kinds, Begin::End).await.unwrap();
    let first = runtime
        .runs()
        .start(StartRequest::new("f", json!({})))
        .await
        .unwrap();
    runtime.runs().wait(&first.run, LONG).await.unwrap();
    say(&runtime, &webhook("w"), "order.paid", 1).await;
    let second = runtime
        .runs()
        .start(StartRequest::new("f", json!({})))
        .await
        .unwrap();
    runtime.runs().wait(&second.run, LONG).await.unwrap();
    let streams = [
        StreamName::flow(&first.run),
        webhook("w"),
        StreamName::flow(&second.run),
    ];
    let mut seen = Vec::new();
    for stream in &streams {
        let logged = next_event(&mut live).await;
        assert_eq!(logged.stream, *stream);
        seen.push(logged);
    }
    // The same from the store, from the beginning and from any cursor.
    for at in 0..3 {
        let begin = match at {
            0 => Begin::Start,
            at => Begin::After(seen[at - 1].no),
        };
        let mut later = runtime.streams().on_kind(kinds, begin).await.unwrap();
        for expected in &seen[at..] {
            assert_eq!(next_event(&mut later).await, *expected);
        }
        assert!(later.cursor() >= seen[2].no);
    }
    for bad in [&[][..], &["a b"], &["job.failed"], &["n"; 1]] {
        let refused = runtime.streams().on_kind(bad, Begin::End).await.map(drop);
        match bad {
            ["n"] => assert!(refused.is_ok()),
            _ => assert_eq!(refused.unwrap_err().code(), "BAD_KIND"),
        }
    }
}

#[tokio::test]
async fn a_subscriber_that_lags_gets_a_notice_and_catches_up() {
    const EVENTS: usize = 1_000;
    let runtime = runtime().await;
    let stream = webhook("w");
    let mut kinds = runtime.streams().on_kind(["n"], Begin::End).await.unwrap();
    let mut subject = runtime
        .streams()
        .subscribe_subject(&stream, Begin::End)
        .await
        .unwrap();
    say(&runtime, &stream, "n", 0).await;
    assert_eq!(next_event(&mut kinds).await.event.data, Some(Json::of(&0)));
    assert_eq!(event(&mut subject).await.data, Some(Json::of(&0)));
    say(&runtime, &stream, "n", 1).await;
    assert_eq!(event(&mut subject).await.data, Some(Json::of(&1)));
    for n in 2..EVENTS {
        say(&runtime, &stream, "n", n).await;
    }
    let (mut next, mut late) = (1, 0);
    while next < EVENTS {
        match next_delivery(&mut kinds).await {
            Delivery::Event(logged) => {
                assert_eq!(logged.event.data, Some(Json::of(&next)));
                next += 1;
            }
            Delivery::Late => late += 1,
            Delivery::Missed(_) | Delivery::Gone => panic!("kinds do not go"),
        }
    }
    assert_eq!(late, 1, "reported once");
    let (mut next, mut late) = (2, 0);
    while next < EVENTS {
        match subject.next().await.unwrap() {
            Delivery::Event(event) => {
                assert_eq!(event.data, Some(Json::of(&next)));
                next += 1;
            }
            Delivery::Late => late += 1,
            Delivery::Missed(_) | Delivery::Gone => panic!("it is there"),
        }
    }
    assert_eq!(late, 1, "reported once");
}

/// Many write while subscribers come at any moment and with any cursor.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_falls_between_the_store_and_the_bus() {
    const WRITERS: usize = 4;
    const EACH: usize = 150;
    let runtime = runtime().await;
    let writers = (0..WRITERS).map(|writer| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            for n in 0..EACH {
                say(&runtime, &webhook(&writer.to_string()), "n", n).await;
                say(&runtime, &webhook("noise"), "noise", n).await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut readers = Vec::new();
    let mut first = runtime
        .streams()
        .on_kind(["n"], Begin::Start)
        .await
        .unwrap();
    let mut all = Vec::new();
    while all.len() < WRITERS * EACH {
        all.push(next_event(&mut first).await);
        if all.len() % 40 == 0 {
            let (runtime, at) = (runtime.clone(), all.len() / 2);
            let after = all[at - 1].no;
            readers.push((
                at,
                tokio::spawn(async move {
                    let mut kinds = runtime
                        .streams()
                        .on_kind(["n"], Begin::After(after))
                        .await
                        .unwrap();
                    let mut found = Vec::new();
                    while found.len() < WRITERS * EACH - at {
                        found.push(next_event(&mut kinds).await);
                    }
                    found
                }),
            ));
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(all.windows(2).all(|two| two[0].no < two[1].no));
    for writer in 0..WRITERS {
        let own = all
            .iter()
            .filter(|logged| *logged.stream.id == *writer.to_string());
        let numbers: Vec<Json> = own.filter_map(|logged| logged.event.data.clone()).collect();
        assert_eq!(numbers, (0..EACH).map(|n| Json::of(&n)).collect::<Vec<_>>());
    }
    for (at, reader) in readers {
        assert_eq!(reader.await.unwrap(), all[at..]);
    }
}

#[tokio::test]
async fn a_subject_is_read_on_and_goes_with_its_run() {
    let runtime = runtime().await;
    let flow = json!({"id": "f", "version": "1.0.0", "initialStepId": "one",
        "steps": {"one": {"type": "echo"}}});
    runtime.flows().register(&flow).await.unwrap();
    let run = runtime
        .runs()
        .start(StartRequest::new("f", json!({})))
        .await
        .unwrap()
        .run;
    runtime.runs().wait(&run, LONG).await.unwrap();
    let stream = StreamName::flow(&run);
    let mut whole = runtime
        .streams()
        .subscribe_subject(&stream, Begin::Start)
        .await
        .unwrap();
    assert_eq!(whole.cursor(), None);
    let first = event(&mut whole).await;
    let second = event(&mut whole).await;
    assert_eq!(whole.cursor(), Some(second.id));
    let mut rest = runtime
        .streams()
        .subscribe_subject(&stream, Begin::After(first.id))
        .await
        .unwrap();
    assert_eq!(event(&mut rest).await, second);
    let mut end = runtime
        .streams()
        .subscribe_subject(&stream, Begin::End)
        .await
        .unwrap();
    runtime
        .base()
        .commit(Commit::of(Change::Delete(run)))
        .await
        .unwrap();
    let delivery = tokio::time::timeout(LONG, end.next()).await.unwrap();
    assert_eq!(delivery.unwrap(), Delivery::Gone);
    for (kind, code) in [
        ("flow", "RUN_NOT_FOUND"),
        ("job", "JOB_NOT_FOUND"),
        ("queue", "BAD_REQUEST"),
    ] {
        let stream = StreamName::new(kind, "none");
        let refused = runtime
            .streams()
            .subscribe_subject(&stream, Begin::Start)
            .await
            .map(drop);
        assert_eq!(refused.unwrap_err().code(), code);
    }
}
