//! Which event may come next. What the engine emits always may; a stream from elsewhere is held to
//! the same, so that no state comes about that the engine could not have made.

use riverrun_types::{Draft, EventType, RunId, StepRef, VisitStatus};

use super::{Lineage, RunState, Visit, VisitKey, Wait};
use crate::{
    decide::MAX_DEPTH,
    fact::{Fact, Started},
};

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
            Fact::Started(started) => check_start(started),
            Fact::Completed { .. } if !self.visits.is_empty() => {
                Err("the run completes while steps of it are active".to_owned())
            }
            Fact::Completed { .. } if !self.to_emit.is_empty() => {
                Err("the run completes before a step of it has emitted its events".to_owned())
            }
            Fact::Compensating { .. } if self.compensating => {
                Err("the run undoes what it did already".to_owned())
            }
            Fact::Paused { .. } if self.paused => Err("the run is paused already".to_owned()),
            Fact::Resumed if !self.paused => Err("the run is not paused".to_owned()),
            Fact::StateSet { key, .. } | Fact::StateDelete { key } => check_key(key.is_valid()),
            Fact::StateBatch(operations) => {
                check_key(operations.iter().all(|operation| operation.key.is_valid()))
            }
            Fact::Other if kind.is_engines_own() => {
                Err(format!("{kind} is no event of a run that is known here"))
            }
            fact => self.check_step(fact, draft),
        }
    }

    /// Events of steps speak of a visit that is there, in its latest attempt, and lead to names
    /// that steps can have.
    fn check_step(&self, fact: &Fact, draft: &Draft) -> Check {
        use VisitStatus as S;
        let among = |expected: &[VisitStatus], attempt: u32| {
            let visit = self.visit_of(draft.step.as_ref())?;
            let fits = |visit: &&Visit| expected.contains(&visit.status);
            let named = draft.step.as_ref().map_or(0, |at| at.attempt);
            match visit.filter(fits) {
                Some(visit) if named == visit.attempt.saturating_add(attempt) => Ok(()),
                _ => Err(format!("no visit of the step fits {}", draft.kind)),
            }
        };
        match fact {
            Fact::StepStarted { .. } => among(&[S::Pending, S::Retrying], 1),
            Fact::StepRetry { lost, .. } => {
                among(if *lost { &[S::Running] } else { &[S::Retrying] }, 1)
            }
            // Before an attempt, or in one.
            Fact::StepParked { .. } => among(&[S::Pending, S::Running, S::Retrying], 0),
            Fact::StepReleased { .. } => match self.visit_of(draft.step.as_ref())? {
                Some(visit) if visit.parked().is_some() => among(&[S::Waiting], 0),
                _ => Err("the visit is not parked".to_owned()),
            },
            Fact::StepResumed { .. } => among(&[S::Waiting], 0),
            Fact::StepCancelled { .. } => {
                among(&[S::Pending, S::Running, S::Waiting, S::Retrying], 0)
            }
            Fact::StepCompleted { next, .. } | Fact::StepFailed { next, .. } => {
                next.as_deref().map_or(Ok(()), check_name)?;
                // A fork ends while it waits for its branches.
                match self.visit_of(draft.step.as_ref())? {
                    Some(visit) if matches!(visit.wait, Some(Wait::Branches(_))) => {
                        among(&[S::Waiting], 0)
                    }
                    _ => among(&[S::Running], 0),
                }
            }
            Fact::AwaitTime { next, .. } => {
                next.iter()
                    .flatten()
                    .try_for_each(|next| check_name(next))?;
                // Also after a fork's branches have ended.
                match self.visit_of(draft.step.as_ref())? {
                    Some(visit) if matches!(visit.wait, Some(Wait::Branches(_))) => {
                        among(&[S::Waiting], 0)
                    }
                    _ => among(&[S::Running], 0),
                }
            }
            // One that its definition asks for comes before the first attempt.
            Fact::Await { .. } => among(&[S::Running, S::Pending], 0),
            Fact::AwaitTimeout { next, .. } => {
                next.as_deref().map_or(Ok(()), check_name)?;
                among(&[S::Waiting], 0)
            }
            Fact::Memo { .. } | Fact::MemoRetry { .. } => among(&[S::Running], 0),
            Fact::Entered { at, undoes, .. } => {
                check_name(&at.name)?;
                let visits = self.steps.get(&at.name).map_or(0, |step| step.visits);
                let known = |undone: &VisitKey| self.undo.iter().any(|undo| undo.visit == *undone);
                match at.visit == visits.saturating_add(1) && undoes.as_ref().is_none_or(known) {
                    true => Ok(()),
                    false => Err("no such visit of the step can be entered".to_owned()),
                }
            }
            Fact::Joined { step, .. } => check_name(step),
            Fact::AwaitRun { run, .. } => {
                check_id(run)?;
                among(&[S::Running], 0)
            }
            Fact::AwaitBranches { fork, .. } => {
                fork.branches
                    .iter()
                    .try_for_each(|spec| check_name(&spec.step))?;
                among(&[S::Running], 0)
            }
            _ => Ok(()),
        }
    }

    fn visit_of(&self, at: Option<&StepRef>) -> Result<Option<&Visit>, String> {
        let at = at.ok_or("it names no step")?;
        Ok(self.visit(&VisitKey {
            step: at.name.clone(),
            visit: at.visit,
        }))
    }
}

fn check_start(started: &Started) -> Check {
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

fn check_key(is_valid: bool) -> Check {
    match is_valid {
        true => Ok(()),
        false => Err("it writes to a path that is none".to_owned()),
    }
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
