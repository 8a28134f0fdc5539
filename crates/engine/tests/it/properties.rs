//! Random flows under random inputs.

use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::{collection::vec, option, prelude::*, sample::Index};
use riverrun_engine::{
    AwaitFor, Awaiting, BranchSpec, Decision, Entry, Fact, Failure, Fork, HistoryCursor,
    HistoryEntry, HistoryPage, Input, Outcome, Parked, RunState, SubFlow, Visit, VisitKey, Wait,
    history,
};
use riverrun_types::{
    Draft, EventType, Json, Millis, Name, RunId, VisitStatus,
    event::{StepAwaitTimeout, StepFailed},
    time::NEVER,
};
use serde_json::{Map, Value, json};

use super::{
    envelope,
    facts::{any_json, awaiting, state_fact},
    run::{Run, assert_same, flow, plan, reduce},
};

const STEPS: usize = 6;

fn step_name() -> impl Strategy<Value = String> {
    (0..STEPS).prop_map(|n| format!("s{n}"))
}

prop_compose! {
    fn any_step()(
        on_success in option::weighted(0.8, step_name()),
        on_failure in option::weighted(0.6, step_name()),
        on_resume in option::weighted(0.4, step_name()),
        retry in option::weighted(0.5, (1..4u32, 0..50u64)),
        output_key in proptest::sample::select(vec!["", "x", "y.z"]),
        (is_process, joins, kinds) in (prop::bool::weighted(0.3), any::<bool>(), vec("k[0-2]", 0..3)),
        awaits in option::weighted(0.15, ("event|trigger|time", option::of(step_name()))),
        undo in option::weighted(0.2, (step_name(), vec("k[0-2]", 0..2))),
        emits in option::weighted(0.2, vec("k[0-2]|log.info", 1..3)),
    ) -> Value {
        let mut step = json!({"transitions": {"onSuccess": on_success, "onFailure": on_failure, "onResume": on_resume}});
        if let Some((max_attempts, backoff_ms)) = retry {
            step["retry"] = json!({"maxAttempts": max_attempts, "backoffMs": backoff_ms, "jitter": 0.5});
        }
        if !output_key.is_empty() {
            step["outputKey"] = output_key.into();
        }
        if is_process {
            step["type"] = "process".into();
            step["config"] = json!({"process": "p"});
        }
        if let Some(kinds) = emits {
            step["emits"] = json!(kinds);
        }
        step["join"] = if joins { "all" } else { "any" }.into();
        step["subscriptions"] = kinds.iter().map(|kind| json!({"eventKind": kind})).collect();
        if let Some((kind, on_timeout)) = awaits {
            step["await"] = match kind.as_str() {
                "time" => json!({"type": kind, "delay": 20}),
                _ => json!({"type": kind, "eventKind": "k0", "onTimeout": on_timeout}),
            };
        }
        if let Some((by, on)) = undo {
            step["compensation"] = json!({"step": by, "on": on});
        }
        step
    }
}

