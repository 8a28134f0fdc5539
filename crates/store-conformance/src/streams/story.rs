//! Stories: what has one correlation id, across streams.

use riverrun_store::{Change, InStory, NewJob, NewRun, Parent, StoryQuery};
use riverrun_types::{Draft, ErrorCode, EventType, Millis, StreamName};

use crate::given::*;

async fn page(
    store: &S,
    id: &str,
    limit: usize,
    cursor: Option<String>,
) -> (Vec<InStory>, Option<String>) {
    let query = StoryQuery {
        correlation: id.into(),
        limit,
        cursor,
    };
    let page = must(store.story(&query).await);
    assert!(page.items.len() <= limit);
    (page.items, page.next)
}

/// The whole story, in pages of this size.
async fn read_story(store: &S, id: &str, limit: usize) -> Vec<InStory> {
    let (mut items, mut next) = page(store, id, limit, None).await;
    while let Some(cursor) = next {
        let (more, after) = page(store, id, limit, Some(cursor)).await;
        items.extend(more);
        next = after;
    }
    items
}

fn shown(items: &[InStory]) -> Vec<String> {
    let show = |item: &InStory| {
        let InStory { stream, event } = item;
        format!(
            "{} {}/{} {}",
            event.id.ms - T0,
            stream.kind,
            stream.id,
            event.kind
        )
    };
    items.iter().map(show).collect()
}

fn said(ms: Millis, kind: EventType, story: &str) -> Draft {
    let mut draft = draft(T0 + ms, kind);
    draft.correlation_id = Some(story.into());
    draft.causation_id = Some("cause".into());
    draft
}

async fn start(store: &S, new: NewRun) {
    must(change(store, Change::Create(Box::new(new))).await);
}

async fn tell(store: &S, stream: StreamName, events: Vec<Draft>) {
    must(change(store, Change::Append(append(stream, events.into()))).await);
}

fn job(text: &str, ms: Millis, story: Option<&str>) -> NewJob {
    NewJob {
        created_ms: T0 + ms,
        correlation: story.map(Into::into),
        ..queued(text)
    }
}

fn at(text: &str, ms: Millis) -> NewRun {
    NewRun {
        events: [draft(T0 + ms, EventType::FlowStarted)].into(),
        ..run(text)
    }
}

pub async fn a_story_is_read_across_streams_in_order(store: S) {
    // A trigger fires and starts `r`, which starts `sub`; a step of `r` adds a job that logs, and
    // `other` was started because of it. `noise` has nothing to do with it.
    let trigger = || StreamName::new("trigger", "t");
    tell(
        &store,
        trigger(),
        vec![said(0, EventType::TriggerFired, "noise")],
    )
    .await;
    let fired = said(1, EventType::TriggerFired, "r");
    tell(
        &store,
        trigger(),
        vec![draft(T0 + 1, EventType::TriggerTimeout), fired],
    )
    .await;
    start(&store, at("r", 2)).await;
    start(&store, at("noise", 2)).await;
    let sub = NewRun {
        parent: Some(Parent {
            run: id("r"),
            step: "s".into(),
            visit: 1,
        }),
        ..at("sub", 4)
    };
    start(&store, sub).await;
    let jobs = [
        job("j", 5, Some("r")),
        job("k", 5, Some("noise")),
        job("l", 5, None),
    ];
    must(change(&store, Change::Enqueue(jobs.into())).await);
    tell(&store, StreamName::job(&id("j")), logs(T0 + 6, 2).to_vec()).await;
    let other = NewRun {
        correlation: Some("r".into()),
        ..at("other", 9)
    };
    start(&store, other).await;
    tell(
        &store,
        StreamName::flow(&id("noise")),
        vec![said(10, EventType::parse("n"), "other")],
    )
    .await;
    tell(
        &store,
        StreamName::flow(&id("r")),
        logs(T0 + 11, 1).to_vec(),
    )
    .await;
    let all = read_story(&store, "r", 100).await;
    assert_eq!(
        shown(&all),
        [
            "1 trigger/t trigger.fired",
            "2 flow/r flow.started",
            "4 flow/sub flow.started",
            "5 job/j job.added",
            "6 job/j log.info",
            "7 job/j log.info",
            "9 flow/other flow.started",
            "10 flow/noise n",
            "11 flow/r log.info",
        ]
    );
    assert_eq!(all[0].event.causation_id.as_deref(), Some("cause"));
    for limit in 1..=10 {
        assert_eq!(read_story(&store, "r", limit).await, all, "{limit} a page");
    }
    assert_eq!(
        must(store.run(&id("other")).await).and_then(|run| run.correlation),
        Some("r".into())
    );
    assert_eq!(
        shown(&read_story(&store, "l", 9).await),
        ["5 job/l job.added"]
    );
    assert_eq!(read_story(&store, "nothing", 9).await, []);
    for text in ["", "x", "5-1", "5-1@x", "-1@a/b"] {
        let query = StoryQuery {
            correlation: "r".into(),
            limit: 1,
            cursor: Some(text.to_owned()),
        };
        assert_eq!(
            refusal(store.story(&query).await),
            ErrorCode::BadCursor,
            "{text:?}"
        );
    }
}

pub async fn events_of_one_time_have_one_order(store: S) {
    for name in ["c", "a", "b"] {
        let events = (0..70).map(|_| said(5, EventType::parse("n"), "x"));
        tell(&store, StreamName::new("webhook", name), events.collect()).await;
    }
    start(&store, at("x", 5)).await;
    tell(
        &store,
        StreamName::flow(&id("x")),
        vec![draft(T0 + 5, EventType::LogInfo); 70],
    )
    .await;
    let all = read_story(&store, "x", 1_000).await;
    assert_eq!(all.len(), 3 * 70 + 71);
    for limit in [1, 7, 64, 70, 71] {
        assert_eq!(read_story(&store, "x", limit).await, all, "{limit} a page");
    }
}

pub async fn a_story_goes_with_what_it_is_made_of(store: S) {
    let new = NewRun {
        events: [
            said(0, EventType::FlowStarted, "x"),
            draft(T0, EventType::FlowCompleted),
        ]
        .into(),
        correlation: Some("x".into()),
        ..finished("r")
    };
    start(&store, new).await;
    assert_eq!(read_story(&store, "x", 9).await.len(), 2);
    must(change(&store, Change::Delete(id("r"))).await);
    assert_eq!(read_story(&store, "x", 9).await, []);
    start(&store, finished("r")).await;
    assert_eq!(read_story(&store, "x", 9).await, []);
}
