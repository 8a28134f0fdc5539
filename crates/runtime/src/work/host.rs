//! What a job's handler says and asks for while it runs.
//!
//! What it says (logs, progress, partial results) is gathered and stored a little later, in one
//! commit with whatever else was said; the rest goes with the outcome. What it asks for is
//! answered when it is durable. Everything is fenced by the job's lease.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_engine::{RunState, SchemaIssue};
use riverrun_protocol::{Frame, JournalEntry, WorkError};
use riverrun_store::{
    Added, Change, Commit, Error as StoreError, EventQuery, Expect, JobLease, Note,
};
use riverrun_types::{Draft, Event, EventId, EventType, Json, Path, RunId, State, StreamName};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{
    CallRequest, Cancellation, Host, JobOptions, JobRequest, Process, attempt::to_job, record,
    request::KeptOptions,
};
use crate::{Error, Runtime, StartRequest, clock::now_ms, runtime::lease_ms};

/// How long what was said waits for more.
const GATHER: Duration = Duration::from_millis(50);
/// Frames that wait to be stored; more are dropped and counted.
const MAX_WAITING: usize = 4_096;
/// How often a conditional write is judged again because the stream moved.
const TRIES: usize = 20;

pub(crate) struct JobHost {
    runtime: Runtime,
    process: Arc<Process>,
    lease: JobLease,
    correlation_id: Option<String>,
    tenant_id: Option<String>,
    cancel: Cancellation,
    said: Arc<Said>,
    /// The job's state, read when it is first asked for. One writer at a time.
    stream: tokio::sync::Mutex<Option<RunState>>,
}

/// What waits to be stored.
#[derive(Default)]
struct Said {
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    drafts: Vec<Draft>,
    progress: Option<Json>,
    dropped: usize,
    has_flusher: bool,
    is_closed: bool,
}

impl JobHost {
    pub fn new(
        runtime: Runtime,
        process: Arc<Process>,
        lease: JobLease,
        options: &KeptOptions,
        cancel: Cancellation,
    ) -> Self {
        Self {
            runtime,
            process,
            lease,
            correlation_id: options.correlation_id.clone(),
            tenant_id: options.tenant_id.clone(),
            cancel,
            said: Arc::default(),
            stream: tokio::sync::Mutex::default(),
        }
    }

    /// What was said and is not stored yet: events and the latest progress. Later frames are
    /// dropped.
    pub fn close(&self) -> (Vec<Draft>, Option<Json>) {
        let mut waiting = self.said.waiting.lock();
        waiting.is_closed = true;
        self.said.wake.notify_one();
        waiting.take()
    }

    fn say(&self, draft: Draft, progress: Option<Json>) {
        let mut waiting = self.said.waiting.lock();
        if waiting.is_closed {
            return;
        }
        if waiting.drafts.len() >= MAX_WAITING {
            waiting.dropped += 1;
            return;
        }
        waiting.drafts.push(draft);
        waiting.progress = progress.or(waiting.progress.take());
        if !waiting.has_flusher {
            waiting.has_flusher = true;
            let flush = flush(self.runtime.clone(), self.lease.clone(), self.said.clone());
            tokio::spawn(flush);
        }
    }

    /// Commits under the lease.
    async fn fenced(&self, change: Change) -> Result<riverrun_store::Receipt, WorkError> {
        let commit = Commit::of(Change::Note(Box::new(self.note(None)))).and(change);
        self.runtime.commit(commit).await.map_err(refused)
    }

    fn note(&self, checkpoint: Option<Json>) -> Note {
        Note {
            lease: self.lease.clone(),
            progress: None,
            checkpoint,
        }
    }

    async fn append(&self, draft: Draft, expect: Expect) -> Result<EventId, WorkError> {
        let mut append = to_job(&self.lease.id, vec![draft.clone()]);
        append.expect = expect;
        let receipt = self.fenced(Change::Append(append)).await?;
        let placed = receipt.placed.first();
        placed
            .map(|placed| placed.id(0, &draft))
            .ok_or_else(|| WorkError::new("INTERNAL", "the store placed no event"))
    }

    async fn read_stream(&self) -> Result<RunState, WorkError> {
        let mut stream = RunState::new();
        each_event(&self.runtime, &self.lease.id, |event| {
            stream.apply(&event.clone().draft());
        })
        .await?;
        Ok(stream)
    }

    async fn with_state<T>(&self, ask: impl FnOnce(&RunState) -> T) -> Result<T, WorkError> {
        let mut stream = self.stream.lock().await;
        if stream.is_none() {
            *stream = Some(self.read_stream().await?);
        }
        let known = stream
            .as_ref()
            .ok_or_else(|| WorkError::new("INTERNAL", "no state"))?;
        Ok(ask(known))
    }