prop_compose! {
    fn any_flow()(
        steps in vec(any_step(), STEPS..=STEPS),
        timeout_ms in option::weighted(0.15, 1..3000u64),
        max_steps in 5..60u64,
        schema in prop::bool::weighted(0.1),
        on_failure in "stop|finish",
    ) -> Value {
        let steps: Map<String, Value> = steps.into_iter().enumerate().map(|(n, step)| (format!("s{n}"), step)).collect();
        let mut definition = json!({"steps": steps, "onFailure": on_failure, "limits": {"maxSteps": max_steps, "maxStateBytes": 4000}});
        if let Some(timeout_ms) = timeout_ms {
            definition["timeoutMs"] = timeout_ms.into();
        }
        if schema {
            definition["stateSchema"] = json!({"properties": {"x": {"type": ["number", "string"]}}});
        }
        flow(definition)
    }
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let success = (
        option::of(any_json()),
        option::weighted(
            0.2,
            option::weighted(
                0.7,
                prop_oneof![9 => step_name(), 1 => Just("gone".to_owned())],
            ),
        ),
    )
        .prop_map(|(output, next)| Outcome::Success {
            output,
            next: next.map(|next| next.map(Name::from)),
        });
    let failure = (
        "[EF]",
        prop::bool::weighted(0.3),
        option::weighted(0.1, 0..100u64),
    )
        .prop_map(|(code, permanent, retry_after_ms)| {
            let failure = Failure {
                retry_after_ms,
                ..Failure::new(code, "why")
            };
            Outcome::Failure(if permanent {
                failure.permanent()
            } else {
                failure
            })
        });
    let next = option::weighted(0.3, option::of(step_name()));
    let wait = (-50..500i64, next).prop_map(|(until_ms, next)| Outcome::Wait {
        until_ms,
        reason: None,
        output: None,
        next: next.map(|next| next.map(Name::from)),
    });
    let suspend = awaiting().prop_map(|awaiting| {
        // Relative to the moment; see `finish`.
        let until_ms = awaiting.until_ms.map(|ms| ms % 500);
        Outcome::Await(Awaiting {
            until_ms,
            in_code: true,
            ..awaiting
        })
    });
    let branch = (step_name(), option::of(any_json())).prop_map(|(step, item)| BranchSpec {
        step: step.into(),
        item,
    });
    let fork = (vec(branch, 0..5), 0..3u32, any::<[bool; 3]>()).prop_map(
        |(branches, concurrency, [fail_fast, as_list, scoped])| {
            Outcome::Fork(Fork {
                branches,
                concurrency,
                fail_fast,
                as_list,
                scoped,
            })
        },
    );
    let sub = (any::<u32>(), prop::bool::weighted(0.2)).prop_map(|(id, detached)| {
        let run = RunId::new(&format!("child-{id}"));
        Outcome::SubFlow(SubFlow {
            run,
            flow: "other".into(),
            version: "1".into(),
            input: Json::null(),
            detached,
        })
    });
    let park = any_json().prop_map(|details| {
        Outcome::Park(Parked {
            details: Some(details),
            ..Parked::new("P", "why")
        })
    });
    prop_oneof![6 => success, 3 => failure, 2 => wait, 2 => suspend, 4 => fork, 1 => sub, 1 => park]
}

/// Something that happens; which visit it happens to is chosen among those that are there.
#[derive(Clone, Debug)]
enum Op {
    Begin(Index),
    Finish(Index, Outcome),
    /// An outcome of an attempt that is not the running one, or of a visit that is not there.
    Stale(String, u32, u32, Outcome),
    Child(Index, bool),
    /// The job of a visit begins, some attempts later than the last.
    Began(Index, u32),
    Settle(Index, Json),
    /// An event, whose entries come in another order and some of them again.
    Emit(String, Json, Vec<Index>),
    Tick(Millis),
    Due,
    Lost,
    Cancel,
    Abandon,
    Pause,
    Resume,
    Park(Index),
    ParkAll,
    Release(Index),
    Append(Fact),
}

fn any_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => any::<Index>().prop_map(Op::Begin),
        30 => (any::<Index>(), any_outcome()).prop_map(|(at, outcome)| Op::Finish(at, outcome)),
        3 => (step_name(), 1..4u32, 0..4u32, any_outcome()).prop_map(|(s, v, a, o)| Op::Stale(s, v, a, o)),
        4 => (any::<Index>(), any::<bool>()).prop_map(|(at, ok)| Op::Child(at, ok)),
        20 => (any::<Index>(), 1..3u32).prop_map(|(at, later)| Op::Began(at, later)),
        4 => (any::<Index>(), any_json()).prop_map(|(at, value)| Op::Settle(at, value)),
        8 => ("k[0-2]", any_json(), vec(any::<Index>(), 0..3)).prop_map(|(kind, data, again)| Op::Emit(kind, data, again)),
        6 => (-100..300i64).prop_map(Op::Tick),
        5 => Just(Op::Due),
        2 => Just(Op::Lost),
        1 => prop::bool::weighted(0.2).prop_map(|cancel| if cancel { Op::Cancel } else { Op::Due }),
        1 => prop::bool::weighted(0.2).prop_map(|abandon| if abandon { Op::Abandon } else { Op::Due }),
        1 => Just(Op::Pause),
        3 => Just(Op::Resume),
        2 => any::<Index>().prop_map(Op::Park),
        1 => Just(Op::ParkAll),
        3 => any::<Index>().prop_map(Op::Release),
        4 => state_fact().prop_map(Op::Append),
    ]
}

