//! Ends: of branches, of the fork around them, of the run.

use indexmap::IndexMap;
use riverrun_types::Json;
use serde_json::json;

use super::Turn;
use crate::{
    BranchStatus, Branches, Cancellation, Failure, Visit, VisitKey, Wait, code, fact::Fact,
};

impl Turn<'_> {
    /// Ends whatever has nothing left to wait for: forks whose branches are through, then the run.
    pub(super) fn settle(&mut self) {
        while let Some((visit, branches)) = self.settled_fork() {
            self.end_fork(&visit, &branches);
        }
        if self.state.visits.is_empty() && !self.state.status.is_ended() {
            self.complete_run();
        }
    }

    fn settled_fork(&self) -> Option<(Visit, Branches)> {
        self.state
            .visits
            .iter()
            .find_map(|visit| match &visit.wait {
                Some(Wait::Branches(branches)) if is_settled(branches) => {
                    Some((visit.clone(), branches.clone()))
                }
                _ => None,
            })
    }

    fn end_fork(&mut self, visit: &Visit, branches: &Branches) {
        let failed = branches
            .branches
            .iter()
            .position(|b| b.status == BranchStatus::Failed);
        let Some(index) = failed else {
            let next = self
                .plan
                .step(&visit.key.step)
                .and_then(|step| step.on_resume.clone().or(step.on_success.clone()));
            return self.complete(visit, Some(results(branches)), next, 0.0);
        };
        let cancellation = Cancellation {
            source: "system".to_owned(),
            reason: Some("another branch failed".to_owned()),
        };
        let inside = self.inside(&visit.key);
        self.cancel_visits(&cancellation, |key| inside.contains(key));
        let cause = branches.branches[index].error.clone();
        let what = cause
            .as_ref()
            .map_or(String::new(), |e| format!(": {}: {}", e.code, e.message));
        let step = &branches.branches[index].step;
        let failure = Failure::new(
            code::BRANCH_FAILED,
            format!("branch {index} ({step}) failed{what}"),
        )
        .details(json!({"branch": index, "step": step, "error": cause}));
        self.fail(visit, failure, 0.0);
    }

    /// The visits in the branches of a visit, at any depth.
    fn inside(&self, of: &VisitKey) -> Vec<VisitKey> {
        let is_inside = |visit: &&Visit| {
            let mut branch = visit.branch.as_ref();
            while let Some(place) = branch {
                if place.of == *of {
                    return true;
                }
                branch = self
                    .state
                    .visit(&place.of)
                    .and_then(|above| above.branch.as_ref());
            }
            false
        };
        self.state
            .visits
            .iter()
            .filter(is_inside)
            .map(|visit| visit.key.clone())
            .collect()
    }

    /// Cancels visits, and lets go of the children that they wait for.
    pub(super) fn cancel_visits(
        &mut self,
        cancellation: &Cancellation,
        which: impl Fn(&VisitKey) -> bool,
    ) {
        let visits: Vec<Visit> = self
            .state
            .visits
            .iter()
            .filter(|visit| which(&visit.key))
            .cloned()
            .collect();
        for visit in visits {
            if let Some(Wait::Run { run, .. }) = &visit.wait {
                self.decision.abandoned.push(run.clone());
            }
            self.emit(Fact::StepCancelled {
                at: visit.at(),
                cancellation: cancellation.clone(),
            });
        }
    }

    pub(super) fn fail_run(&mut self, error: Failure) {
        let source = if error.code == code::TIMEOUT {
            "timeout"
        } else {
            "system"
        };
        let cancellation = Cancellation {
            source: source.to_owned(),
            reason: Some("the run failed".to_owned()),
        };
        self.cancel_visits(&cancellation, |_| true);
        let duration_ms = self.now - self.state.created_ms;
        self.emit(Fact::Failed { error, duration_ms });
    }

    fn complete_run(&mut self) {
        let result = match &self.plan.result {
            Some(path) => self.state.state.path(path),
            None => self.state.result.clone(),
        };
        let duration_ms = self.now - self.state.created_ms;
        self.emit(Fact::Completed {
            result: result.unwrap_or_else(Json::null),
            duration_ms,
        });
    }
}

fn is_settled(branches: &Branches) -> bool {
    let ended = |status| matches!(status, BranchStatus::Done | BranchStatus::Failed);
    let failed = branches
        .branches
        .iter()
        .any(|branch| branch.status == BranchStatus::Failed);
    (failed && branches.fail_fast) || branches.branches.iter().all(|branch| ended(branch.status))
}

fn results(branches: &Branches) -> Json {
    let result = |branch: &crate::Branch| branch.result.clone().unwrap_or_else(Json::null);
    if branches.as_list {
        Json::of(&branches.branches.iter().map(result).collect::<Vec<_>>())
    } else {
        let named = branches
            .branches
            .iter()
            .map(|branch| (branch.step.clone(), result(branch)));
        Json::of(&named.collect::<IndexMap<_, _>>())
    }
}
