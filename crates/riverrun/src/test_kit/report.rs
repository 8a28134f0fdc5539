//! A run as a test reads it: its visits with their waits, retries and results, reduced from its
//! stream with the engine's own rules.

use std::collections::HashMap;

use riverrun_engine::{AwaitFor, RunState, VisitKey, Wait};
use riverrun_types::{ErrorCode, Event, EventType, Json, Millis, time};
use serde_json::{Map, Value, json};

/// Visits in the order in which they were entered.
#[derive(Default)]
pub struct Report {
    pub state: RunState,
    visits: Vec<Visit>,
    by_key: HashMap<VisitKey, usize>,
    warnings: Vec<Value>,
    error: Option<Value>,
}

struct Visit {
    key: VisitKey,
    input: Value,
    undoes: Option<VisitKey>,
    status: &'static str,
    value: Option<Json>,
    error: Option<Value>,
    awaits: Vec<Value>,
    attempt: u32,
    retries: Vec<Value>,
    run_retries: Vec<Value>,
    journal: Value,
    started_ms: Millis,
    ended_ms: Option<Millis>,
    /// A failure whose next attempt is to come.
    failed: Option<Value>,
}

impl Report {
    pub fn apply(&mut self, event: &Event) {
        let key = event.step.as_ref().map(|at| VisitKey {
            step: at.name.clone(),
            visit: at.visit,
        });
        // A visit that ends is gone from the state: its journal is read before.
        if let Some(at) = key.as_ref().and_then(|key| self.by_key.get(key))
            && let Some(visit) = self.state.visit(&self.visits[*at].key)
        {
            self.visits[*at].journal = json!(visit.journal);
        }
        self.state.apply(&event.draft());
        for visit in self.state.visits.iter() {
            if self.by_key.contains_key(&visit.key) {
                continue;
            }
            self.by_key.insert(visit.key.clone(), self.visits.len());
            let run_input = || self.state.input.value();
            self.visits.push(Visit {
                key: visit.key.clone(),
                input: visit.input.as_ref().map_or_else(run_input, Json::value),
                undoes: visit.undoes.clone(),
                status: "waiting",
                value: None,
                error: None,
                awaits: Vec::new(),
                attempt: 1,
                retries: Vec::new(),
                run_retries: Vec::new(),
                journal: json!([]),
                started_ms: event.id.ms,
                ended_ms: None,
                failed: None,
            });
        }
        let data = event.data.as_ref().map_or(Value::Null, Json::value);
        match &event.kind {
            EventType::FlowFailed => self.error = Some(data["error"].clone()),
            EventType::LogWarn if data["code"] == ErrorCode::ExpressionError.as_str() => {
                let step = event.step.as_ref().map(|at| at.name.to_string());
                let step = step.or_else(|| step_of(data["message"].as_str()?));
                self.warnings.push(json!({
                    "code": ErrorCode::ExpressionError, "message": data["message"], "step": step,
                }));
            }
            _ => {}
        }
        if let Some(at) = key.and_then(|key| self.by_key.get(&key).copied()) {
            self.visits[at].apply(event, data);
            let key = self.visits[at].key.clone();
            if let Some(visit) = self.state.visit(&key) {
                self.visits[at].journal = json!(visit.journal);
            }
        }
    }

    /// The event types that active visits await.
    pub fn awaited(&self) -> impl Iterator<Item = &str> {
        self.state
            .visits
            .iter()
            .filter_map(|visit| match &visit.wait {
                Some(Wait::Await(awaiting)) => match &awaiting.what {
                    AwaitFor::Event { event_kind, .. } => Some(&**event_kind),
                    _ => None,
                },
                _ => None,
            })
    }

    /// Whether a visit of the step has done its work, which can be undone.
    pub fn can_undo(&self, step: &str) -> bool {
        self.state.undo.iter().any(|undo| &*undo.visit.step == step)
    }

    pub fn json(&self) -> Map<String, Value> {
        let parked = self
            .state
            .visits
            .iter()
            .find_map(|visit| match &visit.wait {
                Some(Wait::Parked(parked)) => Some(json!({
                    "code": parked.code, "message": parked.message,
                    "details": parked.details, "retriable": false,
                })),
                _ => None,
            });
        let is_over = self.state.status.is_ended();
        let error = self.error.clone().or(parked);
        let status = match (&error, is_over) {
            (Some(_), _) => "failed",
            (None, true) => "completed",
            (None, false) => "waiting",
        };
        let visits = self.visits.iter().map(|visit| {
            let parked = match self.state.visit(&visit.key).map(|visit| &visit.wait) {
                Some(Some(Wait::Parked(_))) => error.as_ref(),
                _ => None,
            };
            visit.json(parked)
        });
        let visits: Vec<Value> = visits.collect();
        let mut report = Map::new();
        report.insert("status".to_owned(), json!(status));
        if let Some(error) = error {
            report.insert("error".to_owned(), error);
        }
        report.insert("visits".to_owned(), json!(visits));
        report.insert("warnings".to_owned(), json!(self.warnings));
        report.insert("state".to_owned(), json!(self.state.state));
        report
    }
}