fn pick(state: &RunState, at: &Index, which: impl Fn(&&Visit) -> bool) -> Option<Visit> {
    let visits: Vec<&Visit> = state.visits.iter().filter(which).collect();
    (!visits.is_empty()).then(|| (*at.get(&visits)).clone())
}

fn is_running(visit: &&Visit) -> bool {
    visit.status == VisitStatus::Running
}

fn has_job(visit: &&Visit) -> bool {
    matches!(visit.wait, Some(Wait::Job { .. }))
}

fn began(visit: &Visit, later: u32) -> Input {
    Input::Began {
        visit: visit.key.clone(),
        attempt: visit.attempt + later,
        at_ms: visit.since_ms,
    }
}

fn is_awaiting(visit: &&Visit) -> bool {
    matches!(visit.wait, Some(Wait::Await(_)))
}

fn settled(visit: &Visit, value: Json) -> Option<Input> {
    let Some(Wait::Await(awaiting)) = &visit.wait else {
        return None;
    };
    Some(Input::Settled {
        visit: visit.key.clone(),
        id: awaiting.id.clone(),
        value,
        reason: "it came".to_owned(),
    })
}

/// As the runtime does it: every subscription to the kind is an entry.
fn emitted(run: &Run, kind: &str, data: Json, again: &[Index]) -> Input {
    let steps = run.plan.subscriptions.get(kind);
    let entries = steps.into_iter().flatten().map(|(step, _)| Entry {
        step: step.clone(),
        input: None,
    });
    let mut entries: Vec<Entry> = entries.collect();
    let said_again = again.iter().filter(|_| !entries.is_empty());
    let said_again: Vec<Entry> = said_again.map(|at| at.get(&entries).clone()).collect();
    entries.splice(0..0, said_again);
    let mut event = Draft::new(0, EventType::parse(kind));
    event.data = Some(data).filter(|data| !data.is_null());
    Input::Emitted {
        event: Box::new(event),
        entries,
    }
}

/// The next event that a finished visit has still to emit.
fn due_event(run: &Run) -> Option<Input> {
    let due = run.state.to_emit.first()?.clone();
    let Input::Emitted { entries, .. } = emitted(run, &due.kind, Json::null(), &[]) else {
        return None;
    };
    let event = Box::new(due.draft(0));
    Some(Input::Emitted { event, entries })
}

fn is_parked(visit: &&Visit) -> bool {
    visit.parked().is_some()
}

fn waits_for_run(visit: &&Visit) -> bool {
    matches!(visit.wait, Some(Wait::Run { .. }))
}

