//! Branches in the reducer: how they are entered, write and end.

use std::sync::Arc;

use riverrun_types::{Json, Millis, Path, State, StepRef};

use super::{
    Branch, BranchStatus, Branches, InBranch, RunState, Visit, VisitKey, Wait, apply::From,
};
use crate::{BranchSpec, Failure, Fork};

impl RunState {
    pub(super) fn fork(&mut self, at: &StepRef, fork: &Fork, ms: Millis) {
        let branches = Branches {
            branches: fork.branches.iter().enumerate().map(branch).collect(),
            concurrency: fork.concurrency,
            fail_fast: fork.fail_fast,
            as_list: fork.as_list,
            scoped: fork.scoped,
            entered: 0,
            ended: 0,
            failed: 0,
            result_bytes: 0,
        };
        let scopes = branches.branches.iter().map(|branch| branch.scope.bytes());
        self.scope_bytes += scopes.sum::<usize>();
        self.wait(at, Wait::Branches(branches), ms);
        self.start_branches(&VisitKey::of(at), ms);
    }

    /// Enters branches that have not begun, as far as the concurrency allows.
    fn start_branches(&mut self, of: &VisitKey, ms: Millis) {
        let Some(branches) = self.branches_mut(of) else {
            return;
        };
        let first = branches.entered;
        branches.entered += branches.room();
        let entered = &mut branches.branches[first..branches.entered];
        let steps: Vec<_> = entered
            .iter_mut()
            .map(|branch| {
                branch.status = BranchStatus::Active;
                branch.step.clone()
            })
            .collect();
        for (nth, step) in steps.into_iter().enumerate() {
            let (of, index) = (of.clone(), first + nth);
            let from = From {
                branch: Some(InBranch { of, index }),
                ..From::default()
            };
            self.enter(&step, from, ms);
        }
    }

    /// A path ended without a next step: a branch is done, or the run has its result.
    pub(super) fn path_ended(&mut self, visit: &Visit, result: Option<Json>, ms: Millis) {
        let Some(InBranch { of, index }) = &visit.branch else {
            self.result = result;
            return;
        };
        if let Some(branches) = self.branches_mut(of) {
            let freed = branches.end(*index, BranchStatus::Done, result, None);
            self.scope_bytes = self.scope_bytes.saturating_sub(freed);
        }
        self.start_branches(of, ms);
    }

    pub(super) fn branch_failed(&mut self, visit: &Visit, error: Failure, ms: Millis) {
        let Some(InBranch { of, index }) = &visit.branch else {
            return;
        };
        let Some(branches) = self.branches_mut(of) else {
            return;
        };
        let freed = branches.end(*index, BranchStatus::Failed, None, Some(error));
        let goes_on = !branches.fail_fast;
        self.scope_bytes = self.scope_bytes.saturating_sub(freed);
        if goes_on {
            self.start_branches(of, ms);
        }
    }

    /// Writes the output of a visit: to the innermost scoped branch around it, or to the run's
    /// state.
    pub(super) fn write(&mut self, visit: &Visit, key: &Path, value: Json) {
        let Some(place) = self.scope_of(visit) else {
            return self.state_mut().set(key, value);
        };
        // Below a key that an outer scope owns, the branch writes into its own copy.
        let outside = match key.tail() {
            [] => None,
            _ => self.view(visit).get(key.head()).cloned(),
        };
        let branches = self.branches_mut(&place.of);
        let Some(branch) = branches.and_then(|b| b.branches.get_mut(place.index)) else {
            return;
        };
        let scope = Arc::make_mut(&mut branch.scope);
        let before = scope.bytes();
        if let Some(outside) = outside.filter(|_| scope.get(key.head()).is_none()) {
            scope.set(&Path::new(key.head()), outside);
        }
        scope.set(key, value);
        let after = scope.bytes();
        self.scope_bytes = (self.scope_bytes + after).saturating_sub(before);
    }

    /// A visit has ended: the scopes of its branches are dropped.
    pub(super) fn drop_scopes(&mut self, visit: &Visit) {
        let branches = visit.branches().map(|inside| inside.branches.as_slice());
        let scopes = branches.unwrap_or_default().iter();
        let freed: usize = scopes.map(|branch| branch.scope.bytes()).sum();
        self.scope_bytes = self.scope_bytes.saturating_sub(freed);
    }

    /// The scoped branch that a visit writes to; none if it writes to the run's state.
    pub(crate) fn scope_of(&self, visit: &Visit) -> Option<InBranch> {
        let is_scoped = |(holder, _): &(&Visit, usize)| holder.branches().is_some_and(|b| b.scoped);
        let (holder, index) = self.forks_around(visit).find(is_scoped)?;
        let of = holder.key.clone();
        Some(InBranch { of, index })
    }

    fn branches_mut(&mut self, of: &VisitKey) -> Option<&mut Branches> {
        match &mut self.visits.get_mut(of)?.wait {
            Some(Wait::Branches(branches)) => Some(branches),
            _ => None,
        }
    }
}

impl Branches {
    /// Ends a branch, and returns the bytes that its scope held.
    fn end(
        &mut self,
        index: usize,
        status: BranchStatus,
        result: Option<Json>,
        error: Option<Failure>,
    ) -> usize {
        let Some(branch) = self.branches.get_mut(index) else {
            return 0;
        };
        let freed = branch.scope.bytes();
        self.result_bytes += result.as_ref().map_or(0, Json::bytes);
        self.ended += 1;
        self.failed += usize::from(status == BranchStatus::Failed);
        *branch = Branch {
            step: branch.step.clone(),
            status,
            scope: Arc::default(),
            result,
            error,
        };
        freed
    }
}

fn branch((index, spec): (usize, &BranchSpec)) -> Branch {
    let item = spec.item.clone().map(|item| ("item".to_owned(), item));
    let index = item
        .is_some()
        .then(|| ("index".to_owned(), Json::of(&index)));
    Branch {
        step: spec.step.clone(),
        status: BranchStatus::Pending,
        scope: Arc::new(item.into_iter().chain(index).collect::<State>()),
        result: None,
        error: None,
    }
}
