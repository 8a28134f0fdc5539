//! Workers that are gone.

use riverrun_engine::{Fact, Input, Outcome};
use riverrun_types::StepRef;
use serde_json::json;

use super::{run::reduce, script::check};

#[test]
fn what_was_lost_is_tried_again_at_once_and_is_no_failure() {
    check(
        json!({"a": {"retry": {"maxAttempts": 2, "backoffMs": 100}}}),
        r#"
        start
          flow.started
        lost
        begin a
          step.started a
        lost
          step.retry a/2 lost
        lost
        ok a
        ok a/2
        status
          = waiting; a retrying backoff; wakes now; runs a
        begin a
          step.started a/2
        ok a/1
        fail a E
          step.failed a/2 E again at 100
          step.retry a/3
        tick 100
        run a 1
          step.started a/3
          step.completed a/3 1
          flow.completed 1
        "#,
    );
}

#[test]
fn only_what_runs_is_lost() {
    check(
        json!({"p": {}, "a": {}, "b": {}, "c": {}, "d": {}}),
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
        wait b 10
          step.await.time b until 10
        sub c kid
          step.await.run c kid
          + kid other@2.0.0 [1] of r1 c depth 1
        lost
          step.retry a/2 lost
        status
          = running; p waiting branches; a retrying backoff; b waiting time; c waiting run; d pending; wakes now; runs a d
        "#,
    );
}

#[test]
fn work_that_kills_its_workers_fails_in_the_end() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 50}, "transitions": {"onFailure": "b"}}, "b": {},
    });
    let mut script = "start\n  flow.started\nbegin a\n  step.started a\n".to_owned();
    for attempt in 2..=11 {
        script +=
            &format!("lost\n  step.retry a/{attempt} lost\nbegin a\n  step.started a/{attempt}\n");
    }
    script += "lost\n  step.failed a/11 WORKER_LOST -> b\n";
    script += "see b ${error.message}\n  = \"the worker was lost 11 times in this visit\"\n";
    check(flow, &script);
}

#[test]
fn several_lost_at_their_limit_fail_their_fork_once() {
    let mut script = "start\n  flow.started\nbegin p\n  step.started p\nfork p a,b failfast\n  step.await.branches p 2\n".to_owned();
    script += "begin a\n  step.started a\nbegin b\n  step.started b\n";
    for attempt in 2..=11 {
        script += &format!("lost\n  step.retry a/{attempt} lost\n  step.retry b/{attempt} lost\n");
        script +=
            &format!("begin a\n  step.started a/{attempt}\nbegin b\n  step.started b/{attempt}\n");
    }
    script += "lost\n  step.failed a/11 WORKER_LOST\n  step.failed b/11 WORKER_LOST\n  step.failed p BRANCH_FAILED\n  flow.failed BRANCH_FAILED at p\n";
    check(json!({"p": {}, "a": {}, "b": {}}), &script);
}

/// A stream from elsewhere may hold any number.
#[test]
fn numbers_as_large_as_they_come_do_no_harm() {
    let flow = json!({"a": {"retry": {"maxAttempts": 2}}});
    let mut run = check(flow, "start\n  flow.started");
    let key = run.state.visits.last().unwrap().key.clone();
    let last = StepRef {
        name: key.step.clone(),
        visit: key.visit,
        attempt: u32::MAX,
    };
    run.append(Fact::StepStarted(last));
    run.decide(Input::Lost);
    run.decide(Input::Begin(key.clone()));
    run.decide(Input::Finished {
        visit: key,
        attempt: u32::MAX,
        outcome: Outcome::failure("E", "e"),
        jitter: 0.0,
        retry: None,
    });
    assert_eq!(reduce(&run.stream), run.state);
    let visit = run.state.visits.last().unwrap();
    assert_eq!((visit.losses, visit.failures), (1, 1));
}
