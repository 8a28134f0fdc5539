//! Which event may come next. What the engine emits always may; a stream from elsewhere is held to
//! the same, so that no state comes about that the engine could not have made.

use riverrun_types::{
    Draft, EventType, Name, Path, RunId, StepRef, VisitStatus, VisitStatus as S,
    event::{
        FlowStarted, StateDelete, StateSet, StepAwaitRun, StepAwaitTime, StepCompleted,
        StepEntered, StepFailed,
    },
};

use super::{Lineage, RunState, VisitKey};
use crate::{Fact, decide::MAX_DEPTH};

type Check = Result<(), String>;

impl RunState {
    /// Whether the engine could have written this event on this state.
    pub fn check_next(&self, draft: &Draft) -> Check {
        let kind = &draft.kind;
        let fact = Fact::try_read(draft)
            .ok_or_else(|| format!("the data does not fit the type {kind}"))?;
        if (self.len == 0) != (*kind == EventType::FlowStarted) {
            return Err("a stream begins with flow.started, and has it once".to_owned());
        }
        if draft.ms < self.updated_ms {
            return Err("it is earlier than the one before it".to_owned());
        }
        if self.status.is_ended() {
            return Err("it comes after the run's end".to_owned());
        }
        match &fact {
            Fact::FlowStarted(started) => check_start(started),
            Fact::FlowCompleted(_) if !self.visits.is_empty() => {
                Err("the run completes while steps of it are active".to_owned())
            }
            Fact::FlowCompleted(_) if !self.to_emit.is_empty() => {
                Err("the run completes before a step of it has emitted its events".to_owned())
            }
            Fact::FlowCompleted(_) | Fact::FlowFailed(_) | Fact::FlowCancelled(_) => Ok(()),
            Fact::FlowPaused(_) if self.paused => Err("the run is paused already".to_owned()),
            Fact::FlowResumed(_) if !self.paused => Err("the run is not paused".to_owned()),
            Fact::FlowCompensating(_) if self.compensating => {
                Err("the run undoes what it did already".to_owned())
            }
            Fact::FlowPaused(_)
            | Fact::FlowResumed(_)
            | Fact::FlowForked(_)
            | Fact::FlowCompensating(_) => Ok(()),
            // Before its first attempt or between two.
            Fact::StepStarted(at, _) => self.check_visit(at, 1, &[S::Pending, S::Retrying], kind),
            Fact::StepRetry(at, retry) if retry.lost => {
                self.check_visit(at, 1, &[S::Running], kind)
            }
            Fact::StepRetry(at, _) => self.check_visit(at, 1, &[S::Retrying], kind),
            Fact::StepCompleted(at, StepCompleted { next, .. })
            | Fact::StepFailed(at, StepFailed { next, .. }) => {
                check_names(next)?;
                self.check_end(at, kind)
            }
            Fact::StepCancelled(at, _) => {
                let active = [S::Pending, S::Running, S::Waiting, S::Retrying];
                self.check_visit(at, 0, &active, kind)
            }
            // Before an attempt, or in one.
            Fact::StepParked(at, _) => {
                let active = [S::Pending, S::Running, S::Retrying];
                self.check_visit(at, 0, &active, kind)
            }
            Fact::StepReleased(at, _) => match self.visit(&VisitKey::of(at)) {
                Some(visit) if visit.parked().is_some() => {
                    self.check_visit(at, 0, &[S::Waiting], kind)
                }
                _ => Err("the visit is not parked".to_owned()),
            },
            Fact::StepResumed(at, _) => self.check_visit(at, 0, &[S::Waiting], kind),
            Fact::StepEntered(at, entered) => self.check_entry(at, entered),
            Fact::StepJoined(joined) => check_name(&joined.step),
            Fact::StepAwaitTime(
                at,
                StepAwaitTime {
                    await_id: None,
                    next,
                    ..
                },
            ) => {
                check_names(next.iter().flatten())?;
                self.check_end(at, kind)
            }
            // One that its definition asks for comes before the first attempt.
            Fact::StepAwaitTime(at, _)
            | Fact::StepAwaitEvent(at, _)
            | Fact::StepAwaitTrigger(at, _) => {
                self.check_visit(at, 0, &[S::Running, S::Pending], kind)
            }
            Fact::StepAwaitTimeout(at, timeout) => {
                check_names(&timeout.next)?;
                self.check_visit(at, 0, &[S::Waiting], kind)
            }
            Fact::StepAwaitBranches(at, fork) => {
                check_names(fork.branches.iter().map(|spec| &spec.step))?;
                self.check_visit(at, 0, &[S::Running], kind)
            }
            Fact::StepAwaitRun(at, StepAwaitRun { run, .. }) => {
                check_id(run)?;
                self.check_visit(at, 0, &[S::Running], kind)
            }
            Fact::StepMemo(at, _) | Fact::StepMemoRetry(at, _) => {
                self.check_visit(at, 0, &[S::Running], kind)
            }
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

    /// The event speaks of a visit that is there and in one of these states, and of its latest
    /// attempt, or of the one that comes.
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

    /// A handler's work is done: of a visit that runs, or that waits for its branches.
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
        match at.visit == visits.saturating_add(1) && entered.undoes.as_ref().is_none_or(known) {
            true => Ok(()),
            false => Err("no such visit of the step can be entered".to_owned()),
        }
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
    match keys.into_iter().all(Path::is_valid) {
        true => Ok(()),
        false => Err("it writes to a path that is none".to_owned()),
    }
}

fn check_names<'a>(names: impl IntoIterator<Item = &'a Name>) -> Check {
    names.into_iter().try_for_each(|name| check_name(name))
}

/// What `flow.schema.json` says of the names of steps.
fn check_name(name: &str) -> Check {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if (1..=128).contains(&name.len()) && name.starts_with(first) && name.chars().all(plain) {
        return Ok(());
    }
    let name: String = name.chars().take(64).collect();
    Err(format!("{name:?} is no name of a step"))
}
