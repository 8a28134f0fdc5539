//! Streams as earlier products wrote them.

use riverrun_types::{Json, RunStatus, normalise::normalise};
use serde_json::json;

use super::run::reduce;

/// The five events of an example run, once in each of the two older envelopes.
#[test]
fn a_run_in_either_older_spelling_reduces_to_its_result() {
    let newer = json!([
        {"type": "flow.start", "runId": "r1", "flowName": "example-flow", "data": {"input": {"a": 1}}},
        {"type": "step.started", "runId": "r1", "flowName": "example-flow", "stepName": "first_step", "stepId": "r1__first_step__attempt-1", "attempt": 1},
        {"type": "log", "runId": "r1", "flowName": "example-flow", "stepName": "first_step", "attempt": 1, "data": {"level": "info", "message": "Starting"}},
        {"type": "step.completed", "runId": "r1", "flowName": "example-flow", "stepName": "first_step", "attempt": 1, "data": {"result": {"ok": true}}},
        {"type": "flow.completed", "runId": "r1", "flowName": "example-flow", "data": {"result": {"ok": true}}},
    ]);
    let older = json!([
        {"kind": "flow.started", "subject": "r1", "flow": "r1", "data": {"input": {"a": 1}}},
        {"kind": "step.started", "subject": "r1", "flow": "r1", "step": "first_step", "meta": {"attempt": 1}},
        {"kind": "log", "subject": "r1", "flow": "r1", "step": "first_step", "data": {"level": "info", "msg": "Starting"}, "meta": {"attempt": 1}},
        {"kind": "flow.step.completed", "subject": "r1", "flow": "r1", "step": "first_step", "data": {"result": {"ok": true}}, "meta": {"attempt": 1}},
        {"kind": "flow.completed", "subject": "r1", "flow": "r1", "data": {"result": {"ok": true}}},
    ]);
    for events in [newer, older] {
        let stream: Vec<_> = events
            .as_array()
            .unwrap()
            .iter()
            .zip(1..)
            .map(|(event, ms)| normalise(&Json::of(event), ms).unwrap())
            .collect();
        let state = reduce(&stream);
        assert_eq!(state.status, RunStatus::Completed, "{state:#?}");
        assert_eq!(state.state.json().as_str(), r#"{"a":1}"#);
        assert_eq!(
            state.result.as_ref().map(Json::as_str),
            Some(r#"{"ok":true}"#)
        );
        assert!(state.visits.is_empty(), "{state:#?}");
    }
}
