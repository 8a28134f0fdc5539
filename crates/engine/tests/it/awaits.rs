//! Visits that run as jobs, and visits that wait: as defined, or in the middle of their code.

use serde_json::json;

use super::script::{check, check_after};

fn process() -> serde_json::Value {
    json!({"type": "process", "config": {"process": "p"}})
}

/// The job of the process `a` has begun.
const BEGUN: &str = "
    start
      flow.started
      > a
    began a 1
      step.started a
";

#[test]
fn a_step_of_a_process_is_queued_begun_and_ended_by_its_job() {
    let mut step = process();
    step["retry"] = json!({"maxAttempts": 2, "backoffMs": 100});
    check(
        json!({"a": step, "b": {}}),
        r#"
        start
          flow.started
          > a
        status
          = pending; a pending job; wakes never; runs nothing
        began a 1
          step.started a
        began a 1
        fail a E
          step.failed a E again at 100
          step.retry a/2
          > a after 1 at 100
        status
          = waiting; a retrying job; wakes never; runs nothing
        began a 2
          step.started a/2
        goto a b
          step.completed a/2 -> b
        run b
          step.started b
          step.completed b
          flow.completed null
        "#,
    );
}

#[test]
fn attempts_without_a_report_were_lost() {
    check(
        json!({"a": process()}),
        r#"
        start
          flow.started
          > a
        began a 2
          step.started a
          step.retry a/2 lost
          step.started a/2
        lost
        began a 3
          step.retry a/3 lost
          step.started a/3
        cancel
          step.cancelled a/3 by user
          flow.cancelled by user
          x a
        "#,
    );
}

#[test]
fn a_paused_run_sends_its_jobs_away_and_fetches_them_back() {
    check(
        json!({"a": process()}),
        r#"
        start
          flow.started
          > a
        pause
          flow.paused
        resume
          flow.resumed
          > a
        "#,
    );
}

#[test]
fn a_declared_await_comes_before_the_handler() {
    let mut step = process();
    step["await"] = json!({"type": "event", "eventKind": "paid", "onTimeout": "late"});
    step["transitions"] = json!({"onSuccess": "b"});
    let flow = json!({"a": {"transitions": {"onSuccess": "w"}}, "w": step, "b": {}, "late": {}});
    let waits = "
        start
          flow.started
        run a
          step.started a
          step.completed a -> w
          ? w
        await w event w1 1000
          step.await.event w/0 w1 until 1000
    ";
    check_after(
        flow.clone(),
        waits,
        r#"
        status
          = waiting; w waiting await; wakes 1000; runs nothing
        tick 400
        settle w other 1
        settle w w1 {"by":"card"}
          step.resumed w/0 after 400
          > w
          ! w1
        given w
          = nothing awaited {"by":"card"}
        began w 1
          step.started w
        ok w 5
          step.completed w 5 -> b
        run b
          step.started b
          step.completed b
          flow.completed null
        "#,
    );
    check_after(
        flow,
        waits,
        r#"
        tick 1000
        due
          step.await.timeout w/0 after 1000 -> late
          ! w1
        run late
          step.started late
          step.completed late
          flow.completed null
        "#,
    );
}