impl Visit {
    fn apply(&mut self, event: &Event, data: Value) {
        use EventType as T;
        let now = event.id.ms;
        if let Some(at) = &event.step
            && at.attempt > 0
        {
            self.attempt = self.attempt.max(at.attempt);
        }
        match &event.kind {
            T::StepAwaitTime if data["reason"] == "retry" => {}
            T::StepAwaitTime => self.waits("time", json!("time"), now),
            T::StepAwaitEvent => self.waits("event", data["eventKind"].clone(), now),
            T::StepAwaitTrigger => self.waits("trigger", data["triggerId"].clone(), now),
            T::StepResumed => {
                let value = data.get("value").cloned();
                self.waited(now, None, value);
            }
            T::StepAwaitTimeout => {
                let value = data.get("value").cloned();
                self.waited(now, Some("timeout"), value);
                if data["next"].is_string() {
                    self.ends("timeout", now);
                }
            }
            T::StepCompleted => {
                // The time of a declared await passes after the handler.
                self.waited(now, None, None);
                self.value = event.data.as_ref().and_then(|data| data.get("result"));
                self.value.get_or_insert_with(Json::null);
                self.ends("completed", now);
            }
            T::StepFailed => {
                let error = data["error"].clone();
                match data["willRetry"] == true {
                    true => {
                        let attempt = event.step.as_ref().map_or(1, |at| at.attempt);
                        self.failed = Some(json!({
                            "attempt": attempt, "error": error, "failedAt": time::iso(now),
                        }));
                    }
                    false => {
                        self.error = Some(error);
                        self.ends("failed", now);
                    }
                }
            }
            T::StepRetry => {
                if let Some(mut failed) = self.failed.take() {
                    failed["delayMs"] = data["delayMs"].clone();
                    self.retries.push(failed);
                }
            }
            T::StepMemoRetry => {
                let mut retry = data;
                if let Some(members) = retry.as_object_mut() {
                    members.remove("nextRetryAt");
                    members.entry("op").or_insert_with(|| json!("memo"));
                    members.insert("failedAt".to_owned(), json!(time::iso(now)));
                }
                self.run_retries.push(retry);
            }
            T::StepCancelled => self.ends("cancelled", now),
            _ => {}
        }
    }

    fn waits(&mut self, kind: &str, name: Value, now: Millis) {
        self.awaits.push(json!({
            "type": kind, "name": name, "from": time::iso(now), "outcome": "waiting", "fromMs": now,
        }));
    }

    fn waited(&mut self, now: Millis, outcome: Option<&str>, value: Option<Value>) {
        let Some(wait) = self.awaits.last_mut() else {
            return;
        };
        if wait["outcome"] != "waiting" {
            return;
        }
        wait["until"] = json!(time::iso(now));
        wait["waitedMs"] = json!(now - wait["fromMs"].as_i64().unwrap_or(now));
        wait["outcome"] = outcome.map_or_else(|| wait["type"].clone(), |outcome| json!(outcome));
        if let Some(value) = value.filter(|_| wait["type"] != "time") {
            wait["value"] = value;
        }
    }

    fn ends(&mut self, status: &'static str, now: Millis) {
        self.status = status;
        self.ended_ms = Some(now);
    }

    fn json(&self, parked: Option<&Value>) -> Value {
        let mut awaits = self.awaits.clone();
        for wait in awaits.iter_mut().filter_map(Value::as_object_mut) {
            wait.remove("fromMs");
        }
        let mut entry = json!({
            "step": self.key.step, "visit": self.key.visit, "input": self.input,
            "status": if parked.is_some() { "failed" } else { self.status },
            "awaits": awaits, "attempt": self.attempt, "retries": self.retries,
            "runRetries": self.run_retries, "journal": self.journal,
            "startedAt": time::iso(self.started_ms),
            "endedAt": self.ended_ms.map(time::iso),
        });
        if let Some(undoes) = &self.undoes {
            entry["undoes"] = json!(undoes);
        }
        if let Some(value) = &self.value {
            entry["value"] = json!(value);
        }
        if let Some(error) = self.error.as_ref().or(parked) {
            entry["error"] = error.clone();
        }
        entry
    }
}

/// The step that a warning about one of its subscriptions names.
fn step_of(message: &str) -> Option<String> {
    let (_, rest) = message.split_once(" of step \"")?;
    let (step, _) = rest.split_once('"')?;
    Some(step.to_owned())
}
