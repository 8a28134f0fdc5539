//! A visit that has not ended: its state, its wait, the branches inside it.

use std::sync::Arc;

use riverrun_types::{
    Failure, Json, Millis, Name, Operation, Parked, RunId, State, StepRef, VisitKey, VisitStatus,
    json::{nullable, present},
};
use serde::{Deserialize, Serialize};

use super::{Awaiting, Memo, MemoRetry};
use crate::View;

/// A visit that has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    pub key: VisitKey,
    pub status: VisitStatus,
    /// Tries so far; 0 before the first.
    pub attempt: u32,
    /// Tries that failed since the handler's code last went on after a wait, which is what a retry
    /// policy counts.
    pub failures: u32,
    /// Tries that were lost with their worker, in a row: an end of one resets it.
    pub losses: u32,
    /// The branch that it belongs to.
    pub branch: Option<InBranch>,
    /// The failure that led here, which its selectors see as `error` unless the state has one.
    pub caught: Option<Arc<State>>,
    pub since_ms: Millis,
    pub wait: Option<Wait>,
    /// The input of the event that entered it; the step's selector when absent.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub input: Option<Json>,
    /// The value of the declared await before the handler.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub awaited: Option<Json>,
    /// The values so far of the await whose timeout led here: they are `awaited`, until its own
    /// await is fired.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub so_far: Option<Json>,
    /// The id of the event of its run that entered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entered_by: Option<Name>,
    /// The journal of the handler's code, in order: its next attempt gets the answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<Memo>,
    /// Operations of the handler's code that failed and are tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retries: Vec<MemoRetry>,
    /// The finished visit that this one undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<VisitKey>,
    /// The state that it found when it was entered, in [`super::RunState::found`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<u64>,
    /// The scopes of the branches around its own one, as it found them, from the innermost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub around: Vec<Arc<State>>,
}

/// A callback, according to the record of its creation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Callback {
    pub id: Name,
    /// It can be resumed repeatedly.
    #[serde(default)]
    pub many: bool,
}

impl Visit {
    pub fn at(&self) -> StepRef {
        StepRef {
            name: self.key.step.clone(),
            visit: self.key.visit,
            attempt: self.attempt,
        }
    }

    /// The view with what led to the visit and what its await brought.
    pub(crate) fn seen<'a>(&'a self, view: View<'a>) -> View<'a> {
        let view = self.led(view);
        match self.brought() {
            Some(awaited) => view.with("awaited", awaited),
            None => view,
        }
    }

    /// The values of awaits of definitions: its own, or the one whose timeout led here.
    pub fn brought(&self) -> Option<&Json> {
        self.awaited.as_ref().or(self.so_far.as_ref())
    }

    /// The view with the failure that led to the visit, as `error` unless the run's state has one.
    pub(crate) fn led<'a>(&'a self, view: View<'a>) -> View<'a> {
        match &self.caught {
            Some(caught) => view.with_fallback(caught),
            None => view,
        }
    }

    /// Whether it undoes a finished visit.
    pub(crate) fn undoes(&self) -> bool {
        self.undoes.is_some()
    }

    /// The try after this one. Numbers in a stream from elsewhere may be as large as they come.
    pub(crate) fn next_attempt(&self) -> StepRef {
        StepRef {
            attempt: self.attempt.saturating_add(1),
            ..self.at()
        }
    }

    /// The callbacks that the handler's code has created.
    pub(crate) fn callbacks(&self) -> impl Iterator<Item = Callback> {
        let made = self.journal.iter().filter(|memo| &*memo.op == "trigger");
        made.filter_map(|memo| memo.value.as_ref()?.read().ok())
    }

    /// The callbacks of the handler's code that can still be resumed.
    pub fn open_callbacks(&self) -> impl Iterator<Item = Name> {
        let open = self.callbacks().filter(|callback| !self.is_over(callback));
        open.map(|callback| callback.id)
    }

    /// How often the code has received a value of a callback.
    pub fn taken(&self, callback: &str) -> u32 {
        let answers = self.answers(callback).filter(|memo| memo.error.is_none());
        u32::try_from(answers.count()).unwrap_or(u32::MAX)
    }

    /// Whether a callback can no longer be resumed.
    pub(crate) fn is_over(&self, callback: &Callback) -> bool {
        let mut answers = self.answers(&callback.id);
        answers.any(|memo| memo.error.is_some() || !callback.many)
    }

    /// How many awaits of the handler's code are over.
    pub(crate) fn awaits(&self) -> usize {
        let is_answer = |memo: &&Memo| &*memo.op == "await";
        self.journal.iter().filter(is_answer).count()
    }

