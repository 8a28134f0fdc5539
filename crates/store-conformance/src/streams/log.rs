//! The log of all events: one order over all streams, and numbers to read on from.

use std::sync::Arc;

use riverrun_store::{
    Change, Commit, Hub, Kinds, LogPage, LogQuery, LogUpdate, Logged, Retention, Writer,
};
use riverrun_types::{Draft, EventType, RunStatus, StreamName};

use crate::given::*;

async fn look(store: &S, kinds: &[&str], after: u64, limit: usize) -> LogPage {
    let query = LogQuery {
        after,
        kinds: Kinds::new(kinds),
        limit,
        max_bytes: riverrun_store::EventQuery::PAGE_BYTES,
    };
    let page = must(store.log(&query).await);
    assert!(page.events.len() <= limit && page.next >= after);
    page
}

/// Everything after a number, page by page.
async fn read(store: &S, kinds: &[&str], mut after: u64, limit: usize) -> Vec<Logged> {
    let mut found = Vec::new();
    loop {
        let page = look(store, kinds, after, limit).await;
        found.extend(page.events);
        assert!(page.is_end || page.next > after, "a page gets ahead");
        after = page.next;
        if page.is_end {
            return found;
        }
    }
}

fn shown(events: &[Logged]) -> Vec<String> {
    let show = |logged: &Logged| {
        let stream = &logged.stream;
        format!("{}/{} {}", stream.kind, stream.id, logged.event.kind)
    };
    events.iter().map(show).collect()
}

fn said(kind: &str) -> Draft {
    draft(T0, EventType::parse(kind)).data(1)
}

async fn say(store: &S, stream: (&str, &str), kinds: &[&str]) {
    let stream = StreamName::new(stream.0, stream.1);
    let events: Arc<[Draft]> = kinds.iter().map(|kind| said(kind)).collect();
    must(change(store, Change::Append(append(stream, events))).await);
}

pub async fn all_streams_are_in_one_order(store: S) {
    must(change(&store, Change::Create(Box::new(run("a")))).await);
    say(&store, ("webhook", "w"), &["order.paid", "log.info"]).await;
    must(change(&store, Change::Append(append_to("a", logs(T0, 2)))).await);
    must(change(&store, Change::Create(Box::new(finished("b")))).await);
    let all = read(&store, &[], 0, 100).await;
    assert_eq!(
        shown(&all),
        [
            "flow/a flow.started",
            "webhook/w order.paid",
            "webhook/w log.info",
            "flow/a log.info",
            "flow/a log.info",
            "flow/b flow.started",
            "flow/b flow.completed",
        ]
    );
    assert!(all.windows(2).all(|two| two[0].no < two[1].no));
    for limit in [1, 2, 3, 7, 8] {
        assert_eq!(read(&store, &[], 0, limit).await, all, "{limit} a page");
    }
    // Any number leads to what is after it, whether an event has it or not.
    for (at, logged) in all.iter().enumerate() {
        assert_eq!(read(&store, &[], logged.no, 2).await, all[at + 1..]);
    }
    assert_eq!(must(store.log_end().await), all[6].no);
    let stored = must(
        store
            .events(&all[4].stream, &riverrun_store::EventQuery::forward(2, 1))
            .await,
    );
    assert_eq!(stored, [all[4].event.clone()]);
    assert!(look(&store, &[], u64::MAX, 9).await.is_end);
}

pub async fn kinds_are_found_among_others(store: S) {
    for at in 0..40 {
        must(
            change(
                &store,
                Change::Create(Box::new(finished(&format!("r{at}")))),
            )
            .await,
        );
        if at % 10 == 0 {
            let kinds = ["order.paid", "log.info", "order.sent", "order.paid"];
            say(&store, ("webhook", "w"), &kinds).await;
        }
    }
    say(&store, ("trigger", "t"), &["trigger.fired"]).await;
    let stream = StreamName::new("global", "global");
    let emitted = draft(T0, EventType::Emit).data(serde_json::json!({"topic": "order.paid"}));
    must(change(&store, Change::Append(append(stream, [emitted].into()))).await);
    let count = |kinds: &'static [&'static str]| {
        let store = store.clone();
        async move {
            let all = read(&store, kinds, 0, 100).await;
            for limit in [1, 3, 5] {
                assert_eq!(read(&store, kinds, 0, limit).await, all, "{kinds:?}");
            }
            all.len()
        }
    };
    assert_eq!(count(&["order.paid"]).await, 9);
    assert_eq!(count(&["order.sent"]).await, 4);
    assert_eq!(count(&["order"]).await, 13);
    assert_eq!(count(&["order.sent", "trigger"]).await, 5);
    assert_eq!(count(&["flow.completed"]).await, 40);
    assert_eq!(count(&["flow.completed", "order.sent"]).await, 44);
    assert_eq!(count(&["emit"]).await, 1);
    assert_eq!(count(&["orde"]).await, 0);
    assert_eq!(count(&["nothing.such"]).await, 0);
    assert_eq!(count(&["job"]).await, 0);
    // A reader that finds no event still advances.
    let page = look(&store, &["nothing.such"], 0, 10).await;
    assert_eq!(page.next, must(store.log_end().await));
}

