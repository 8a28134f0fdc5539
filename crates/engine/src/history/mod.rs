//! A run's history: one entry for each attempt that has ended.
//!
//! It is reduced from the stream like the state, page by page, and is not cached: each request
//! reads the stream. An attempt that waits has not ended, so a wait is reported when it is over.

mod page;

use std::collections::{HashMap, VecDeque};

use riverrun_types::{Draft, ErrorCode, EventType, Json, Millis, Name, event::iso};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use page::{HistoryCursor, HistoryPage};

use crate::{Fact, Failure, Parked, VisitKey};

/// An attempt that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// The step's name.
    pub step_id: Name,
    pub visit: u32,
    pub attempt: u32,
    pub outcome: HistoryOutcome,
    #[serde(with = "iso")]
    pub started_at: Millis,
    #[serde(with = "iso")]
    pub completed_at: Millis,
    pub duration_ms: Millis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Tries of its code's operations that failed and were tried again, the latest
    /// [`HistoryEntry::MAX_RETRIES`] of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<HistoryRetry>,
}

impl HistoryEntry {
    pub const MAX_RETRIES: usize = 20;
}

/// A failed try of an operation of a step's code (`ctx.run` and the like).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRetry {
    /// The kind of operation: `memo` for `ctx.run`.
    pub op: Name,
    pub name: Name,
    /// Which use of the name it is; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// The try that failed, from 1.
    pub attempt: u32,
    #[serde(with = "iso")]
    pub at: Millis,
    #[serde(with = "iso")]
    pub next_retry_at: Millis,
    /// Its code and message.
    pub error: Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HistoryOutcome {
    Success,
    Failure,
    /// It waited for a time, and the time came.
    Wait,
    Cancelled,
}

/// The history of the events so far.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<HistoryEntry>,
    /// Where in the stream the attempt of each entry began.
    began: Vec<u64>,
    open: HashMap<VisitKey, Open>,
    /// The position of the next event.
    position: u64,
}

/// An attempt that has begun.
#[derive(Clone, Debug)]
struct Open {
    position: u64,
    attempt: u32,
    started_ms: Millis,
    /// Its current wait.
    awaits: Option<EventType>,
    has_waited: bool,
    retries: VecDeque<HistoryRetry>,
}

/// The history of a whole stream.
pub fn history<'a>(events: impl IntoIterator<Item = &'a Draft>) -> Vec<HistoryEntry> {
    let mut history = History::default();
    events.into_iter().for_each(|draft| history.apply(draft));
    history.into_entries()
}

impl History {
    /// Reduces one more event of the stream.
    pub fn apply(&mut self, draft: &Draft) {
        self.reduce(draft);
        self.position += 1;
    }

    fn reduce(&mut self, draft: &Draft) {
        use EventType as T;
        let Some(at) = &draft.step else {
            return self.apply_to_run(draft);
        };
        let key = VisitKey {
            step: at.name.clone(),
            visit: at.visit,
        };
        match &draft.kind {
            T::StepStarted => {
                let started_ms = match Fact::read(draft) {
                    Fact::StepStarted(_, started) => {
                        started.at_ms.map_or(draft.ms, |at_ms| at_ms.min(draft.ms))
                    }
                    _ => draft.ms,
                };
                let open = Open {
                    position: self.position,
                    attempt: at.attempt,
                    started_ms,
                    awaits: None,
                    has_waited: false,
                    retries: VecDeque::new(),
                };
                self.open.insert(key, open);
            }
            kind @ (T::StepAwaitTime
            | T::StepAwaitEvent
            | T::StepAwaitTrigger
            | T::StepAwaitRun
            | T::StepAwaitBranches) => {
                if let Some(open) = self.open.get_mut(&key) {
                    let in_code = draft
                        .data
                        .as_ref()
                        .is_some_and(|data| data.get("awaitId").is_some());
                    open.has_waited = *kind == T::StepAwaitTime && !in_code;
                    open.awaits = Some(if in_code {
                        T::StepAwaitEvent
                    } else {
                        kind.clone()
                    });
                }
            }
            T::StepResumed | T::StepAwaitTimeout => {
                if let Some(open) = self.open.get_mut(&key) {
                    open.awaits = None;
                }
            }
            T::StepMemoRetry => {
                if let Some(open) = self.open.get_mut(&key) {
                    open.retried(draft);
                }
            }
            T::StepCompleted => self.close(key, HistoryOutcome::Success, draft.ms, None),
            T::StepFailed => self.close(key, HistoryOutcome::Failure, draft.ms, error_of(draft)),
            // After a failure the attempt is closed; one that is still open was lost.
            T::StepRetry if self.open.contains_key(&key) => {
                let error = Failure::new(ErrorCode::WorkerLost, reason_of(draft));
                self.close(key, HistoryOutcome::Failure, draft.ms, Some(error));
            }
            // An attempt that was parked before it began has no end.
            T::StepParked => {
                let error = parked(draft);
                self.close(key, HistoryOutcome::Failure, draft.ms, error);
            }
            T::StepCancelled => self.close(key, HistoryOutcome::Cancelled, draft.ms, None),
            _ => {}
        }
    }

