//! Questions about runs: as they are, as they were, and how they end.

use std::{sync::Arc, time::Duration};

use indexmap::IndexMap;
use riverrun_engine::{Failure, RunState};
use riverrun_store::{Heard, Page, Place, RunFilter, RunRecord};
use riverrun_types::{EventId, EventType, Json, Millis, RunId, StreamName, time::iso};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{Loaded, Result, Runtime};

/// A moment in a run's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    Now,
    Event(EventId),
    Time(Millis),
}

/// A run as it is shown to people.
#[derive(Clone)]
pub struct RunView {
    pub loaded: Loaded,
}

impl Runtime {
    pub async fn run(&self, run: &RunId) -> Result<RunView> {
        Ok(RunView {
            loaded: self.load(run).await?,
        })
    }

    pub async fn list(&self, filter: &RunFilter) -> Result<Page<RunRecord>> {
        Ok(self.store().list_runs(filter).await?)
    }

    /// The run's state at a moment, and how many events led to it.
    pub async fn state_at(&self, run: &RunId, at: At) -> Result<Arc<RunState>> {
        let loaded = self.load(run).await?;
        let place = match at {
            At::Now => return Ok(loaded.state),
            At::Event(event) => Place::Event(event),
            At::Time(ms) => Place::Time(ms),
        };
        let len = self.store().locate(&StreamName::flow(run), place).await?;
        if len >= loaded.state.len {
            return Ok(loaded.state);
        }
        self.reduce_from_snapshot(run, len).await
    }

    /// Waits until the run has ended, at most `timeout`; then the run as it is.
    pub async fn wait(&self, run: &RunId, timeout: Duration) -> Result<RunView> {
        let mut news = self.bus().subscribe(&StreamName::flow(run));
        let deadline = tokio::time::Instant::now() + timeout;
        loop {
            let view = self.run(run).await?;
            if view.loaded.state.status.is_ended() {
                return Ok(view);
            }
            let ended = async {
                loop {
                    match news.next().await {
                        Heard::Batch(batch) if !batch.events.iter().any(|e| ends(&e.kind)) => {}
                        _ => return,
                    }
                }
            };
            if tokio::time::timeout_at(deadline, ended).await.is_err() {
                return self.run(run).await;
            }
        }
    }
}

fn ends(kind: &EventType) -> bool {
    matches!(
        kind,
        EventType::FlowCompleted | EventType::FlowFailed | EventType::FlowCancelled
    )
}

impl RunView {
    /// Whether the run has ended other than well.
    pub fn failure(&self) -> Option<&Failure> {
        self.loaded.state.error.as_ref()
    }

    pub fn state(&self) -> &RunState {
        &self.loaded.state
    }
}

impl Serialize for RunView {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let Loaded { record, state } = &self.loaded;
        let mut shown = record_json(record);
        shown.insert("status", Json::of(&state.status));
        shown.insert("stepCount", Json::of(&state.step_count));
        shown.insert("steps", Json::of(&steps(state)));
        if let Some(cancellation) = &state.cancellation {
            shown.insert("cancellation", Json::of(cancellation));
        }
        shown.insert("input", state.input.clone());
        if let Some(result) = state.result.as_ref().filter(|_| state.status.is_ended()) {
            shown.insert("result", result.clone());
        }
        shown.insert("state", state.state.json());
        shown.serialize(serializer)
    }
}

fn steps(state: &RunState) -> Value {
    let step = |(name, step): (&riverrun_types::Name, &riverrun_engine::StepSummary)| {
        let mut shown =
            json!({"status": step.status, "visits": step.visits, "attempt": step.attempt});
        if let Some(ms) = step.started_ms {
            shown["startedAt"] = json!(iso(ms));
        }
        if let Some(ms) = step.ended_ms {
            shown["completedAt"] = json!(iso(ms));
        }
        if let Some(error) = &step.error {
            shown["error"] = json!(error);
        }
        (name.to_string(), shown)
    };
    Value::Object(state.steps.iter().map(step).collect::<Map<_, _>>())
}

/// A run as lists show it. Payloads are their own text: nothing in them is rounded.
pub fn record_json(record: &RunRecord) -> IndexMap<&'static str, Json> {
    let mut shown = IndexMap::new();
    let mut put = |key: &'static str, value: Json| shown.insert(key, value);
    put("runId", Json::of(&record.id));
    put("kind", Json::from("flow"));
    put("flow", Json::of(&record.flow));
    put("version", Json::of(&record.version));
    put("status", Json::of(&record.status));
    put("createdAt", Json::of(&iso(record.created_ms)));
    put("updatedAt", Json::of(&iso(record.updated_ms)));
    if let Some(ms) = record.ended_ms {
        put("endedAt", Json::of(&iso(ms)));
        put("durationMs", Json::of(&(ms - record.created_ms)));
    }
    if let Some(ms) = record.wake_ms {
        put("wakeAt", Json::of(&iso(ms)));
    }
    if let Some(error) = &record.error {
        put("error", error.clone());
    }
    if let Some(key) = &record.idempotency_key {
        put("idempotencyKey", Json::of(key));
    }
    if let Some(tenant) = &record.tenant {
        put("tenantId", Json::of(tenant));
    }
    if !record.tags.is_empty() {
        put("tags", Json::of(&record.tags));
    }
    if let Some(metadata) = &record.metadata {
        put("metadata", metadata.clone());
    }
    if let Some(parent) = &record.parent {
        let parent = json!({"runId": parent.run, "step": parent.step, "visit": parent.visit});
        put("parent", Json::of(&parent));
    }
    if let Some(origin) = &record.origin {
        let origin = json!({"runId": origin.run, "eventId": origin.event});
        put("forkedFrom", Json::of(&origin));
    }
    put("events", Json::of(&record.len));
    shown
}
