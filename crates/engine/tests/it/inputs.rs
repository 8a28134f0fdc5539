//! What visits that run as jobs are given: the same each time that their code is called.

use riverrun_engine::{RunState, VisitKey};
use serde_json::{Value, json};

use super::{run::assert_same, script::check};

fn process(input: Value) -> Value {
    json!({"type": "process", "config": {"process": "p"}, "input": input,
        "retry": {"maxAttempts": 3}})
}

fn full() -> Value {
    process(json!({"type": "full"}))
}

#[test]
fn the_first_visit_is_given_the_input_of_the_run_whatever_is_written() {
    check(
        json!({"a": full()}),
        r#"
        start {"z":1}
          flow.started
          > a
        began a 1
          step.started a
        set z 99
        set extra 1
        input a
          = {"z":1}
        suspend a time t1 50
          step.await.time a t1 until 50
        tick 50
        due
          step.resumed a after 50
          > a
          ! t1
        input a
          = {"z":1}
        fail a E
          step.failed a E again at 50
          step.retry a/2
          > a after 1 at 50
        began a 3
          step.started a/2
          step.retry a/3 lost
          step.started a/3
        snapshot {"other":true}
        input a
          = {"z":1}
        "#,
    );
}

#[test]
fn an_input_that_is_no_object_is_given_as_it_is_and_found_under_input() {
    for input in ["5", "null", r#"["x"]"#, r#""text""#] {
        let script = format!("start {input}\n  flow.started\n  > a\ninput a\n  = {input}\n");
        check(json!({"a": full()}), &script);
    }
    check(
        json!({"a": process(json!({"type": "key", "key": "input"}))}),
        r#"
        start 5
          flow.started
          > a
        set input 6
        input a
          = 5
        "#,
    );
}

/// What the await brought is no part of all that there is, and is there for whoever names it.
#[test]
fn what_a_declared_await_brought_is_beside_the_input() {
    let awaits = |mut step: Value| {
        step["await"] = json!({"type": "event", "eventKind": "paid"});
        step
    };
    let named = json!({"type": "template", "template": {"n": "${n}", "by": "${awaited.by}"}});
    let flow = json!({
        "a": awaits(full()),
        "b": awaits(full()),
        "c": awaits(process(named)),
    });
    check(
        flow,
        r#"
        start {"n":1}
          flow.started
          ? a
        await a event w1
          step.await.event a/0 w1
        set n 2
        settle a w1 {"by":"card"}
          step.resumed a/0 after 0
          > a
          ! w1
        input a
          = {"n":1}
        began a 1
          step.started a
        goto a b
          step.completed a -> b
          ? b
        await b event w2
          step.await.event b/0 w2
        set n 3
        settle b w2 {"by":"card"}
          step.resumed b/0 after 0
          > b
          ! w2
        input b
          = {"n":2}
        began b 1
          step.started b
        goto b c
          step.completed b -> c
          ? c
        await c event w3
          step.await.event c/0 w3
        set n 4
        settle c w3 {"by":"card"}
          step.resumed c/0 after 0
          > c
          ! w3
        input c
          = {"n":3,"by":"card"}
        "#,
    );
}

#[test]
fn later_visits_are_given_what_was_there_when_they_were_entered() {
    let order = json!({"type": "key", "key": "order"});
    let mut a = process(order.clone());
    a["outputKey"] = json!("order");
    a["transitions"] = json!({"onSuccess": "b", "onFailure": "c"});
    let mut b = process(order);
    b["transitions"] = json!({"onSuccess": "a"});
    check(
        json!({"a": a, "b": b, "c": full()}),
        r#"
        start {"order":{"id":1}}
          flow.started
          > a
        began a 1
          step.started a
        ok a {"id":2}
          step.completed a {"id":2} -> b
          > b
        set order.id "changed"
        input b
          = {"id":2}
        began b 1
          step.started b
        fail b E
          step.failed b E again at 0
          step.retry b/2
          > b after 1 at 0
        input b
          = {"id":2}
        began b 2
          step.started b/2
        ok b
          step.completed b/2 -> a
          > a#2
        delete order
        input a#2
          = {"id":"changed"}
        began a#2 1
          step.started a#2
        fail a#2 E permanent
          step.failed a#2 E -> c
          > c
        set order 7
        input c
          = {"error":{"code":"E","message":"why","stepId":"a"}}
        "#,
    );
}

/// A branch of a fork in the branch of a map: its neighbours write to what is around it.
#[test]
fn branches_are_given_what_was_around_them() {
    let mut q = full();
    q["outputKey"] = json!("q");
    let run = check(
        json!({"m": {}, "f": {}, "p": full(), "q": q}),
        r#"
        start {"n":1}
          flow.started
        begin m
          step.started m
        map m f ["x"]
          step.await.branches m 1
        begin f
          step.started f
        fork f p,q
          step.await.branches f 2
          > p
          > q
        set n 2
        began q 1
          step.started q
        ok q 7
          step.completed q 7
        see p ${n} ${q} ${item}
          = "2 7 x"
        input p
          = {"n":1,"item":"x","index":0}
        "#,
    );
    // As a snapshot has it, and as one of a version that did not keep it.
    let p = VisitKey {
        step: "p".into(),
        visit: 1,
    };
    let given = |state: &RunState| {
        let visit = state.visit(&p).unwrap();
        let input = run.plan.step("p").unwrap().input(state, visit);
        input.unwrap().value()
    };
    let mut snapshot = serde_json::to_value(&run.state).unwrap();
    let read: RunState = serde_json::from_value(snapshot.clone()).unwrap();
    assert_same(&read, &run.state);
    assert_eq!(given(&read), json!({"n": 1, "item": "x", "index": 0}));
    snapshot.as_object_mut().unwrap().remove("found");
    for visit in snapshot["visits"].as_array_mut().unwrap() {
        let visit = visit.as_object_mut().unwrap();
        visit.remove("found");
        visit.remove("around");
    }
    let older: RunState = serde_json::from_value(snapshot).unwrap();
    let live = json!({"n": 2, "item": "x", "index": 0, "q": 7});
    assert_eq!(given(&older), live);
}

/// Visits that found the same share it, and the last one of them takes it away.
#[test]
fn what_was_found_is_kept_once_and_as_long_as_it_is_needed() {
    let mut run = check(
        json!({"m": {}, "p": full()}),
        r#"
        start {"n":1}
          flow.started
        begin m
          step.started m
        map m p [1,2,3] limit=2
          step.await.branches m 3
          > p
          > p#2
        set n 2
        began p 1
          step.started p
        ok p
          step.completed p
          > p#3
        input p#2
          = {"n":1,"item":2,"index":1}
        input p#3
          = {"n":2,"item":3,"index":2}
        "#,
    );
    let kept = |state: &RunState| {
        let state = serde_json::to_value(state).unwrap();
        let found = state["found"].as_object().cloned().unwrap_or_default();
        found.values().cloned().collect::<Vec<_>>()
    };
    let once = |n: u32| json!({"state": {"n": n}, "visits": 1});
    assert_eq!(kept(&run.state), [once(1), once(2)]);
    run.decide(riverrun_engine::Input::Cancel {
        source: "user",
        reason: None,
    });
    assert_eq!(kept(&run.state), [] as [Value; 0]);
}
