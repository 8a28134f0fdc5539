//! Calls: a process run at once, without a queue. The caller gets the answer and, on the way, the
//! frames; the call's own stream records both, and others can follow it meanwhile.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_contract::{Cancellation, Host, Invocation, Process, schema_issues};
use riverrun_protocol::{CancelReason, Frame, Invoke, JobInput, LogLevel, Reply, WorkError};
use riverrun_store::{Change, Commit};
use riverrun_types::{Draft, ErrorCode, EventType, Json, Millis, Name, RunId};
use serde_json::json;
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::{
    Queues,
    host::{CallHome, Home, JobHost},
    record,
    request::KeptOptions,
};

/// Bytes of frames that may wait for a caller; further frames are dropped.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// A request to run a process at once.
#[derive(Default)]
pub struct CallRequest {
    pub process: String,
    pub input: Json,
    /// A fresh id when absent.
    pub call_id: Option<RunId>,
    pub timeout: Option<Duration>,
    /// Whether the call is recorded. Default: yes.
    pub forget: bool,
    /// Gets the frames as they arrive. A full receiver misses some, and gets their number.
    pub frames: Option<mpsc::Sender<Frame>>,
    /// Stops the call.
    pub cancel: Cancellation,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    pub tenant_id: Option<String>,
    /// How many events started a run on the way to it.
    pub chain: u32,
}

struct CallHost {
    inner: JobHost,
    /// Held until the call has ended: its handler may run a little longer.
    frames: Mutex<Option<Frames>>,
    is_kept: bool,
}

/// The channel to a reader of the frames of a call. A slow reader misses some, and gets their
/// number.
struct Frames {
    sender: mpsc::Sender<Frame>,
    missed: AtomicU64,
    /// The bytes of the frames that were sent last, the oldest first.
    sizes: Mutex<VecDeque<usize>>,
    /// Room for the final report of missed frames.
    last: Option<mpsc::OwnedPermit<Frame>>,
}

impl Frames {
    fn new(sender: mpsc::Sender<Frame>) -> Self {
        Self {
            last: sender.clone().try_reserve_owned().ok(),
            sender,
            missed: AtomicU64::new(0),
            sizes: Mutex::default(),
        }
    }

    /// Whether a frame fits beside those that are not read yet.
    fn has_room(&self, frame: &Frame) -> bool {
        let reserved = usize::from(self.last.is_some());
        let waiting = self.sender.max_capacity() - self.sender.capacity() - reserved;
        let mut sizes = self.sizes.lock();
        let taken = sizes.len().saturating_sub(waiting);
        sizes.drain(..taken);
        let bytes = size(frame);
        let fits = sizes.is_empty() || sizes.iter().sum::<usize>() + bytes <= MAX_WAITING_BYTES;
        if fits {
            sizes.push_back(bytes);
        }
        fits
    }

    fn send(&self, frame: Frame) {
        let missed = self.missed.load(Ordering::Acquire);
        let was_sent = missed == 0 || self.sender.try_send(missed_frames(missed)).is_ok();
        if was_sent {
            self.missed.fetch_sub(missed, Ordering::AcqRel);
        }
        if !was_sent || !self.has_room(&frame) || self.sender.try_send(frame).is_err() {
            self.missed.fetch_add(1, Ordering::AcqRel);
        }
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        let missed = self.missed.load(Ordering::Acquire);
        if let (1.., Some(last)) = (missed, self.last.take()) {
            last.send(missed_frames(missed));
        }
    }
}

fn size(frame: &Frame) -> usize {
    match frame {
        Frame::Log { message, meta, .. } => message.len() + meta.as_ref().map_or(0, Json::bytes),
        Frame::Progress { detail, .. } => detail.as_ref().map_or(0, Json::bytes),
        Frame::Partial { value, .. } => value.bytes(),
        Frame::Heartbeat => 0,
    }
}

fn missed_frames(missed: u64) -> Frame {
    Frame::Log {
        level: LogLevel::Warn,
        message: format!("{missed} frames were dropped: the reader was too slow for them"),
        meta: Some(Json::of(&json!({ "missed": missed }))),
    }
}

/// The ids of the calls that this instance runs, and when they began.
#[derive(Default)]
pub(crate) struct Calls {
    running: Mutex<HashMap<RunId, Millis>>,
}

