//! The limits of a step: its targets exist, its writes are bounded and match the state's schema.

use riverrun_types::{ErrorCode, Json, Path, State};
use serde_json::json;

use super::Decider;
use crate::{Failure, Visit};

/// The longest message of a failure, in characters: messages are for people.
const MAX_MESSAGE: usize = 10_000;
/// Characters of a stack: more than an SDK sends.
const MAX_STACK: usize = 40_000;

/// How deep the details of a failure may nest. Each fork and each sub-flow around it wraps them
/// once more.
const MAX_DETAILS_DEPTH: usize = 80;

impl Decider<'_> {
    pub(super) fn check_output(
        &self,
        visit: &Visit,
        output: Option<&Json>,
        next: Option<&str>,
    ) -> Result<(), Failure> {
        if let Some(next) = next.filter(|next| self.plan.step(next).is_none()) {
            let message = format!("the flow has no step {next:?} to go to");
            return Err(Failure::new(ErrorCode::InvalidTransition, message).permanent());
        }
        let Some(output) = output else { return Ok(()) };
        let limit = self.plan.limits.max_value_bytes;
        if output.bytes() > limit {
            let bytes = output.bytes();
            let message = format!("the output has {bytes} bytes; a value may have {limit}");
            return Err(Failure::new(ErrorCode::ValueTooLarge, message).permanent());
        }
        let step = self.plan.step(&visit.key.step);
        let key = step.and_then(|step| step.output_key.as_ref());
        check_depth(key, output)?;
        match key {
            Some(key) => self.check_write(visit, key, output),
            None => Ok(()),
        }
    }

    /// The writes of a scoped branch are not yet in the state, but they are bounded too.
    fn check_write(&self, visit: &Visit, key: &Path, output: &Json) -> Result<(), Failure> {
        let scope = self.state.scope_of(visit);
        let target = match &scope {
            Some(place) => {
                let holder = self.state.visit(&place.of);
                holder
                    .and_then(|holder| holder.branch(place.index))
                    .map(|branch| &*branch.scope)
            }
            None => Some(&self.state.state),
        };
        let Some(target) = target else { return Ok(()) };
        self.check_size(target, key, output)?;
        if scope.is_some() {
            return self.check_scopes(target, key, output);
        }
        self.check_schema(target, key, output)
    }

    fn check_size(&self, target: &State, key: &Path, output: &Json) -> Result<(), Failure> {
        let limit = self.plan.limits.max_state_bytes;
        let mut bytes = target.bytes() + output.bytes();
        if bytes > limit {
            // Overwritten values no longer count. Looked up late: they may be deep in a large
            // value.
            bytes -= target.path(key).map_or(0, |old| old.bytes());
        }
        if bytes <= limit {
            return Ok(());
        }
        let message = format!("the state would have {bytes} bytes; it may have {limit}");
        Err(Failure::new(ErrorCode::StateTooLarge, message).permanent())
    }

    /// The branches of a run share a limit: the items of a list, which came from the state, and as
    /// much again that their steps write.
    fn check_scopes(&self, target: &State, key: &Path, output: &Json) -> Result<(), Failure> {
        let limit = self.plan.limits.max_state_bytes.saturating_mul(2);
        let mut bytes = self.state.scope_bytes + output.bytes();
        if bytes > limit {
            let old = target.path(key).map_or(0, |old| old.bytes());
            bytes = bytes.saturating_sub(old);
        }
        if bytes <= limit {
            return Ok(());
        }
        let message = format!(
            "the branches of the run would hold {bytes} bytes together; they may hold {limit}, twice the flow's limits.maxStateBytes"
        );
        Err(Failure::new(ErrorCode::StateTooLarge, message).permanent())
    }

    fn check_schema(&self, target: &State, key: &Path, output: &Json) -> Result<(), Failure> {
        let Some(schema) = &self.plan.state_schema else {
            return Ok(());
        };
        let issues = schema.write_issues(target, key, output);
        let Some(first) = issues.first() else {
            return Ok(());
        };
        let message = format!(
            "writing {key} breaks the state's schema{}",
            first.described()
        );
        Err(Failure::new(ErrorCode::StateInvalid, message)
            .details(json!({ "issues": issues }))
            .permanent())
    }

    /// A failure that fits into the stream: the handler's text is bounded like an output.
    pub(super) fn fitted(&self, mut failure: Failure) -> Failure {
        if let Some((end, _)) = failure.message.char_indices().nth(MAX_MESSAGE) {
            failure.message.truncate(end);
            failure.message.push('…');
        }
        if let Some(stack) = failure.thrown.as_mut().and_then(|one| one.stack.as_mut())
            && let Some((end, _)) = stack.char_indices().nth(MAX_STACK)
        {
            *stack = format!("{}…", &stack[..end]).into();
        }
        let limit = self.plan.limits.max_value_bytes;
        let bytes = failure.details.as_ref().map_or(0, Json::bytes);
        if bytes > limit {
            let dropped = format!("{bytes} bytes of details; a value may have {limit}");
            failure.details = Some(Json::from(json!({ "dropped": dropped })));
        }
        let is_deep = |details: &Json| details.is_deeper(MAX_DETAILS_DEPTH);
        if failure.details.as_ref().is_some_and(is_deep) {
            let dropped = format!("details nested deeper than {MAX_DETAILS_DEPTH} levels");
            failure.details = Some(Json::from(json!({ "dropped": dropped })));
        }
        failure
    }
}

/// A value that nests too deep could not be read any more at its place.
fn check_depth(key: Option<&Path>, output: &Json) -> Result<(), Failure> {
    let limit = Json::MAX_VALUE_DEPTH;
    let around = key.map_or(0, |key| key.tail().len());
    if !output.is_deeper(limit.saturating_sub(around)) {
        return Ok(());
    }
    let place = key.map_or_else(String::new, |key| format!(" at {key}"));
    let message = format!("the output would nest deeper than {limit} levels{place}");
    Err(Failure::new(ErrorCode::TooDeep, message).permanent())
}
