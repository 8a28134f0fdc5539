//! The types of the TypeScript SDK, and the page on events, say what is written here.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::LazyLock,
};

use proptest::prelude::*;
use riverrun_types::{EventType, RunStatus, VisitStatus};

use super::{envelope, facts::fact};

/// The source of the SDK's types, from which `dist` is made.
fn source() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdks/typescript/src/events.ts");
    std::fs::read_to_string(path).unwrap()
}

/// What stands between a beginning and the next empty line.
fn block(source: &str, begin: &str) -> String {
    let (_, rest) = source.split_once(begin).unwrap();
    rest.split("\n\n").next().unwrap().to_owned()
}

/// The members of an object type; true for those that are always there.
type Members = BTreeMap<String, bool>;

/// `{ a: string; b?: { c: number }[] }`, of which only the outer names count.
fn members(text: &str) -> Option<Members> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for c in inner.chars() {
        depth += match c {
            '{' | '<' => 1,
            '}' | '>' => -1,
            _ => 0,
        };
        match c {
            ';' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().unwrap().push(c),
        }
    }
    let member = |part: &String| {
        let (name, _) = part.trim().split_once(':')?;
        let is_always = !name.ends_with('?');
        Some((name.trim_end_matches('?').to_owned(), is_always))
    };
    Some(parts.iter().filter_map(member).collect())
}

/// The data of each type as the SDK has it; none where it leaves that open.
static DATA: LazyLock<BTreeMap<String, Option<Members>>> = LazyLock::new(|| {
    let source = source();
    let line = |line: &str| {
        let (name, data) = line.strip_prefix("  ")?.split_once(": ")?;
        Some((name.trim_matches('\'').to_owned(), members(data)))
    };
    let lines = block(&source, "export interface EventData {\n");
    lines.lines().filter_map(line).collect()
});

static EVENT: LazyLock<Members> = LazyLock::new(|| interface("RunEvent<Data = any>"));
static FAILURE: LazyLock<Members> = LazyLock::new(|| interface("RunFailure"));

/// The members of an interface with one in each line.
fn interface(name: &str) -> Members {
    let lines = block(&source(), &format!("export interface {name} {{\n"));
    let lines = lines
        .lines()
        .filter(|line| line.starts_with("  ") && !line.contains("/**"));
    let lines: Vec<&str> = lines.map(str::trim).collect();
    members(&format!("{{ {} }}", lines.join("; "))).unwrap()
}

#[test]
fn the_sdk_knows_every_event_type_and_status() {
    let ours: BTreeSet<&str> = EventType::KNOWN.iter().map(EventType::as_str).collect();
    let theirs: BTreeSet<&str> = DATA.keys().map(String::as_str).collect();
    assert_eq!(ours, theirs);
    let source = source();
    let words = |name: &str| -> BTreeSet<String> {
        let text = block(&source, &format!("export type {name} ="));
        let quoted = text.split('\'').skip(1).step_by(2);
        quoted.map(str::to_owned).collect()
    };
    let texts = |all: Vec<&'static str>| -> BTreeSet<String> {
        all.into_iter().map(str::to_owned).collect()
    };
    let runs = RunStatus::ALL
        .iter()
        .map(|status| status.as_str())
        .collect();
    assert_eq!(words("RunStatus"), texts(runs));
    let visits = VisitStatus::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(words("VisitStatus"), texts(visits));
}

#[test]
fn the_page_on_events_names_every_type() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/events.md");
    let page = std::fs::read_to_string(path).unwrap();
    let is_missing = |kind: &&EventType| !page.contains(&format!("`{kind}`"));
    let missing: Vec<&EventType> = EventType::KNOWN.iter().filter(is_missing).collect();
    assert!(
        missing.is_empty(),
        "docs/reference/events.md lacks {missing:?}"
    );
}

/// Every member that is there, and none is missing that always should be.
fn fits(known: &Members, object: &serde_json::Value, what: &str) {
    let object = object.as_object().unwrap();
    for name in object.keys() {
        assert!(known.contains_key(name), "the SDK has no {name} in {what}");
    }
    for (name, _) in known.iter().filter(|(_, is_always)| **is_always) {
        assert!(
            object.contains_key(name),
            "{what} has no {name}: {object:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sdk_describes_events_as_they_are_written(fact in fact(), ms in 0..4_000_000_000_000i64) {
        let event = envelope::write(&[fact.draft(ms)]).remove(0).value();
        fits(&EVENT, &event, "an event");
        let kind = event["type"].as_str().unwrap();
        if let (Some(Some(known)), Some(data)) = (DATA.get(kind), event.get("data")) {
            fits(known, data, kind);
        }
        if let ("flow.failed" | "step.failed", error) = (kind, &event["data"]["error"]) {
            fits(&FAILURE, error, "a failure");
        }
    }
}