fn play(run: &mut Run, op: Op) {
    let input = match op {
        Op::Begin(at) => {
            let now = run.now;
            let runnable: Vec<VisitKey> = run
                .state
                .runnable(now)
                .map(|visit| visit.key.clone())
                .collect();
            (!runnable.is_empty()).then(|| Input::Begin(at.get(&runnable).clone()))
        }
        Op::Finish(at, outcome) => {
            pick(&run.state, &at, is_running).map(|visit| finish(run, &visit, outcome))
        }
        Op::Stale(step, visit, attempt, outcome) => {
            let key = VisitKey {
                step: step.into(),
                visit,
            };
            let is_live = run
                .state
                .visit(&key)
                .is_some_and(|v| is_running(&v) && v.attempt == attempt);
            if !is_live {
                let before = run.state.clone();
                let stale = Input::Finished {
                    visit: key,
                    attempt,
                    outcome,
                    jitter: 0.0,
                    retry: None,
                };
                assert!(run.decide(stale).is_empty());
                assert_same(&before, &run.state);
            }
            None
        }
        Op::Child(at, ok) => {
            pick(&run.state, &at, waits_for_run).map(|visit| child_ended(&visit, ok))
        }
        Op::Began(at, later) => pick(&run.state, &at, has_job).map(|visit| began(&visit, later)),
        Op::Settle(at, value) => {
            pick(&run.state, &at, is_awaiting).and_then(|visit| settled(&visit, value))
        }
        Op::Emit(kind, data, again) => Some(emitted(run, &kind, data, &again)),
        Op::Tick(ms) => {
            run.now += ms;
            None
        }
        Op::Due => Some(Input::Due),
        Op::Lost => Some(Input::Lost),
        Op::Cancel => Some(Input::Cancel {
            source: "user",
            reason: None,
        }),
        Op::Abandon => Some(Input::Abandoned {
            reason: "it failed".to_owned(),
        }),
        Op::Pause => Some(Input::Pause { reason: None }),
        Op::Resume => Some(Input::Resume),
        Op::Park(at) => pick(&run.state, &at, |_| true).map(|visit| Input::Park {
            visit: visit.key,
            attempt: None,
            parked: Parked::new("P", "why"),
        }),
        Op::ParkAll => Some(Input::ParkAll(Parked::new("P", "why"))),
        Op::Release(at) => pick(&run.state, &at, is_parked).map(|visit| Input::Release {
            visits: Some(vec![visit.key]),
            reason: "why".to_owned(),
        }),
        Op::Append(fact) => {
            // Events from outside are checked when they arrive.
            let draft = fact.draft(run.now.max(run.state.updated_ms));
            if run.state.check_next(&draft).is_ok() {
                run.append(fact);
            }
            None
        }
    };
    if let Some(input) = input {
        decide(run, input);
    }
}

/// Decides, and checks what holds of every decision.
fn decide(run: &mut Run, input: Input) {
    let was_ended = run.state.status.is_ended();
    let children: Vec<RunId> = run.state.visits.iter().filter_map(child_of).collect();
    let jobs = run.state.visits.iter().filter(has_job);
    let before: HashSet<VisitKey> = jobs.map(|visit| visit.key.clone()).collect();
    let Decision {
        events,
        children: started,
        abandoned,
        queued,
        ..
    } = run.decide(input);
    assert!(!was_ended || events.is_empty() && started.is_empty() && abandoned.is_empty());
    // What is queued has a job to wait for, and nothing is left out.
    for queued in &queued {
        let visit = run.state.visit(&queued.visit);
        assert!(visit.is_some_and(|visit| has_job(&visit)), "{queued:?}");
    }
    let jobs = |visit: &Visit| has_job(&visit) && !before.contains(&visit.key);
    for visit in run.state.visits.iter().filter(|visit| jobs(visit)) {
        let is_queued = queued.iter().any(|queued| queued.visit == visit.key);
        assert!(is_queued || run.plan.must_await(visit), "{visit:?}");
    }
    await_first(run);
    // The runtime emits at once, unless somebody else's decision comes first.
    if !run.stream.len().is_multiple_of(7) {
        while let Some(input) = due_event(run) {
            run.decide(input);
            await_first(run);
        }
    }
    assert!(abandoned.iter().all(|child| children.contains(child)));
    assert_moves(&run.state);
    assert_within_concurrency(&run.state);
}

/// As the runtime does it: what is to be awaited is, before anything else happens.
fn await_first(run: &mut Run) {
    for visit in run.plan.to_await(&run.state) {
        let awaiting = Awaiting {
            id: format!("{}#{}", visit.step, visit.visit).into(),
            what: AwaitFor::Event {
                event_kind: "k0".into(),
                condition: None,
            },
            until_ms: None,
            in_code: false,
        };
        run.decide(Input::Await { visit, awaiting });
    }
}

fn child_of(visit: &Visit) -> Option<RunId> {
    match &visit.wait {
        Some(Wait::Run { run, .. }) => Some(run.clone()),
        _ => None,
    }
}

