//! Child runs.

use serde_json::json;

use super::script::check;

#[test]
fn a_child_knows_where_it_comes_from_and_its_result_is_the_output() {
    let flow = json!({"a": {"outputKey": "x", "transitions": {"onSuccess": "b"}}, "b": {}});
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r1 a depth 1
        status
          = waiting; a waiting run; wakes never; runs nothing
        due
        ok a 1
        child a another 2
        child b kid 2
        tick 30
        child a kid {"y":1}
          step.resumed a after 30
          step.completed a {"y":1} -> b
        child a kid {"y":2}
        state
          = {"x":{"y":1}}
        "#,
    );
}

#[test]
fn a_child_that_failed_fails_the_step() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 2}, "transitions": {"onFailure": "b"}}, "b": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r1 a depth 1
        child-failed a kid E
          step.resumed a after 0
          step.failed a E again at 0
          step.retry a/2
        begin a
          step.started a/2
        sub a kid2
          step.await.run a/2 kid2
          + kid2 other@2.0.0 [1] of r1 a depth 1
        child-failed a kid E
        child-failed a kid2 F
          step.resumed a/2 after 0
          step.failed a/2 F -> b
        see b ${error.code} ${error.stepId}
          = "F a"
        "#,
    );
}

#[test]
fn nobody_waits_for_a_detached_child() {
    check(
        json!({"a": {"outputKey": "x", "transitions": {"onSuccess": "b", "onResume": "c"}}, "b": {}, "c": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        sub a kid detached
          step.completed a {"runId":"kid"} -> b
          + kid other@2.0.0 [1] of r1 a depth 1 detached
        child a kid 1
        cancel
          step.cancelled b/0 by user
          flow.cancelled by user
        "#,
    );
}

#[test]
fn a_detached_child_of_a_step_that_fails_is_not_started() {
    let schema = json!({"properties": {"x": {"type": "integer"}}});
    check(
        json!({"stateSchema": schema, "steps": {"a": {"outputKey": "x"}}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        sub a kid detached
          step.failed a STATE_INVALID
          flow.failed STATE_INVALID at a
        "#,
    );
}

#[test]
fn children_of_children_end_somewhere() {
    check(
        json!({"a": {"retry": {"maxAttempts": 3}}}),
        r#"
        start-at-depth 31
          flow.started
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r1 a depth 32
        "#,
    );
    check(
        json!({"a": {"retry": {"maxAttempts": 3}}}),
        r#"
        start-at-depth 32
          flow.started
        begin a
          step.started a
        sub a kid
          step.failed a SUBFLOW_DEPTH
          flow.failed SUBFLOW_DEPTH at a
        "#,
    );
}

#[test]
fn detached_children_of_detached_children_end_there_too() {
    check(
        json!({"a": {}}),
        r#"
        start-at-depth 32
          flow.started
        begin a
          step.started a
        sub a kid detached
          step.failed a SUBFLOW_DEPTH
          flow.failed SUBFLOW_DEPTH at a
        "#,
    );
}
