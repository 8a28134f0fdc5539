//! The stories: one for each thing that can be waited for, in code and declared.

use serde_json::{Value, json};

use super::{
    code::Script,
    life::{Alive, Story, survives},
};

/// A script, with its code's type written once.
macro_rules! code {
    (|$code:ident| $body:expr) => {{
        let script: Script = |$code| Box::pin(async move { $body });
        script
    }};
}

macro_rules! client {
    (|$alive:ident| $body:expr) => {
        |$alive: Alive| Box::pin(async move { $body })
    };
}

fn flow(id: &str, steps: Value) -> Value {
    let first = steps.as_object().unwrap().keys().next().unwrap().clone();
    json!({"id": id, "version": "1.0.0", "initialStepId": first, "steps": steps})
}

fn process(id: &str, more: Value) -> Value {
    let mut step = json!({"type": "process", "config": {"process": id}});
    let more = more.as_object().unwrap().clone();
    step.as_object_mut().unwrap().extend(more);
    step
}

/// A flow of one process, which does something before it waits and after.
fn alone(script: Script, client: fn(Alive) -> futures::future::BoxFuture<'static, ()>) -> Story {
    Story {
        flows: vec![flow("f", json!({"a": process("p", json!({}))}))],
        processes: vec![("p", Value::Null, script)],
        client,
    }
}

/// An await in code is a start, a wait, a firing and a resumption: each is written, and each is
/// a place to die at.
const LEAST: usize = 8;