impl Calls {
    pub fn began(&self, id: &RunId) -> Option<Millis> {
        self.running.lock().get(id).copied()
    }
}

/// An id in use, until it is dropped.
struct Running {
    queues: Queues,
    id: RunId,
}

impl Running {
    fn begin(queues: &Queues, id: &RunId) -> Result<Self, WorkError> {
        match queues.calls().running.lock().entry(id.clone()) {
            Entry::Vacant(free) => {
                free.insert(queues.base().now_ms());
                Ok(Self {
                    queues: queues.clone(),
                    id: id.clone(),
                })
            }
            Entry::Occupied(_) => {
                let message = format!("a call with the id {:?} is under way", id.as_str());
                Err(WorkError::new(ErrorCode::CallExists, message).permanent())
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.queues.calls().running.lock().remove(&self.id);
    }
}

impl Queues {
    /// Runs a process and answers with its result.
    pub async fn call(&self, request: CallRequest) -> Result<Json, WorkError> {
        if self.base().is_stopping() {
            let message = "the server is shutting down";
            return Err(WorkError::new(ErrorCode::ShuttingDown, message));
        }
        let process = self.processes().get(&request.process).ok_or_else(|| {
            if let Some(error) = self.processes().why_broken(&request.process) {
                return error;
            }
            let known: Vec<String> = self
                .processes()
                .all()
                .iter()
                .map(|process| process.id.to_string())
                .collect();
            let message = match known.is_empty() {
                true => format!("there is no process {:?}, nor any other", request.process),
                false => format!(
                    "there is no process {:?}; there are {}",
                    request.process,
                    known.join(", ")
                ),
            };
            WorkError::new(ErrorCode::ProcessNotFound, message).permanent()
        })?;
        check_input(&process, &request.input)?;
        if let Some(id) = &request.call_id {
            RunId::for_new(id.as_str()).map_err(|error| {
                WorkError::new(ErrorCode::BadId, format!("callId: {error}")).permanent()
            })?;
        }
        let id = request.call_id.clone().unwrap_or_else(RunId::fresh);
        let running = Running::begin(self, &id)?;
        let _busy = self.base().clock().busy();
        let correlation = request.correlation_id.unwrap_or_else(|| id.to_string());
        let home = Arc::new(CallHome {
            id: id.clone(),
            is_kept: !request.forget && process.config.persist_frames,
            begun: SetOnce::new(),
        });
        let began = self.base().now_ms();
        if home.is_kept {
            self.record_begin(&home, &process.id, began, &request.input);
        }
        let options = KeptOptions {
            correlation_id: Some(correlation.clone()),
            tenant_id: request.tenant_id.clone(),
            chain: request.chain,
            ..KeptOptions::default()
        };
        let host = Arc::new(CallHost {
            inner: JobHost::at(
                self.clone(),
                process.clone(),
                Home::Call(home.clone()),
                &options,
                request.cancel.clone(),
            ),
            frames: Mutex::new(request.frames.map(Frames::new)),
            is_kept: home.is_kept,
        });
        let timeout = request
            .timeout
            .or(process.config.policy.timeout)
            .unwrap_or(self.base().options().attempt_timeout);
        let job = JobInput {
            input: Some(request.input),
            attempt: 1,
            max_attempts: 1,
            correlation_id: Some(correlation),
            causation_id: request.causation_id,
            tenant_id: request.tenant_id,
            ..JobInput::default()
        };
        let invocation = Invocation {
            invoke: Arc::new(Invoke {
                run_id: Some(id.to_string()),
                ..process.invoke("call", job, timeout)
            }),
            host: host.clone(),
            cancel: request.cancel.clone(),
        };
        let outcome = self.prompt(process.clone(), invocation, timeout).await;
        let outcome = finish(&process, outcome);
        let (said, _) = host.inner.close().await;
        host.frames.lock().take();
        if home.is_kept {
            self.record_end(home, began, said, &outcome);
        }
        drop(running);
        outcome
    }

    /// Runs the call for its caller: a stopped call has ended at once, and its handler has the
    /// usual time to stop after that. If the caller is dropped the call is stopped.
    async fn prompt(
        &self,
        process: Arc<Process>,
        invocation: Invocation,
        timeout: Duration,
    ) -> Result<Reply, WorkError> {
        let cancel = invocation.cancel.clone();
        let (tell, outcome_of) = oneshot::channel();
        let queues = self.clone();
        let running = AbortOnDropHandle::new(self.base().spawn(async move {
            let _ = tell.send(queues.bounded(&process, invocation, timeout).await);
        }));
        let ended = async {
            tokio::select! {
                biased;
                // First: a result that the handler returns because it was asked to stop does not
                // count.
                reason = cancel.cancelled() => Err(reason),
                outcome = outcome_of => Ok(outcome.unwrap_or_else(|_| {
                    Err(WorkError::new(ErrorCode::Internal, "the call broke down"))
                })),
            }
        };
        match self.base().clock().rest(ended).await {
            Ok(outcome) => outcome,
            Err(reason) => {
                drop(running.detach());
                Err(stopped(reason, &cancel, timeout))
            }
        }
    }

    /// Stores that a call has begun, while it runs already.
    fn record_begin(&self, home: &Arc<CallHome>, process: &Name, began: i64, input: &Json) {
        let started = Draft::new(began, EventType::parse("call.started"))
            .data(record::Called { process, input });
        let append = Home::Call(home.clone()).append(vec![started]);
        let (queues, home) = (self.clone(), home.clone());
        self.base().spawn(async move {
            if let Err(error) = queues.base().commit(Commit::of(Change::Append(append))).await {
                tracing::warn!(call = %home.id, %error, "the beginning of a call could not be recorded");
            }
            let _ = home.begun.set(());
        });
    }

    /// Stores how it ended and its frames so far, after the caller has its answer.
    fn record_end(
        &self,
        home: Arc<CallHome>,
        began: i64,
        mut drafts: Vec<Draft>,
        outcome: &Result<Json, WorkError>,
    ) {
        let now = self.base().now_ms();
        drafts.push(match outcome {
            Ok(value) => {
                Draft::new(now, EventType::parse("call.completed")).data(record::Answered {
                    value,
                    duration_ms: now - began,
                })
            }
            Err(error) if error.is_cancelled() => {
                Draft::new(now, EventType::parse("call.cancelled")).data(record::Failed { error })
            }
            Err(error) => {
                Draft::new(now, EventType::parse("call.failed")).data(record::Failed { error })
            }
        });
        let queues = self.clone();
        self.base().spawn(async move {
            let home = Home::Call(home);
            let append = Change::Append(home.append(drafts));
            let commit = home.fenced(None, now).await.and(append);
            if let Err(error) = queues.base().commit(commit).await {
                tracing::warn!(call = %home.id(), %error, "the end of a call could not be recorded");
            }
        });
    }
}

/// The outcome of a stopped call, regardless of what its handler still returns.
fn stopped(reason: CancelReason, cancel: &Cancellation, timeout: Duration) -> WorkError {
    match reason {
        CancelReason::Timeout => {
            let message = format!("the handler took longer than {} ms", timeout.as_millis());
            WorkError::new(ErrorCode::Timeout, message)
        }
        CancelReason::Shutdown => {
            WorkError::new(ErrorCode::ShuttingDown, "the server is shutting down")
        }
        _ => WorkError::new(
            ErrorCode::Cancelled,
            cancel.said().unwrap_or("it was cancelled"),
        ),
    }
}

fn check_input(process: &Process, input: &Json) -> Result<(), WorkError> {
    let Some(schema) = &process.config.input_schema else {
        return Ok(());
    };
    let issues = schema_issues(schema, input);
    let Some(first) = issues.first() else {
        return Ok(());
    };
    let message = format!("the input breaks the schema{}", first.described());
    let error = WorkError::new(ErrorCode::InputInvalid, message).permanent();
    Err(error.details(&json!({ "issues": issues })))
}

fn finish(process: &Process, outcome: Result<Reply, WorkError>) -> Result<Json, WorkError> {
    let value = outcome?.value.unwrap_or_else(Json::null);
    super::attempt::checked(process, Ok(value))
}

#[async_trait]
impl Host for CallHost {
    fn frame(&self, frame: Frame) {
        if self.is_kept {
            self.inner.frame(frame.clone());
        }
        if let Some(frames) = &*self.frames.lock() {
            frames.send(frame);
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        self.inner.ask(method, asked).await
    }
}