/// A page ends before its limit, and one event that is larger is a page of its own.
pub async fn a_page_of_the_log_is_no_larger_than_asked(store: S) {
    let large = |len: usize| draft(T0, EventType::parse("large")).data("x".repeat(len - 2));
    let stream = StreamName::new("webhook", "w");
    for len in [100, 100, 100, 500, 100] {
        let events = [large(len)].into();
        must(change(&store, Change::Append(append(stream.clone(), events))).await);
    }
    let mut query = LogQuery {
        after: 0,
        kinds: Kinds::new(["large"]),
        limit: 10,
        max_bytes: 250,
    };
    let mut pages = Vec::new();
    loop {
        let page = must(store.log(&query).await);
        pages.push(page.events.len());
        query.after = page.next;
        if page.is_end {
            break;
        }
    }
    assert_eq!(pages, [2, 1, 1, 1]);
}

pub async fn large_changes_have_their_numbers(store: S) {
    let mut drafts: Vec<Draft> = (0..700).map(|_| said("order.paid")).collect();
    drafts[3].data = Some(json(&format!("{:?}", "x".repeat(100 << 10))));
    let stream = StreamName::new("webhook", "w");
    let receipt = must(change(&store, Change::Append(append(stream, drafts.into()))).await);
    let all = read(&store, &["order.paid"], 0, 1_000).await;
    let numbers: Vec<u64> = all.iter().map(|logged| logged.no).collect();
    let first = receipt.placed[0].no;
    assert_eq!(numbers, (first..first + 700).collect::<Vec<_>>());
    for at in [0, 3, 254, 255, 256, 300, 511, 699] {
        let after = read(&store, &["order.paid"], numbers[at], 100).await;
        assert_eq!(after, all[at + 1..]);
    }
}

pub async fn numbers_are_not_given_again(store: S) {
    say(&store, ("webhook", "w"), &["order.paid"]).await;
    must(change(&store, Change::Create(Box::new(finished("r")))).await);
    let failed = Change::Create(Box::new(riverrun_store::NewRun {
        projection: ended(RunStatus::Failed, T0 + 1),
        events: [draft(T0, EventType::FlowFailed)].into(),
        ..finished("f")
    }));
    must(change(&store, failed).await);
    let end = must(store.log_end().await);
    must(change(&store, Change::Delete(id("r"))).await);
    let retention = Retention {
        failed_ms: Some(0),
        ..Retention::default()
    };
    must(store.sweep(&retention, T0 + 10, 10).await);
    assert_eq!(must(store.log_end().await), end);
    assert_eq!(read(&store, &["flow.failed"], 0, 10).await, []);
    assert_eq!(read(&store, &[], 0, 10).await.len(), 1);
    say(&store, ("webhook", "w"), &["order.paid"]).await;
    let later = read(&store, &["order"], end, 10).await;
    assert_eq!(shown(&later), ["webhook/w order.paid"]);
}

/// A subscriber that listens, reads and then uses the live numbers misses no event and gets none
/// twice.
pub async fn live_events_have_the_numbers_of_the_log(store: S) {
    let hub = Arc::new(Hub::default());
    let writer = Writer::spawn(store.clone(), hub.clone());
    let mut live = hub.listen_to(&Kinds::new(["order"]));
    let mut all = hub.listen_to(&Kinds::default());
    must(
        writer
            .commit(Commit::of(Change::Create(Box::new(run("a")))))
            .await,
    );
    let stream = StreamName::new("webhook", "w");
    let events: Arc<[Draft]> = [said("log.info"), said("order.paid"), said("order.sent")].into();
    let appended = append(stream, events);
    must(writer.commit(Commit::of(Change::Append(appended))).await);
    let LogUpdate::Batch(received) = live.next().await else {
        panic!("nothing was missed");
    };
    assert_eq!(received.events, read(&store, &["order"], 0, 10).await);
    let mut received = Vec::new();
    while received.len() < 4 {
        match all.next().await {
            LogUpdate::Batch(batch) => received.extend(batch.events.iter().cloned()),
            LogUpdate::Missed => panic!("nothing was missed"),
        }
    }
    assert_eq!(received, read(&store, &[], 0, 10).await);
}
