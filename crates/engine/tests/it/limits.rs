//! How far and how large a run may grow, and what its state's schema refuses.

use riverrun_engine::{BranchSpec, Failure, Fork, Input, Outcome};
use riverrun_types::{Json, RunStatus};
use serde_json::json;

use super::{
    run::{Run, T0, flow, plan},
    script::{check, check_after},
};

#[test]
fn a_loop_ends_at_the_limit_of_steps() {
    let flow = json!({"limits": {"maxSteps": 2}, "steps": {
        "a": {"retry": {"maxAttempts": 2}, "transitions": {"onSuccess": "a"}},
    }});
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
        run a#2
          step.started a#2
          step.completed a#2 -> a
        begin a#3
          step.cancelled a#3/0 by system
          flow.failed MAX_STEPS
        "#,
    );
}

/// Visits count whose handler never begins, too.
#[test]
fn a_loop_of_waits_that_are_too_late_ends_at_the_limit_of_steps() {
    let flow = json!({"limits": {"maxSteps": 2}, "steps": {
        "w": {"await": {"type": "event", "eventKind": "paid", "onTimeout": "w"}},
    }});
    check(
        flow,
        r#"
        start
          flow.started
          ? w
        await w event w1 0
          step.await.event w/0 w1 until 0
        due
          step.await.timeout w/0 after 0 -> w
          ? w#2
          ! w1
        await w#2 event w2 0
          step.await.event w#2/0 w2 until 0
        due
          step.await.timeout w#2/0 after 0 -> w
          ? w#3
          ! w2
        await w#3 event w3 0
          step.cancelled w#3/0 by system
          flow.failed MAX_STEPS
        "#,
    );
}

/// A step that feeds itself in its code: each wait is over, and it waits again.
#[test]
fn code_that_waits_again_and_again_ends_at_the_limit_of_awaits() {
    let flow = json!({"limits": {"maxAwaits": 2}, "steps": {
        "a": {"type": "process", "config": {"process": "p"}, "retry": {"maxAttempts": 5}},
    }});
    check(
        flow,
        r#"
        start
          flow.started
          > a
        began a 1
          step.started a
        suspend a time t1 0
          step.await.time a t1 until 0
          step.resumed a after 0
          > a
          ! t1
        began a 1
        suspend a event e1
          step.await.event a e1
        settle a e1 1
          step.resumed a after 0
          > a
          ! e1
        began a 1
        suspend a time t2 0
          step.failed a MAX_AWAITS
          flow.failed MAX_AWAITS at a
        "#,
    );
}

#[test]
fn a_fork_whose_branches_cannot_all_have_a_step_begins_none() {
    let flow = |max_steps: u64| {
        json!({"limits": {"maxSteps": max_steps}, "steps": {
            "m": {"transitions": {"onFailure": "b"}}, "a": {}, "b": {},
        }})
    };
    let begun = "
        start
          flow.started
        begin m
          step.started m
    ";
    check_after(
        flow(4),
        begun,
        r#"
        map m a [1,2,3]
          step.await.branches m 3
        "#,
    );
    check_after(
        flow(3),
        begun,
        r#"
        map m a [1,2,3]
          step.failed m MAX_STEPS -> b
        see b ${error.message}
          = "3 branches take a step or more each, and of the 3 that the flow's limits.maxSteps allows 2 are left: raise it"
        "#,
    );
}

/// The results are gathered in one value: they may not have more bytes than one.
#[test]
fn a_fork_ends_as_soon_as_its_results_are_too_large_together() {
    let flow = json!({"limits": {"maxValueBytes": 12}, "steps": {
        "m": {"transitions": {"onFailure": "b"}}, "a": {}, "b": {},
    }});
    check_after(
        flow,
        "
        start
          flow.started
        begin m
          step.started m
        map m a [1,2,3]
          step.await.branches m 3
        ",
        r#"
        begin a
          step.started a
        begin a#2
          step.started a#2
        begin a#3
          step.started a#3
        ok a "123456"
          step.completed a "123456"
        ok a#2 "123456"
          step.completed a#2 "123456"
          step.cancelled a#3 by system
          step.failed m VALUE_TOO_LARGE -> b
        "#,
    );
}

/// What steps inside a map write stays with the item, and all of it together is bounded.
#[test]
fn the_branches_of_a_run_share_a_limit() {
    let flow = json!({"limits": {"maxStateBytes": 60}, "steps": {
        "m": {"transitions": {"onFailure": "b"}}, "b": {}, "c": {},
        "a": {"outputKey": "k", "transitions": {"onSuccess": "c"}},
    }});
    check_after(
        flow,
        "
        start
          flow.started
        begin m
          step.started m
        map m a [1,2,3]
          step.await.branches m 3
        ",
        r#"
        run a "1234567890123456789012345678"
          step.started a
          step.completed a "1234567890123456789012345678" -> c
        run a#2 "1234567890123456789012345678"
          step.started a#2
          step.failed a#2 STATE_TOO_LARGE
        "#,
    );
}

