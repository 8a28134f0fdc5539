//! Parallel branches and their join.

use serde_json::json;

use super::script::check;

/// A decision that ends the run leaves nothing unsaid: a finished step emits before the end.
#[test]
fn what_a_finished_branch_emits_comes_before_the_failure_of_the_run() {
    let p = json!({"emits": ["p.done", "p.sent"]});
    check(
        json!({"f": {}, "p": p, "q": {}}),
        r#"
        start
          flow.started
        begin f
          step.started f
        fork f p,q
          step.await.branches f 2
        begin q
          step.started q
        fail q E
          step.failed q E
        run p 7
          step.started p
          step.completed p 7
          step.failed f BRANCH_FAILED
          p.done p
          p.sent p
          flow.failed BRANCH_FAILED at f
        "#,
    );
    check(
        json!({"p": {"emits": ["p.done"], "transitions": {"onSuccess": "q"}}, "q": {}}),
        r#"
        start
          flow.started
        run p 7
          step.started p
          step.completed p 7 -> q
          ^ p.done
        cancel
          step.cancelled q/0 by user
          p.done p
          flow.cancelled by user
        "#,
    );
}

#[test]
fn results_are_joined_by_name_when_all_are_through() {
    let flow = json!({
        "p": {"outputKey": "all", "transitions": {"onSuccess": "z"}},
        "a": {"outputKey": "a", "transitions": {"onSuccess": "a2"}},
        "a2": {"outputKey": "a2"},
        "b": {"outputKey": "b"},
        "z": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b
          step.await.branches p 2
        status
          = running; p waiting branches; a pending; b pending; wakes now; runs a b
        begin a
          step.started a
        run b 2
          step.started b
          step.completed b 2
        ok a 1
          step.completed a 1 -> a2
        see a2 ${a}+${b}
          = "1+2"
        run a2 "last of its branch"
          step.started a2
          step.completed a2 "last of its branch"
          step.completed p {"a":"last of its branch","b":2} -> z
        see z ${all.b}
          = 2
        state
          = {"b":2,"a":1,"a2":"last of its branch","all":{"a":"last of its branch","b":2}}
        "#,
    );
}

#[test]
fn on_resume_goes_before_on_success() {
    check(
        json!({"p": {"transitions": {"onSuccess": "s", "onResume": "r"}}, "a": {}, "r": {}, "s": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a
          step.await.branches p 1
        run a null
          step.started a
          step.completed a null
          step.completed p {"a":null} -> r
        "#,
    );
}

#[test]
fn no_branches_are_through_at_once() {
    check(
        json!({"p": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p 
          step.await.branches p 0
          step.completed p {}
          flow.completed {}
        "#,
    );
}

#[test]
fn an_unknown_branch_fails_the_step() {
    check(
        json!({"p": {"retry": {"maxAttempts": 3}}, "a": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,gone
          step.failed p STEP_NOT_FOUND
          flow.failed STEP_NOT_FOUND at p
        "#,
    );
}

#[test]
fn fail_fast_cancels_the_others_and_lets_their_children_go() {
    let flow = json!({
        "p": {"transitions": {"onFailure": "z"}},
        "a": {}, "b": {}, "c": {}, "d": {}, "q": {}, "r": {}, "z": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c,q failfast
          step.await.branches p 4
        begin a
          step.started a
        begin b
          step.started b
        sub b kid
          step.await.run b kid
          + kid other@2.0.0 [1] of r1 b depth 1
        begin q
          step.started q
        fork q r,d
          step.await.branches q 2
        begin r
          step.started r
        sub r kid2
          step.await.run r kid2
          + kid2 other@2.0.0 [1] of r1 r depth 1
        fail a E
          step.failed a E
          step.cancelled d/0 by system
          step.cancelled r by system
          step.cancelled q by system
          step.cancelled c/0 by system
          step.cancelled b by system
          step.failed p BRANCH_FAILED -> z
          - kid2
          - kid
        see z ${error.message} | ${error.details.error.stepId}
          = "branch 0 (a) failed: E: why | a"
        ok b
        child b kid 1
        run z
          step.started z
          step.completed z
          flow.completed null
        "#,
    );
}

#[test]
fn fail_fast_stops_branches_that_have_not_begun() {
    check(
        json!({"p": {}, "a": {}, "b": {}, "c": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c failfast limit=2
          step.await.branches p 3
        begin a
          step.started a
        fail a E
          step.failed a E
          step.cancelled b/0 by system
          step.failed p BRANCH_FAILED
          flow.failed BRANCH_FAILED at p
        "#,
    );
}

#[test]
fn without_fail_fast_every_branch_comes_to_its_end() {
    let run = check(
        json!({"p": {}, "a": {}, "b": {}, "c": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c limit=1
          step.await.branches p 3
        begin a
          step.started a
        fail a E
          step.failed a E
        status
          = running; p waiting branches; b pending; wakes now; runs b
        run b 2
          step.started b
          step.completed b 2
        begin c
          step.started c
        fail c F
          step.failed c F
          step.failed p BRANCH_FAILED
          flow.failed BRANCH_FAILED at p
        "#,
    );
    let details = run.state.error.unwrap().details.unwrap();
    assert_eq!(
        details.as_str(),
        r#"{"branch":0,"step":"a","error":{"code":"E","message":"why","stepId":"a"}}"#
    );
}

#[test]
fn a_route_inside_a_branch_keeps_the_branch_alive() {
    check(
        json!({"p": {}, "a": {"transitions": {"onFailure": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a failfast
          step.await.branches p 1
        begin a
          step.started a
        fail a E
          step.failed a E -> b
        see b ${error.code}
          = "E"
        run b 1
          step.started b
          step.completed b 1
          step.completed p {"a":1}
          flow.completed {"a":1}
        "#,
    );
}

#[test]
fn a_retry_of_the_fork_runs_its_branches_again() {
    check(
        json!({"p": {"retry": {"maxAttempts": 2, "backoffMs": 10}}, "a": {}, "b": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b failfast
          step.await.branches p 2
        begin a
          step.started a
        begin b
          step.started b
        fail b E
          step.failed b E
          step.cancelled a by system
          step.failed p BRANCH_FAILED again at 10
          step.retry p/2
        ok a 1
        status
          = waiting; p retrying backoff; wakes 10; runs nothing
        tick 10
        begin p
          step.started p/2
        fork p a,b failfast
          step.await.branches p/2 2
        ok a 1
        run a#2 1
          step.started a#2
          step.completed a#2 1
        run b#2 2
          step.started b#2
          step.completed b#2 2
          step.completed p/2 {"a":1,"b":2}
          flow.completed {"a":1,"b":2}
        "#,
    );
}

#[test]
fn forks_inside_forks_join_from_the_inside() {
    check(
        json!({"p": {}, "q": {"outputKey": "q"}, "a": {}, "b": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p q,b
          step.await.branches p 2
        begin q
          step.started q
        fork q a,b
          step.await.branches q 2
        run b 1
          step.started b
          step.completed b 1
        run a 2
          step.started a
          step.completed a 2
        run b#2 3
          step.started b#2
          step.completed b#2 3
          step.completed q {"a":2,"b":3}
          step.completed p {"q":{"a":2,"b":3},"b":1}
          flow.completed {"q":{"a":2,"b":3},"b":1}
        "#,
    );
}

#[test]
fn an_inner_failure_climbs_through_every_fork() {
    check(
        json!({"p": {}, "q": {}, "a": {}, "b": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p b,q failfast
          step.await.branches p 2
        begin q
          step.started q
        fork q a,b failfast
          step.await.branches q 2
        begin a
          step.started a
        fail a E
          step.failed a E
          step.cancelled b#2/0 by system
          step.failed q BRANCH_FAILED
          step.cancelled b/0 by system
          step.failed p BRANCH_FAILED
          flow.failed BRANCH_FAILED at p
        "#,
    );
}

#[test]
fn a_joined_result_that_is_too_large_fails_the_fork() {
    check(
        json!({"limits": {"maxValueBytes": 10}, "steps": {"p": {"transitions": {"onFailure": "z"}}, "a": {}, "z": {}}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a
          step.await.branches p 1
        run a "12345678"
          step.started a
          step.completed a "12345678"
          step.failed p VALUE_TOO_LARGE -> z
        "#,
    );
}
