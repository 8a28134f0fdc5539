//! Calls: a process run at once, without a queue. The answer comes back to the caller, frames on
//! the way; what happened is recorded in the call's own stream.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_protocol::{Frame, Invoke, JobInput, WorkError};
use riverrun_store::{Append, Change, Commit, Expect};
use riverrun_types::{Draft, EventType, Json, Name, RunId, StreamName, event::EventContext};
use serde_json::json;
use tokio::sync::mpsc;

use super::{Cancellation, Host, Invocation, Process, record};
use crate::{Runtime, clock::now_ms};

/// Events of a call that are recorded; more are dropped and counted.
const MAX_EVENTS: usize = 4_096;

/// A wish to run a process at once.
#[derive(Default)]
pub struct CallRequest {
    pub process: String,
    pub input: Json,
    /// A fresh one when absent.
    pub call_id: Option<RunId>,
    pub timeout: Option<Duration>,
    /// Whether what happens is recorded. Default: yes.
    pub forget: bool,
    /// Gets the frames as they come. A receiver that is full or gone misses them.
    pub frames: Option<mpsc::Sender<Frame>>,
    /// Stops the call.
    pub cancel: Cancellation,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    pub tenant_id: Option<String>,
}

struct CallHost {
    runtime: Runtime,
    frames: Option<mpsc::Sender<Frame>>,
    /// None if nothing is recorded.
    events: Option<Mutex<Events>>,
}

#[derive(Default)]
struct Events {
    drafts: Vec<Draft>,
    dropped: usize,
}

impl Runtime {
    /// Runs a process and answers with its result.
    pub async fn call(&self, request: CallRequest) -> Result<Json, WorkError> {
        if self.is_stopping() {
            let message = "the server is shutting down";
            return Err(WorkError::new("SHUTTING_DOWN", message));
        }
        let process = self.processes().get(&request.process).ok_or_else(|| {
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
            WorkError::new("PROCESS_NOT_FOUND", message).permanent()
        })?;
        check_input(&process, &request.input)?;
        let id = request.call_id.clone().unwrap_or_else(RunId::fresh);
        let host = Arc::new(CallHost {
            runtime: self.clone(),
            frames: request.frames,
            events: (!request.forget).then(Mutex::default),
        });
        let timeout = request
            .timeout
            .or(process.config.policy.timeout)
            .unwrap_or(self.options().attempt_timeout);
        let began = now_ms();
        let input = request.input.clone();
        let invocation = Invocation {
            invoke: Arc::new(Invoke {
                process: process.id.to_string(),
                file: process.source.file.clone(),
                export: process.source.export.clone(),
                revision: process.source.revision,
                kind: "call".to_owned(),
                queue: None,
                job: JobInput {
                    input: Some(request.input),
                    attempt: 1,
                    max_attempts: 1,
                    correlation_id: Some(request.correlation_id.unwrap_or_else(|| id.to_string())),
                    causation_id: request.causation_id,
                    tenant_id: request.tenant_id,
                    ..JobInput::default()
                },
                jobs: Vec::new(),
                run_id: Some(id.to_string()),
                flow: None,
                step: None,
                visit: None,
                awaited: None,
                timeout_ms: u64::try_from(timeout.as_millis()).ok(),
                lease: None,
            }),
            host: host.clone(),
            cancel: request.cancel.clone(),
        };
        let outcome = self.bounded(&process, invocation, timeout).await;
        let outcome = finish(&process, outcome);
        if let Some(events) = &host.events {
            let events = std::mem::take(&mut *events.lock());
            self.record_call(&id, &process.id, began, &input, events, &outcome);
        }
        outcome
    }

    /// Stores what happened, after the caller has its answer.
    fn record_call(
        &self,
        id: &RunId,
        process: &Name,
        began: i64,
        input: &Json,
        events: Events,
        outcome: &Result<Json, WorkError>,
    ) {
        let now = now_ms();
        let mut drafts = vec![
            Draft::new(began, EventType::parse("call.started"))
                .data(record::Called { process, input }),
        ];
        drafts.extend(events.drafts);
        if events.dropped > 0 {
            let message = format!(
                "{} frames were dropped: the handler said more than is stored",
                events.dropped
            );
            drafts.push(Draft::new(now, EventType::LogWarn).data(json!({ "message": message })));
        }
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
        let append = Append {
            stream: StreamName::new("call", id.as_str()),
            context: EventContext {
                run_id: Name::from(id.as_str()),
                flow_name: Name::from("call"),
                tenant_id: None,
            },
            expect: Expect::Any,
            events: drafts.into(),
        };
        let runtime = self.clone();
        self.spawn(async move {
            if let Err(error) = runtime.commit(Commit::of(Change::Append(append))).await {
                tracing::warn!(%error, "a call could not be recorded");
            }
        });
    }
}

fn check_input(process: &Process, input: &Json) -> Result<(), WorkError> {
    let Some(schema) = &process.config.input_schema else {
        return Ok(());
    };
    let issues = schema.issues(&input.value());
    let Some(first) = issues.first() else {
        return Ok(());
    };
    let message = format!(
        "the input breaks the schema at {:?}: {}",
        first.path, first.message
    );
    let error = WorkError::new("INPUT_INVALID", message).permanent();
    Err(error.details(&json!({ "issues": issues })))
}

fn finish(
    process: &Process,
    outcome: Result<riverrun_protocol::Reply, WorkError>,
) -> Result<Json, WorkError> {
    let value = outcome?.value.unwrap_or_else(Json::null);
    super::attempt::checked(process, Ok(value))
}

#[async_trait]
impl Host for CallHost {
    fn frame(&self, frame: Frame) {
        if let Some(events) = &self.events
            && let Some(draft) = record::frame(&frame)
        {
            let mut events = events.lock();
            if events.drafts.len() < MAX_EVENTS {
                events.drafts.push(draft);
            } else {
                events.dropped += 1;
            }
        }
        if let Some(frames) = &self.frames {
            let _ = frames.try_send(frame);
        }
    }

    async fn ask(&self, method: &str, asked: Json) -> Result<Json, WorkError> {
        match method {
            "enqueue" => {
                let asked: super::host::EnqueueParams = super::host::params(&asked)?;
                let added = self.runtime.enqueue_each(asked.jobs()?, false).await;
                added
                    .map(|added| super::host::added(&added))
                    .map_err(super::host::failed)
            }
            "start" => {
                let asked: super::host::StartParams = super::host::params(&asked)?;
                let started = self.runtime.start(asked.request()).await;
                let started = started.map_err(super::host::failed)?;
                Ok(Json::of(
                    &json!({"runId": started.run, "created": started.created}),
                ))
            }
            "lease" => Ok(Json::of(&json!({"valid": true}))),
            method => {
                let message = format!(
                    "{method} has no meaning in a call: it has no stream of its own until it ends"
                );
                Err(WorkError::new("NOT_IN_A_CALL", message).permanent())
            }
        }
    }
}