#[test]
fn a_value_may_not_be_too_large() {
    let flow = json!({"limits": {"maxValueBytes": 10}, "steps": {
        "a": {"retry": {"maxAttempts": 2}, "transitions": {"onFailure": "b"}}, "b": {},
    }});
    check(
        flow.clone(),
        r#"
        start
          flow.started
        run a "12345678"
          step.started a
          step.completed a "12345678"
          flow.completed "12345678"
        "#,
    );
    check(
        flow,
        r#"
        start
          flow.started
        run a "123456789"
          step.started a
          step.failed a VALUE_TOO_LARGE -> b
        see b ${error.message}
          = "the output has 11 bytes; a value may have 10"
        "#,
    );
}

#[test]
fn the_state_may_not_be_too_large() {
    let flow = json!({"limits": {"maxStateBytes": 40}, "steps": {
        "a": {"outputKey": "x", "transitions": {"onSuccess": "a"}},
    }});
    check(
        flow,
        r#"
        start
          flow.started
        run a "123456789012345678901234"
          step.started a
          step.completed a "123456789012345678901234" -> a
        run a#2 "replaces what was there before"
          step.started a#2
          step.completed a#2 "replaces what was there before" -> a
        run a#3 "123456789012345678901234567890123456789"
          step.started a#3
          step.failed a#3 STATE_TOO_LARGE
          flow.failed STATE_TOO_LARGE at a
        "#,
    );
}

#[test]
fn a_branch_of_a_map_may_not_grow_too_large_either() {
    let flow = json!({"limits": {"maxStateBytes": 40}, "steps": {
        "m": {}, "a": {"outputKey": "x"},
    }});
    check(
        flow,
        r#"
        start
          flow.started
        begin m
          step.started m
        map m a [1]
          step.await.branches m 1
        run a "123456789012345678901234567890"
          step.started a
          step.failed a STATE_TOO_LARGE
          step.failed m BRANCH_FAILED
          flow.failed BRANCH_FAILED at m
        "#,
    );
}

#[test]
fn a_failure_says_no_more_than_a_value_may_hold() {
    use riverrun_engine::VisitKey;

    let run = check(
        json!({"limits": {"maxValueBytes": 100}, "steps": {"a": {}}}),
        "start\n  flow.started\nbegin a\n  step.started a",
    );
    let mut run = run;
    let failure =
        Failure::new("E", "é".repeat(20_000)).details(Json::from("x".repeat(101).as_str()));
    let visit = VisitKey {
        step: "a".into(),
        visit: 1,
    };
    run.decide(Input::Finished {
        visit,
        attempt: 1,
        outcome: Outcome::Failure(failure),
        jitter: 0.0,
        retry: None,
    });
    run.assert_replays();
    let error = run.state.error.unwrap();
    assert_eq!(error.message.chars().count(), 10_001);
    assert_eq!(
        error.details.unwrap().as_str(),
        r#"{"dropped":"103 bytes of details; a value may have 100"}"#
    );
}

#[test]
fn a_write_that_breaks_the_schema_is_refused() {
    let schema = json!({
        "type": "object",
        "required": ["n", "later"],
        "additionalProperties": false,
        "properties": {"n": {"type": "integer"}, "later": {"type": "string"}, "o": {"properties": {"p": {"type": "boolean"}}}},
    });
    let flow = |key: &str| {
        json!({"stateSchema": schema, "steps": {
            "a": {"outputKey": key, "retry": {"maxAttempts": 5}, "transitions": {"onFailure": "b"}}, "b": {},
        }})
    };
    check(
        flow("n"),
        r#"
        start
          flow.started
        run a 1
          step.started a
          step.completed a 1
          flow.completed 1
        "#,
    );
    check(
        flow("o.p"),
        r#"
        start
          flow.started
        run a 1
          step.started a
          step.failed a STATE_INVALID -> b
        see b ${error.details.issues.0.path} ${error.details.issues.0.rule}
          = "o.p type"
        state
          = {}
        "#,
    );
    check(
        flow("unknown"),
        r#"
        start
          flow.started
        run a 1
          step.started a
          step.failed a STATE_INVALID -> b
        "#,
    );
}

#[test]
fn what_stays_in_a_branch_is_not_the_states_business() {
    let schema = json!({"additionalProperties": false, "properties": {"all": {}}});
    check(
        json!({"stateSchema": schema, "steps": {"m": {"outputKey": "all"}, "a": {"outputKey": "mine"}}}),
        r#"
        start
          flow.started
        begin m
          step.started m
        map m a [1]
          step.await.branches m 1
        run a 5
          step.started a
          step.completed a 5
          step.completed m [5]
          flow.completed [5]
        "#,
    );
}

