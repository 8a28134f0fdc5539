//! Cancel, pause, resume, deadlines.

use serde_json::json;

use super::script::check;

#[test]
fn cancel_ends_every_visit_and_lets_the_children_go() {
    let flow = json!({"p": {}, "a": {}, "b": {"retry": {"maxAttempts": 2}}, "c": {}, "d": {}});
    check(
        flow,
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c,d
          step.await.branches p 4
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r1 a depth 1
        begin b
          step.started b
        fail b E
          step.failed b E again at 0
          step.retry b/2
        begin c
          step.started c
        cancel
          step.cancelled d/0 by user
          step.cancelled c by user
          step.cancelled b by user
          step.cancelled a by user
          step.cancelled p by user
          flow.cancelled by user
          - kid
        status
          = cancelled; wakes never; runs nothing
        ok c
        child a kid 1
        begin d
        begin b
        due
        lost
        pause
        resume
        cancel
        "#,
    );
}

#[test]
fn ended_runs_ignore_everything() {
    check(
        json!({"timeoutMs": 10, "steps": {"a": {}}}),
        r#"
        start
          flow.started until 10
        run a
          step.started a
          step.completed a
          flow.completed null
        tick 100
        due
        cancel
        pause
        resume
        lost
        fork-here
        begin a
        ok a
        fail a E
        "#,
    );
}

#[test]
fn a_run_that_has_not_begun_can_be_cancelled() {
    check(
        json!({"a": {}}),
        r#"
        start-in 100
          flow.started from 100
        cancel
          step.cancelled a/0 by user
          flow.cancelled by user
        "#,
    );
}

#[test]
fn a_paused_run_begins_nothing_but_records_what_ends() {
    let flow = json!({"p": {}, "a": {"transitions": {"onSuccess": "z"}}, "b": {}, "c": {}, "d": {}, "z": {}});
    check(
        flow,
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c,d
          step.await.branches p 4
        begin a
          step.started a
        begin b
          step.started b
        begin c
          step.started c
        wait c 10
          step.await.time c until 10
        pause
          flow.paused
        pause
        status
          = paused; p waiting branches; a running; b running; c waiting time; d pending; wakes never; runs nothing
        begin d
        ok a
          step.completed a -> z
        begin z
        tick 50
        due
        wait b 5
          step.await.time b until 55
        tick 5
        due
        resume
          flow.resumed
        resume
        status
          = running; p waiting branches; b waiting time; c waiting time; d pending; z pending; wakes now; runs d z
        due
          step.resumed b after 5
          step.completed b
          step.resumed c after 55
          step.completed c
        run d
          step.started d
          step.completed d
        run z
          step.started z
          step.completed z
          step.completed p {"a":null,"b":null,"c":null,"d":null}
          flow.completed {"a":null,"b":null,"c":null,"d":null}
        "#,
    );
}

#[test]
fn a_wait_that_is_over_at_once_is_held_by_a_pause() {
    check(
        json!({"a": {"transitions": {"onResume": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        pause
          flow.paused
        wait a 0
          step.await.time a until 0
        resume
          flow.resumed
        status
          = waiting; a waiting time; wakes 0; runs nothing
        due
          step.resumed a after 0
          step.completed a -> b
        "#,
    );
}

#[test]
fn a_paused_run_can_end_fail_and_be_cancelled() {
    for (command, events) in [
        ("ok a", "step.completed a\n  flow.completed null"),
        ("fail a E", "step.failed a E\n  flow.failed E at a"),
        (
            "cancel",
            "step.cancelled a by user\n  flow.cancelled by user",
        ),
    ] {
        check(
            json!({"a": {}}),
            &format!(
                "start\n  flow.started\nbegin a\n  step.started a\npause\n  flow.paused\n{command}\n  {events}\nresume"
            ),
        );
    }
}

#[test]
fn a_child_may_end_while_its_parent_is_paused() {
    check(
        json!({"a": {"transitions": {"onSuccess": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r1 a depth 1
        pause
          flow.paused
        child a kid 1
          step.resumed a after 0
          step.completed a 1 -> b
        status
          = paused; b pending; wakes never; runs nothing
        "#,
    );
}

#[test]
fn a_run_that_takes_too_long_fails() {
    let flow = json!({"timeoutMs": 100, "steps": {"p": {"transitions": {"onFailure": "z"}}, "a": {}, "b": {}, "z": {}}});
    check(
        flow,
        r#"
        start
          flow.started until 100
        begin p
          step.started p
        fork p a,b
          step.await.branches p 2
        begin a
          step.started a
        status
          = running; p waiting branches; a running; b pending; wakes now; runs b
        begin b
          step.started b
        sub b kid
          step.await.run b kid
          + kid other@2.0.0 [1] of r1 b depth 1
        status
          = running; p waiting branches; a running; b waiting run; wakes 100; runs nothing
        tick 99
        due
        tick 1
        due
          step.cancelled b by timeout
          step.cancelled a by timeout
          step.cancelled p by timeout
          flow.failed TIMEOUT
          - kid
        ok a
        "#,
    );
}

#[test]
fn nothing_begins_after_the_deadline() {
    check(
        json!({"timeoutMs": 100, "steps": {"a": {"transitions": {"onSuccess": "a"}}}}),
        r#"
        start
          flow.started until 100
        begin a
          step.started a
        tick 100
        ok a
          step.completed a -> a
        begin a#2
          step.cancelled a#2/0 by timeout
          flow.failed TIMEOUT
        "#,
    );
}

#[test]
fn a_paused_run_does_not_time_out() {
    check(
        json!({"timeoutMs": 100, "steps": {"a": {}}}),
        r#"
        start
          flow.started until 100
        pause
          flow.paused
        tick 500
        due
        resume
          flow.resumed
        due
          step.cancelled a/0 by timeout
          flow.failed TIMEOUT
        "#,
    );
}
