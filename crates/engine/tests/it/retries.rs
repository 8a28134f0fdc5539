//! Failures: again later, on to a route, or up.

use serde_json::json;

use super::script::check;

#[test]
fn retries_back_off_and_then_the_run_fails() {
    let retry = json!({"maxAttempts": 3, "backoffMs": 100, "maxBackoffMs": 150});
    check(
        json!({"a": {"retry": retry}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E again at 100
          step.retry a/2
        status
          = waiting; a retrying backoff; wakes 100; runs nothing
        begin a
        due
        tick 99
        begin a
        tick 1
        status
          = waiting; a retrying backoff; wakes 100; runs a
        begin a
          step.started a/2
        tick 10
        fail a F
          step.failed a/2 F again at 260
          step.retry a/3
        tick 150
        begin a
          step.started a/3
        fail a G
          step.failed a/3 G
          flow.failed G at a
        status
          = failed; wakes never; runs nothing
        "#,
    );
}

#[test]
fn a_success_after_failures_is_a_success() {
    check(
        json!({"a": {"retry": {"maxAttempts": 2}, "outputKey": "x"}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E again at 0
          step.retry a/2
        run a 1
          step.started a/2
          step.completed a/2 1
          flow.completed 1
        "#,
    );
}

#[test]
fn each_visit_has_its_own_attempts() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 2}, "transitions": {"onSuccess": "a"}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E again at 0
          step.retry a/2
        run a
          step.started a/2
          step.completed a/2 -> a
        begin a#2
          step.started a#2
        fail a#2 E
          step.failed a#2 E again at 0
          step.retry a#2/2
        "#,
    );
}

#[test]
fn only_what_may_be_retried_is() {
    let flow = json!({"a": {"retry": {"maxAttempts": 9, "retryOn": ["E"]}}});
    for (failure, code) in [("F", "F"), ("E permanent", "E")] {
        check(
            flow.clone(),
            &format!(
                "
                start
                  flow.started
                begin a
                  step.started a
                fail a {failure}
                  step.failed a {code}
                  flow.failed {code} at a
                "
            ),
        );
    }
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E after 777
          step.failed a E again at 777
          step.retry a/2
        "#,
    );
}

#[test]
fn nothing_waits_longer_than_ten_years() {
    check(
        json!({"a": {"retry": {"maxAttempts": 2}}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E after 999999999999999
          step.failed a E again at 316224000000
          step.retry a/2
        status
          = waiting; a retrying backoff; wakes 316224000000; runs nothing
        "#,
    );
    check(
        json!({"a": {"transitions": {"onSuccess": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 316224000000
          step.await.time a until 316224000000
        "#,
    );
    check(
        json!({"a": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 316224000001
          step.failed a INPUT_ERROR
          flow.failed INPUT_ERROR at a
        "#,
    );
}

#[test]
fn a_route_catches_what_retries_did_not_mend_and_sees_the_error() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 2}, "transitions": {"onSuccess": "z", "onFailure": "b"}},
        "b": {"transitions": {"onSuccess": "c"}},
        "c": {"transitions": {"onFailure": "b"}},
        "z": {},
    });
    check(
        flow,
        r#"
        start {"n":1}
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E again at 0
          step.retry a/2
        begin a
          step.started a/2
        fail a F
          step.failed a/2 F -> b
        see b ${error}
          = {"code":"F","message":"why","stepId":"a"}
        run b
          step.started b
          step.completed b -> c
        see c ${error.code}
          = "F"
        begin c
          step.started c
        fail c G
          step.failed c G -> b
        see b#2 ${error.code} ${error.stepId}
          = "G c"
        begin b#2
          step.started b#2
        fail b#2 H
          step.failed b#2 H
          flow.failed H at b
        state
          = {"n":1}
        "#,
    );
}

#[test]
fn an_error_of_the_state_is_seen_before_the_failure_that_was_caught() {
    let flow = json!({"a": {"transitions": {"onFailure": "b"}}, "b": {}});
    check(
        flow,
        r#"
        start {"error":"of the input"}
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E -> b
        see b ${error}
          = "of the input"
        "#,
    );
}

#[test]
fn branches_inside_a_failure_route_see_the_error() {
    let flow = json!({
        "a": {"transitions": {"onFailure": "p"}},
        "p": {},
        "q": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E -> p
        begin p
          step.started p
        map p q [7]
          step.await.branches p 1
        see q ${error.code} ${item}
          = "E 7"
        "#,
    );
}
