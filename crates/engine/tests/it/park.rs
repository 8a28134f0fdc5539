//! Visits that are parked, and how they go on.

use riverrun_engine::history;
use serde_json::json;

use super::script::check;

#[test]
fn a_parked_visit_begins_its_attempt_anew_and_loses_none() {
    let run = check(
        json!({"a": {"retry": {"maxAttempts": 2, "backoffMs": 0}, "transitions": {"onFailure": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        park a CODE
          step.parked a CODE
        park a CODE
        ok a
        fail a E
        lost
        due
        begin a
        status
          = waiting; a waiting parked; wakes never; runs nothing
        tick 5
        release b
        release a
          step.released a after 5
        release a
        status
          = waiting; a retrying backoff; wakes now; runs a
        begin a
          step.started a/2
        fail a E
          step.failed a/2 E again at 5
          step.retry a/3
        begin a
          step.started a/3
        parks a CODE
          step.parked a/3 CODE
        resume
          step.released a/3 after 0
        begin a
          step.started a/4
        fail a E
          step.failed a/4 E -> b
        "#,
    );
    let entries = history(&run.stream);
    let codes = entries.iter().map(|entry| entry.error.as_ref().unwrap());
    let codes: Vec<&str> = codes.map(|error| error.code.as_str()).collect();
    assert_eq!(codes, ["CODE", "E", "CODE", "E"]);
}

#[test]
fn the_job_of_a_parked_visit_goes_and_comes_back() {
    check(
        json!({"a": {"type": "process", "config": {"process": "p"}}}),
        r#"
        start
          flow.started
          > a
        park a CODE
          step.parked a/0 CODE
          x a
        began a 1
        resume
          step.released a/0 after 0
          > a
        began a 1
          step.started a
        parks a CODE
          step.parked a CODE
        pause
          flow.paused
        resume
          step.released a after 0
          flow.resumed
          > a after 1
        began a 2
          step.started a/2
        ok a/2 1
          step.completed a/2 1
          flow.completed 1
        "#,
    );
}

/// Nothing else may happen to it, but for its end.
#[test]
fn others_go_on_and_the_deadline_waits() {
    check(
        json!({"timeoutMs": 100, "steps": {"p": {}, "a": {}, "b": {}}}),
        r#"
        start
          flow.started until 100
        begin p
          step.started p
        fork p a,b
          step.await.branches p 2
        begin a
          step.started a
        tick 40
        park a CODE
          step.parked a CODE
        begin b
          step.started b
        status
          = running; p waiting branches; a waiting parked; b running; wakes never; runs nothing
        tick 1000
        due
        ok b 1
          step.completed b 1
        status
          = waiting; p waiting branches; a waiting parked; wakes never; runs nothing
        resume
          step.released a after 1000
        status
          = waiting; p waiting branches; a retrying backoff; wakes now; runs a
        begin a
          step.started a/2
        tick 59
        due
        tick 1
        due
          step.cancelled a/2 by timeout
          step.cancelled p by timeout
          flow.failed TIMEOUT
        "#,
    );
}

#[test]
fn a_parked_visit_can_be_cancelled_and_copied() {
    let park = r#"
        start
          flow.started until 100
        begin a
          step.started a
        park a CODE
          step.parked a CODE
        "#;
    let flow = json!({"timeoutMs": 100, "steps": {"a": {}}});
    let cancel = r#"
        cancel
          step.cancelled a by user
          flow.cancelled by user
        "#;
    check(flow.clone(), &format!("{park}{cancel}"));
    let copy = r#"
        tick 500
        fork-here
          flow.forked until 600
        status
          = waiting; a waiting parked; wakes never; runs nothing
        tick 50
        resume
          step.released a after 550
        run a 1
          step.started a/2
          step.completed a/2 1
          flow.completed 1
        "#;
    check(flow, &format!("{park}{copy}"));
}

#[test]
fn everything_that_a_driver_would_go_on_with_can_be_parked() {
    let flow = json!({
        "p": {}, "a": {}, "b": {}, "c": {"type": "process", "config": {"process": "p"}},
        "d": {"retry": {"maxAttempts": 2, "backoffMs": 10}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c,d
          step.await.branches p 4
          > c
        begin a
          step.started a
        begin d
          step.started d
        fail d E
          step.failed d E again at 10
          step.retry d/2
        park-all CODE
          step.parked a CODE
          step.parked b/0 CODE
          step.parked d CODE
        status
          = running; p waiting branches; a waiting parked; b waiting parked; c pending job; d waiting parked; wakes never; runs nothing
        resume
          step.released a after 0
          step.released b/0 after 0
          step.released d after 0
        status
          = running; p waiting branches; a retrying backoff; b pending; c pending job; d retrying backoff; wakes now; runs a b d
        "#,
    );
    check(
        json!({"a": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 10
          step.await.time a until 10
        park-all CODE
          flow.paused
        status
          = paused; a waiting time; wakes never; runs nothing
        resume
          flow.resumed
        "#,
    );
}
