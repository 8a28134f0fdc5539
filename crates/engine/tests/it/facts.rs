//! Facts at random: each reads back from its event, and no stream of them breaks the reducer.

use proptest::{collection::vec, option, prelude::*};
use riverrun_engine::{
    AwaitFor, Awaiting, BranchSpec, Cancellation, Fact, Failure, Fork, Lineage, OpKind, Parked,
    RunState, StateOp, VisitKey, history,
};
use riverrun_types::{
    Json, Millis, Name, Path, RunId, State, StepRef, TriggerType,
    event::{
        FlowCancelled, FlowCompensating, FlowCompleted, FlowFailed, FlowForked, FlowPaused,
        FlowResumed, FlowStarted, StateBatch, StateDelete, StateSet, StepAwaitRun, StepAwaitTime,
        StepAwaitTimeout, StepCancelled, StepCompleted, StepEntered, StepFailed, StepJoined,
        StepMemo, StepMemoRetry, StepReleased, StepResumed, StepRetry, StepStarted,
    },
};

use super::{
    envelope,
    run::{assert_same, reduce},
};

pub fn any_json() -> impl Strategy<Value = Json> {
    let texts = [
        "null",
        "true",
        "0",
        "-1.50",
        "12345678901234567890123",
        "\"\"",
        "\"a\\u0000\\n\\\"é\"",
        "[]",
        "{}",
        "[null,{\"a\":null}]",
        "{\"b\":1,\"a\":{\"c\":[1,2]},\"b \":2}",
        "{ \"spaced\" : [ 1 ] }",
    ];
    proptest::sample::select(texts.to_vec())
        .prop_map(|text| Json::parse_text(text.to_owned()).unwrap())
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof!["s[0-2]", "s[0-2]", "[a-zA-Z0-9_.-]{1,9}"].prop_map(Name::from)
}

pub fn path() -> impl Strategy<Value = Path> {
    proptest::sample::select(vec![
        "x",
        "y",
        "y.z",
        "y.z.0",
        "l.1",
        "item",
        "error.code",
        "",
    ])
    .prop_map(Path::new)
}

fn time() -> impl Strategy<Value = Millis> {
    prop_oneof![any::<Millis>(), 0..4_000_000_000_000i64]
}

fn text() -> impl Strategy<Value = Option<String>> {
    option::of("\\PC{0,8}")
}

fn failure() -> impl Strategy<Value = Failure> {
    (
        any::<String>(),
        option::of(any::<String>()),
        any::<String>(),
        option::of(any::<String>()),
        option::of(name()),
        option::of(any_json()),
        any::<Option<bool>>(),
        any::<Option<u64>>(),
    )
        .prop_map(
            |(code, name, message, stack, step_id, details, retriable, retry_after_ms)| {
                let failure = Failure {
                    step_id,
                    details,
                    retriable,
                    retry_after_ms,
                    ..Failure::new(code, message)
                };
                failure.thrown(name.map(Into::into), stack.map(Into::into))
            },
        )
}

fn at() -> impl Strategy<Value = StepRef> {
    (name(), 1..3u32, 0..3u32).prop_map(|(name, visit, attempt)| StepRef {
        name,
        visit,
        attempt,
    })
}

fn cancellation() -> impl Strategy<Value = Cancellation> {
    ("user|parent", text()).prop_map(|(source, reason)| Cancellation { source, reason })
}

fn started() -> impl Strategy<Value = FlowStarted> {
    let parent = ("[a-z]{1,4}", name(), 1..3u32, 0..3u32, any::<bool>()).prop_map(
        |(run, step, visit, depth, detached)| Lineage {
            run_id: RunId::new(&run),
            step,
            visit,
            depth,
            detached,
        },
    );
    (
        any_json(),
        name(),
        option::of(time()),
        option::of(time()),
        option::of(parent),
    )
        .prop_map(|(input, next, not_before, deadline, parent)| FlowStarted {
            input,
            version: "1.0.0".into(),
            next,
            not_before,
            deadline,
            parent,
            queued: ["q".into()].into(),
            chain: 3,
        })
}

fn fork() -> impl Strategy<Value = Fork> {
    let branch =
        (name(), option::of(any_json())).prop_map(|(step, item)| BranchSpec { step, item });
    (vec(branch, 0..4), 0..3u32, any::<[bool; 3]>()).prop_map(
        |(branches, concurrency, [fail_fast, as_list, scoped])| Fork {
            branches,
            concurrency,
            fail_fast,
            as_list,
            scoped,
        },
    )
}

