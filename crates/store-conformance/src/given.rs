//! Runs, jobs, decisions and events as the checks need them: the least that the types ask for. Adapters
//! use them in their own tests too.

use std::sync::Arc;

use riverrun_store::{
    Advance, Append, Change, ClaimRunTasks, ClaimedRunTask, Commit, Error, EventQuery, Expect,
    FlowRecord, GroupId, NewJob, NewRun, NewRunTask, Projection, Receipt, Result, RunFilter,
    RunLease, RunRecord, RunTaskChange, Store,
};
use riverrun_types::{
    Draft, ErrorCode, Event, EventType, Json, Millis, Name, RunId, RunStatus, StreamName,
    event::EventContext,
};

pub type S = Arc<dyn Store>;

/// When the runs of the checks are created, unless they say otherwise.
pub const T0: Millis = 1_700_000_000_000;

pub fn id(text: &str) -> RunId {
    RunId::new(text)
}

pub fn json(text: &str) -> Json {
    Json::parse_text(text.to_owned()).expect("a check's own JSON")
}

pub fn projection(status: RunStatus) -> Projection {
    Projection {
        status,
        wake_ms: None,
        ended_ms: None,
        error: None,
    }
}

pub fn ended(status: RunStatus, ms: Millis) -> Projection {
    Projection {
        ended_ms: Some(ms),
        ..projection(status)
    }
}

pub fn draft(ms: Millis, kind: EventType) -> Draft {
    Draft::new(ms, kind)
}

/// `n` log lines, a millisecond apart, whose data is their number.
pub fn logs(from_ms: Millis, n: usize) -> Arc<[Draft]> {
    (0..n)
        .map(|at| draft(from_ms + at as Millis, EventType::LogInfo).data(at))
        .collect()
}

/// A run of the flow `f` at version 1 with one event and a task that is due at once.
pub fn run(text: &str) -> NewRun {
    NewRun {
        id: id(text),
        flow: "f".into(),
        version: "1".into(),
        created_ms: T0,
        idempotency_key: None,
        tenant: None,
        tags: Vec::new(),
        metadata: None,
        parent: None,
        origin: None,
        correlation: None,
        projection: projection(RunStatus::Running),
        turn: 1,
        events: [draft(T0, EventType::FlowStarted)].into(),
        task: Some(NewRunTask::Ready { at_ms: T0 }),
        snapshot: None,
    }
}

/// A run that is completed from the start.
pub fn finished(text: &str) -> NewRun {
    NewRun {
        projection: ended(RunStatus::Completed, T0 + 1),
        events: [
            draft(T0, EventType::FlowStarted),
            draft(T0 + 1, EventType::FlowCompleted),
        ]
        .into(),
        task: None,
        ..run(text)
    }
}

