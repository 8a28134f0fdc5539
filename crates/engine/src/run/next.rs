//! Which event may come next. The engine's own events always may; an imported stream must follow
//! the same rules, so that it leads to no state that the engine could not have made.

use riverrun_types::{
    Draft, EventType, Name, Path, RunId, StepRef, VisitStatus, VisitStatus as S,
    event::{
        FlowStarted, StateDelete, StateSet, StepAwaitRun, StepCompleted, StepEntered, StepFailed,
        StepRetry,
    },
};

use super::{Lineage, RunState, Visit, VisitKey};
use crate::{Fact, decide::MAX_DEPTH};

type Check = Result<(), String>;

impl RunState {
    /// Whether the engine could have written this event on this state.
    pub fn check_next(&self, draft: &Draft) -> Check {
        let kind = &draft.kind;
        let fact = Fact::try_read(draft)
            .ok_or_else(|| format!("the data does not fit the type {kind}"))?;
        let is_first = self.len == 0;
        check(
            is_first == (*kind == EventType::FlowStarted),
            "a stream begins with flow.started, and has it once",
        )?;
        let is_in_order = draft.ms >= self.updated_ms;
        check(is_in_order, "it is earlier than the one before it")?;
        check(!self.status.is_ended(), "it comes after the run's end")?;
        self.check_fact(&fact, kind)
    }

    /// The condition of each event.
    fn check_fact(&self, fact: &Fact, kind: &EventType) -> Check {
        let visit =
            |at: &StepRef, expected: &[VisitStatus]| self.check_visit(at, 0, expected, kind);
        let next_attempt =
            |at: &StepRef, expected: &[VisitStatus]| self.check_visit(at, 1, expected, kind);
        match fact {
            Fact::FlowStarted(started) => check_start(started),
            Fact::FlowCompleted(_) => self.check_completion(),
            Fact::FlowFailed(_) | Fact::FlowCancelled(_) | Fact::FlowForked(_) => Ok(()),
            Fact::FlowPaused(_) => check(!self.paused, "the run is paused already"),
            Fact::FlowResumed(_) => check(self.paused, "the run is not paused"),
            Fact::FlowCompensating(_) => {
                check(!self.compensating, "the run undoes what it did already")
            }
            Fact::StepStarted(at, _) => next_attempt(at, &[S::Pending, S::Retrying]),
            Fact::StepRetry(at, StepRetry { lost: true, .. }) => next_attempt(at, &[S::Running]),
            Fact::StepRetry(at, _) => next_attempt(at, &[S::Retrying]),
            Fact::StepCompleted(at, StepCompleted { next, .. })
            | Fact::StepFailed(at, StepFailed { next, .. }) => {
                check_names(next)?;
                self.check_end(at, kind)
            }
            Fact::StepCancelled(at, _) => {
                visit(at, &[S::Pending, S::Running, S::Waiting, S::Retrying])
            }
            // Before an attempt, or in one.
            Fact::StepParked(at, _) => visit(at, &[S::Pending, S::Running, S::Retrying]),
            Fact::StepReleased(at, _) => {
                let parked = self.visit(&VisitKey::of(at)).and_then(Visit::parked);
                check(parked.is_some(), "the visit is not parked")?;
                visit(at, &[S::Waiting])
            }
            Fact::StepResumed(at, _) => visit(at, &[S::Waiting]),
            Fact::StepEntered(at, entered) => self.check_entry(at, entered),
            Fact::StepJoined(joined) => check_name(&joined.step),
            Fact::StepAwaitTime(at, time) if time.await_id.is_none() => {
                check_names(time.next.iter().flatten())?;
                self.check_end(at, kind)
            }
            // One that its definition asks for comes before the first attempt.
            Fact::StepAwaitTime(at, _)
            | Fact::StepAwaitEvent(at, _)
            | Fact::StepAwaitTrigger(at, _) => visit(at, &[S::Running, S::Pending]),
            Fact::StepAwaitTimeout(at, timeout) => {
                check_names(&timeout.next)?;
                visit(at, &[S::Waiting])
            }
            Fact::StepAwaitBranches(at, fork) => {
                check_names(fork.branches.iter().map(|spec| &spec.step))?;
                visit(at, &[S::Running])
            }
            Fact::StepAwaitRun(at, StepAwaitRun { run, .. }) => {
                check_id(run)?;
                visit(at, &[S::Running])
            }
            Fact::StepMemo(at, _) | Fact::StepMemoRetry(at, _) => visit(at, &[S::Running]),
            Fact::StateSet(StateSet { key, .. }) | Fact::StateDelete(StateDelete { key }) => {
                check_keys([key])
            }
            Fact::StateBatch(batch) => check_keys(batch.operations.iter().map(|op| &op.key)),
            Fact::Other if kind.is_engines_own() => {
                Err(format!("{kind} is no event of a run that is known here"))
            }
            Fact::StateSnapshot(_) | Fact::Emitted { .. } | Fact::Other => Ok(()),
        }
    }

