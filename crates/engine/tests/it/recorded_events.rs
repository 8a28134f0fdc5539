//! Every event is written to the byte as earlier versions wrote it, and read back.
//!
//! A line of `tests/events.jsonl` holds an event as the wire has it and the number of its type in
//! stored chunks. Lines are added and never rewritten. `record_events` adds lines for types that
//! have none:
//!
//!     cargo nextest run -p riverrun-engine --run-ignored only record_events

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    hint::black_box,
    path::PathBuf,
};

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use riverrun_engine::{AwaitFor, Awaiting, Fact, Operation, RunState};
use riverrun_types::{Draft, EventType, Json, StepRef};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{envelope, facts::fact};

const SAMPLES: usize = 20_000;
/// Shapes of the data of one type, and bytes of one line, at most.
const MAX_SHAPES: usize = 8;
const MAX_LINE: usize = 500;

#[derive(Serialize, Deserialize)]
struct Recorded {
    code: u8,
    event: Json,
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/events.jsonl")
}

fn recorded() -> Vec<Recorded> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn every_event_is_read_and_written_as_it_was_recorded() {
    let mut missing: HashSet<&EventType> = EventType::KNOWN.iter().collect();
    for Recorded { code, event } in recorded() {
        let draft = envelope::read(&event);
        missing.remove(&draft.kind);
        assert_eq!(draft.kind.code(), code, "{}", draft.kind);
        let known = Some(&draft.kind).filter(|_| code > 0);
        assert_eq!(EventType::from_code(code).as_ref(), known);
        let fact = Fact::try_read(&draft).unwrap_or_else(|| panic!("{} is read", event.as_str()));
        let written = match fact {
            // What carries its type in its data, or is for people alone, is passed on as it is.
            Fact::Emitted { .. } | Fact::Other => draft.clone(),
            fact => fact.draft(draft.ms),
        };
        let written = envelope::write(&[written]).remove(0);
        assert_eq!(written.as_str(), event.as_str());
    }
    assert!(missing.is_empty(), "there is no line of {missing:?}");
}

/// The members that an object has, those of its objects included: two events with the same have
/// the same shape.
fn shape(value: &Value, at: &str, shape: &mut String) {
    if let Value::Object(members) = value {
        for (name, value) in members {
            shape.push_str(&format!("{at}.{name} "));
            self::shape(value, name, shape);
        }
    }
}

fn samples() -> Vec<Draft> {
    let mut runner = TestRunner::deterministic();
    let facts = (0..SAMPLES).map(|_| fact().new_tree(&mut runner).unwrap().current());
    let retry = Awaiting {
        id: "a".into(),
        what: AwaitFor::Retry(Operation {
            op: "memo".into(),
            name: "charge".into(),
            nth: Some(2),
        }),
        until_ms: Some(1_700_000_000_000),
        in_code: true,
    };
    let at = StepRef {
        name: "s".into(),
        visit: 2,
        attempt: 1,
    };
    let drafts = facts.chain([retry.fact(at)]).enumerate();
    let drafts = drafts.map(|(at, fact)| fact.draft(1_700_000_000_000 + at as i64));
    let plain = EventType::KNOWN.iter().cloned();
    let plain = plain.map(|kind| Draft::new(1_700_000_000_000, kind).data(json!({"topic": "t"})));
    drafts.chain(plain).collect()
}

#[test]
#[ignore = "records the types that are missing"]
fn record_events() {
    let had = recorded();
    let known: HashSet<String> = had
        .iter()
        .map(|recorded| envelope::read(&recorded.event).kind.to_string())
        .collect();
    let mut shapes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut lines: Vec<String> = Vec::new();
    for draft in samples() {
        let kind = draft.kind.to_string();
        let is_whole = Fact::try_read(&draft).is_some_and(|fact| match fact {
            Fact::Emitted { .. } | Fact::Other => !shapes.contains_key(&kind),
            fact => fact.draft(draft.ms) == draft,
        });
        if known.contains(&kind) || !is_whole {
            continue;
        }
        let mut found = String::new();
        if let Some(data) = &draft.data {
            shape(&data.value(), "", &mut found);
        }
        let of_kind = shapes.entry(kind).or_default();
        let event = envelope::write(std::slice::from_ref(&draft)).remove(0);
        if of_kind.len() >= MAX_SHAPES || of_kind.contains(&found) || event.bytes() > MAX_LINE {
            continue;
        }
        of_kind.push(found);
        let code = draft.kind.code();
        lines.push(serde_json::to_string(&Recorded { code, event }).unwrap());
    }
    let had = had.iter().map(|line| serde_json::to_string(line).unwrap());
    let all: Vec<String> = had.chain(lines).collect();
    fs::write(file(), all.join("\n") + "\n").unwrap();
}

/// What reading, writing and reducing cost, for a tool that counts instructions:
///
///     valgrind --tool=callgrind --toggle-collect='*counted*' <test binary> --ignored --exact recorded_events::counted_instructions
#[test]
#[ignore = "a measurement"]
fn counted_instructions() {
    let drafts: Vec<Draft> = recorded()
        .iter()
        .map(|recorded| envelope::read(&recorded.event))
        .collect();
    let facts: Vec<Fact> = drafts.iter().map(Fact::read).collect();
    for _ in 0..20 {
        counted_reads(&drafts);
        counted_writes(&facts);
        counted_reduction(&drafts);
    }
}

#[inline(never)]
fn counted_reads(drafts: &[Draft]) {
    for draft in drafts {
        black_box(Fact::read(draft));
    }
}

#[inline(never)]
fn counted_writes(facts: &[Fact]) {
    for fact in facts {
        black_box(fact.draft(5));
    }
}

#[inline(never)]
fn counted_reduction(drafts: &[Draft]) {
    let mut state = RunState::new();
    for draft in drafts {
        state.apply(draft);
    }
    black_box(state);
}
