//! Workers that are gone.

use riverrun_engine::{Fact, Input, Outcome};
use riverrun_types::{StepRef, event::StepStarted};
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
fn work_that_kills_its_workers_ten_times_in_a_row_is_parked() {
    let flow = json!({
        "a": {"transitions": {"onFailure": "b"}, "compensation": {"step": "b"}}, "b": {},
    });
    let mut script = "start\n  flow.started\nbegin a\n  step.started a\n".to_owned();
    for attempt in 2..=10 {
        script +=
            &format!("lost\n  step.retry a/{attempt} lost\nbegin a\n  step.started a/{attempt}\n");
    }
    script += "lost\n  step.parked a/10 QUARANTINED\n";
    script += "lost\ndue\nstatus\n  = waiting; a waiting parked; wakes never; runs nothing\n";
    script += "tick 7\nresume\n  step.released a/10 after 7\n";
    script += "run a 1\n  step.started a/11\n  step.completed a/11 1\n  flow.completed 1\n";
    check(flow, &script);
}

#[test]
fn a_failure_between_two_losses_ends_the_row() {
    let flow = json!({"a": {"retry": {"maxAttempts": 3, "backoffMs": 0}}});
    let mut script = "start\n  flow.started\nbegin a\n  step.started a\n".to_owned();
    for attempt in 2..=10 {
        script +=
            &format!("lost\n  step.retry a/{attempt} lost\nbegin a\n  step.started a/{attempt}\n");
    }
    script += "fail a E\n  step.failed a/10 E again at 0\n  step.retry a/11\nbegin a\n  step.started a/11\n";
    for attempt in 12..=20 {
        script +=
            &format!("lost\n  step.retry a/{attempt} lost\nbegin a\n  step.started a/{attempt}\n");
    }
    script += "lost\n  step.parked a/20 QUARANTINED\n";
    check(flow, &script);
}

#[test]
fn branches_that_are_lost_too_often_leave_the_others_alone() {
    let mut script = "start\n  flow.started\nbegin p\n  step.started p\nfork p a,b failfast\n  step.await.branches p 2\n".to_owned();
    script += "begin a\n  step.started a\n";
    for attempt in 2..=10 {
        script +=
            &format!("lost\n  step.retry a/{attempt} lost\nbegin a\n  step.started a/{attempt}\n");
    }
    script +=
        "lost\n  step.parked a/10 QUARANTINED\nrun b 1\n  step.started b\n  step.completed b 1\n";
    script +=
        "status\n  = waiting; p waiting branches; a waiting parked; wakes never; runs nothing\n";
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
    run.append(Fact::StepStarted(last, StepStarted::default()));
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
    assert_eq!((visit.losses, visit.failures), (0, 1));
}
