//! What the engine costs. Ignored: figures mean something in release alone.
//!
//!     cargo nextest run --release -p riverrun-engine --run-ignored only --no-capture

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use riverrun_engine::{Input, Outcome, RunState, Start, VisitKey, decide, start};
use riverrun_types::{Json, RunId, RunStatus};
use serde_json::json;

use super::{
    map::wide,
    run::{T0, flow, plan, reduce},
};

fn per_call(what: &str, calls: u32, mut call: impl FnMut()) {
    (0..calls / 10).for_each(|_| call());
    let begun = Instant::now();
    (0..calls).for_each(|_| call());
    let each: Duration = begun.elapsed() / calls;
    eprintln!("{what}: {each:?}");
}

#[test]
#[ignore = "a measurement"]
fn figures() {
    let plan = plan(flow(json!({
        "a": {"outputKey": "a", "transitions": {"onSuccess": "b"}},
        "b": {"outputKey": "b.c", "transitions": {"onSuccess": "c"}},
        "c": {"outputKey": "c"},
    })));
    let id = RunId::new("0199f0aa-0000-7000-8000-000000000000");
    let input = Json::from(json!({"order": {"id": 7, "lines": [1, 2, 3]}, "user": "ada"}));
    let output = Json::from(json!({"total": 12.5, "ok": true}));
    let keys = ["a", "b", "c"].map(|step| VisitKey {
        step: plan.step(step).unwrap().name.clone(),
        visit: 1,
    });
    let whole_run = || {
        let how = Start {
            input: input.clone(),
            not_before: None,
            parent: None,
            chain: 0,
            correlation_id: None,
            causation_id: None,
        };
        let (mut state, mut all) = start(&plan, how, T0);
        for visit in &keys {
            all.extend(decide(
                &plan,
                &mut state,
                &id,
                Input::Begin(visit.clone()),
                T0,
            ));
            let outcome = Outcome::Success {
                output: Some(output.clone()),
                next: None,
            };
            let ended = Input::Finished {
                visit: visit.clone(),
                attempt: 1,
                outcome,
                jitter: 0.0,
                retry: None,
            };
            all.extend(decide(&plan, &mut state, &id, ended, T0));
        }
        (state, all.events)
    };
    let (state, stream) = whole_run();
    assert_eq!(state.status, RunStatus::Completed);
    per_call("a run of three steps", 200_000, || {
        drop(black_box(whole_run()))
    });
    per_call("replaying it", 200_000, || drop(black_box(reduce(&stream))));
    per_call("a copy of its state", 200_000, || {
        drop(black_box(state.clone()))
    });
    let text = serde_json::to_string(&state).unwrap();
    per_call("writing its snapshot", 200_000, || {
        drop(black_box(serde_json::to_string(&state)))
    });
    per_call("reading its snapshot", 200_000, || {
        drop(black_box(serde_json::from_str::<RunState>(&text)))
    });
    for concurrency in [0, 16] {
        let mut run = wide(10_000, concurrency);
        let begun = Instant::now();
        loop {
            let next = run.state.runnable(T0).next().map(|visit| visit.key.clone());
            let Some(visit) = next else { break };
            decide(
                &run.plan,
                &mut run.state,
                &run.id,
                Input::Begin(visit.clone()),
                T0,
            );
            let outcome = Outcome::Success {
                output: Some(output.clone()),
                next: None,
            };
            let ended = Input::Finished {
                visit,
                attempt: 1,
                outcome,
                jitter: 0.0,
                retry: None,
            };
            decide(&run.plan, &mut run.state, &run.id, ended, T0);
        }
        eprintln!(
            "an item of 10,000, {concurrency} at a time: {:?}",
            begun.elapsed() / 10_000
        );
    }
    let mut run = wide(10_000, 0);
    per_call("a copy of the state with 10,000 visits", 20, || {
        drop(black_box(run.state.clone()))
    });
    let begun = Instant::now();
    run.decide(Input::Cancel {
        source: "user",
        reason: None,
    });
    eprintln!("cancelling 10,000 visits: {:?}", begun.elapsed());
}