/// A fork that branches into itself again and again, until the run has ended.
fn forks_into_itself(branches: usize, concurrency: u32) -> Run {
    let definition = json!({"limits": {"maxSteps": 1_000_000}, "steps": {"p": {}}});
    let mut run = Run::start(plan(flow(definition)), Json::null(), None, None);
    let branch = BranchSpec {
        step: "p".into(),
        item: None,
    };
    let fork = Fork {
        branches: vec![branch; branches],
        concurrency,
        fail_fast: true,
        as_list: true,
        scoped: false,
    };
    for _ in 0..100 {
        let next = run.state.runnable(T0).last().map(|visit| visit.key.clone());
        let Some(visit) = next else { break };
        run.decide(Input::Begin(visit.clone()));
        run.decide(Input::Finished {
            visit,
            attempt: 1,
            outcome: Outcome::Fork(fork.clone()),
            jitter: 0.0,
            retry: None,
        });
    }
    run.assert_replays();
    run
}

/// The error that a nested failure began with.
fn innermost(error: &Failure) -> (String, String) {
    let details = error.details.as_ref();
    match details.and_then(|details| details.get("error")) {
        Some(inner) => innermost(&inner.read().unwrap()),
        None => (error.code.to_string(), error.message.clone()),
    }
}

#[test]
fn a_fork_that_branches_into_itself_fails() {
    let run = forks_into_itself(1, 0);
    assert_eq!(run.state.status, RunStatus::Failed);
    assert_eq!(run.state.step_count, 33);
    let (code, message) = innermost(&run.state.error.unwrap());
    assert_eq!(code, "FORK_LIMIT");
    assert!(message.starts_with("32 forks already stand around this one"));
}

#[test]
fn a_run_has_only_so_many_visits_under_way() {
    let run = forks_into_itself(5_000, 0);
    assert_eq!(run.state.status, RunStatus::Failed);
    assert_eq!(run.state.step_count, 4);
    let (code, message) = innermost(&run.state.error.unwrap());
    assert_eq!(code, "FORK_LIMIT");
    assert!(
        message.starts_with("20001 visits would be under way at once"),
        "{message}"
    );
    // Branches that wait for their turn do not count.
    assert_eq!(forks_into_itself(5_000, 10).state.step_count, 33);
}

#[test]
fn a_value_may_not_nest_too_deep() {
    let flow = json!({"limits": {"maxSteps": 1_000}, "steps": {
        "a": {"outputKey": "x.y", "transitions": {"onSuccess": "a", "onFailure": "b"}}, "b": {},
    }});
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let (fits, deep) = (nested(99), nested(100));
    check(
        flow,
        &format!(
            r#"
        start
          flow.started
        run a {fits}
          step.started a
          step.completed a {fits} -> a
        run a#2 {deep}
          step.started a#2
          step.failed a#2 TOO_DEEP -> b
        see b ${{error.message}}
          = "the output would nest deeper than 100 levels at x.y"
        "#
        ),
    );
}

#[test]
fn a_failure_is_wrapped_only_so_deep() {
    let mut run = Run::start(plan(flow(json!({"a": {}}))), Json::null(), None, None);
    let visit = run.state.visits.last().unwrap().key.clone();
    run.decide(Input::Begin(visit.clone()));
    let deep = "[".repeat(90) + &"]".repeat(90);
    let failure = Failure::new("E", "e").details(Json::parse_text(deep).unwrap());
    run.decide(Input::Finished {
        visit,
        attempt: 1,
        outcome: Outcome::Failure(failure),
        jitter: 0.0,
        retry: None,
    });
    run.assert_replays();
    assert_eq!(
        run.state.error.unwrap().details.unwrap().as_str(),
        r#"{"dropped":"details nested deeper than 80 levels"}"#
    );
}

/// 10,000 events of a megabyte would be 10 GB.
#[test]
fn the_events_that_wait_for_a_join_share_a_limit() {
    let flow = json!({"limits": {"maxStateBytes": 40}, "steps": {
        "a": {},
        "both": {"join": "all", "subscriptions": [{"eventKind": "x"}, {"eventKind": "y"}]},
    }});
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        emit x "12345678901234567890" both
          x
          step.joined x
        emit x "12345678901234567890" both
          x
          step.joined x
          step.cancelled a by system
          flow.failed STATE_TOO_LARGE
        "#,
    );
}

/// Everything that was done is undone, also what made it too much.
#[test]
fn the_results_that_compensations_are_given_share_a_limit() {
    let flow = json!({"limits": {"maxStateBytes": 40}, "steps": {
        "pay": {"compensation": {"step": "refund"}, "transitions": {"onSuccess": "pay"}},
        "refund": {},
    }});
    check(
        flow,
        r#"
        start
          flow.started
        run pay "12345678901234567890"
          step.started pay
          step.completed pay "12345678901234567890" -> pay
        run pay#2 "12345678901234567890"
          step.started pay#2
          step.completed pay#2 "12345678901234567890" -> pay
          step.cancelled pay#3/0 by system
          flow.compensating STATE_TOO_LARGE
          step.entered refund/0 undoes pay#2
        run refund
          step.started refund
          step.completed refund
          step.entered refund#2/0 undoes pay
        run refund#2
          step.started refund#2
          step.completed refund#2
          flow.failed STATE_TOO_LARGE
        "#,
    );
}