    /// The entries so far, in the order in which the attempts ended.
    pub fn entries(&self) -> &[HistoryEntry] {
        &self.entries
    }

    pub fn into_entries(self) -> Vec<HistoryEntry> {
        self.entries
    }

    fn apply_to_run(&mut self, draft: &Draft) {
        if draft.kind != EventType::FlowForked {
            return;
        }
        // Attempts of the original, and waits that only the original can end, do not end here.
        use EventType as T;
        let ends = |open: &Open| {
            matches!(
                open.awaits,
                None | Some(T::StepAwaitRun | T::StepAwaitEvent)
            )
        };
        let mut ended: Vec<(Millis, VisitKey)> = self
            .open
            .iter()
            .filter(|(_, open)| ends(open))
            .map(|(key, open)| (open.started_ms, key.clone()))
            .collect();
        ended.sort_by(|(a_ms, a), (b_ms, b)| {
            (a_ms, &a.step, a.visit).cmp(&(b_ms, &b.step, b.visit))
        });
        for (_, key) in ended {
            self.close(key, HistoryOutcome::Cancelled, draft.ms, None);
        }
    }

    fn close(
        &mut self,
        key: VisitKey,
        outcome: HistoryOutcome,
        now: Millis,
        error: Option<Failure>,
    ) {
        let Some(open) = self.open.remove(&key) else {
            return;
        };
        let outcome = match outcome {
            HistoryOutcome::Success if open.has_waited => HistoryOutcome::Wait,
            outcome => outcome,
        };
        self.began.push(open.position);
        self.entries.push(HistoryEntry {
            step_id: key.step,
            visit: key.visit,
            attempt: open.attempt,
            outcome,
            started_at: open.started_ms,
            completed_at: now,
            duration_ms: now.saturating_sub(open.started_ms),
            error,
            retries: open.retries.into(),
        });
    }
}

impl Open {
    fn retried(&mut self, draft: &Draft) {
        let Fact::StepMemoRetry(_, retry) = Fact::read(draft) else {
            return;
        };
        if self.retries.len() == HistoryEntry::MAX_RETRIES {
            self.retries.pop_front();
        }
        let said = |key: &str| retry.error.get(key).map(|text| text.value());
        let error = json!({"code": said("code"), "message": said("message")});
        self.retries.push_back(HistoryRetry {
            op: retry.op,
            name: retry.name,
            nth: retry.nth,
            attempt: retry.failures,
            at: draft.ms,
            next_retry_at: retry.until_ms,
            error: Json::of(&error),
        });
    }
}

/// Why an attempt ended without an end of its own.
fn parked(draft: &Draft) -> Option<Failure> {
    let parked: Parked = draft.data.as_ref()?.read().ok()?;
    let mut failure = Failure::new(parked.code, parked.message);
    failure.details = parked.details;
    Some(failure)
}

fn error_of(draft: &Draft) -> Option<Failure> {
    draft.data.as_ref()?.get("error")?.read().ok()
}

fn reason_of(draft: &Draft) -> String {
    let reason = draft.data.as_ref().and_then(|data| data.get("reason"));
    reason
        .as_ref()
        .map_or_else(String::new, |text| Json::as_text(text).into_owned())
}