    /// Writes to the state, if it has the version that the writer thinks it has.
    async fn write(
        &self,
        kind: EventType,
        data: Json,
        if_version: Option<u64>,
    ) -> Result<Json, WorkError> {
        let mut guard = self.stream.lock().await;
        for _ in 0..TRIES {
            let known = match guard.take() {
                Some(known) => known,
                None => self.read_stream().await?,
            };
            if let Some(version) = if_version
                && version != known.len
            {
                let (message, version) = ("the state has changed meanwhile", known.len);
                *guard = Some(known);
                let error = WorkError::new("STATE_CONFLICT", message);
                return Err(error.details(&json!({ "version": version })));
            }
            let mut draft = Draft::new(now_ms(), kind.clone());
            draft.data = Some(data.clone());
            let mut after = known.clone();
            after.apply(&draft);
            if let Some(issues) = self.breaks(&known.state, &after.state) {
                *guard = Some(known);
                return Err(invalid(&issues));
            }
            match self.append(draft, Expect::Len(known.len)).await {
                Ok(id) => {
                    let len = id.seq + 1;
                    *guard = Some(after);
                    return Ok(Json::of(&json!({ "version": len })));
                }
                // A log line came between, or somebody else: look again.
                Err(error) if error.code == "CONFLICT" => {}
                Err(error) => return Err(error),
            }
        }
        Err(WorkError::new(
            "BUSY",
            "the job's stream moves faster than it can be written",
        ))
    }

    /// What is wrong with a state that was not wrong before.
    fn breaks(&self, before: &State, after: &State) -> Option<Vec<SchemaIssue>> {
        let schema = self.process.config.state_schema.as_ref()?;
        let known = schema.state_issues(before);
        let mut issues = schema.state_issues(after);
        issues.retain(|issue| !known.contains(issue));
        (!issues.is_empty()).then_some(issues)
    }
}

fn invalid(issues: &[SchemaIssue]) -> WorkError {
    let first = issues.first();
    let message = first.map_or_else(String::new, |issue| {
        format!(
            "the write breaks the state's schema at {:?}: {}",
            issue.path, issue.message
        )
    });
    WorkError::new("STATE_INVALID", message).details(&json!({ "issues": issues }))
}

impl Waiting {
    fn take(&mut self) -> (Vec<Draft>, Option<Json>) {
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            let message =
                format!("{dropped} lines were dropped: the handler said more than can be stored");
            let draft =
                Draft::new(now_ms(), EventType::LogWarn).data(json!({ "message": message }));
            self.drafts.push(draft);
        }
        (std::mem::take(&mut self.drafts), self.progress.take())
    }
}