#[test]
fn a_declared_await_that_nobody_catches_fails_its_step() {
    let flow = json!({
        "w": {"await": {"type": "trigger"}, "retry": {"maxAttempts": 5}, "transitions": {"onFailure": "b"}},
        "b": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
          ? w
        await w trigger callback 10
          step.await.trigger w/0 callback until 10
        tick 10
        due
          step.await.timeout w/0 after 10
          step.failed w/0 AWAIT_TIMEOUT -> b
          ! callback
        run b
          step.started b
          step.completed b
          flow.completed null
        "#,
    );
}

/// However short a wait is, it is stored before it is over, and what it leads to waits as its own
/// definition says.
#[test]
fn a_wait_that_is_over_at_once_leads_to_one_that_waits_too() {
    let mut callback = process();
    callback["await"] = json!({"type": "trigger"});
    let first = json!({"await": {"type": "event", "eventKind": "paid", "onTimeout": "c"}});
    let flow = |c: serde_json::Value| json!({"w": first, "c": c});
    check(
        flow(callback),
        r#"
        start
          flow.started
          ? w
        begin w
          ? w
        await w event w1 0
          step.await.event w/0 w1 until 0
        due
          step.await.timeout w/0 after 0 -> c
          ? c
          ! w1
        began c 1
          ? c
        await c trigger d1
          step.await.trigger c/0 d1
        settle c d1 7
          step.resumed c/0 after 0
          > c
          ! d1
        "#,
    );
    check(
        flow(json!({"await": {"type": "event", "eventKind": "boss"}})),
        r#"
        start
          flow.started
          ? w
        await w event w1 0
          step.await.event w/0 w1 until 0
        due
          step.await.timeout w/0 after 0 -> c
          ? c
          ! w1
        begin c
          ? c
        await c event c1
          step.await.event c/0 c1
        status
          = waiting; c waiting await; wakes never; runs nothing
        "#,
    );
}

/// What had come of several is given to the step that is entered instead, which waits for its own
/// await all the same.
#[test]
fn a_timeout_leads_on_with_what_had_come() {
    let mut first = process();
    first["await"] = json!({"type": "trigger", "many": 3, "onTimeout": "late"});
    let mut late = process();
    late["await"] = json!({"type": "trigger"});
    let script = |rest: &str| {
        format!(
            r#"
        start
          flow.started
          ? w
        await w trigger w1 10
          step.await.trigger w/0 w1 until 10
        late w w1 [1,2]
        tick 10
        late w other [1,2]
        late w w1 [1,2]
          step.await.timeout w/0 after 10 -> late
          {rest}
          ! w1
        given late
          = nothing awaited [1,2]
        "#
        )
    };
    check(json!({"w": first, "late": process()}), &script("> late"));
    check_after(
        json!({"w": first, "late": late}),
        &script("? late"),
        r#"
        await late trigger d1
          step.await.trigger late/0 d1
        settle late d1 "own"
          step.resumed late/0 after 0
          > late
          ! d1
        given late
          = nothing awaited "own"
        "#,
    );
}

#[test]
fn a_wait_of_code_that_is_over_at_once_is_stored_first_unless_it_is_a_time() {
    check_after(
        json!({"a": process()}),
        BEGUN,
        r#"
        suspend a event e1 0
          step.await.event a e1 until 0
        settle a e1 5
          step.resumed a after 0
          > a
          ! e1
        began a 1
        suspend a time t1 0
          step.await.time a t1 until 0
          step.resumed a after 0
          > a
          ! t1
        "#,
    );
}

#[test]
fn a_built_in_step_can_wait_first_too() {
    let flow = json!({"w": {"await": {"type": "event", "eventKind": "paid"}}});
    check(
        flow,
        r#"
        start
          flow.started
          ? w
        await w event w1
          step.await.event w/0 w1
        settle w w1 7
          step.resumed w/0 after 0
          ! w1
        run w
          step.started w
          step.completed w
          flow.completed null
        "#,
    );
}

#[test]
fn code_that_waits_runs_again_with_the_answers() {
    check_after(
        json!({"a": process()}),
        BEGUN,
        r#"
        memo a charge {"id":5}
        suspend a event e1 1000
          step.await.event a e1 until 1000
        tick 10
        settle a e1 {"ok":true}
          step.resumed a after 10
          > a
          ! e1
        journal a
          = memo charge {"id":5}
          = await paid {"ok":true}
        began a 1
        suspend a time t1 50
          step.await.time a t1 until 60
        tick 50
        due
          step.resumed a after 50
          > a
          ! t1
        began a 2
          step.retry a/2 lost
          step.started a/2
        suspend a trigger d1 5
          step.await.trigger a/2 d1 until 65
        tick 5
        due
          step.await.timeout a/2 after 5
          > a after 1
          ! d1
        journal a
          = memo charge {"id":5}
          = await paid {"ok":true}
          = await time
          = await d1 {"code":"AWAIT_TIMEOUT","message":"the trigger did not come in time","retriable":false}
        ok a 1
          step.completed a/2 1
          flow.completed 1
        "#,
    );
}

/// What was done before a wait has cost attempts; what comes after it has its own. Workers that are
/// lost are counted over the whole visit.
#[test]
fn attempts_are_counted_from_the_last_wait_on() {
    let mut step = process();
    step["retry"] = json!({"maxAttempts": 2, "backoffMs": 100});
    check(
        json!({"a": step}),
        r#"
        start
          flow.started
          > a
        began a 1
          step.started a
        fail a E
          step.failed a E again at 100
          step.retry a/2
          > a after 1 at 100
        began a 2
          step.started a/2
        suspend a time t1 50
          step.await.time a/2 t1 until 50
        tick 50
        due
          step.resumed a/2 after 50
          > a after 1
          ! t1
        began a 2
        fail a E
          step.failed a/2 E again at 150
          step.retry a/3
          > a after 2 at 150
        began a 3
          step.started a/3
        suspend a event e1 50
          step.await.event a/3 e1 until 100
        tick 50
        due
          step.await.timeout a/3 after 50
          > a after 2
          ! e1
        began a 3
        fail a E
          step.failed a/3 E again at 200
          step.retry a/4
          > a after 3 at 200
        began a 4
          step.started a/4
        fail a E
          step.failed a/4 E
          flow.failed E at a
        "#,
    );
}

/// The code is known by what it asked for, whatever kind the event is of then.
#[test]
fn an_event_with_a_topic_is_recorded_under_its_type() {
    check(
        json!({"a": process(), "b": {"subscriptions": [{"eventKind": "paid"}]}}),
        r#"
        start
          flow.started
          > a
        began a 1
          step.started a
        emit-by a emit {"topic":"paid","payload":1} b
          emit a
          step.entered b/0
        emit-by a sent {"inRun":true}
          sent a
        journal a
          = emit emit
          = emit sent
        "#,
    );
}

#[test]
fn callbacks_end_with_the_visit_that_created_them() {
    check_after(
        json!({"a": process()}),
        BEGUN,
        r#"
        trigger a api {"id":"used"}
        trigger a api {"id":"idle"}
        trigger a api {"id":"often","many":true}
        suspend a trigger used
          step.await.trigger a used
        settle a used 1
          step.resumed a after 0
          > a
          ! used
        began a 1
        suspend a trigger often
          step.await.trigger a often
        settle a often 2
          step.resumed a after 0
          > a
        journal a
          = trigger api {"id":"used"}
          = trigger api {"id":"idle"}
          = trigger api {"id":"often","many":true}
          = await used 1
          = await often 2
        ok a 3
          step.completed a 3
          flow.completed 3
          ! idle
          ! often
        "#,
    );
    // One that is waited for is reported once, and a copy creates callbacks of its own.
    check_after(
        json!({"a": process()}),
        BEGUN,
        r#"
        trigger a api {"id":"d1"}
        memo a x 1
        suspend a trigger d1
          step.await.trigger a d1
        fork-here
          flow.forked
          > a after 1
        journal a
          = memo x 1
        began a 2
          step.started a/2
        trigger a api {"id":"d2"}
        suspend a trigger d2
          step.await.trigger a/2 d2
        cancel
          step.cancelled a/2 by user
          flow.cancelled by user
          ! d2
        "#,
    );
}

#[test]
fn a_copy_waits_anew() {
    check(
        json!({"w": {"await": {"type": "trigger"}}}),
        r#"
        start
          flow.started
          ? w
        await w trigger d1
          step.await.trigger w/0 d1
        fork-here
          flow.forked
          ? w
        "#,
    );
    check_after(
        json!({"a": process()}),
        BEGUN,
        r#"
        suspend a event e1
          step.await.event a e1
        fork-here
          flow.forked
          > a after 1
        cancel
          step.cancelled a by user
          flow.cancelled by user
          x a
        "#,
    );
}

#[test]
fn a_cancelled_run_lets_go_of_its_awaits() {
    check(
        json!({"w": {"await": {"type": "event", "eventKind": "paid"}}}),
        r#"
        start
          flow.started
          ? w
        await w event w1
          step.await.event w/0 w1
        cancel
          step.cancelled w/0 by user
          flow.cancelled by user
          ! w1
        "#,
    );
}

#[test]
fn what_an_await_brought_is_in_sight_of_its_step_and_what_it_forks() {
    let flow = json!({
        "steps": {
            "pay": {"await": {"type": "event", "eventKind": "paid"}, "transitions": {"onSuccess": "last"}},
            "inside": {}, "last": {},
        },
    });
    check(
        flow,
        r#"
        start {"awaited":"the state's own"}
          flow.started
          ? pay
        await pay event w1
          step.await.event pay/0 w1
        see pay ${awaited}
          = "the state's own"
        settle pay w1 {"data":{"by":"card"}}
          step.resumed pay/0 after 0
          ! w1
        see pay ${awaited.data.by}
          = "card"
        see pay by ${awaited.data.by} and ${awaited.gone}
          = "by card and "
        begin pay
          step.started pay
        fork pay inside
          step.await.branches pay 1
        see inside ${awaited.data.by}
          = "card"
        run inside 1
          step.started inside
          step.completed inside 1
          step.completed pay {"inside":1} -> last
        see last ${awaited}
          = "the state's own"
        "#,
    );
}
