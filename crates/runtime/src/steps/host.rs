//! The frames and requests of a step's handler while it runs.
//!
//! Frames and emitted events go into the run's stream, gathered and a little later, with the end of
//! the attempt at the latest; requests about the run's state or memos are answered when they are
//! durable, with all earlier frames. The lease of the step's job fences everything. Requests that a
//! job may make too are answered by the job's own host.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use riverrun_contract::{Cancellation, Host, Process};
use riverrun_engine::{Fact, Input, Memo, Operation, in_run};
use riverrun_protocol::{Frame, JournalEntry, WorkError};
use riverrun_store::{Awaited, Change, ClaimedJob, Error as StoreError, NewAwait, Note};
use riverrun_types::{
    Draft, ErrorCode, EventId, Json, Millis, Name, Retry, StepRef, TriggerType,
    event::{StateBatch, StateDelete, StateSet},
};
use serde::Deserialize;
use serde_json::json;

use super::{Steps, attempt::retry_of, due::Due, prepare::Prepared, room::Room};
use crate::{
    awaits::{self, Callback, MIN_SECRET_BYTES},
    base::Error,
    flows::Compiled,
    queues::{
        BatchParams, EmitParams, GATHER, Gathered, GatheredBatch, JobHost, KeptOptions, KeyParams,
        StateRead, StepPlace, Tries, emitted, frame_event, params, path, too_large,
    },
    runs::{Fence, Message},
    streams::{Guard, check_bytes, check_value},
};

/// How long an attempt may take before its start is recorded on its own. A shorter attempt records
/// start and end together.
const BRIEF: Duration = Duration::from_millis(50);
/// How long emitted events wait for the end of the attempt, to be stored with it.
const LINGER: Duration = Duration::from_millis(5);
/// Emitted events that may wait to be stored; the last one waits until they are.
const MAX_EMITTED: usize = 256;

pub(super) struct StepHost {
    pub(super) steps: Steps,
    place: StepPlace,
    pub(super) at: StepRef,
    job: ClaimedJob,
    /// Answers requests that a job may make too. Few steps make them.
    inner: OnceLock<JobHost>,
    process: Arc<Process>,
    flow: Arc<Compiled>,
    started_ms: Millis,
    /// Operations of the code that failed and have no outcome yet.
    pub(super) tries: Tries,
    chain: u32,
    /// The story that the run belongs to.
    correlation: Name,
    cancel: Cancellation,
    pub(super) said: Gathered,
    due: Due,
    /// When the attempt began.
    pub began_ms: Millis,
    /// The bytes that a value may have.
    max_value: usize,
    /// The run knows of the attempt.
    has_begun: AtomicBool,
    pub room: Room,
}

impl StepHost {
    pub fn new(
        steps: &Steps,
        prepared: &Prepared,
        job: &ClaimedJob,
        place: &StepPlace,
        cancel: Cancellation,
    ) -> Arc<Self> {
        let process = &prepared.process;
        Arc::new(Self {
            steps: steps.clone(),
            place: place.clone(),
            at: StepRef {
                name: place.step.clone(),
                visit: place.visit,
                attempt: prepared.attempt,
            },
            job: job.clone(),
            inner: OnceLock::new(),
            process: process.clone(),
            flow: prepared.flow.clone(),
            started_ms: steps.base().now_ms(),
            tries: Tries::new(prepared.tries.clone()),
            chain: prepared.chain,
            correlation: prepared.correlation.clone(),
            cancel,
            said: Gathered::new(steps.base().clone(), process.config.logs),
            due: Due::new(BRIEF),
            began_ms: steps.base().now_ms(),
            max_value: prepared.flow.plan.limits.max_value_bytes,
            has_begun: AtomicBool::new(false),
            room: prepared.room(),
        })
    }

    /// The frames that are not stored yet. Later ones are dropped.
    pub async fn close(&self) -> Vec<Draft> {
        if let Some(inner) = self.inner.get() {
            let _ = inner.close().await;
        }
        self.said.end();
        self.said.rest().await.0
    }

    fn inner(&self) -> &JobHost {
        self.inner.get_or_init(|| {
            let options = KeptOptions {
                correlation_id: Some(self.correlation.to_string()),
                chain: self.chain,
                ..KeptOptions::read(self.job.options.as_ref())
            };
            let (queues, process) = (self.steps.queues().clone(), self.process.clone());
            let (lease, cancel) = (self.job.lease.clone(), self.cancel.clone());
            JobHost::new(queues, process, lease, &options, cancel)
        })
    }

