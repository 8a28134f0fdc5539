//! Waits for a time.

use serde_json::json;

use super::script::check;

#[test]
fn a_wait_is_resumed_once_when_its_time_has_come() {
    let flow = json!({
        "a": {"transitions": {"onSuccess": "s", "onResume": "r"}},
        "r": {}, "s": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 500
          step.await.time a until 500
        status
          = waiting; a waiting time; wakes 500; runs nothing
        begin a
        ok a
        tick 499
        due
        tick 11
        due
          step.resumed a after 510
          step.completed a -> r
        due
        ok a
        status
          = running; r pending; wakes now; runs r
        "#,
    );
}

#[test]
fn without_on_resume_it_goes_to_on_success() {
    check(
        json!({"a": {"transitions": {"onSuccess": "s"}}, "s": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 5
          step.await.time a until 5
        tick 5
        due
          step.resumed a after 5
          step.completed a -> s
        "#,
    );
}

#[test]
fn without_either_the_run_is_complete() {
    check(
        json!({"a": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 5
          step.await.time a until 5
        tick 5
        due
          step.resumed a after 5
          step.completed a
          flow.completed null
        "#,
    );
}

#[test]
fn a_loop_through_a_wait_waits_each_time() {
    check(
        json!({"a": {"transitions": {"onResume": "a"}}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 5
          step.await.time a until 5
        tick 5
        due
          step.resumed a after 5
          step.completed a -> a
        begin a#2
          step.started a#2
        wait a#2 5
          step.await.time a#2 until 10
        due
        "#,
    );
}

#[test]
fn a_wait_for_a_time_that_is_over_is_over() {
    check(
        json!({"a": {"transitions": {"onResume": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 0
          step.await.time a until 0
          step.resumed a after 0
          step.completed a -> b
        begin b
          step.started b
        wait b -1000
          step.await.time b until -1000
          step.resumed b after 0
          step.completed b
          flow.completed null
        "#,
    );
}

#[test]
fn a_resume_that_leads_nowhere_fails() {
    check(
        json!({"a": {"transitions": {"onResume": "gone"}}}),
        r#"
        start
          flow.started
        begin a
          step.started a
        wait a 5
          step.await.time a until 5
        tick 9
        due
          step.resumed a after 9
          step.failed a INVALID_TRANSITION
          flow.failed INVALID_TRANSITION at a
        "#,
    );
}

#[test]
fn many_waits_are_resumed_in_one_go() {
    check(
        json!({"p": {}, "a": {}, "b": {}, "c": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b,c
          step.await.branches p 3
        begin a
          step.started a
        begin b
          step.started b
        begin c
          step.started c
        wait a 20
          step.await.time a until 20
        wait b 10
          step.await.time b until 10
        wait c 99
          step.await.time c until 99
        status
          = waiting; p waiting branches; a waiting time; b waiting time; c waiting time; wakes 10; runs nothing
        tick 20
        due
          step.resumed a after 20
          step.completed a
          step.resumed b after 20
          step.completed b
        status
          = waiting; p waiting branches; c waiting time; wakes 99; runs nothing
        "#,
    );
}

#[test]
fn a_clock_that_goes_back_does_not_take_the_stream_with_it() {
    let run = check(
        json!({"a": {"transitions": {"onSuccess": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        tick 100
        begin a
          step.started a
        tick -1000
        wait a 10
          step.await.time a until -890
          step.resumed a after 0
          step.completed a -> b
        run b
          step.started b
          step.completed b
          flow.completed null
        "#,
    );
    assert!(run.stream.is_sorted_by_key(|draft| draft.ms));
}

#[test]
fn a_declared_time_passes_after_branches_and_child_runs_too() {
    let flow = json!({
        "all": {"await": {"type": "time", "delay": "3s"}, "transitions": {"onSuccess": "sub"}},
        "p": {},
        "sub": {"await": {"type": "time", "delay": 500}, "transitions": {"onSuccess": "apart"}},
        "apart": {"await": {"type": "time", "delay": 0}, "emits": ["begun"]},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin all
          step.started all
        fork all p
          step.await.branches all 1
        run p 1
          step.started p
          step.completed p 1
          step.await.time all until 3000
        lost
        tick 2999
        due
        tick 1
        due
          step.resumed all after 3000
          step.completed all {"p":1} -> sub
        begin sub
          step.started sub
        sub sub c1
          step.await.run sub c1
          + c1 other@2.0.0 [1] of r1 sub depth 1
        child sub c1 7
          step.resumed sub after 0
          step.await.time sub until 3500
        tick 500
        due
          step.resumed sub after 500
          step.completed sub 7 -> apart
        begin apart
          step.started apart
        sub apart c2 detached
          step.await.time apart until 3500
          step.resumed apart after 0
          step.completed apart {"runId":"c2"}
          ^ begun
          + c2 other@2.0.0 [1] of r1 apart depth 1 detached
        emits
          begun apart
          flow.completed {"runId":"c2"}
        "#,
    );
}

#[test]
fn a_wait_may_say_where_it_leads() {
    let flow = json!({"a": {"transitions": {"onSuccess": "b", "onResume": "b"}}, "b": {}, "c": {}});
    let until_ms = |run: &super::run::Run| run.now + 10;
    for (next, expected) in [(None, "b"), (Some(Some("c".into())), "c"), (Some(None), "")] {
        let mut run = check(
            flow.clone(),
            "start\n  flow.started\nbegin a\n  step.started a",
        );
        let visit = run.state.visits.iter().next().unwrap().key.clone();
        let outcome = riverrun_engine::Outcome::Wait {
            until_ms: until_ms(&run),
            reason: None,
            output: None,
            next,
        };
        run.decide(riverrun_engine::Input::Finished {
            visit,
            attempt: 1,
            outcome,
            jitter: 0.0,
            retry: None,
        });
        run.now += 10;
        run.decide(riverrun_engine::Input::Due);
        run.assert_replays();
        let at: Vec<String> = run
            .state
            .visits
            .iter()
            .map(|v| v.key.step.to_string())
            .collect();
        assert_eq!(at.join(","), expected);
    }
}