fn finish(run: &Run, visit: &Visit, outcome: Outcome) -> Input {
    let outcome = match outcome {
        Outcome::Wait {
            until_ms,
            reason,
            next,
            ..
        } => Outcome::Wait {
            until_ms: run.now + until_ms,
            reason,
            output: None,
            next,
        },
        Outcome::Await(awaiting) => Outcome::Await(Awaiting {
            until_ms: awaiting.until_ms.map(|ms| run.now + ms),
            ..awaiting
        }),
        outcome => outcome,
    };
    Input::Finished {
        visit: visit.key.clone(),
        attempt: visit.attempt,
        outcome,
        jitter: 0.5,
        retry: None,
    }
}

fn child_ended(visit: &Visit, ok: bool) -> Input {
    let result = if ok {
        Ok(Json::from("from the child"))
    } else {
        Err(Failure::new("CHILD_FAILED", "why"))
    };
    Input::ChildEnded {
        visit: visit.key.clone(),
        run: child_of(visit).unwrap(),
        result,
    }
}

/// Somebody or something will move it.
fn assert_moves(state: &RunState) {
    let moves = state.status.is_ended()
        || state.paused
        || state.wake_ms() < NEVER
        || state.visits.iter().any(|visit| {
            is_running(&visit)
                || waits_for_run(&visit)
                || has_job(&visit)
                || is_awaiting(&visit)
                || is_parked(&visit)
        });
    let parked = state.visits.iter().filter(is_parked).count();
    let counted = state.parked.map_or(0, |parked| parked.count as usize);
    assert_eq!(parked, counted, "{state:#?}");
    assert!(moves, "wedged: {state:#?}");
    // Every fork waits for somebody.
    for holder in &state.visits {
        if let Some(Wait::Branches(branches)) = &holder.wait {
            let inside = active(state, &holder.key).len();
            assert!(
                inside > 0 && inside == branches.entered - branches.ended,
                "{state:#?}"
            );
        }
    }
}

/// The branches of a visit in which something is active.
fn active(state: &RunState, of: &VisitKey) -> HashSet<usize> {
    let places = state
        .visits
        .iter()
        .filter_map(|visit| visit.branch.as_ref());
    places
        .filter(|place| place.of == *of)
        .map(|place| place.index)
        .collect()
}

fn assert_within_concurrency(state: &RunState) {
    for holder in &state.visits {
        if let Some(Wait::Branches(branches)) = &holder.wait
            && branches.concurrency > 0
        {
            assert!(active(state, &holder.key).len() <= branches.concurrency as usize);
        }
    }
}

/// A visit whose job has still to begin.
fn queued(state: &RunState) -> Option<Visit> {
    let waits = |visit: &&Visit| has_job(visit) && !is_running(visit);
    state.visits.iter().find(waits).cloned()
}

/// What a fair world does: resumes, begins, answers, lets time pass. Every run ends in it.
fn drive(run: &mut Run, outcomes: &[Outcome]) {
    let mut outcomes = outcomes.iter().cloned();
    decide(run, Input::Resume);
    for _ in 0..5_000 {
        if run.state.status.is_ended() {
            return;
        }
        let next = run
            .state
            .runnable(run.now)
            .next()
            .map(|visit| visit.key.clone());
        if let Some(input) = due_event(run) {
            decide(run, input);
        } else if let Some(key) = next {
            decide(run, Input::Begin(key));
        } else if let Some(visit) = queued(&run.state) {
            decide(run, began(&visit, 1));
        } else if let Some(visit) = run.state.visits.iter().find(is_running).cloned() {
            let success = Outcome::Success {
                output: None,
                next: None,
            };
            let outcome = outcomes.next().unwrap_or(success);
            let input = finish(run, &visit, outcome);
            decide(run, input);
        } else if let Some(visit) = run.state.visits.iter().find(waits_for_run).cloned() {
            decide(run, child_ended(&visit, true));
        } else if run.state.parked.is_some() || run.state.paused {
            decide(run, Input::Resume);
        } else if let Some(visit) = run.state.visits.iter().find(is_awaiting).cloned() {
            let input = settled(&visit, Json::null()).unwrap();
            decide(run, input);
        } else {
            run.now = run.now.max(run.state.wake_ms());
            decide(run, Input::Due);
        }
    }
    panic!("does not end: {:#?}", run.state);
}