    /// Records that the attempt has begun, and its frames so far.
    pub async fn flush(&self) {
        let is_known = self.has_begun.load(Ordering::Acquire) && self.said.waiting().is_empty();
        if is_known || self.said.is_closed() {
            return;
        }
        let said = self.said.take().await;
        if let Err(error) = self.store(said, None, Vec::new()).await {
            tracing::debug!(run = %self.place.run, error = error.message, "frames of a step could not be stored");
        }
    }

    /// The default retry policy of the code's operations.
    pub(super) fn retry(&self) -> Retry {
        retry_of(&self.flow, &self.at.name, &self.process).clone()
    }

    /// The remaining time of the attempt.
    pub(super) fn left_ms(&self) -> Millis {
        let (step, process) = (&self.at.name, &self.process);
        let timeout = self.steps.step_timeout(&self.flow, step, process);
        let timeout_ms = i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX);
        let passed_ms = self.steps.base().now_ms().saturating_sub(self.started_ms);
        timeout_ms.saturating_sub(passed_ms)
    }

    /// Stores the frames, and an event after them.
    pub(super) async fn store(
        &self,
        mut said: GatheredBatch<'_>,
        last: Option<Draft>,
        more: Vec<Change>,
    ) -> Result<(), WorkError> {
        let mut message = self.message();
        let drafts = said.drafts.iter().cloned().chain(last).collect();
        message.said = Some((self.place.visit(), self.at.attempt, drafts));
        message.more = more;
        self.tell(message).await?;
        said.stored();
        Ok(())
    }

    fn say(&self, draft: Draft) {
        if self.said.waiting().say(draft, None) {
            self.due.within(GATHER);
        }
    }

    /// Resolves when frames, or the start of the attempt, are to be stored.
    pub async fn due(&self) {
        self.due.come().await;
        self.said.waiting().is_flushing = false;
    }

    /// A message on behalf of the attempt.
    fn message(&self) -> Message {
        let mut message = Message::new(vec![Input::Began {
            visit: self.place.visit(),
            attempt: self.at.attempt,
            at_ms: self.began_ms,
        }]);
        message.fence = Some(Fence {
            lease: self.job.lease.clone(),
            settles: false,
        });
        message
    }

    fn fence(&self) -> Change {
        Note::new(&self.job.lease, self.steps.base().now_ms()).into()
    }

    /// The state once all earlier requests are stored.
    async fn read(&self, method: &str, asked: &Json) -> Result<Json, WorkError> {
        let read = StateRead::of(method, asked)?;
        self.said.settled().await;
        let loaded = self
            .steps
            .runs()
            .load(&self.place.run)
            .await
            .map_err(refused)?;
        Ok(read.answer(&loaded.state))
    }

    async fn write(
        &self,
        fact: Fact,
        if_version: Option<u64>,
        is_in_run: bool,
    ) -> Result<Json, WorkError> {
        let said = self.said.take().await;
        let mut draft = fact.draft(self.steps.base().now_ms());
        draft.step = Some(self.at.clone());
        let mut taken = 0;
        match is_in_run {
            true => draft = in_run(draft),
            false => taken = self.room.record(&draft)?,
        }
        let ids = match if_version {
            None => self.write_now(said, draft).await,
            Some(_) => {
                let guard = Guard {
                    fence: vec![self.fence()],
                    if_len: if_version,
                    ..Guard::default()
                };
                self.append(said, draft, guard).await
            }
        };
        let ids = ids.inspect_err(|_| self.room.give_back(taken))?;
        let version = ids.last().map_or(0, |id| id.seq + 1);
        Ok(Json::of(&json!({ "version": version })))
    }

    async fn emit(&self, asked: &Json) -> Result<Json, WorkError> {
        let EmitParams { kind, data, seen } = params(asked)?;
        self.saw(seen)?;
        let mut event = emitted(&kind, data, self.steps.base().now_ms())?;
        self.check_value(event.data.as_ref())?;
        self.room.emitted(&kind)?;
        event.step = Some(self.at.clone());
        let is_full = {
            let mut said = self.said.waiting();
            said.emit(event);
            said.emitted() >= MAX_EMITTED
        };
        match is_full {
            true => {
                let said = self.said.take().await;
                Box::pin(self.store(said, None, Vec::new())).await?;
            }
            false => self.due.within(LINGER),
        }
        // Its place in the stream is known once it is stored, with the attempt's end at the latest.
        Ok(Json::of(&json!({})))
    }

    /// Writes to the state unconditionally, after the handler's earlier frames. Concurrent writes
    /// never conflict.
    async fn write_now(
        &self,
        mut said: GatheredBatch<'_>,
        draft: Draft,
    ) -> Result<Vec<EventId>, WorkError> {
        let mut message = self.message();
        message.said = Some((self.place.visit(), self.at.attempt, said.drafts.clone()));
        message.writes = vec![draft];
        let ids = self.tell(message).await?;
        said.stored();
        Ok(ids)
    }

    /// Appends an event to the run's stream, and before it the handler's earlier frames.
    async fn append(
        &self,
        mut said: GatheredBatch<'_>,
        draft: Draft,
        guard: Guard,
    ) -> Result<Vec<EventId>, WorkError> {
        if said.has_emitted {
            let mut message = self.message();
            message.said = Some((self.place.visit(), self.at.attempt, said.drafts.clone()));
            self.tell(message).await?;
            said.stored();
        } else {
            self.begin().await?;
        }
        let before = said.drafts.iter().cloned().map(|draft| Draft {
            step: Some(self.at.clone()),
            ..draft
        });
        let drafts = before.chain([draft]).collect();
        let stored = self
            .steps
            .runs()
            .append_to_run(&self.place.run, drafts, guard);
        let ids = stored.await.map_err(refused)?;
        said.stored();
        Ok(ids)
    }

    /// Keeps the journal entries that the code has read, to be recorded with the next record.
    pub(super) fn saw(&self, seen: Vec<JournalEntry>) -> Result<(), WorkError> {
        if !seen.is_empty() {
            self.room.seen(&seen)?;
            self.said.waiting().add(self.recorded(seen));
        }
        Ok(())
    }

    /// Records of the journal entries that the code has read.
    pub fn recorded(&self, seen: Vec<JournalEntry>) -> impl Iterator<Item = Draft> {
        let now = self.steps.base().now_ms();
        seen.into_iter().map(move |entry| {
            let memo = Memo {
                op: Name::from(entry.op),
                name: Name::from(entry.name),
                nth: entry.nth,
                value: entry.value,
                error: None,
                emits: Vec::new(),
            };
            let at = self.at.clone();
            Fact::StepMemo(at, memo.into()).draft(now)
        })
    }

    /// Records an operation of the code.
    pub(super) async fn remember(&self, memo: Memo, more: Vec<Change>) -> Result<Json, WorkError> {
        self.check_value(memo.value.as_ref().or(memo.error.as_ref()))?;
        let at = self.at.clone();
        let operation = Operation {
            op: memo.op.clone(),
            name: memo.name.clone(),
            nth: memo.nth,
        };
        let draft = Fact::StepMemo(at, memo.into()).draft(self.steps.base().now_ms());
        self.room.record(&draft)?;
        let said = self.said.take().await;
        self.store(said, Some(draft), more).await?;
        if let Some(tried) = self.tries.ended(&operation) {
            self.room.give_back(tried.bytes);
        }
        Ok(Json::of(&json!({})))
    }

    /// Whether a recorded value is within the limit of a value.
    fn check_value(&self, value: Option<&Json>) -> Result<(), WorkError> {
        let bytes = value.map_or(0, Json::bytes);
        check_value(bytes, self.max_value).map_err(too_large)
    }

    /// Creates a callback that can be resumed from outside, before the step waits for it.
    async fn create_callback(&self, asked: &Json) -> Result<Json, WorkError> {
        let NewCallback {
            kind,
            payload,
            timeout_ms,
            many,
            secret,
            seen,
        } = params(asked)?;
        if secret
            .as_ref()
            .is_some_and(|secret| secret.len() < MIN_SECRET_BYTES)
        {
            let message =
                format!("the secret of a callback has fewer than {MIN_SECRET_BYTES} bytes");
            return Err(WorkError::new(ErrorCode::InputError, message).permanent());
        }
        if secret.is_some() && kind == TriggerType::User {
            let message = "a person who answers on a page signs nothing: make the trigger of the type webhook or api where bodies must be signed, or leave the secret out";
            return Err(WorkError::new(ErrorCode::InputError, message).permanent());
        }
        if let Some(payload) = &payload {
            check_bytes("payload", payload.bytes()).map_err(too_large)?;
        }
        self.saw(seen)?;
        let now = self.steps.base().now_ms();
        let id = awaits::fresh_id();
        let timeout = timeout_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        let callback = Callback {
            kind,
            payload,
            secret,
            secret_env: None,
            count: None,
        };
        let options = KeptOptions::read(self.job.options.as_ref());
        let new = NewAwait {
            id: id.clone(),
            run: self.place.run.clone(),
            step: self.place.step.clone(),
            visit: self.place.visit,
            tenant: options.tenant_id.map(Name::from),
            created_ms: now,
            expires_ms: timeout.map(|ms| now.saturating_add(ms)),
            what: Awaited::Callback {
                callback: Json::of(&callback),
                many,
            },
            given: Vec::new(),
        };
        let public = self.steps.base().options().public_url.as_deref();
        let mut answer = json!({"id": id, "url": awaits::callback_url(public, &id, kind)});
        if many {
            answer["many"] = json!(true);
        }
        let answer = Json::of(&answer);
        let memo = Memo {
            op: Name::from("trigger"),
            name: Name::from(Json::of(&kind).as_text().as_ref()),
            nth: None,
            value: Some(answer.clone()),
            error: None,
            emits: Vec::new(),
        };
        self.remember(memo, awaits::register(new, public)).await?;
        Ok(answer)
    }

    /// Makes sure that the run knows of the attempt before any part of it is recorded.
    async fn begin(&self) -> Result<(), WorkError> {
        if self.has_begun.load(Ordering::Acquire) {
            return Ok(());
        }
        self.tell(self.message()).await.map(drop)
    }

    async fn tell(&self, message: Message) -> Result<Vec<EventId>, WorkError> {
        let delivered = self.steps.runs().deliver(&self.place.run, message).await;
        let ids = delivered.map_err(refused)?;
        self.has_begun.store(true, Ordering::Release);
        Ok(ids)
    }
}

