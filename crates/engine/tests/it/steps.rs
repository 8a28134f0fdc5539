//! Steps, transitions, visits and loops.

use serde_json::json;

use super::script::check;

#[test]
fn a_path_runs_to_its_end_and_its_last_output_is_the_result() {
    let flow = json!({
        "a": {"outputKey": "x", "transitions": {"onSuccess": "b"}},
        "b": {"outputKey": "deep.y", "transitions": {"onSuccess": null}},
    });
    check(
        flow,
        r#"
        start {"in":1}
          flow.started
        status
          = pending; a pending; wakes now; runs a
        begin a
          step.started a
        status
          = running; a running; wakes never; runs nothing
        ok a {"n":12345678901234567890}
          step.completed a {"n":12345678901234567890} -> b
        see b ${x.n}
          = 12345678901234567890
        run b null
          step.started b
          step.completed b null
          flow.completed null
        state
          = {"in":1,"x":{"n":12345678901234567890},"deep":{"y":null}}
        status
          = completed; wakes never; runs nothing
        "#,
    );
}

#[test]
fn the_result_can_be_a_place_in_the_state() {
    let flow = json!({"result": "x.y", "steps": {"a": {"outputKey": "x"}}});
    check(
        flow.clone(),
        r#"
        start
          flow.started
        run a {"y":[1]}
          step.started a
          step.completed a {"y":[1]}
          flow.completed [1]
        "#,
    );
    check(
        flow,
        r#"
        start
          flow.started
        run a
          step.started a
          step.completed a
          flow.completed null
        "#,
    );
}

#[test]
fn no_output_writes_nothing() {
    check(
        json!({"a": {"outputKey": "x"}}),
        r#"
        start {"x":1}
          flow.started
        run a
          step.started a
          step.completed a
          flow.completed null
        state
          = {"x":1}
        "#,
    );
}

#[test]
fn a_loop_counts_its_visits() {
    let flow = json!({
        "a": {"outputKey": "n", "transitions": {"onSuccess": "b"}},
        "b": {"transitions": {"onSuccess": "a"}},
    });
    let run = check(
        flow,
        r#"
        start
          flow.started
        run a 1
          step.started a
          step.completed a 1 -> b
        run b
          step.started b
          step.completed b -> a
        run a
        begin a#2
          step.started a#2
        ok a#2 2
          step.completed a#2 2 -> b
        run b#2
          step.started b#2
          step.completed b#2 -> a
        run a#3 3
          step.started a#3
          step.completed a#3 3 -> b
        end b#3
        begin b#3
          step.started b#3
        end b#3 "over"
          step.completed b#3 "over"
          flow.completed "over"
        state
          = {"n":3}
        "#,
    );
    let ids: Vec<String> = run
        .stream
        .iter()
        .filter_map(|d| d.step.as_ref()?.id("r1"))
        .collect();
    assert_eq!(ids[0], "r1__a__attempt-1");
    assert_eq!(ids[4], "r1__a#2__attempt-1");
    assert_eq!(run.state.steps["a"].visits, 3);
    assert_eq!(run.state.step_count, 6);
}

#[test]
fn a_step_may_lead_to_itself() {
    check(
        json!({"a": {"transitions": {"onSuccess": "a"}}}),
        r#"
        start
          flow.started
        run a
          step.started a
          step.completed a -> a
        run a#2
          step.started a#2
          step.completed a#2 -> a
        status
          = running; a#3 pending; wakes now; runs a#3
        "#,
    );
}

