//! Runs a handler outside a run, for tests.

use std::sync::Arc;

use riverrun_contract::{Call, FlowLookup, Handler, Services};
use riverrun_engine::{Outcome, Schema, View};
use riverrun_expr::{Limits, Sandbox};
use riverrun_types::{Json, Name, RunId, State};
use serde_json::{Value, json};

pub(crate) struct Bench {
    pub run: RunId,
    pub flow: Name,
    pub step: Name,
    pub state: State,
    pub services: Services,
}

/// Knows the flow `child` in the versions 1.0.0 and 2.0.0.
struct Flows;

impl FlowLookup for Flows {
    fn resolve(&self, flow: &str, version: Option<&str>) -> Option<Name> {
        let version = version.unwrap_or("2.0.0");
        let known = flow == "child" && ["1.0.0", "2.0.0"].contains(&version);
        known.then(|| version.into())
    }
}

impl Bench {
    pub fn new(state: Value) -> Self {
        let limits = Limits {
            threads: 1,
            ..Limits::default()
        };
        Self {
            run: RunId::new("run-1"),
            flow: "flow".into(),
            step: "step".into(),
            state: State::from_input(&Json::of(&state)),
            services: Services {
                sandbox: Arc::new(Sandbox::new(limits).unwrap()),
                flows: Arc::new(Flows),
            },
        }
    }

    pub fn call(&self, input: impl Into<Json>) -> Call<'_> {
        let view = View::of(&self.state);
        let mut call = Call::new(
            &self.run,
            &self.flow,
            &self.step,
            input.into(),
            view,
            &self.services,
        );
        call.now_ms = NOW_MS;
        call
    }

    pub async fn run(&self, handler: &dyn Handler, config: Value, input: Value) -> Outcome {
        self.run_call(handler, config, &self.call(input)).await
    }

    pub async fn run_call(&self, handler: &dyn Handler, config: Value, call: &Call<'_>) -> Outcome {
        let issues = Schema::compile(&handler.schema()).unwrap().issues(&config);
        assert_eq!(issues, [], "{config}");
        match handler.prepare(&config) {
            Ok(action) => action.run(call).await,
            Err(issues) => panic!("{config}: {issues:#?}"),
        }
    }
}

/// 2025-10-29T16:15:54.834Z
pub(crate) const NOW_MS: i64 = 1_761_754_554_834;

/// What the schema and then the handler find wrong with a config: path and rule.
pub(crate) fn issues(handler: &dyn Handler, config: &Value) -> Vec<(String, String)> {
    let mut issues = Schema::compile(&handler.schema()).unwrap().issues(config);
    if issues.is_empty() {
        issues = handler.prepare(config).err().unwrap_or_default();
    }
    let issues = issues.into_iter().map(|issue| (issue.path, issue.rule));
    issues.collect()
}

/// Compares the issues in any order.
pub(crate) fn check_issues(handler: &dyn Handler, config: Value, expected: &[(&str, &str)]) {
    let found = issues(handler, &config);
    let mut found: Vec<_> = found
        .iter()
        .map(|(path, rule)| (path.as_str(), rule.as_str()))
        .collect();
    let mut expected = expected.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "{config}");
}

/// An outcome in short: its output, where it goes, or how it failed.
pub(crate) fn brief(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Success { output, next } => match (output, next) {
            (Some(output), None) => json!({"output": output.value()}),
            (None, Some(next)) => json!({"goto": next.as_deref()}),
            (output, next) => {
                json!({"output": output.as_ref().map(Json::value), "next": next.clone().flatten().as_deref()})
            }
        },
        Outcome::Failure(failure) => {
            json!({"failed": failure.code, "retriable": failure.retriable})
        }
        Outcome::Wait { until_ms, .. } => json!({"wait": until_ms - NOW_MS}),
        Outcome::Fork(fork) => json!({
            "branches": fork.branches.iter().map(|b| json!([&*b.step, b.item.as_ref().map(Json::value)])).collect::<Vec<_>>(),
            "concurrency": fork.concurrency, "failFast": fork.fail_fast,
            "asList": fork.as_list, "scoped": fork.scoped,
        }),
        Outcome::Park(parked) => json!({"park": parked.code}),
        Outcome::Await(awaiting) => json!({"await": awaiting.id}),
        Outcome::SubFlow(sub) => json!({
            "flow": &*sub.flow, "version": &*sub.version, "input": sub.input.value(),
            "detached": sub.detached,
        }),
    }
}