pub fn state_fact() -> impl Strategy<Value = Fact> {
    let op = (any::<bool>(), path(), option::of(any_json())).prop_map(|(set, key, value)| {
        let kind = if set { OpKind::Set } else { OpKind::Delete };
        StateOp { kind, key, value }
    });
    prop_oneof![
        (path(), any_json()).prop_map(|(key, value)| Fact::StateSet(StateSet { key, value })),
        path().prop_map(|key| Fact::StateDelete(StateDelete { key })),
        vec(op, 0..4).prop_map(|operations| Fact::StateBatch(StateBatch { operations })),
        vec(("[xyl]", any_json()), 0..3)
            .prop_map(|entries| Fact::StateSnapshot(State::from_iter(entries))),
        Just(Fact::Other),
    ]
}

pub fn fact() -> impl Strategy<Value = Fact> {
    let ends = prop_oneof![
        (any_json(), time()).prop_map(|(result, duration_ms)| {
            Fact::FlowCompleted(FlowCompleted {
                result,
                duration_ms,
            })
        }),
        (failure(), time())
            .prop_map(|(error, duration_ms)| Fact::FlowFailed(FlowFailed { error, duration_ms })),
        (cancellation(), time())
            .prop_map(|(by, duration_ms)| Fact::FlowCancelled(FlowCancelled::new(by, duration_ms))),
    ];
    let control = prop_oneof![
        started().prop_map(Fact::FlowStarted),
        text().prop_map(|reason| Fact::FlowPaused(FlowPaused { reason })),
        Just(Fact::FlowResumed(FlowResumed)),
        option::of(time()).prop_map(|deadline| Fact::FlowForked(FlowForked { deadline })),
    ];
    let steps = prop_oneof![
        (at(), option::of(time()))
            .prop_map(|(at, at_ms)| Fact::StepStarted(at, StepStarted { at_ms })),
        (
            at(),
            option::of(any_json()),
            option::of(path()),
            option::of(name()),
            option::of(name()),
            vec("k[0-2]|flow.failed|log.info", 0..3)
        )
            .prop_map(|(at, result, output_key, next, compensation, emits)| {
                let data = StepCompleted {
                    result,
                    output_key,
                    next,
                    compensation,
                    emits: emits.into_iter().map(Name::from).collect(),
                };
                Fact::StepCompleted(at, data)
            }),
        (at(), failure(), option::of(time()), option::of(name())).prop_map(
            |(at, error, retry_at, next)| {
                Fact::StepFailed(at, StepFailed::new(error, retry_at, next))
            }
        ),
        (at(), any::<String>(), time(), any::<bool>()).prop_map(|(at, reason, delay_ms, lost)| {
            let data = StepRetry {
                reason,
                delay_ms,
                lost,
            };
            Fact::StepRetry(at, data)
        }),
        (at(), any::<String>(), time(), option::of(any_json())).prop_map(
            |(at, reason, waited_ms, value)| {
                let data = StepResumed {
                    reason,
                    waited_ms,
                    value,
                };
                Fact::StepResumed(at, data)
            }
        ),
        (at(), any::<[String; 2]>(), option::of(any_json())).prop_map(
            |(at, [code, message], details)| {
                let parked = Parked {
                    code: code.into(),
                    message,
                    details,
                };
                Fact::StepParked(at, parked)
            }
        ),
        (at(), any::<String>(), time()).prop_map(|(at, reason, waited_ms)| {
            Fact::StepReleased(at, StepReleased { reason, waited_ms })
        }),
        (at(), cancellation(), option::of(name())).prop_map(|(at, cancellation, compensation)| {
            Fact::StepCancelled(at, StepCancelled::new(cancellation, compensation))
        }),
    ];
    let waits = prop_oneof![
        (
            at(),
            time(),
            text(),
            option::of(any_json()),
            option::of(option::of(name()))
        )
            .prop_map(|(at, until_ms, reason, output, next)| {
                let data = StepAwaitTime {
                    until_ms: Some(until_ms),
                    reason,
                    output,
                    next,
                    ..StepAwaitTime::default()
                };
                Fact::StepAwaitTime(at, data)
            }),
        (at(), awaiting()).prop_map(|(at, awaiting)| awaiting.fact(at)),
        (at(), time(), option::of(name()), option::of(any_json())).prop_map(
            |(at, waited_ms, next, value)| {
                let data = StepAwaitTimeout {
                    kind: "event".into(),
                    waited_ms,
                    next,
                    value,
                };
                Fact::StepAwaitTimeout(at, data)
            }
        ),
        (at(), fork()).prop_map(|(at, fork)| Fact::StepAwaitBranches(at, fork)),
        (at(), "[a-z]{1,4}", name()).prop_map(|(at, run, flow)| {
            let data = StepAwaitRun {
                run: RunId::new(&run),
                flow,
                version: "1".into(),
            };
            Fact::StepAwaitRun(at, data)
        }),
    ];
    let undoes =
        || option::of((name(), 1..3u32).prop_map(|(step, visit)| VisitKey { step, visit }));
    let memo = (
        "memo|emit",
        name(),
        option::of(2..9u32),
        option::of(any_json()),
        option::of(any_json()),
        prop::collection::vec(name(), 0..3),
    )
        .prop_map(|(op, name, nth, value, error, emits)| StepMemo {
            op: op.into(),
            name,
            nth,
            value,
            error,
            emits,
        });
    let events = prop_oneof![
        (at(), option::of(any_json()), any::<bool>(), undoes()).prop_map(
            |(at, input, joined, undoes)| {
                let data = StepEntered {
                    input,
                    joined,
                    undoes,
                };
                Fact::StepEntered(at, data)
            }
        ),
        (name(), name(), option::of(any_json()))
            .prop_map(|(step, kind, input)| { Fact::StepJoined(StepJoined { step, kind, input }) }),
        (at(), memo).prop_map(|(at, memo)| Fact::StepMemo(at, memo)),
        (at(), memo_retry()).prop_map(|(at, retry)| Fact::StepMemoRetry(at, retry)),
        (failure(), option::of(cancellation())).prop_map(|(error, cancellation)| {
            Fact::FlowCompensating(FlowCompensating {
                error,
                cancellation,
            })
        }),
        emitted(),
    ];
    // On the heap: together they are too much for the stack of a test.
    prop_oneof![
        1 => ends.boxed(), 2 => control.boxed(), 6 => steps.boxed(), 4 => waits.boxed(),
        3 => events.boxed(), 2 => state_fact().boxed(),
    ]
}