/// A job of the queue `mail`.
pub fn queued(text: &str) -> NewJob {
    NewJob {
        id: id(text),
        is_named: false,
        queue: "mail".into(),
        name: None,
        data: json(&format!(r#"{{"to":"{text}"}}"#)),
        priority: 0,
        at_ms: None,
        created_ms: T0,
        key: None,
        unique: None,
        correlation: None,
        options: None,
    }
}

pub fn context(run: &str) -> EventContext {
    EventContext {
        run_id: run.into(),
        flow_name: "f".into(),
        tenant_id: None,
    }
}

/// A decision that says nothing and leaves the task alone.
pub fn advance(run: &str) -> Advance {
    Advance {
        run: id(run),
        context: context(run),
        expect: Expect::Any,
        projection: projection(RunStatus::Running),
        events: [].into(),
        task: RunTaskChange::Keep,
        snapshot: None,
    }
}

/// The decision that ends a run.
pub fn finish(run: &str) -> Advance {
    Advance {
        projection: ended(RunStatus::Completed, T0 + 1),
        events: [draft(T0 + 1, EventType::FlowCompleted)].into(),
        task: RunTaskChange::Finish,
        ..advance(run)
    }
}

pub fn park(run: &str, at_ms: Millis) -> Advance {
    Advance {
        task: RunTaskChange::Park { at_ms },
        projection: projection(RunStatus::Waiting),
        ..advance(run)
    }
}

pub fn append(stream: StreamName, events: Arc<[Draft]>) -> Append {
    Append {
        context: EventContext {
            run_id: stream.id.clone(),
            flow_name: stream.kind.clone(),
            tenant_id: None,
        },
        stream,
        expect: Expect::Any,
        events,
    }
}

pub fn append_to(run: &str, events: Arc<[Draft]>) -> Append {
    append(StreamName::flow(&id(run)), events)
}

/// One group of commits.
pub async fn commit_all(
    store: &S,
    group: impl IntoIterator<Item = Commit>,
) -> Vec<Result<Receipt>> {
    let group: Vec<Commit> = group.into_iter().collect();
    store.commit(GroupId::first(), group.into()).await
}

/// One commit, by itself.
pub async fn commit(store: &S, commit: Commit) -> Result<Receipt> {
    let mut results = commit_all(store, [commit]).await;
    assert_eq!(results.len(), 1, "one answer a commit");
    results.remove(0)
}

pub async fn change(store: &S, change: Change) -> Result<Receipt> {
    commit(store, Commit::of(change)).await
}

pub async fn register(store: &S, flow: FlowRecord) {
    must(change(store, Change::Register(flow)).await);
}

pub async fn create(store: &S, new: NewRun) -> Receipt {
    must(change(store, Change::Create(Box::new(new))).await)
}

pub async fn decide(store: &S, advance: Advance) -> Result<Receipt> {
    change(store, Change::Advance(Box::new(advance))).await
}

pub async fn decide_under(store: &S, advance: Advance, lease: &RunLease) -> Result<Receipt> {
    let change = Change::Advance(Box::new(advance));
    commit(store, Commit::of(change).under(Some(lease.clone()))).await
}

pub async fn record(store: &S, run: &str) -> RunRecord {
    let found = must(store.run(&id(run)).await);
    found.unwrap_or_else(|| panic!("run {run} is gone"))
}

pub async fn claim(store: &S, now_ms: Millis, limit: usize) -> Vec<ClaimedRunTask> {
    let claim = ClaimRunTasks {
        owner: "me".into(),
        limit,
        now_ms,
        until_ms: now_ms + 1_000,
    };
    must(store.claim_run_tasks(claim).await)
}

/// Claims exactly one run task.
pub async fn claim_one(store: &S, now_ms: Millis) -> RunLease {
    let mut claimed = claim(store, now_ms, 10).await;
    assert_eq!(claimed.len(), 1, "one job is due");
    claimed.remove(0).lease
}

pub async fn stream_of(store: &S, run: &str) -> Vec<Event> {
    all_events(store, &StreamName::flow(&id(run))).await
}

pub async fn all_events(store: &S, stream: &StreamName) -> Vec<Event> {
    must(
        store
            .events(stream, &EventQuery::forward(0, 1_000_000))
            .await,
    )
}

/// The ids of every run that the filter shows, page by page.
pub async fn ids(store: &S, filter: RunFilter) -> Vec<String> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let filter = RunFilter {
            cursor: cursor.take(),
            limit: filter.limit.max(1),
            ..filter.clone()
        };
        let page = must(store.list_runs(&filter).await);
        assert!(page.items.len() <= filter.limit, "a page keeps its limit");
        found.extend(page.items.iter().map(|run| run.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => return found,
        }
    }
}

pub fn names<const N: usize>(texts: [&str; N]) -> Vec<Name> {
    texts.into_iter().map(Name::from).collect()
}

#[track_caller]
pub fn must<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the store refused: {error:?}"),
    }
}

/// The code of a refusal.
#[track_caller]
pub fn refusal<T: std::fmt::Debug>(result: Result<T>) -> ErrorCode {
    match result {
        Ok(value) => panic!("the store accepted: {value:?}"),
        Err(error) => error.code(),
    }
}

/// The run that a refusal names.
#[track_caller]
pub fn named<T: std::fmt::Debug>(result: Result<T>) -> RunId {
    match result {
        Err(
            Error::Conflict(run)
            | Error::Fenced(run)
            | Error::Duplicate(run)
            | Error::RunExists(run)
            | Error::RunNotFound(run)
            | Error::RunEnded(run)
            | Error::NotEnded(run),
        ) => run,
        other => panic!("no refusal that names a run: {other:?}"),
    }
}
