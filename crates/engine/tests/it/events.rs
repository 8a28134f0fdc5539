//! Steps that events enter: visits, joins, loops, what a failure stops and what is undone.

use riverrun_engine::{AwaitFor, Awaiting, Input, Outcome};
use riverrun_types::{Draft, EventType, StepRef};
use serde_json::json;

use super::{
    run::{Run, T0},
    script::{check, check_after},
};

#[test]
fn each_event_is_a_visit_of_its_own() {
    let flow = json!({
        "order": {"type": "process", "config": {"process": "p"}, "emits": ["paid"]},
        "ship": {"outputKey": "shipped", "subscriptions": [{"eventKind": "paid"}]},
        "mail": {"subscriptions": [{"eventKind": "paid"}]},
    });
    check(
        flow,
        r#"
        start
          flow.started
          > order
        began order 1
          step.started order
        emit-by order paid {"n":1} ship mail={"to":"a"}
          paid order
          step.entered ship/0
          step.entered mail/0
        emit-by order paid {"n":2} ship ship={"again":true} ship
          paid order
          step.entered ship#2/0
        given ship
          = {"n":1} awaited nothing
        given mail
          = {"to":"a"} awaited nothing
        journal order
          = emit paid
          = emit paid
        ok order "done"
          step.completed order "done"
        run ship 1
          step.started ship
          step.completed ship 1
        run ship#2 2
          step.started ship#2
          step.completed ship#2 2
        run mail
          step.started mail
          step.completed mail
          flow.completed null
        "#,
    );
}