fn memo_retry() -> impl Strategy<Value = StepMemoRetry> {
    (
        "memo|emit",
        name(),
        option::of(2..9u32),
        1..9u32,
        any_json(),
        time(),
        time(),
    )
        .prop_map(
            |(op, name, nth, failures, error, delay_ms, until_ms)| StepMemoRetry {
                op: op.into(),
                name,
                nth,
                failures,
                error,
                delay_ms,
                until_ms,
            },
        )
}

pub fn emitted() -> impl Strategy<Value = Fact> {
    ("k[0-2]", any_json()).prop_map(|(kind, payload)| Fact::Emitted {
        at: None,
        kind: kind.into(),
        payload,
    })
}

pub fn awaiting() -> impl Strategy<Value = Awaiting> {
    let what = prop_oneof![
        Just(AwaitFor::Time),
        option::of(any_json().prop_filter("null is none", |json| !json.is_null())).prop_map(
            |condition| AwaitFor::Event {
                event_kind: "k0".into(),
                condition
            }
        ),
        Just(AwaitFor::Trigger {
            trigger_type: TriggerType::User
        }),
    ];
    ("[a-z]{4}", what, option::of(time()), any::<bool>()).prop_map(
        |(id, what, until_ms, in_code)| Awaiting {
            id: id.into(),
            // A time that never comes is none.
            until_ms: until_ms.or_else(|| (what == AwaitFor::Time).then_some(7)),
            what,
            in_code,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fact_reads_back_from_its_event(fact in fact(), ms in 0..4_000_000_000_000i64) {
        let draft = fact.draft(ms);
        let back = Fact::try_read(&draft);
        prop_assert_eq!(back.as_ref(), Some(&fact));
        prop_assert_eq!(back.map(|fact| fact.draft(ms)), Some(draft.clone()));
        envelope::assert_survives(&[draft]);
    }

    /// Whatever stands in a stream, reading it does not break, and a snapshot of it reads back.
    #[test]
    fn no_stream_breaks_the_reducer(first in started(), facts in vec(fact(), 0..40)) {
        let facts = std::iter::once(Fact::FlowStarted(first)).chain(facts);
        let stream: Vec<_> = facts.enumerate().map(|(ms, fact)| fact.draft(ms as i64)).collect();
        let state = reduce(&stream);
        prop_assert_eq!(state.len, stream.len() as u64);
        let snapshot: RunState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
        assert_same(&snapshot, &state);
        let _ = (state.wake_ms(), state.runnable(5).count(), history(&stream));
        for visit in &state.visits {
            let _ = state.view(visit).full();
        }
    }
}