    /// An await of the handler's code has ended: the next execution has attempts of its own.
    pub(super) fn go_on(&mut self, answer: Memo, job: Option<Wait>) {
        self.journal.push(answer);
        self.failures = 0;
        self.losses = 0;
        self.wait = job;
    }

    /// A try of an operation has failed: what is known of it replaces what was known before.
    pub(super) fn tried(&mut self, retry: MemoRetry) {
        let is_same = |known: &&mut MemoRetry| known.operation == retry.operation;
        match self.retries.iter_mut().find(is_same) {
            Some(known) => *known = retry,
            None => self.retries.push(retry),
        }
    }

    /// Records what the code has done. An operation that has its outcome is not tried again.
    pub(super) fn remember(&mut self, memo: Memo) {
        self.retries.retain(|retry| !memo.is_of(&retry.operation));
        self.journal.push(memo);
    }

    /// The state of an operation that is tried again.
    pub fn retry_of(&self, operation: &Operation) -> Option<&MemoRetry> {
        let mut retries = self.retries.iter();
        retries.find(|retry| retry.operation == *operation)
    }

    fn answers(&self, await_name: &str) -> impl Iterator<Item = &Memo> {
        let is_answer = move |memo: &&Memo| &*memo.op == "await" && &*memo.name == await_name;
        self.journal.iter().filter(is_answer)
    }

    /// The events of a kind that awaits of the visit have consumed, those of its definition and
    /// those of its code.
    pub fn given(&self, event_kind: &str) -> Vec<Json> {
        let answers = self
            .answers(event_kind)
            .filter_map(|memo| memo.value.clone());
        self.awaited.iter().cloned().chain(answers).collect()
    }

    /// In a copy of the run: the journal without the callbacks that resume the original.
    pub(crate) fn forget_open_callbacks(&mut self) {
        let open: Vec<Name> = self.open_callbacks().collect();
        self.journal.retain(|memo| {
            let made = |value: &Json| Some(value.read::<Callback>().ok()?.id);
            let callback = match &*memo.op {
                "trigger" => memo.value.as_ref().and_then(made),
                "await" => Some(memo.name.clone()),
                _ => None,
            };
            !callback.is_some_and(|callback| open.contains(&callback))
        });
    }

    /// Why it is parked, if it is.
    pub fn parked(&self) -> Option<&Parked> {
        match &self.wait {
            Some(Wait::Parked(parked)) => Some(parked),
            _ => None,
        }
    }

    pub(crate) fn branches(&self) -> Option<&Branches> {
        match &self.wait {
            Some(Wait::Branches(branches)) => Some(branches),
            _ => None,
        }
    }

    pub(crate) fn branch(&self, index: usize) -> Option<&Branch> {
        self.branches()?.branches.get(index)
    }
}

/// A place in the branches of another visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InBranch {
    pub of: VisitKey,
    pub index: usize,
}

/// The wait of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Wait {
    Time {
        until_ms: Millis,
        reason: Option<String>,
        /// The output of the step then.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        output: Option<Json>,
        /// The next step then, if the transitions do not decide it.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "nullable"
        )]
        next: Option<Option<Name>>,
    },
    Backoff {
        until_ms: Millis,
    },
    Branches(Branches),
    Run {
        run: RunId,
        flow: Name,
    },
    /// Its job is in a queue, to begin not before a time, or is under way.
    Job {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until_ms: Option<Millis>,
    },
    Await(Awaiting),
    /// It was parked, and begins again once it is released.
    Parked(Parked),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branches {
    pub branches: Vec<Branch>,
    pub concurrency: u32,
    pub fail_fast: bool,
    pub as_list: bool,
    pub scoped: bool,
    /// How many have been entered: branches begin in their order.
    pub entered: usize,
    /// How many of those have ended, and how many of those failed.
    pub ended: usize,
    pub failed: usize,
    /// The bytes of the results of those that ended well, which are gathered in one value.
    #[serde(default)]
    pub result_bytes: usize,
}

impl Branches {
    /// No branch can change the outcome any more.
    pub(crate) fn is_settled(&self) -> bool {
        self.ended == self.branches.len() || (self.fail_fast && self.failed > 0)
    }

    /// How many more may be entered now.
    pub(crate) fn room(&self) -> usize {
        let active = self.entered.saturating_sub(self.ended);
        let room = match self.concurrency {
            0 => usize::MAX,
            limit => (limit as usize).saturating_sub(active),
        };
        room.min(self.branches.len().saturating_sub(self.entered))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    pub step: Name,
    pub status: BranchStatus,
    /// The branch's own values: `item`, `index` and, if the fork is scoped, the writes of its
    /// steps.
    pub scope: Arc<State>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BranchStatus {
    Pending,
    Active,
    Done,
    Failed,
}
