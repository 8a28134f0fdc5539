//! Copies of runs, cut anywhere.

use serde_json::json;

use super::script::check;

#[test]
fn what_ran_or_waited_for_a_child_begins_again_in_the_copy() {
    check(
        json!({"timeoutMs": 1000, "steps": {"p": {}, "a": {}, "b": {}, "c": {}, "d": {}}}),
        r#"
        start
          flow.started until 1000
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
        wait b 10
          step.await.time b until 10
        sub c kid
          step.await.run c kid
          + kid other@2.0.0 [1] of r1 c depth 1
        tick 5000
        fork-here
          flow.forked until 6000
        status
          = running; p waiting branches; a retrying backoff; b waiting time; c retrying backoff; d pending; wakes now; runs a c d
        child c kid 1
        ok a 1
        due
          step.resumed b after 5000
          step.completed b
        begin c
          step.started c/2
        sub c kid2
          step.await.run c/2 kid2
          + kid2 other@2.0.0 [1] of r2 c depth 1
        "#,
    );
}

#[test]
fn a_copy_of_a_child_has_no_parent() {
    let run = check(
        json!({"a": {}}),
        r#"
        start-at-depth 32
          flow.started
        fork-here
          flow.forked
        begin a
          step.started a
        sub a kid
          step.await.run a kid
          + kid other@2.0.0 [1] of r2 a depth 1
        "#,
    );
    assert_eq!(run.state.parent, None);
}

#[test]
fn a_copy_is_never_refused_for_lost_workers() {
    let mut script = "start\n  flow.started\nbegin a\n  step.started a\n".to_owned();
    for attempt in 2..=30 {
        script += &format!("fork-here\n  flow.forked\nbegin a\n  step.started a/{attempt}\n");
    }
    check(json!({"a": {}}), &script);
}

#[test]
fn what_the_cut_off_decision_had_still_to_do_is_done() {
    let ended = r#"
        start
          flow.started
        run a 1
          step.started a
          step.completed a 1
          flow.completed 1
    "#;
    check(
        json!({"a": {}}),
        &format!("{ended}\n        fork-at 3\n          flow.forked\n          flow.completed 1"),
    );
    let failed = r#"
        start
          flow.started
        begin a
          step.started a
        fail a E
          step.failed a E
          flow.failed E at a
        fork-at 3
          flow.forked
          flow.failed E at a
    "#;
    check(json!({"a": {}}), failed);
    let joined = r#"
        start
          flow.started
        begin p
          step.started p
        fork p q
          step.await.branches p 1
        begin q
          step.started q
        fork q a
          step.await.branches q 1
        run a 1
          step.started a
          step.completed a 1
          step.completed q {"a":1}
          step.completed p {"q":{"a":1}}
          flow.completed {"q":{"a":1}}
        fork-at 7
          flow.forked
          step.completed q {"a":1}
          step.completed p {"q":{"a":1}}
          flow.completed {"q":{"a":1}}
    "#;
    check(json!({"p": {}, "q": {}, "a": {}}), joined);
}

#[test]
fn a_cut_inside_a_cancellation_does_not_wait_for_ever() {
    let cancelled = r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c limit=2
          step.await.branches p 3
        cancel
          step.cancelled b/0 by user
          step.cancelled a/0 by user
          step.cancelled p by user
          flow.cancelled by user
    "#;
    let flow =
        json!({"p": {"transitions": {"onFailure": "z"}}, "a": {}, "b": {}, "c": {}, "z": {}});
    for (cut, then) in [
        (
            4,
            "step.cancelled a/0 by system\n          step.failed p CANCELLED -> z",
        ),
        (5, "step.failed p CANCELLED -> z"),
        (6, "flow.cancelled by user"),
    ] {
        let script =
            format!("{cancelled}\n        fork-at {cut}\n          flow.forked\n          {then}");
        check(flow.clone(), &script);
    }
}
