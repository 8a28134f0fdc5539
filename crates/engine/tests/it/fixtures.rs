//! Recorded streams of earlier versions still reduce to the same state.
//!
//! A file of `tests/streams` holds events as the wire has them and the state that they gave when
//! they were recorded. Files are added and never rewritten. `record` writes those that are
//! missing:
//!
//!     cargo nextest run -p riverrun-engine --run-ignored only record

use std::{fs, path::PathBuf};

use riverrun_engine::RunState;
use riverrun_types::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{envelope, run::Run, script::check};

#[derive(Serialize, Deserialize)]
struct Recording {
    about: String,
    state: Value,
    events: Vec<Json>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/streams")
}

#[test]
fn recorded_streams_still_reduce_to_the_same_state() {
    let mut files = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let recording: Recording =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let stream: Vec<_> = recording.events.iter().map(envelope::read).collect();
        let mut state = RunState::new();
        for draft in &stream {
            assert_eq!(state.check_next(draft), Ok(()), "{draft:?}");
            state.apply(draft);
        }
        let now = serde_json::to_value(state).unwrap();
        assert_holds(&now, &recording.state, &path.display().to_string());
        files += 1;
    }
    assert!(files >= 5);
}

/// A later version may know more of a run, and says the same of what the earlier one knew.
fn assert_holds(now: &Value, recorded: &Value, at: &str) {
    match (now, recorded) {
        (Value::Object(now), Value::Object(recorded)) => {
            for (key, value) in recorded {
                assert_holds(
                    now.get(key).unwrap_or(&Value::Null),
                    value,
                    &format!("{at}.{key}"),
                );
            }
        }
        (Value::Array(now), Value::Array(recorded)) if now.len() == recorded.len() => {
            for (index, (now, recorded)) in now.iter().zip(recorded).enumerate() {
                assert_holds(now, recorded, &format!("{at}.{index}"));
            }
        }
        (now, recorded) => assert_eq!(now, recorded, "{at}"),
    }
}

#[test]
#[ignore = "writes the recordings that are missing"]
fn record() {
    for (name, about, run) in recordings() {
        let path = folder().join(format!("{name}.json"));
        if path.exists() {
            continue;
        }
        let recording = Recording {
            about: about.to_owned(),
            state: serde_json::to_value(&run.state).unwrap(),
            events: envelope::write(&run.stream),
        };
        let text = serde_json::to_string_pretty(&recording).unwrap();
        fs::write(path, text + "\n").unwrap();
    }
}

fn recordings() -> Vec<(&'static str, &'static str, Run)> {
    vec![
        (
            "loop-retry-route",
            "a loop, retries, and a failure that its route caught",
            looped(),
        ),
        (
            "parallel-fail-fast",
            "a fork that failed fast, was retried and then joined",
            parallel(),
        ),
        (
            "map-half-way",
            "maps inside a map, half way, with scopes and a limit",
            mapped(),
        ),
        (
            "waits-and-children",
            "a time, a child and a backoff, all waited for in a paused run",
            waiting(),
        ),
        (
            "forked-and-cancelled",
            "lost, written to from outside, copied and cancelled",
            copied(),
        ),
    ]
}

fn looped() -> Run {
    let flow = json!({
        "a": {"outputKey": "n", "retry": {"maxAttempts": 2, "backoffMs": 100}, "transitions": {"onSuccess": "a", "onFailure": "b"}},
        "b": {"outputKey": "deep.b"},
    });
    check(
        flow,
        r#"
        start {"order":{"id":12345678901234567890},"n":null}
          flow.started
        run a 1
          step.started a
          step.completed a 1 -> a
        begin a#2
          step.started a#2
        tick 5
        fail a#2 E
          step.failed a#2 E again at 105
          step.retry a#2/2
        tick 100
        begin a#2
          step.started a#2/2
        fail a#2 F permanent
          step.failed a#2/2 F -> b
        run b null
          step.started b
          step.completed b null
          flow.completed null
        "#,
    )
}

fn parallel() -> Run {
    let flow = json!({
        "p": {"outputKey": "all", "retry": {"maxAttempts": 2}},
        "a": {"outputKey": "a"}, "b": {},
    });
    check(
        flow,
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
          step.failed p BRANCH_FAILED again at 0
          step.retry p/2
        begin p
          step.started p/2
        fork p a,b failfast
          step.await.branches p/2 2
        run a#2 1
          step.started a#2
          step.completed a#2 1
        run b#2 {"two":2.50}
          step.started b#2
          step.completed b#2 {"two":2.50}
          step.completed p/2 {"a":1,"b":{"two":2.50}}
          flow.completed {"a":1,"b":{"two":2.50}}
        "#,
    )
}

fn mapped() -> Run {
    let flow = json!({
        "m": {"outputKey": "all"},
        "k": {"outputKey": "order.k", "transitions": {"onSuccess": "n"}},
        "n": {"outputKey": "inner"},
        "a": {"outputKey": "a", "transitions": {"onFailure": "e"}},
        "e": {"outputKey": "caught"},
    });
    check(
        flow,
        r#"
        start {"order":{"id":7}}
          flow.started
        begin m
          step.started m
        map m k ["x",null,"z"] limit=2
          step.await.branches m 3
        run k "first"
          step.started k
          step.completed k "first" -> n
        run k#2 "second"
          step.started k#2
          step.completed k#2 "second" -> n
        run n "no map here"
          step.started n
          step.completed n "no map here"
        begin n#2
          step.started n#2
        map n#2 a [1,2,3]
          step.await.branches n#2 3
        run a 10
          step.started a
          step.completed a 10
        begin a#2
          step.started a#2
        fail a#2 E
          step.failed a#2 E -> e
        "#,
    )
}

fn waiting() -> Run {
    let flow = json!({"timeoutMs": 60000, "steps": {
        "p": {}, "t": {}, "c": {}, "r": {"retry": {"maxAttempts": 3, "backoffMs": 700}}, "z": {},
    }});
    check(
        flow,
        r#"
        start-in 50
          flow.started from 50 until 60050
        tick 50
        begin p
          step.started p
        fork p t,c,r,z
          step.await.branches p 4
        begin t
          step.started t
        wait t 500
          step.await.time t until 550
        begin c
          step.started c
        sub c kid
          step.await.run c kid
          + kid other@2.0.0 [1] of r1 c depth 1
        begin r
          step.started r
        fail r E
          step.failed r E again at 750
          step.retry r/2
        pause
          flow.paused
        "#,
    )
}

fn copied() -> Run {
    check(
        json!({"timeoutMs": 100, "steps": {"a": {"outputKey": "a", "transitions": {"onSuccess": "b"}}, "b": {}}}),
        r#"
        start
          flow.started until 100
        begin a
          step.started a
        lost
          step.retry a/2 lost
        set x.y [1,null]
        batch [{"type":"set","key":"gone","value":1},{"type":"delete","key":"gone"},{"type":"set","key":"n","value":null}]
        begin a
          step.started a/2
        tick 1000
        fork-here
          flow.forked until 1100
        run a 5
          step.started a/3
          step.completed a/3 5 -> b
        delete x.y
        cancel
          step.cancelled b/0 by user
          flow.cancelled by user
        "#,
    )
}