#[test]
fn an_override_beats_the_transitions() {
    let flow = json!({
        "a": {"transitions": {"onSuccess": "b"}},
        "b": {"transitions": {"onSuccess": "a"}},
        "c": {"transitions": {"onSuccess": "a"}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        goto a c
          step.completed a -> c
        begin c
          step.started c
        end c 7
          step.completed c 7
          flow.completed 7
        "#,
    );
}

#[test]
fn a_target_that_does_not_exist_is_a_failure_for_good() {
    let retry = json!({"maxAttempts": 5});
    check(
        json!({"a": {"retry": retry, "outputKey": "x"}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        goto a nowhere
          step.failed a INVALID_TRANSITION
          flow.failed INVALID_TRANSITION at a
        state
          = {}
        "#,
    );
    check(
        json!({
            "a": {"retry": retry, "transitions": {"onSuccess": "gone", "onFailure": "b"}},
            "b": {},
        }),
        r#"
        start
          flow.started
        run a
          step.started a
          step.failed a INVALID_TRANSITION -> b
        see b ${error.code} at ${error.stepId}
          = "INVALID_TRANSITION at a"
        "#,
    );
    // What the run itself writes as `error` is what later steps see.
    check(
        json!({
            "a": {"transitions": {"onFailure": "b"}},
            "b": {"outputKey": "error", "transitions": {"onSuccess": "c"}},
            "c": {"input": {"type": "full"}},
        }),
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E -> b
        see b ${error.code}
          = "E"
        run b "own"
          step.started b
          step.completed b "own" -> c
        see c ${error}
          = "own"
        input c
          = {"error":"own"}
        "#,
    );
    check(
        json!({"initialStepId": "gone", "steps": {"a": {}}}),
        r#"
        start
          flow.started
        begin gone
          step.started gone
          step.failed gone STEP_NOT_FOUND
          flow.failed STEP_NOT_FOUND at gone
        "#,
    );
    check(
        json!({"a": {"transitions": {"onFailure": "gone"}}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E
          flow.failed E at a
        "#,
    );
}

#[test]
fn what_is_late_or_double_changes_nothing() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 3}, "transitions": {"onSuccess": "b"}},
        "b": {"transitions": {"onSuccess": "a"}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        ok a
        begin b
        begin a#2
        begin a
          step.started a
        begin a
        ok a/2
        ok a/0
        ok b
        fail a E
          step.failed a E again at 0
          step.retry a/2
        ok a
        ok a/2
        begin a
          step.started a/2
        ok a/1
        fail a/1 E
        ok a
          step.completed a/2 -> b
        ok a/2
        fail a/2 E
        wait a/2 5
        fork a/2 b
        sub a/2 c1
        begin a
        due
        lost
        resume
        run b
          step.started b
          step.completed b -> a
        ok a/2
        run a#2
          step.started a#2
          step.completed a#2 -> b
        "#,
    );
}

#[test]
fn the_state_can_be_written_from_outside_while_steps_run() {
    check(
        json!({"a": {"outputKey": "x.a", "transitions": {"onSuccess": "b"}}, "b": {}}),
        r#"
        start {"old":1}
          flow.started
        set x.b 1
        begin a
          step.started a
        set x.a "gone soon"
        delete old
        state
          = {"x":{"b":1,"a":"gone soon"}}
        ok a 2
          step.completed a 2 -> b
        batch [{"type":"set","key":"y","value":null},{"type":"delete","key":"x.b"},{"type":"set","key":"z"}]
        state
          = {"x":{"a":2},"y":null,"z":null}
        see b ${x.a}
          = 2
        snapshot {"only":true}
        see b ${x.a}
          = nothing
        run b
          step.started b
          step.completed b
          flow.completed null
        state
          = {"only":true}
        "#,
    );
}

#[test]
fn a_run_can_begin_later() {
    check(
        json!({"timeoutMs": 100, "steps": {"a": {}}}),
        r#"
        start-in 500
          flow.started from 500 until 600
        status
          = pending; a pending; wakes 500; runs nothing
        begin a
        due
        tick 499
        begin a
        tick 1
        status
          = pending; a pending; wakes 500; runs a
        run a
          step.started a
          step.completed a
          flow.completed null
        "#,
    );
    check(
        json!({"a": {}}),
        r#"
        start-in -5
          flow.started
        status
          = pending; a pending; wakes now; runs a
        "#,
    );
}
