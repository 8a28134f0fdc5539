//! Validation of a definition, with this server's current names.

use std::time::{Duration, Instant};

use riverrun_contract::{Work, compute};
use riverrun_engine::{Bounds, Catalog, Issue, validate_within};
use serde_json::Value;

use super::{Flows, names::KnownHere};

/// How long the validation of one definition may take. Checked before each step.
const MAX_VALIDATION: Duration = Duration::from_secs(5);

impl Flows {
    /// The issues of a definition, up to the listed number.
    pub fn validate(&self, definition: &Value) -> Vec<Issue> {
        let issues = compute(Work::Long, || self.definition_issues(definition));
        self.without_taken(definition, issues)
    }

    /// The issues of a definition. A large one takes a while.
    pub(super) fn definition_issues(&self, definition: &Value) -> Vec<Issue> {
        let max_steps = self.base().options().max_flow_steps;
        validate_in_time(definition, &KnownHere::of(self), max_steps)
    }

    /// The issues of a definition, without warnings of events that the flow itself does not take
    /// but a listener does.
    pub(super) fn without_taken(&self, definition: &Value, mut issues: Vec<Issue>) -> Vec<Issue> {
        issues.retain(|issue| {
            let kind = (issue.rule == "emit-unheard").then(|| emitted(definition, &issue.path));
            let kind = kind.flatten();
            !kind.is_some_and(|kind| self.streams().is_listened_to(kind))
        });
        issues
    }
}

/// The issues of a definition that can be found in a few seconds.
fn validate_in_time(definition: &Value, catalog: &dyn Catalog, max_steps: usize) -> Vec<Issue> {
    let until = Instant::now() + MAX_VALIDATION;
    let bounds = Bounds {
        max_steps,
        is_over: &|| Instant::now() > until,
    };
    validate_within(definition, catalog, &bounds)
}

/// The kind of event at a path such as `steps.order.emits.0`.
fn emitted<'a>(definition: &'a Value, path: &str) -> Option<&'a str> {
    let (step, number) = path.strip_prefix("steps.")?.rsplit_once(".emits.")?;
    let emits = definition.get("steps")?.get(step)?.get("emits")?;
    emits.get(number.parse::<usize>().ok()?)?.as_str()
}