#[test]
fn code_that_waits_for_a_time() {
    let story = alone(
        code!(|code| {
            code.run("before").await?;
            let wait =
                json!({"type": "time", "resumeAt": riverrun_types::time::iso(now_ms() + 20)});
            code.wait("time", wait)?.unwrap();
            code.run("after").await?;
            Ok(json!("rested"))
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            assert_eq!(alive.end(&run).await, "rested");
            assert!(alive.world.times(&run, "before") > 0);
            assert!(alive.world.times(&run, "after") > 0);
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn code_that_waits_for_an_event() {
    let story = alone(
        code!(|code| {
            code.run("before").await?;
            let wait = json!({"type": "event", "eventKind": "paid", "match": {"data.id": 1}});
            let event = code.wait("paid", wait)?.unwrap();
            code.run("after").await?;
            Ok(event["data"].clone())
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            alive.until(&run, "step.await.event").await;
            alive.emit("paid", json!({"id": 2})).await;
            alive.emit("paid", json!({"id": 1})).await;
            assert_eq!(alive.end(&run).await, json!({"id": 1}));
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn code_that_looks_back_on_an_event() {
    let story = alone(
        code!(|code| {
            let wait = json!({"type": "event", "eventKind": "paid", "match": {"data.id": 1}, "lookbackMs": 600_000});
            let event = code.wait("paid", wait)?.unwrap();
            code.run("after").await?;
            Ok(event["data"].clone())
        }),
        client!(|alive| {
            alive.emit("paid", json!({"id": 1})).await;
            let run = alive.start("f", json!({})).await;
            assert_eq!(alive.end(&run).await, json!({"id": 1}));
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn code_that_takes_one_event_after_the_other() {
    let story = alone(
        code!(|code| {
            let mut seen = Vec::new();
            while seen.last().is_none_or(|n| *n != 3) {
                let wait = json!({"type": "event", "eventKind": "paid", "lookbackMs": 600_000});
                let event = code.wait("paid", wait)?.unwrap();
                seen.push(event["data"]["n"].as_i64().unwrap());
            }
            Ok(json!(seen))
        }),
        client!(|alive| {
            alive.emit("paid", json!({"n": 1})).await;
            alive.emit("paid", json!({"n": 2})).await;
            let run = alive.start("f", json!({})).await;
            alive.emit("paid", json!({"n": 3})).await;
            let seen = alive.end(&run).await;
            let mut seen: Vec<_> = seen.as_array().unwrap().clone();
            // What was not acknowledged was emitted again.
            seen.dedup();
            assert_eq!(json!(seen), json!([1, 2, 3]));
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn code_that_waits_for_an_event_that_only_an_expression_can_tell() {
    for lookback in [Value::Null, json!(600_000)] {
        let story = Story {
            flows: vec![flow("f", json!({"a": process("p", json!({}))}))],
            processes: vec![(
                "p",
                Value::Null,
                code!(|code| {
                    let mut wait = json!({"type": "event", "eventKind": "paid", "where": "(e) => e.data.total > 100"});
                    if code.input()["lookback"].is_number() {
                        wait["lookbackMs"] = code.input()["lookback"].clone();
                    }
                    let event = code.wait("paid", wait)?.unwrap();
                    Ok(event["data"].clone())
                }),
            )],
            client: match lookback.is_null() {
                true => client!(|alive| {
                    let run = alive.start("f", json!({})).await;
                    alive.until(&run, "step.await.event").await;
                    alive.emit("paid", json!({"total": 5})).await;
                    alive.emit("paid", json!({"total": 500})).await;
                    assert_eq!(alive.end(&run).await, json!({"total": 500}));
                }),
                false => client!(|alive| {
                    alive.emit("paid", json!({"total": 5})).await;
                    alive.emit("paid", json!({"total": 500})).await;
                    let run = alive.start("f", json!({"lookback": 600_000})).await;
                    assert_eq!(alive.end(&run).await, json!({"total": 500}));
                }),
            },
        };
        assert!(survives(&story) > LEAST);
    }
}

impl Alive {
    /// Resumes the callback of a run until there is an answer, each time with another value, and
    /// once more after that. The answer is the value with which it was opened, as far as that is
    /// known.
    async fn resume_callback_of(&self, run: &riverrun_types::RunId) -> Option<Value> {
        self.until(run, "step.await.trigger").await;
        let callback = self.callback_of(run).await.unwrap();
        if self.world.answer("callback").is_none() {
            let value = json!(self.world.next());
            match self.open(&callback, value.clone()).await.as_str() {
                "resumed" => self.world.answered("callback", value),
                // It was resumed in an earlier life, which died before the answer.
                "AWAIT_USED" | "AWAIT_EXPIRED" => self.world.answered("callback", Value::Null),
                other => panic!("{other}"),
            }
        }
        let again = self.open(&callback, json!("again")).await;
        assert!(
            ["AWAIT_USED", "AWAIT_EXPIRED"].contains(&&*again),
            "{again}"
        );
        self.world
            .answer("callback")
            .filter(|value| !value.is_null())
    }
}

#[test]
fn code_that_waits_for_a_callback() {
    let story = alone(
        code!(|code| {
            code.run("before").await?;
            let callback = code.callback(json!({"type": "api"})).await?;
            code.run("between").await?;
            let came = code.wait(&callback, json!({"type": "trigger", "triggerId": callback}))?;
            code.run("after").await?;
            Ok(json!({"came": came.unwrap()}))
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            let value = alive.resume_callback_of(&run).await;
            let came = alive.end(&run).await["came"].clone();
            assert!(value.is_none_or(|value| value == came), "{came}");
            assert!(came.is_number(), "{came}");
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn a_callback_whose_time_runs_out_while_it_is_resumed() {
    let story = alone(
        code!(|code| {
            let callback = code
                .callback(json!({"type": "webhook", "timeoutMs": 25}))
                .await?;
            let wait = json!({"type": "trigger", "triggerId": callback, "timeoutMs": 25});
            Ok(match code.wait(&callback, wait)? {
                Ok(value) => json!({"came": value}),
                Err(code) => json!({"error": code}),
            })
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            let value = alive.resume_callback_of(&run).await;
            let end = alive.end(&run).await;
            match value {
                Some(value) => assert_eq!(end, json!({"came": value})),
                None => assert!(
                    end["came"].is_number() || end["error"] == "AWAIT_TIMEOUT",
                    "{end}"
                ),
            }
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn a_step_that_its_definition_holds_back() {
    let tell = code!(|code| {
        let step = code.step();
        code.run(&step).await?;
        Ok(json!({"awaited": code.awaited()}))
    });
    let story = Story {
        flows: vec![flow(
            "f",
            json!({
                "order": {"type": "set", "config": {"value": {"id": 7}}, "outputKey": "order", "transitions": {"onSuccess": "event"}},
                "event": process("tell", json!({
                    "input": {"type": "key", "key": "order"}, "outputKey": "event",
                    "await": {"type": "event", "eventKind": "paid", "match": {"data.id": "input.id"}, "timeout": "1h"},
                    "transitions": {"onSuccess": "callback"},
                })),
                "callback": process("tell", json!({
                    "outputKey": "callback", "await": {"type": "trigger", "timeout": "1h"},
                    "transitions": {"onSuccess": "nap"},
                })),
                "nap": process("tell", json!({"await": {"type": "time", "delay": 15}, "transitions": {"onSuccess": "late"}})),
                "late": process("tell", json!({
                    "await": {"type": "trigger", "timeout": 15, "onTimeout": "end"}, "outputKey": "late",
                })),
                "end": {"type": "set", "config": {"value": "${callback}"}},
            }),
        )],
        processes: vec![("tell", Value::Null, tell)],
        client: client!(|alive| {
            let run = alive.start("f", json!({})).await;
            alive.until(&run, "step.await.event").await;
            alive.emit("paid", json!({"id": 7})).await;
            let value = alive.resume_callback_of(&run).await;
            let end = alive.end(&run).await;
            assert!(
                value.is_none_or(|value| end == json!({"awaited": value})),
                "{end}"
            );
        }),
    };
    assert!(survives(&story) > 2 * LEAST);
}

#[test]
fn a_built_in_step_that_waits_in_a_branch_beside_others() {
    let story = Story {
        flows: vec![flow(
            "f",
            json!({
                "fan": {"type": "parallel", "config": {"branches": ["nap", "callback", "event"]}, "outputKey": "fan"},
                "nap": {"type": "delay", "config": {"ms": 15}},
                "callback": {"type": "set", "config": {"value": "resumed"}, "await": {"type": "trigger", "timeout": 40, "onTimeout": "late"}},
                "late": {"type": "set", "config": {"value": "late"}},
                "event": {"type": "set", "config": {"value": "paid"}, "await": {"type": "event", "eventKind": "paid"}},
            }),
        )],
        processes: Vec::new(),
        client: client!(|alive| {
            let run = alive.start("f", json!({})).await;
            let opened = alive.resume_callback_of(&run).await;
            alive.until(&run, "step.await.event").await;
            alive.emit("paid", json!({})).await;
            let end = alive.end(&run).await;
            assert_eq!(end["event"], "paid");
            let ends = if opened.is_some() {
                &["resumed"][..]
            } else {
                &["resumed", "late"]
            };
            assert!(ends.contains(&end["callback"].as_str().unwrap()), "{end}");
        }),
    };
    assert!(survives(&story) > LEAST);
}

#[test]
fn events_that_are_joined_and_undone() {
    let story = Story {
        flows: vec![flow(
            "f",
            json!({
                "order": process("order", json!({"emits": ["stock", "card"], "compensation": {"step": "undo"}})),
                "pack": process("pack", json!({
                    "subscriptions": [{"eventKind": "stock"}, {"eventKind": "card"}], "join": "all",
                    "compensation": {"step": "undo"}, "outputKey": "both", "transitions": {"onSuccess": "ship"},
                })),
                "ship": process("ship", json!({"input": {"type": "key", "key": "both"}})),
                "undo": process("undo", json!({})),
            }),
        )],
        processes: vec![
            (
                "order",
                Value::Null,
                code!(|code| {
                    code.run("order").await?;
                    code.emit("stock", json!(1)).await?;
                    code.emit("card", json!(2)).await?;
                    Ok(json!("ordered"))
                }),
            ),
            (
                "pack",
                Value::Null,
                code!(|code| {
                    code.run("pack").await?;
                    Ok(code.input())
                }),
            ),
            (
                "ship",
                Value::Null,
                code!(|code| {
                    assert_eq!(code.input(), json!({"stock": 1, "card": 2}));
                    let lost = riverrun_protocol::WorkError::new("LOST_AT_SEA", "no ship came");
                    Err(lost.permanent().into())
                }),
            ),
            (
                "undo",
                Value::Null,
                code!(|code| {
                    let of = code.input()["step"].as_str().unwrap().to_owned();
                    code.run(&format!("undo {of}")).await?;
                    Ok(json!(null))
                }),
            ),
        ],
        client: client!(|alive| {
            let run = alive.start("f", json!({})).await;
            assert_eq!(alive.end(&run).await, json!({"failed": "LOST_AT_SEA"}));
            for effect in ["order", "pack", "undo order", "undo pack"] {
                assert!(alive.world.times(&run, effect) > 0, "{effect}");
            }
            let undone: Vec<String> = alive
                .events(&run)
                .await
                .iter()
                .filter(|event| event.kind.as_str() == "step.completed")
                .map(|event| event.step.as_ref().unwrap().name.to_string())
                .collect();
            assert_eq!(undone, ["order", "pack", "undo", "undo"]);
        }),
    };
    assert!(survives(&story) > 2 * LEAST);
}

#[test]
fn callbacks_without_a_waiting_step() {
    let story = alone(
        code!(|code| {
            code.callback(json!({"type": "api"})).await?;
            let callback = code
                .callback(json!({"type": "api", "timeoutMs": 15}))
                .await?;
            let wait = json!({"type": "trigger", "triggerId": callback, "timeoutMs": 15});
            assert_eq!(code.wait(&callback, wait)?, Err("AWAIT_TIMEOUT".to_owned()));
            Ok(json!("home"))
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            assert_eq!(alive.end(&run).await, "home");
        }),
    );
    assert!(survives(&story) > LEAST);
}

#[test]
fn a_callback_that_is_resumed_again_and_again() {
    let story = alone(
        code!(|code| {
            let callback = code.callback(json!({"type": "api", "many": true})).await?;
            let mut came = Vec::new();
            for _ in 0..3 {
                let wait = json!({"type": "trigger", "triggerId": callback});
                came.push(code.wait(&callback, wait)?.unwrap());
            }
            Ok(json!(came))
        }),
        client!(|alive| {
            let run = alive.start("f", json!({})).await;
            alive.until(&run, "step.await.trigger").await;
            let callback = alive.callback_of(&run).await.unwrap();
            let mut opened = Vec::new();
            for at in 0..3 {
                let request = format!("opening {at}");
                if alive.world.answer(&request).is_none() {
                    let value = json!(alive.world.next());
                    match alive.open(&callback, value.clone()).await.as_str() {
                        "resumed" => alive.world.answered(&request, value),
                        // An earlier life has resumed it more often than it got answers.
                        "AWAIT_USED" => alive.world.answered(&request, Value::Null),
                        other => panic!("{other}"),
                    }
                }
                opened.extend(
                    alive
                        .world
                        .answer(&request)
                        .filter(|value| !value.is_null()),
                );
            }
            let end = alive.end(&run).await;
            let came = end.as_array().unwrap();
            assert_eq!(came.len(), 3);
            // In the order in which they came; what nobody got an answer for may stand between.
            let numbers: Vec<u64> = came.iter().map(|came| came.as_u64().unwrap()).collect();
            assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
            let last = numbers[2];
            let expected = opened
                .iter()
                .filter(|value| value.as_u64().unwrap() <= last);
            assert!(
                expected.clone().all(|value| came.contains(value)),
                "{opened:?} {came:?}"
            );
        }),
    );
    assert!(survives(&story) > LEAST);
}

fn now_ms() -> i64 {
    riverrun_runtime::Clock::default().now_ms()
}

/// Built-in steps emit when they complete: by their handlers, after a time, with their branches.
/// Each event is there once, whenever the server died.
#[test]
fn steps_as_data_that_emit_and_wait() {
    let steps = json!({
        "make": {"type": "transform", "config": {"transform": "({n: 1})"}, "emits": ["made", "sent"],
                 "await": {"type": "time", "delay": 20}},
        "pay": {"type": "transform", "config": {"transform": "({by: awaited.data.by, n: input.n})"},
                "subscriptions": [{"eventKind": "made"}], "await": {"type": "event", "eventKind": "paid"}, "emits": ["settled"]},
        "all": {"type": "parallel", "config": {"branches": ["one", "two"]}, "subscriptions": [{"eventKind": "settled"}],
                "await": {"type": "time", "delay": "10ms"}, "emits": ["done"]},
        "one": {"type": "set", "config": {"value": 1}},
        "two": process("p", json!({})),
        "last": {"type": "transform", "config": {"transform": "input"}, "join": "all",
                 "subscriptions": [{"eventKind": "settled"}, {"eventKind": "done"}, {"eventKind": "sent"}]},
    });
    let story = Story {
        flows: vec![flow("f", steps)],
        processes: vec![("p", Value::Null, code!(|_code| Ok(json!(2))))],
        client: client!(|alive| {
            let run = alive.start("f", json!({})).await;
            alive.until(&run, "step.await.event").await;
            alive.emit("paid", json!({"by": "card"})).await;
            assert_eq!(
                alive.end(&run).await,
                json!({"settled": {"by": "card", "n": 1}, "done": {"one": 1, "two": 2}, "sent": {"n": 1}})
            );
            let events = alive.events(&run).await;
            for kind in ["made", "sent", "settled", "done"] {
                let times = events.iter().filter(|event| event.kind.as_str() == kind);
                assert_eq!(times.count(), 1, "{kind}");
            }
        }),
    };
    assert!(survives(&story) > LEAST);
}