    fn check_completion(&self) -> Check {
        check(
            self.visits.is_empty(),
            "the run completes while steps of it are active",
        )?;
        check(
            self.to_emit.is_empty(),
            "the run completes before a step of it has emitted its events",
        )
    }

    /// The event refers to an active visit in one of these states, and to its latest attempt, or to
    /// the next one.
    fn check_visit(
        &self,
        at: &StepRef,
        coming: u32,
        expected: &[VisitStatus],
        kind: &EventType,
    ) -> Check {
        let visit = self.visit(&VisitKey::of(at));
        match visit.filter(|visit| expected.contains(&visit.status)) {
            Some(visit) if at.attempt == visit.attempt.saturating_add(coming) => Ok(()),
            _ => Err(format!("no visit of the step fits {kind}")),
        }
    }

    /// The end of a handler's work: of a running visit, or one that waits for its branches.
    fn check_end(&self, at: &StepRef, kind: &EventType) -> Check {
        let visit = self.visit(&VisitKey::of(at));
        let is_fork = visit.is_some_and(|visit| visit.branches().is_some());
        let expected = if is_fork { S::Waiting } else { S::Running };
        self.check_visit(at, 0, &[expected], kind)
    }

    fn check_entry(&self, at: &StepRef, entered: &StepEntered) -> Check {
        check_name(&at.name)?;
        let visits = self.steps.get(&at.name).map_or(0, |step| step.visits);
        let known = |undone: &VisitKey| self.undo.iter().any(|undo| undo.visit == *undone);
        let is_next = at.visit == visits.saturating_add(1);
        let can_enter = is_next && entered.undoes.as_ref().is_none_or(known);
        check(can_enter, "no such visit of the step can be entered")
    }
}

fn check(holds: bool, otherwise: &str) -> Check {
    match holds {
        true => Ok(()),
        false => Err(otherwise.to_owned()),
    }
}

fn check_start(started: &FlowStarted) -> Check {
    check_name(&started.next)?;
    let Some(parent) = &started.parent else {
        return Ok(());
    };
    let Lineage {
        run_id,
        step,
        visit,
        depth,
        ..
    } = parent;
    check_id(run_id)?;
    check_name(step)?;
    if *visit == 0 || !(1..=MAX_DEPTH).contains(depth) {
        return Err(format!(
            "no run has a parent at depth {depth}, visit {visit}"
        ));
    }
    Ok(())
}

fn check_id(run: &RunId) -> Check {
    RunId::checked(run.as_str())
        .map(drop)
        .map_err(|error| error.to_string())
}

fn check_keys<'a>(keys: impl IntoIterator<Item = &'a Path>) -> Check {
    let is_valid = keys.into_iter().all(Path::is_valid);
    check(is_valid, "it writes to an invalid path")
}

fn check_names<'a>(names: impl IntoIterator<Item = &'a Name>) -> Check {
    names.into_iter().try_for_each(|name| check_name(name))
}

/// The rules of `flow.schema.json` for the names of steps.
fn check_name(name: &str) -> Check {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if (1..=128).contains(&name.len()) && name.starts_with(first) && name.chars().all(plain) {
        return Ok(());
    }
    let name: String = name.chars().take(64).collect();
    Err(format!("{name:?} is no name of a step"))
}