fn assert_stream(run: &Run) {
    assert!(run.stream.is_sorted_by_key(|draft| draft.ms));
    envelope::assert_survives(&run.stream);
    assert_ends_with_the_last_visit(&run.stream);
    let is_terminal = |kind: &EventType| {
        matches!(
            kind,
            EventType::FlowCompleted | EventType::FlowFailed | EventType::FlowCancelled
        )
    };
    let terminals: Vec<usize> = (0..run.stream.len())
        .filter(|at| is_terminal(&run.stream[*at].kind))
        .collect();
    let lifecycle = |at: &usize| matches!(run.stream[*at].kind.family(), "flow" | "step");
    let last = (0..run.stream.len()).rfind(lifecycle).unwrap();
    assert_eq!(terminals, [last]);
    let mut ends: HashMap<VisitKey, u32> = HashMap::new();
    let mut attempts: HashMap<(VisitKey, u32), u32> = HashMap::new();
    let mut promised: HashSet<(VisitKey, Name)> = HashSet::new();
    for draft in &run.stream {
        let Some(at) = &draft.step else { continue };
        let key = VisitKey {
            step: at.name.clone(),
            visit: at.visit,
        };
        let fact = Fact::try_read(draft).expect("the engine's events read back");
        if let Fact::Emitted { kind, .. } = fact {
            assert!(ends.contains_key(&key), "{draft:?} before the visit's end");
            promised.remove(&(key, kind));
            continue;
        }
        if let Fact::StepCompleted(_, completed) = &fact {
            promised.extend(
                completed
                    .emits
                    .iter()
                    .map(|kind| (key.clone(), kind.clone())),
            );
        }
        assert!(!ends.contains_key(&key), "{draft:?} after the visit's end");
        match fact {
            Fact::StepCompleted(..)
            | Fact::StepCancelled(..)
            | Fact::StepAwaitTimeout(_, StepAwaitTimeout { next: Some(_), .. })
            | Fact::StepFailed(_, StepFailed { retry_at: None, .. }) => {
                *ends.entry(key).or_default() += 1;
            }
            Fact::StepStarted(..) => *attempts.entry((key, at.attempt)).or_default() += 1,
            _ => {}
        }
    }
    assert!(promised.is_empty(), "{promised:?} was never emitted");
    assert!(attempts.values().all(|times| *times == 1));
    // All that began has ended, and each attempt has its entry.
    assert!(attempts.keys().all(|(visit, _)| ends.contains_key(visit)));
    let entries = history(&run.stream);
    assert_eq!(entries.len(), attempts.len());
    for limit in [1, 2, 7] {
        assert_eq!(paged(&run.stream, limit), entries, "{limit} a page");
    }
    assert!(entries.iter().all(|entry| entry.duration_ms >= 0));
}

/// An event enters each step that subscribes to its kind, once, and no other: at a join it is kept
/// for it. A run that undoes what it did, or ends, is entered no more.
fn assert_entered_once(run: &Run) {
    let mut state = RunState::new();
    let mut ahead = run.stream.iter().peekable();
    while let Some(draft) = ahead.next() {
        state.apply(draft);
        let mut expected = BTreeMap::new();
        if let Fact::Emitted { kind, .. } = Fact::read(draft)
            && !state.compensating
        {
            let steps = run.plan.subscriptions.get(&*kind).into_iter().flatten();
            expected.extend(steps.map(|(step, _)| (step.clone(), 1)));
        }
        let mut entered: BTreeMap<Name, usize> = BTreeMap::new();
        while let Some(draft) = ahead.peek() {
            let step = match Fact::read(draft) {
                Fact::StepJoined(joined) => Some(joined.step),
                Fact::StepEntered(at, entered) => {
                    let is_by_event = !entered.joined && entered.undoes.is_none();
                    is_by_event.then_some(at.name)
                }
                _ => break,
            };
            if let Some(step) = step {
                *entered.entry(step).or_default() += 1;
            }
            state.apply(draft);
            ahead.next();
        }
        // What is emitted at the run's end enters nothing any more.
        let mut rest = ahead.clone();
        while rest
            .next_if(|it| matches!(Fact::read(it), Fact::Emitted { .. }))
            .is_some()
        {}
        let is_last = rest.next().is_some_and(|it| it.kind.is_end());
        if !(is_last && entered.is_empty()) {
            assert_eq!(entered, expected, "because of {draft:?}");
        }
    }
}

