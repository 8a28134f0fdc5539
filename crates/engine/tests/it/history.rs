//! History as others read it.

use riverrun_engine::{History, HistoryEntry, history};
use serde_json::json;

use super::script::check;

fn lines(entries: &[HistoryEntry]) -> Vec<String> {
    let line = |entry: &HistoryEntry| {
        let value = serde_json::to_value(entry).unwrap();
        let error = value["error"]["code"].as_str().unwrap_or("");
        let HistoryEntry {
            step_id,
            visit,
            attempt,
            duration_ms,
            ..
        } = entry;
        format!(
            "{step_id} {visit}/{attempt} {} {duration_ms} {error}",
            value["outcome"].as_str().unwrap()
        )
        .trim()
        .to_owned()
    };
    entries.iter().map(line).collect()
}

#[test]
fn every_attempt_that_ended_has_one_entry() {
    let flow = json!({
        "a": {"retry": {"maxAttempts": 2, "backoffMs": 50}, "transitions": {"onSuccess": "w"}},
        "w": {"transitions": {"onResume": "a2"}},
        "a2": {"transitions": {"onSuccess": "p"}},
        "p": {}, "b": {}, "c": {}, "d": {},
    });
    let run = check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        tick 5
        fail a E
          step.failed a E again at 55
          step.retry a/2
        tick 50
        begin a
          step.started a/2
        tick 3
        ok a
          step.completed a/2 -> w
        begin w
          step.started w
        wait w 100
          step.await.time w until 158
        tick 100
        due
          step.resumed w after 100
          step.completed w -> a2
        begin a2
          step.started a2
        tick 7
        lost
          step.retry a2/2 lost
        run a2
          step.started a2/2
          step.completed a2/2 -> p
        begin p
          step.started p
        fork p b,c,d
          step.await.branches p 3
        begin b
          step.started b
        sub b kid
          step.await.run b kid
          + kid other@2.0.0 [1] of r1 b depth 1
        tick 1
        child b kid 1
          step.resumed b after 1
          step.completed b 1
        begin c
          step.started c
        tick 2
        cancel
          step.cancelled d/0 by user
          step.cancelled c by user
          step.cancelled p by user
          flow.cancelled by user
        "#,
    );
    let whole = history(&run.stream);
    assert_eq!(
        lines(&whole),
        [
            "a 1/1 failure 5 E",
            "a 1/2 success 3",
            "w 1/1 wait 100",
            "a2 1/1 failure 7 WORKER_LOST",
            "a2 1/2 success 0",
            "b 1/1 success 1",
            "c 1/1 cancelled 2",
            "p 1/1 cancelled 3",
        ]
    );
    let mut paged = History::default();
    for page in run.stream.chunks(3) {
        page.iter().for_each(|draft| paged.apply(draft));
    }
    assert_eq!(paged.entries(), whole);
    assert_eq!(
        serde_json::to_value(&whole[0]).unwrap(),
        json!({
            "stepId": "a", "visit": 1, "attempt": 1, "outcome": "failure",
            "startedAt": "2023-11-14T22:13:20.000Z", "completedAt": "2023-11-14T22:13:20.005Z",
            "durationMs": 5, "error": {"code": "E", "message": "why"},
        })
    );
}

#[test]
fn in_a_copy_what_ran_in_the_original_is_cancelled() {
    let run = check(
        json!({"p": {}, "a": {}, "b": {}}),
        r#"
        start
          flow.started
        begin p
          step.started p
        fork p a,b
          step.await.branches p 2
        begin a
          step.started a
        begin b
          step.started b
        wait b 50
          step.await.time b until 50
        tick 4
        fork-here
          flow.forked
        run a
          step.started a/2
          step.completed a/2
        tick 46
        due
          step.resumed b after 50
          step.completed b
          step.completed p {"a":null,"b":null}
          flow.completed {"a":null,"b":null}
        "#,
    );
    assert_eq!(
        lines(&history(&run.stream)),
        [
            "a 1/1 cancelled 4",
            "a 1/2 success 0",
            "b 1/1 wait 50",
            "p 1/1 success 50"
        ]
    );
}

/// The start of a job's attempt is recorded later than it was: with its end, or when it has taken a
/// while.
#[test]
fn an_attempt_of_a_job_takes_as_long_as_it_took() {
    let job = || json!({"type": "process", "config": {"process": "p"}});
    let run = check(
        json!({"a": job()}),
        r#"
        start
          flow.started
          > a
        tick 45
        began a 1 ago 45
          step.started a
        ok a/1 1
          step.completed a 1
          flow.completed 1
        "#,
    );
    assert_eq!(lines(&history(&run.stream)), ["a 1/1 success 45"]);
    // Others have written to the stream since.
    let run = check(
        json!({"f": {}, "b": job(), "c": job()}),
        r#"
        start
          flow.started
        begin f
          step.started f
        fork f b,c
          step.await.branches f 2
          > b
          > c
        tick 40
        began b 1 ago 40
          step.started b
        ok b/1 1
          step.completed b 1
        tick 260
        began c 1 ago 290
          step.started c
        ok c/1 1
          step.completed c 1
          step.completed f {"b":1,"c":1}
          flow.completed {"b":1,"c":1}
        "#,
    );
    let found = lines(&history(&run.stream));
    assert_eq!(found[..2], ["b 1/1 success 40", "c 1/1 success 290"]);
}
