//! Maps: a branch for each item, each with its own scope.

use std::time::Duration;

use riverrun_engine::{BranchSpec, Fork, Input, Outcome, VisitKey};
use riverrun_types::{Json, RunStatus};
use serde_json::json;

use super::{
    run::{Run, flow, plan},
    script::check,
};

#[test]
fn results_stand_in_the_order_of_the_items() {
    check(
        json!({"m": {"outputKey": "all"}, "a": {}}),
        r#"
        start
          flow.started
        begin m
          step.started m
        map m a ["x",null,"z"]
          step.await.branches m 3
        see a ${index}${item}
          = "0x"
        see a#2 ${item}
          = null
        see a#3 ${index}${item}
          = "2z"
        run a#3 3
          step.started a#3
          step.completed a#3 3
        run a#2
          step.started a#2
          step.completed a#2
        run a 1
          step.started a
          step.completed a 1
          step.completed m [1,null,3]
          flow.completed [1,null,3]
        state
          = {"all":[1,null,3]}
        "#,
    );
}

#[test]
fn an_empty_list_is_through_at_once() {
    check(
        json!({"m": {"transitions": {"onSuccess": "a"}}, "a": {}}),
        r#"
        start
          flow.started
        begin m
          step.started m
        map m a []
          step.await.branches m 0
          step.completed m [] -> a
        "#,
    );
}

#[test]
fn no_more_run_than_the_concurrency_allows() {
    check(
        json!({"m": {}, "a": {"transitions": {"onSuccess": "b"}}, "b": {}}),
        r#"
        start
          flow.started
        begin m
          step.started m
        map m a [0,1,2,3] limit=2
          step.await.branches m 4
        status
          = running; m waiting branches; a pending; a#2 pending; wakes now; runs a a#2
        run a
          step.started a
          step.completed a -> b
        status
          = running; m waiting branches; a#2 pending; b pending; wakes now; runs a#2 b
        run b
          step.started b
          step.completed b
        status
          = running; m waiting branches; a#2 pending; a#3 pending; wakes now; runs a#2 a#3
        see a#3 ${index}
          = 2
        "#,
    );
}

#[test]
fn what_a_branch_writes_stays_in_the_branch() {
    let flow = json!({
        "m": {"outputKey": "all"},
        "a": {"outputKey": "order.total", "transitions": {"onSuccess": "b"}},
        "b": {"outputKey": "mine"},
    });
    check(
        flow,
        r#"
        start {"order":{"id":7}}
          flow.started
        begin m
          step.started m
        map m a [1,2]
          step.await.branches m 2
        run a 10
          step.started a
          step.completed a 10 -> b
        see b ${order}
          = {"id":7,"total":10}
        see a#2 ${order}
          = {"id":7}
        set order.id 8
        see b ${order.id}
          = 7
        see a#2 ${order.id}
          = 8
        run b "m"
          step.started b
          step.completed b "m"
        state
          = {"order":{"id":8}}
        run a#2 20
          step.started a#2
          step.completed a#2 20 -> b
        see b#2 ${mine}
          = nothing
        run b#2 "n"
          step.started b#2
          step.completed b#2 "n"
          step.completed m ["m","n"]
          flow.completed ["m","n"]
        state
          = {"order":{"id":8},"all":["m","n"]}
        "#,
    );
}

#[test]
fn maps_inside_maps_hide_the_outer_item() {
    let flow = json!({
        "m": {},
        "k": {"outputKey": "k", "transitions": {"onSuccess": "n"}},
        "n": {"outputKey": "inner", "transitions": {"onSuccess": "z"}},
        "a": {"outputKey": "a"},
        "z": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin m
          step.started m
        map m k ["x"]
          step.await.branches m 1
        run k "kept"
          step.started k
          step.completed k "kept" -> n
        begin n
          step.started n
        map n a [1,2]
          step.await.branches n 2
        see a#2 ${item} ${index} ${k}
          = "2 1 kept"
        run a 1
          step.started a
          step.completed a 1
        see a#2 ${a}
          = nothing
        run a#2 2
          step.started a#2
          step.completed a#2 2
          step.completed n [1,2] -> z
        see z ${item} ${inner}
          = "x [1,2]"
        run z
          step.started z
          step.completed z
          step.completed m [null]
          flow.completed [null]
        state
          = {}
        "#,
    );
}

#[test]
fn a_plain_fork_inside_a_map_writes_to_the_item() {
    check(
        json!({"m": {}, "p": {"transitions": {"onSuccess": "z"}}, "a": {"outputKey": "x"}, "z": {}}),
        r#"
        start
          flow.started
        begin m
          step.started m
        map m p [1]
          step.await.branches m 1
        begin p
          step.started p
        fork p a
          step.await.branches p 1
        run a 5
          step.started a
          step.completed a 5
          step.completed p {"a":5} -> z
        see z ${x}
          = 5
        state
          = {}
        "#,
    );
}

/// The worst shape: everything at once, ended from the middle outwards.
#[test]
fn ten_thousand_items_take_no_quadratic_time() {
    for (concurrency, reverse) in [(0, false), (0, true), (16, false)] {
        let mut took = Duration::ZERO;
        let mut run = wide(10_000, concurrency);
        loop {
            let mut keys: Vec<VisitKey> =
                run.state.runnable(run.now).map(|v| v.key.clone()).collect();
            if keys.is_empty() {
                break;
            }
            if reverse {
                keys.reverse();
            }
            for visit in keys {
                let begun = std::time::Instant::now();
                run.decide(Input::Begin(visit.clone()));
                let outcome = Outcome::success(Json::from("done"));
                run.decide(Input::Finished {
                    visit,
                    attempt: 1,
                    outcome,
                    jitter: 0.0,
                    retry: None,
                });
                took += begun.elapsed();
            }
        }
        assert_eq!(run.state.status, RunStatus::Completed);
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

#[test]
fn ten_thousand_items_are_cancelled_in_no_quadratic_time() {
    let mut run = wide(10_000, 0);
    let begun = std::time::Instant::now();
    let decision = run.decide(Input::Cancel {
        source: "user",
        reason: None,
    });
    assert_eq!(decision.events.len(), 10_002);
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
}

pub fn wide(items: usize, concurrency: u32) -> Run {
    let definition = json!({
        "limits": {"maxSteps": 100_000},
        "steps": {"m": {}, "a": {}},
    });
    let mut run = Run::start(plan(flow(definition)), Json::null(), None, None);
    let visit = VisitKey {
        step: "m".into(),
        visit: 1,
    };
    run.decide(Input::Begin(visit.clone()));
    let branch = |item: usize| BranchSpec {
        step: "a".into(),
        item: Some(Json::of(&item)),
    };
    let fork = Fork {
        branches: (0..items).map(branch).collect(),
        concurrency,
        fail_fast: true,
        as_list: true,
        scoped: true,
    };
    run.decide(Input::Finished {
        visit,
        attempt: 1,
        outcome: Outcome::Fork(fork),
        jitter: 0.0,
        retry: None,
    });
    run
}