/// A run ends in the very decision after which nothing in it is active, and not before. What is to
/// be undone is active then.
fn assert_ends_with_the_last_visit(stream: &[Draft]) {
    let mut state = RunState::new();
    for draft in stream {
        let has_begun = state.len > 0;
        let is_quiet = state.visits.is_empty();
        let is_idle = is_quiet && state.to_emit.is_empty();
        let fact = Fact::read(draft);
        state.apply(draft);
        match &fact {
            Fact::FlowCompleted(_) => return assert!(is_idle, "{draft:?}"),
            // What was still to be emitted is not.
            Fact::FlowFailed(_) | Fact::FlowCancelled(_) => return assert!(is_quiet, "{draft:?}"),
            // The next event says what is undone first, or where the last one led.
            Fact::FlowCompensating(_) | Fact::StepEntered(..) | Fact::StepJoined(_) => continue,
            // A copy may begin in the middle of a decision.
            Fact::FlowForked(_) => continue,
            _ => assert!(!has_begun || !is_idle, "{draft:?}"),
        }
    }
}

/// The history in pages of at most this many entries.
fn paged(stream: &[Draft], limit: usize) -> Vec<HistoryEntry> {
    let mut found = Vec::new();
    let mut cursor = HistoryCursor::default();
    loop {
        let mut page = HistoryPage::new(cursor, limit);
        let from = usize::try_from(page.position()).unwrap();
        let _ = stream[from..]
            .iter()
            .try_for_each(|draft| page.apply(draft));
        let (entries, next) = page.finish();
        match next {
            Some(next) => assert!(entries.len() == limit && next != cursor),
            None => assert!(
                entries.len() <= limit
                    && (cursor == HistoryCursor::default() || !entries.is_empty())
            ),
        }
        found.extend(entries);
        match next {
            Some(next) => cursor = next.to_string().parse().unwrap(),
            None => return found,
        }
    }
}

/// A snapshot anywhere and the events after it give the state that the whole stream gives.
fn assert_snapshot(run: &Run, cut: usize) {
    let half = reduce(&run.stream[..cut]);
    let text = serde_json::to_string(&half).unwrap();
    let mut state: RunState = serde_json::from_str(&text).unwrap();
    assert_same(&state, &half);
    run.stream[cut..]
        .iter()
        .for_each(|draft| state.apply(draft));
    assert_same(&state, &run.state);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_lives_by_its_rules(
        definition in any_flow(),
        input in any_json(),
        delay_ms in option::weighted(0.2, -50..300i64),
        ops in vec(any_op(), 0..100),
        outcomes in vec(any_outcome(), 0..40),
        cuts in vec(any::<Index>(), 3),
    ) {
        let mut run = Run::start(plan(definition), input, delay_ms, None);
        await_first(&mut run);
        assert_moves(&run.state);
        for op in ops {
            play(&mut run, op);
        }
        run.assert_replays();
        drive(&mut run, &outcomes);
        run.assert_replays();
        assert_stream(&run);
        assert_entered_once(&run);
        for cut in &cuts {
            let cut = 1 + cut.index(run.stream.len() - 1);
            assert_snapshot(&run, cut);
            let mut copy = run.fork(cut);
            decide(&mut copy, Input::Forked);
            drive(&mut copy, &outcomes);
            copy.assert_replays();
            assert_stream(&copy);
        }
    }
}