/// Stores what was said while the job runs.
async fn flush(runtime: Runtime, lease: JobLease, said: Arc<Said>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(GATHER) => {}
            () = said.wake.notified() => {}
        }
        let (drafts, progress) = {
            let mut waiting = said.waiting.lock();
            if waiting.is_closed {
                return;
            }
            let taken = waiting.take();
            if taken.0.is_empty() {
                waiting.has_flusher = false;
                return;
            }
            taken
        };
        let note = Note {
            lease: lease.clone(),
            progress,
            checkpoint: None,
        };
        let commit =
            Commit::of(Change::Note(Box::new(note))).and(Change::Append(to_job(&lease.id, drafts)));
        if let Err(error) = runtime.commit(commit).await {
            tracing::debug!(job = %lease.id, %error, "what a job said could not be stored");
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeyParams {
    key: String,
    value: Option<Json>,
    if_version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BatchParams {
    values: indexmap::IndexMap<String, Json>,
    if_version: Option<u64>,
}

#[derive(Deserialize)]
struct EmitParams {
    #[serde(rename = "type", alias = "kind")]
    kind: String,
    data: Option<Json>,
}

#[derive(Deserialize)]
struct MemoParams {
    name: String,
    value: Option<Json>,
    error: Option<WorkError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams {
    process: String,
    input: Option<Json>,
    timeout_ms: Option<u64>,
}

/// One job, or many.
#[derive(Deserialize)]
pub(super) struct EnqueueParams {
    queue: String,
    name: Option<String>,
    data: Option<Json>,
    #[serde(default, alias = "opts")]
    options: JobOptions,
    jobs: Option<Vec<JobRequest>>,
}

impl EnqueueParams {
    pub(super) fn jobs(self) -> (String, Vec<JobRequest>) {
        let Self {
            queue,
            name,
            data,
            options,
            jobs,
        } = self;
        let one = JobRequest {
            name,
            data,
            options,
        };
        (queue, jobs.unwrap_or_else(|| vec![one]))
    }
}

#[derive(Deserialize)]
pub(super) struct StartParams {
    flow: String,
    input: Option<Json>,
    #[serde(default)]
    options: StartOptions,
}

/// How a run is to be started, as over HTTP.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct StartOptions {
    version: Option<String>,
    run_id: Option<String>,
    idempotency_key: Option<String>,
    tenant_id: Option<String>,
    tags: Vec<String>,
    metadata: Option<Json>,
    delay_ms: Option<u64>,
}

impl StartParams {
    pub(super) fn request(self) -> StartRequest {
        let input = self.input.unwrap_or_else(|| Json::of(&json!({})));
        let mut request = StartRequest::new(self.flow, input);
        request.version = self.options.version;
        request.run_id = self.options.run_id.as_deref().map(RunId::new);
        request.idempotency_key = self.options.idempotency_key;
        request.tenant = self.options.tenant_id;
        request.tags = self.options.tags;
        request.metadata = self.options.metadata;
        request.delay_ms = self.options.delay_ms;
        request
    }
}

pub(super) fn params<T: DeserializeOwned>(params: &Json) -> Result<T, WorkError> {
    params
        .read()
        .map_err(|error| WorkError::new("BAD_REQUEST", error.to_string()).permanent())
}

#[async_trait]
impl Host for JobHost {
    fn frame(&self, frame: Frame) {
        if let Some(draft) = record::frame(&frame) {
            let is_progress = draft.kind == EventType::Progress;
            let progress = draft.data.clone().filter(|_| is_progress);
            self.say(draft, progress);
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        if self.said.waiting.lock().is_closed {
            return Err(WorkError::new(
                "INVOCATION_ENDED",
                "the invocation has ended",
            ));
        }
        if self.cancel.reason() == Some(riverrun_protocol::CancelReason::LeaseLost) {
            return Err(WorkError::new("LEASE_LOST", "the lease on the job is gone"));
        }
        let answer = |value: Value| Ok(Json::of(&value));
        match method {
            "state.get" => {
                let path = path(&params::<KeyParams>(&asked)?.key)?;
                self.with_state(|known| {
                    Json::of(&record::Read {
                        value: known.state.path(&path),
                        version: known.len,
                    })
                })
                .await
            }
            "state.has" => {
                let path = path(&params::<KeyParams>(&asked)?.key)?;
                self.with_state(|known| {
                    Json::of(&json!({"has": known.state.path(&path).is_some()}))
                })
                .await
            }
            "state.getAll" => {
                self.with_state(|known| {
                    Json::of(&record::ReadAll {
                        state: &known.state,
                        version: known.len,
                    })
                })
                .await
            }
            "state.set" => {
                let KeyParams {
                    key,
                    value,
                    if_version,
                } = params(&asked)?;
                path(&key)?;
                let data = Json::of(&record::Write {
                    kind: None,
                    key: &key,
                    value: &value.unwrap_or_default(),
                });
                self.write(EventType::StateSet, data, if_version).await
            }
            "state.delete" => {
                let KeyParams {
                    key, if_version, ..
                } = params(&asked)?;
                path(&key)?;
                let data = Json::of(&json!({ "key": key }));
                self.write(EventType::StateDelete, data, if_version).await
            }
            "state.setBatch" => {
                let BatchParams { values, if_version } = params(&asked)?;
                let mut operations = Vec::with_capacity(values.len());
                for (key, value) in &values {
                    path(key)?;
                    operations.push(record::Write {
                        kind: Some("set"),
                        key,
                        value,
                    });
                }
                let data = Json::of(&record::Writes { operations });
                self.write(EventType::StateBatch, data, if_version).await
            }
            "emit" => {
                let EmitParams { kind, data } = params(&asked)?;
                let kind = EventType::parse(&kind);
                if kind.is_engines_own() || kind.family() == "job" || kind.family() == "state" {
                    let message = format!("only the server may write events of the type {kind:?}");
                    return Err(WorkError::new("RESERVED_TYPE", message).permanent());
                }
                let mut draft = Draft::new(now_ms(), kind);
                draft.data = data;
                draft.correlation_id = self.correlation_id.as_deref().map(Into::into);
                let id = self.append(draft, Expect::Any).await?;
                self.forget_stream().await;
                answer(json!({ "id": id }))
            }
            "memo" => {
                let MemoParams { name, value, error } = params(&asked)?;
                let value = error.is_none().then(|| value.unwrap_or_default());
                let draft = Draft::new(now_ms(), EventType::StepMemo).data(record::Memo {
                    name: &name,
                    value: value.as_ref(),
                    error: error.as_ref(),
                });
                self.append(draft, Expect::Any).await?;
                self.forget_stream().await;
                answer(json!({}))
            }
            "checkpoint" => {
                #[derive(Deserialize)]
                struct Params {
                    data: Option<Json>,
                }
                let Params { data } = params(&asked)?;
                let note = self.note(Some(data.unwrap_or_else(Json::null)));
                let commit = Commit::of(Change::Note(Box::new(note)));
                self.runtime.commit(commit).await.map_err(refused)?;
                answer(json!({}))
            }
            "lease" => {
                let until = now_ms().saturating_add(lease_ms(&self.runtime));
                let token = self.lease.token;
                let beats = self.runtime.store().keep_jobs(&[token], until).await;
                let beats = beats.map_err(refused)?;
                let valid = beats.lost.is_empty();
                answer(json!({"valid": valid, "untilMs": until}))
            }
            "enqueue" => self.enqueue(&asked).await,
            "call" => {
                let CallParams {
                    process,
                    input,
                    timeout_ms,
                } = params(&asked)?;
                let request = CallRequest {
                    process,
                    input: input.unwrap_or_else(Json::null),
                    timeout: timeout_ms.map(Duration::from_millis),
                    correlation_id: self.correlation_id.clone(),
                    causation_id: Some(self.lease.id.to_string()),
                    ..CallRequest::default()
                };
                let value = self.runtime.call(request).await?;
                Ok(Json::of(&record::Value { value: &value }))
            }
            "start" => {
                let mut request = params::<StartParams>(&asked)?.request();
                if request.tenant.is_none() {
                    request.tenant = self.tenant_id.clone();
                }
                let started = self.runtime.start(request).await.map_err(failed)?;
                answer(json!({"runId": started.run, "created": started.created}))
            }
            _ => {
                let message = format!("there is no method {method:?}");
                Err(WorkError::new("UNKNOWN_METHOD", message).permanent())
            }
        }
    }
}

impl JobHost {
    /// The stream has grown by something that is no state: its length is read again when needed.
    async fn forget_stream(&self) {
        *self.stream.lock().await = None;
    }

    async fn enqueue(&self, asked: &Json) -> Result<Json, WorkError> {
        let (queue, mut jobs) = params::<EnqueueParams>(asked)?.jobs();
        for job in &mut jobs {
            let options = &mut job.options;
            options
                .causation_id
                .get_or_insert_with(|| self.lease.id.to_string());
            if options.correlation_id.is_none() {
                options.correlation_id = self.correlation_id.clone();
            }
            if options.tenant_id.is_none() {
                options.tenant_id = self.tenant_id.clone();
            }
        }
        let added = self
            .runtime
            .enqueue(&queue, jobs, false)
            .await
            .map_err(failed)?;
        Ok(self::added(&added))
    }
}

/// What was added, as a handler is told.
pub(super) fn added(added: &[Added]) -> Json {
    let jobs: Vec<Value> = added
        .iter()
        .map(|added| json!({"jobId": added.id, "created": added.created}))
        .collect();
    Json::of(&json!({ "jobs": jobs }))
}

fn path(key: &str) -> Result<Path, WorkError> {
    let path = Path::new(key);
    match path.is_valid() {
        true => Ok(path),
        false => Err(WorkError::new("BAD_REQUEST", "key: is no path").permanent()),
    }
}

fn refused(error: StoreError) -> WorkError {
    match error {
        StoreError::JobLost(_) => WorkError::new("LEASE_LOST", "the lease on the job is gone"),
        error => WorkError::new(error.code(), error.to_string()),
    }
}

pub(super) fn failed(error: Error) -> WorkError {
    let details = match &error {
        Error::InputInvalid(issues) => Some(json!({ "issues": issues })),
        _ => None,
    };
    let work = WorkError::new(error.code(), error.to_string());
    match details {
        Some(details) => work.details(&details),
        None => work,
    }
}

/// What earlier attempts of a job recorded of their `ctx.run`s.
pub(super) async fn journal(
    runtime: &Runtime,
    job: &RunId,
) -> Result<Vec<JournalEntry>, WorkError> {
    let mut journal = Vec::new();
    each_event(runtime, job, |event| {
        if event.kind == EventType::StepMemo
            && let Some(memo) = event
                .data
                .as_ref()
                .and_then(|data| data.read::<MemoParams>().ok())
        {
            journal.push(JournalEntry {
                op: "memo".to_owned(),
                name: memo.name,
                value: memo.value,
                error: memo.error,
            });
        }
    })
    .await?;
    Ok(journal)
}

/// Reads the job's stream from its beginning.
async fn each_event(
    runtime: &Runtime,
    job: &RunId,
    mut look: impl FnMut(&Event),
) -> Result<(), WorkError> {
    const PAGE: usize = 1_000;
    let stream = StreamName::new("job", job.as_str());
    let mut from = 0;
    loop {
        let query = EventQuery::forward(from, PAGE);
        let events = runtime
            .store()
            .events(&stream, &query)
            .await
            .map_err(refused)?;
        for event in &events {
            look(event);
        }
        match events.last() {
            None => return Ok(()),
            Some(last) => from = last.id.seq + 1,
        }
    }
}