#[derive(Deserialize)]
struct Remembered {
    op: Option<String>,
    name: String,
    nth: Option<u32>,
    value: Option<Json>,
    error: Option<Json>,
    #[serde(default)]
    emits: Vec<Name>,
    #[serde(default)]
    seen: Vec<JournalEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NewCallback {
    #[serde(rename = "type", default)]
    kind: TriggerType,
    payload: Option<Json>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    many: bool,
    secret: Option<String>,
    #[serde(default)]
    seen: Vec<JournalEntry>,
}

fn refused(error: Error) -> WorkError {
    match &error {
        Error::Store(StoreError::JobLost(_)) => {
            WorkError::new(ErrorCode::LeaseLost, "the lease on the job is gone")
        }
        Error::Store(StoreError::Conflict(_)) => {
            WorkError::new(ErrorCode::StateConflict, "the state has changed meanwhile")
        }
        // The same in every attempt.
        Error::ValueTooLarge { .. } => too_large(error),
        Error::StateInvalid(issues) => {
            WorkError::new(error.code(), error.to_string()).details(&json!({ "issues": issues }))
        }
        error => WorkError::new(error.code(), error.to_string()),
    }
}

#[async_trait]
impl Host for StepHost {
    fn frame(&self, frame: Frame) {
        if let Some(draft) = frame_event(&frame, self.steps.base().now_ms()) {
            self.say(draft);
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        if self.said.is_closed() {
            let message = "the invocation has ended";
            return Err(WorkError::new(ErrorCode::InvocationEnded, message));
        }
        match method {
            "state.get" | "state.has" | "state.getAll" => self.read(method, &asked).await,
            "state.set" => {
                let KeyParams {
                    key,
                    value,
                    if_version,
                    seen,
                    in_run,
                } = params(&asked)?;
                self.saw(seen)?;
                let key = path(&key)?;
                let value = value.unwrap_or_else(Json::null);
                let data = StateSet { key, value };
                self.write(Fact::StateSet(data), if_version, in_run).await
            }
            "state.delete" => {
                let KeyParams {
                    key,
                    if_version,
                    seen,
                    in_run,
                    ..
                } = params(&asked)?;
                self.saw(seen)?;
                let key = path(&key)?;
                let data = StateDelete { key };
                self.write(Fact::StateDelete(data), if_version, in_run)
                    .await
            }
            "state.setBatch" => {
                let BatchParams {
                    values,
                    if_version,
                    seen,
                    in_run,
                } = params(&asked)?;
                self.saw(seen)?;
                let mut operations = Vec::with_capacity(values.len());
                for (key, value) in values {
                    operations.push(riverrun_engine::StateOp {
                        kind: riverrun_engine::OpKind::Set,
                        key: path(&key)?,
                        value: Some(value),
                    });
                }
                let data = StateBatch { operations };
                self.write(Fact::StateBatch(data), if_version, in_run).await
            }
            "emit" => self.emit(&asked).await,
            "memo" => {
                let Remembered {
                    op,
                    name,
                    nth,
                    value,
                    error,
                    emits,
                    seen,
                } = params(&asked)?;
                self.saw(seen)?;
                let value = error.is_none().then(|| value.unwrap_or_else(Json::null));
                let memo = Memo {
                    op: Name::from(op.as_deref().unwrap_or("memo")),
                    name: Name::from(name),
                    nth,
                    value,
                    error,
                    emits,
                };
                self.remember(memo, Vec::new()).await
            }
            "memo.failed" => Box::pin(self.try_failed(&asked)).await,
            "await.trigger" => Box::pin(self.create_callback(&asked)).await,
            _ => self.inner().ask(method, asked).await,
        }
    }
}
