//! Facts at random: each reads back from its event, and no stream of them breaks the reducer.

use proptest::{collection::vec, option, prelude::*};
use riverrun_engine::{
    AwaitFor, Awaiting, BranchSpec, Cancellation, Fact, Failure, Fork, Lineage, Memo, OpKind,
    Parked, RunState, Started, StateOp, VisitKey, history,
};
use riverrun_types::{Json, Millis, Name, Path, RunId, State, StepRef, TriggerType};

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

fn started() -> impl Strategy<Value = Started> {
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
        .prop_map(|(input, next, not_before, deadline, parent)| Started {
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
        (path(), any_json()).prop_map(|(key, value)| Fact::StateSet { key, value }),
        path().prop_map(|key| Fact::StateDelete { key }),
        vec(op, 0..4).prop_map(Fact::StateBatch),
        vec(("[xyl]", any_json()), 0..3)
            .prop_map(|entries| Fact::StateSnapshot(State::from_iter(entries))),
        Just(Fact::Other),
    ]
}

pub fn fact() -> impl Strategy<Value = Fact> {
    let ends = prop_oneof![
        (any_json(), time()).prop_map(|(result, duration_ms)| Fact::Completed {
            result,
            duration_ms
        }),
        (failure(), time()).prop_map(|(error, duration_ms)| Fact::Failed { error, duration_ms }),
        (cancellation(), time()).prop_map(|(cancellation, duration_ms)| Fact::Cancelled {
            cancellation,
            duration_ms
        }),
    ];
    let control = prop_oneof![
        started().prop_map(Fact::Started),
        text().prop_map(|reason| Fact::Paused { reason }),
        Just(Fact::Resumed),
        option::of(time()).prop_map(|deadline| Fact::Forked { deadline }),
    ];
    let steps = prop_oneof![
        (at(), option::of(time())).prop_map(|(at, at_ms)| Fact::StepStarted { at, at_ms }),
        (
            at(),
            option::of(any_json()),
            option::of(path()),
            option::of(name()),
            option::of(name()),
            vec("k[0-2]|flow.failed|log.info", 0..3)
        )
            .prop_map(|(at, result, output_key, next, compensation, emits)| {
                Fact::StepCompleted {
                    at,
                    result,
                    output_key,
                    next,
                    compensation,
                    emits: emits.into_iter().map(Name::from).collect(),
                }
            }),
        (at(), failure(), option::of(time()), option::of(name())).prop_map(
            |(at, error, retry_at, next)| Fact::StepFailed {
                at,
                error,
                retry_at,
                next
            }
        ),
        (at(), any::<String>(), time(), any::<bool>()).prop_map(|(at, reason, delay_ms, lost)| {
            Fact::StepRetry {
                at,
                reason,
                delay_ms,
                lost,
            }
        }),
        (at(), any::<String>(), time(), option::of(any_json())).prop_map(
            |(at, reason, waited_ms, value)| Fact::StepResumed {
                at,
                reason,
                waited_ms,
                value
            }
        ),
        (at(), any::<[String; 2]>(), option::of(any_json())).prop_map(
            |(at, [code, message], details)| Fact::StepParked {
                at,
                parked: Parked {
                    code: code.into(),
                    message,
                    details,
                },
            }
        ),
        (at(), any::<String>(), time()).prop_map(|(at, reason, waited_ms)| Fact::StepReleased {
            at,
            reason,
            waited_ms,
        }),
        (at(), cancellation(), option::of(name())).prop_map(|(at, cancellation, compensation)| {
            Fact::StepCancelled {
                at,
                cancellation,
                compensation,
            }
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
            .prop_map(|(at, until_ms, reason, output, next)| Fact::AwaitTime {
                at,
                until_ms,
                reason,
                output,
                next
            }),
        (at(), awaiting()).prop_map(|(at, awaiting)| Fact::Await { at, awaiting }),
        (at(), time(), option::of(name()), option::of(any_json())).prop_map(
            |(at, waited_ms, next, value)| {
                Fact::AwaitTimeout {
                    at,
                    kind: "event".into(),
                    waited_ms,
                    next,
                    value,
                }
            }
        ),
        (at(), fork()).prop_map(|(at, fork)| Fact::AwaitBranches { at, fork }),
        (at(), "[a-z]{1,4}", name()).prop_map(|(at, run, flow)| {
            Fact::AwaitRun {
                at,
                run: RunId::new(&run),
                flow,
                version: "1".into(),
            }
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
        .prop_map(|(op, name, nth, value, error, emits)| Memo {
            op: op.into(),
            name,
            nth,
            value,
            error,
            emits,
        });
    let events = prop_oneof![
        (at(), option::of(any_json()), any::<bool>(), undoes()).prop_map(
            |(at, input, joined, undoes)| Fact::Entered {
                at,
                input,
                joined,
                undoes
            }
        ),
        (name(), name(), option::of(any_json())).prop_map(|(step, kind, input)| Fact::Joined {
            step,
            kind,
            input
        }),
        (at(), memo).prop_map(|(at, memo)| Fact::Memo { at, memo }),
        (failure(), option::of(cancellation())).prop_map(|(error, cancellation)| {
            Fact::Compensating {
                error,
                cancellation,
            }
        }),
        emitted(),
    ];
    // On the heap: together they are too much for the stack of a test.
    prop_oneof![
        1 => ends.boxed(), 2 => control.boxed(), 6 => steps.boxed(), 4 => waits.boxed(),
        3 => events.boxed(), 2 => state_fact().boxed(),
    ]
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
        let facts = std::iter::once(Fact::Started(first)).chain(facts);
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