#[test]
fn a_join_takes_one_event_of_each_kind() {
    let flow = json!({
        "a": {},
        "both": {"join": "all", "subscriptions": [{"eventKind": "x"}, {"eventKind": "y"}]},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        emit x 1 both
          x
          step.joined x
        emit x 2 both
          x
          step.joined x
        emit y 3 both
          y
          step.joined y
          step.entered both/0 joined
        given both
          = {"x":1,"y":3} awaited nothing
        emit y 4 both
          y
          step.joined y
          step.entered both#2/0 joined
        given both#2
          = {"x":2,"y":4} awaited nothing
        "#,
    );
}

#[test]
fn a_step_that_feeds_itself_meets_the_limit() {
    let flow = json!({
        "steps": {"a": {"subscriptions": [{"eventKind": "again"}]}},
        "limits": {"maxSteps": 2},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin a
          step.started a
        emit-by a again null a
          again a
          step.entered a#2/0
        ok a
          step.completed a
        begin a#2
          step.started a#2
        emit-by a#2 again null a
          again a#2
          step.entered a#3/0
        ok a#2
          step.completed a#2
        begin a#3
          step.cancelled a#3/0 by system
          flow.failed MAX_STEPS
        "#,
    );
}

#[test]
fn a_failure_stops_the_others_or_lets_them_finish() {
    let steps = json!({
        "a": {}, "b": {"subscriptions": [{"eventKind": "x"}]}, "c": {"subscriptions": [{"eventKind": "x"}]},
    });
    let begun = "
        start
          flow.started
        begin a
          step.started a
        emit x 1 b c
          x
          step.entered b/0
          step.entered c/0
        ok a
          step.completed a
        begin b
          step.started b
    ";
    check_after(
        json!({"steps": steps.clone()}),
        begun,
        r#"
        fail b E
          step.failed b E
          step.cancelled c/0 by system
          flow.failed E at b
        "#,
    );
    check_after(
        json!({"steps": steps, "onFailure": "finish"}),
        begun,
        r#"
        fail b E
          step.failed b E
        run c 1
          step.started c
          step.completed c 1
          flow.failed E at b
        "#,
    );
}

#[test]
fn a_failure_undoes_what_was_done_the_last_first() {
    let flow = json!({
        "book": {"compensation": {"step": "unbook"}, "transitions": {"onSuccess": "pay"}},
        "pay": {"compensation": {"step": "refund"}, "transitions": {"onSuccess": "send"}},
        "send": {},
        "unbook": {}, "refund": {"retry": {"maxAttempts": 2}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run book {"seat":7}
          step.started book
          step.completed book {"seat":7} -> pay
        run pay
          step.started pay
          step.completed pay -> send
        begin send
          step.started send
        fail send E
          step.failed send E
          flow.compensating E
          step.entered refund/0 undoes pay
        emit x 1 book
          x
        begin refund
          step.started refund
        fail refund F
          step.failed refund F again at 0
          step.retry refund/2
        begin refund
          step.started refund/2
        fail refund F
          step.failed refund/2 F
          step.entered unbook/0 undoes book
        given unbook
          = {"step":"book","visit":1,"result":{"seat":7},"error":{"code":"E","message":"why","stepId":"send"}} awaited nothing
        run unbook
          step.started unbook
          step.completed unbook
          flow.failed E at send
        "#,
    );
}

#[test]
fn a_run_whose_parent_failed_undoes_what_it_did_and_is_cancelled() {
    let flow = json!({
        "book": {"compensation": {"step": "unbook"}, "transitions": {"onSuccess": "pay"}},
        "pay": {"compensation": {"step": "refund"}, "transitions": {"onSuccess": "send"}},
        "send": {},
        "unbook": {}, "refund": {},
    });
    check(
        flow.clone(),
        r#"
        start
          flow.started
        run book {"seat":7}
          step.started book
          step.completed book {"seat":7} -> pay
        run pay
          step.started pay
          step.completed pay -> send
        begin send
          step.started send
        abandon
          step.cancelled send by parent
          flow.compensating CANCELLED
          step.entered refund/0 undoes pay
        abandon
        begin refund
          step.started refund
        fail refund F
          step.failed refund F
          step.entered unbook/0 undoes book
        given unbook
          = {"step":"book","visit":1,"result":{"seat":7},"error":{"code":"CANCELLED","message":"it failed"}} awaited nothing
        run unbook
          step.started unbook
          step.completed unbook
          flow.cancelled by parent
        status
          = cancelled; wakes never; runs nothing
        "#,
    );
    // One that has nothing to undo ends at once, and one that fails by itself fails.
    check(
        flow.clone(),
        r#"
        start
          flow.started
        begin book
          step.started book
        abandon
          step.cancelled book by parent
          flow.cancelled by parent
        "#,
    );
    check(
        flow.clone(),
        r#"
        start
          flow.started
        run book
          step.started book
          step.completed book -> pay
        begin pay
          step.started pay
        fail pay E
          step.failed pay E
          flow.compensating E
          step.entered unbook/0 undoes book
        abandon
        run unbook
          step.started unbook
          step.completed unbook
          flow.failed E at pay
        "#,
    );
    // Whoever cancels it undoes nothing more.
    check(
        flow,
        r#"
        start
          flow.started
        run book
          step.started book
          step.completed book -> pay
        abandon
          step.cancelled pay/0 by parent
          flow.compensating CANCELLED
          step.entered unbook/0 undoes book
        cancel
          step.cancelled unbook/0 by user
          flow.cancelled by user
        "#,
    );
}

#[test]
fn an_event_can_call_for_undoing_too() {
    let flow = json!({
        "book": {"compensation": {"step": "unbook", "on": "cancelled"}, "transitions": {"onSuccess": "wait"}},
        "wait": {}, "unbook": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run book 7
          step.started book
          step.completed book 7 -> wait
        begin wait
          step.started wait
        emit cancelled null
          cancelled
          step.entered unbook/0 undoes book
        emit cancelled null
          cancelled
        run unbook
          step.started unbook
          step.completed unbook
        ok wait
          step.completed wait
          flow.completed null
        "#,
    );
}

#[test]
fn a_run_that_meets_the_step_limit_is_undone_outside_of_it() {
    let flow = json!({
        "steps": {
            "book": {"compensation": {"step": "unbook"}, "transitions": {"onSuccess": "pay"}},
            "pay": {"compensation": {"step": "refund"}, "transitions": {"onSuccess": "spin"}},
            "spin": {"transitions": {"onSuccess": "spin"}},
            "unbook": {}, "refund": {},
        },
        "limits": {"maxSteps": 3},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run book 1
          step.started book
          step.completed book 1 -> pay
        run pay 2
          step.started pay
          step.completed pay 2 -> spin
        run spin
          step.started spin
          step.completed spin -> spin
        begin spin#2
          step.cancelled spin#2/0 by system
          flow.compensating MAX_STEPS
          step.entered refund/0 undoes pay
        run refund
          step.started refund
          step.completed refund
          step.entered unbook/0 undoes book
        run unbook
          step.started unbook
          step.completed unbook
          flow.failed MAX_STEPS
        "#,
    );
}

#[test]
fn what_undoes_keeps_the_failure_that_began_it() {
    let flow = json!({
        "steps": {
            "a": {"compensation": {"step": "ua"}, "transitions": {"onSuccess": "b"}},
            "b": {"compensation": {"step": "ub"}, "transitions": {"onSuccess": "c"}},
            "c": {}, "ua": {},
            "ub": {"transitions": {"onSuccess": "tell"}},
            "tell": {"transitions": {"onSuccess": "tell"}},
        },
        "limits": {"maxSteps": 3},
    });
    // What follows from a compensation has the limit for itself, and meets it.
    check(
        flow,
        r#"
        start
          flow.started
        run a
          step.started a
          step.completed a -> b
        run b
          step.started b
          step.completed b -> c
        begin c
          step.started c
        fail c E
          step.failed c E
          flow.compensating E
          step.entered ub/0 undoes b
        run ub
          step.started ub
          step.completed ub -> tell
        run tell
          step.started tell
          step.completed tell -> tell
        run tell#2
          step.started tell#2
          step.completed tell#2 -> tell
        run tell#3
          step.started tell#3
          step.completed tell#3 -> tell
        begin tell#4
          step.cancelled tell#4/0 by system
          step.entered ua/0 undoes a
        run ua
          step.started ua
          step.completed ua
          flow.failed E at c
        "#,
    );
}

#[test]
fn what_an_event_undoes_takes_no_steps_from_the_run() {
    let flow = json!({
        "steps": {
            "book": {"compensation": {"step": "unbook", "on": "cancelled"}, "transitions": {"onSuccess": "wait"}},
            "wait": {"transitions": {"onSuccess": "last"}}, "last": {},
            "unbook": {"type": "process", "config": {"process": "p"}},
        },
        "limits": {"maxSteps": 3},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run book
          step.started book
          step.completed book -> wait
        begin wait
          step.started wait
        emit cancelled null
          cancelled
          step.entered unbook/0 undoes book
          > unbook
        began unbook 1
          step.started unbook
        ok unbook
          step.completed unbook
        ok wait
          step.completed wait -> last
        run last
          step.started last
          step.completed last
          flow.completed null
        "#,
    );
}

#[test]
fn a_built_in_step_emits_its_output_when_it_completes() {
    let flow = json!({
        "make": {"emits": ["made", "sent", "made", "log.info"], "outputKey": "it"},
        "take": {"subscriptions": [{"eventKind": "made"}], "emits": ["taken"]},
        "both": {"join": "all", "subscriptions": [{"eventKind": "made"}, {"eventKind": "taken"}]},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run make {"n":1}
          step.started make
          step.completed make {"n":1}
          ^ made
          ^ sent
        status
          = running; wakes now; runs nothing
        emits take both
          made make
          step.entered take/0
          step.joined made
          ^ sent
        given take
          = {"n":1} awaited nothing
        emits
          sent make
        run take
          step.started take
          step.completed take
          ^ taken
        emits both
          taken take
          step.joined taken
          step.entered both/0 joined
        given both
          = {"made":{"n":1},"taken":null} awaited nothing
        run both
          step.started both
          step.completed both
          flow.completed null
        "#,
    );
}

#[test]
fn what_fails_emits_nothing_and_each_visit_emits_once() {
    let flow = json!({
        "make": {"emits": ["made"], "retry": {"maxAttempts": 3}},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin make
          step.started make
        fail make E
          step.failed make E again at 0
          step.retry make/2
        begin make
          step.started make/2
        lost
          step.retry make/3 lost
        begin make
          step.started make/3
        wait make 10
          step.await.time make/3 until 10
        tick 10
        due
          step.resumed make/3 after 10
          step.completed make/3
          ^ made
        due
          ^ made
        fork-here
          flow.forked
          ^ made
        emits
          made make/3
          flow.completed null
        "#,
    );
}

#[test]
fn a_run_that_undoes_says_what_it_emits_and_begins_nothing_with_it() {
    let flow = json!({
        "book": {"compensation": {"step": "unbook"}, "transitions": {"onSuccess": "pay"}},
        "pay": {}, "unbook": {"emits": ["unbooked"]}, "mail": {"subscriptions": [{"eventKind": "unbooked"}]},
    });
    check(
        flow,
        r#"
        start
          flow.started
        run book
          step.started book
          step.completed book -> pay
        begin pay
          step.started pay
        fail pay E
          step.failed pay E
          flow.compensating E
          step.entered unbook/0 undoes book
        run unbook
          step.started unbook
          step.completed unbook
          ^ unbooked
        emits mail
          unbooked unbook
          flow.failed E at pay
        "#,
    );
}

#[test]
fn a_fork_emits_what_its_branches_gave() {
    let flow = json!({
        "all": {"emits": ["done"]}, "p": {}, "q": {},
    });
    check(
        flow,
        r#"
        start
          flow.started
        begin all
          step.started all
        fork all p,q
          step.await.branches all 2
        run p 1
          step.started p
          step.completed p 1
        run q 2
          step.started q
          step.completed q 2
          step.completed all {"p":1,"q":2}
          ^ done
        emits
          done all
          flow.completed {"p":1,"q":2}
        "#,
    );
}

/// Somebody outside may name a step, which speaks of no visit of it: whatever its code has yet to
/// say is still its own to say. Older streams have such events in the name of the first visit, and
/// those that came while its code was not under way are distinguished from its own.
#[test]
fn only_the_code_of_a_step_writes_its_journal() {
    let mut run = check(
        json!({"a": {"type": "process", "config": {"process": "p"}}}),
        r#"
        start
          flow.started
          > a
        began a 1
          step.started a
        "#,
    );
    let outside = |kind: EventType, visit: u32| {
        let data = json!({"key": "k", "value": 1});
        Draft::new(T0, kind).data(data).step(StepRef {
            name: "a".into(),
            visit,
            attempt: 1,
        })
    };
    let kinds = || {
        [
            EventType::parse("k.e"),
            EventType::Emit,
            EventType::StateSet,
        ]
    };
    let journal = |run: &Run| run.state.visits.last().unwrap().journal.clone();
    for kind in kinds() {
        run.state.apply(&outside(kind, 0));
    }
    assert_eq!(journal(&run), []);
    let awaiting = Awaiting {
        id: "t".into(),
        what: AwaitFor::Time,
        until_ms: Some(T0 + 5),
        in_code: true,
    };
    let visit = run.state.visits.last().unwrap().key.clone();
    run.decide(Input::Finished {
        visit,
        attempt: 1,
        outcome: Outcome::Await(awaiting),
        jitter: 0.0,
        retry: None,
    });
    for kind in kinds() {
        run.state.apply(&outside(kind, 1));
    }
    assert_eq!(journal(&run), []);
}

/// An `emit` has its kind in its data, and carries its payload, or else all that stands there.
#[test]
fn an_event_with_a_topic_carries_what_stands_beside_it() {
    for (data, given) in [
        (
            r#"{"topic":"paid","payload":{"n":1},"by":"card"}"#,
            r#"{"n":1}"#,
        ),
        (r#"{"topic":"paid","payload":null}"#, "null"),
        (r#"{"topic":"paid","q":1}"#, r#"{"topic":"paid","q":1}"#),
        (r#"{"topic":"paid"}"#, "null"),
    ] {
        let script = format!(
            "start\n  flow.started\nemit emit {data} ship\n  emit\n  step.entered ship/0\ngiven ship\n  = {given} awaited nothing\n"
        );
        let flow = json!({"a": {}, "ship": {"subscriptions": [{"eventKind": "paid"}]}});
        check(flow, &script);
    }
}
