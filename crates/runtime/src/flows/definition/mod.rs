//! Definitions as text: JSON, or YAML, which needs fewer quotes.

mod bounded;
mod numbers;

use riverrun_types::{json, words::plain};
use serde_json::Value;

use bounded::{Budget, MAX_VALUES};
use riverrun_engine::too_many_steps;

use crate::base::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

impl Format {
    /// By the ending of a file's name.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Reads a definition of any number of steps.
pub fn parse_definition(text: &str, format: Format) -> Result<Value> {
    read_definition(text, format, usize::MAX).map_err(|error| match error {
        NotRead::Json(error) => {
            Error::BadDefinition(format!("the definition is not JSON: {error}"))
        }
        NotRead::TooManySteps => Error::FlowInvalid(vec![too_many_steps(usize::MAX)]),
        NotRead::Other(error) => error,
    })
}

/// Why a definition could not be read.
pub enum NotRead {
    Json(serde_json::Error),
    TooManySteps,
    Other(Error),
}

/// Reads a definition, and stops at the limit of steps.
pub fn read_definition(
    text: &str,
    format: Format,
    max_steps: usize,
) -> std::result::Result<Value, NotRead> {
    // A YAML text may repeat parts of itself: as much as any flow needs, but within a bound.
    let max_bytes = match format {
        Format::Json => usize::MAX,
        Format::Yaml => text.len().saturating_mul(4).saturating_add(1 << 20),
    };
    let budget = Budget::new(max_bytes, max_steps);
    let definition = match format {
        Format::Json => {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let read = budget.read(&mut deserializer);
            let read = read.and_then(|value| deserializer.end().map(|()| value));
            read.map_err(NotRead::Json)
        }
        Format::Yaml => {
            let read = |deserializer: serde_saphyr::Deserializer<'_, '_>| budget.read(deserializer);
            let read = serde_saphyr::with_deserializer_from_str_with_options(text, yaml(), read);
            read.map_err(|error| NotRead::Other(not_yaml(&error)))
        }
    };
    let definition = definition.map_err(|error| {
        if budget.has_too_many_steps() {
            NotRead::TooManySteps
        } else if budget.has_too_many_values() {
            NotRead::Other(Error::TooManyValues(MAX_VALUES))
        } else {
            error
        }
    })?;
    if format == Format::Json {
        check_members(text).map_err(NotRead::Other)?;
    }
    check_numbers(text, &definition).map_err(NotRead::Other)?;
    Ok(definition)
}

/// Rejects a definition in JSON in which an object has a member twice. The YAML parser rejects it
/// itself.
pub fn check_members(text: &str) -> Result<()> {
    json::check_unique(text).map_err(|error| {
        Error::DuplicateMember(format!("the definition: {}", plain(&error.to_string())))
    })
}

fn not_yaml(error: &serde_saphyr::Error) -> Error {
    match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key, location } => {
            let key = key.as_deref().unwrap_or("a key");
            let (line, column) = (location.line(), location.column());
            Error::DuplicateMember(format!(
                "the definition: `{key}` is there twice at line {line} column {column}"
            ))
        }
        _ => Error::BadDefinition(format!("the definition is not YAML: {error}")),
    }
}

/// Rejects a definition in which a number would be rounded: its numbers are 64 bits wide.
pub fn check_numbers(text: &str, definition: &Value) -> Result<()> {
    let Some(numbers::Rounded {
        line,
        written,
        read,
    }) = numbers::rounded(text, definition)
    else {
        return Ok(());
    };
    let message = format!(
        "line {line} of the definition: the number {written} would become {read}: put it in quotes, or give it with the input"
    );
    Err(Error::BadDefinition(message))
}

/// YAML 1.2: only `true` and `false` are booleans, so an id may be `y` and a country `NO`. The
/// parser bounds depth and size, and more aliases than a large flow has are rejected, so that a
/// small text cannot become a large value.
fn yaml() -> serde_saphyr::Options {
    let mut options = serde_saphyr::options! { strict_booleans: true };
    options.alias_limits.max_total_replayed_events = 100_000;
    options
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::*;

    fn check(yaml: &str, expected: Value) {
        assert_eq!(
            parse_definition(yaml, Format::Yaml).unwrap(),
            expected,
            "{yaml}"
        );
    }

    #[test]
    fn a_definition_of_too_many_values_is_not_read_to_its_end() {
        let numbers = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        let read = |text: &str| read_definition(text, Format::Json, 10);
        assert!(read(&numbers(400_000)).is_ok());
        // The rest is not read.
        for text in [
            numbers(600_000) + "}",
            "{\"a\":".repeat(60) + &numbers(600_000),
        ] {
            let Err(NotRead::Other(error)) = read(&text) else {
                panic!("it is refused for its size");
            };
            assert_eq!(error.code(), "TOO_LARGE");
        }
    }

    #[test]
    fn yaml_has_two_booleans() {
        check(
            "{id: y, a: NO, b: on, c: off, d: yes, e: n}",
            json!({"id": "y", "a": "NO", "b": "on", "c": "off", "d": "yes", "e": "n"}),
        );
        check(
            "{a: true, b: false, c: 'true'}",
            json!({"a": true, "b": false, "c": "true"}),
        );
        check(
            "{version: 1.0.0, z: ~, t: 12:30}",
            json!({"version": "1.0.0", "z": null, "t": "12:30"}),
        );
    }

    #[test]
    fn yaml_says_the_same_as_json() {
        let json = r#"{"id": "f", "steps": {"a": {"type": "set", "config": {"value": [1, 2.5, null, "x"]}}}}"#;
        let yaml =
            "id: f\nsteps:\n  a:\n    type: set\n    config:\n      value: [1, 2.5, null, x]\n";
        let read = |text, format| parse_definition(text, format).unwrap();
        assert_eq!(read(yaml, Format::Yaml), read(json, Format::Json));
    }

    #[test]
    fn a_number_that_would_be_rounded_is_refused() {
        for (text, format) in [
            ("{\"a\":\n12345678901234567890123}", Format::Json),
            ("b: 1\na: 12345678901234567890123", Format::Yaml),
            ("b: 1\na: [0.1000000000000000055]", Format::Yaml),
        ] {
            let error = parse_definition(text, format).unwrap_err();
            assert_eq!(error.code(), "BAD_DEFINITION");
            let message = error.to_string();
            assert!(message.starts_with("line 2 of the definition"), "{message}");
        }
        check(
            "a: '12345678901234567890123'",
            json!({"a": "12345678901234567890123"}),
        );
        check(
            "{a: 0x1F, b: 1_000, c: 1e3}",
            json!({"a": 31, "b": 1000, "c": 1000.0}),
        );
    }

    #[test]
    fn a_member_that_stands_there_twice_is_refused() {
        for (text, format) in [
            (r#"{"id": "a", "id": "b"}"#, Format::Json),
            (
                r#"{"steps": {"a": {"type": "set", "type": "log"}}}"#,
                Format::Json,
            ),
            ("id: a\nid: b\n", Format::Yaml),
            ("steps:\n  a: {type: set, type: log}\n", Format::Yaml),
        ] {
            let error = parse_definition(text, format).unwrap_err();
            assert_eq!(error.code(), "DUPLICATE_MEMBER", "{text}: {error}");
        }
    }

    fn refused(text: &str, format: Format) {
        let error = parse_definition(text, format).err();
        assert_eq!(
            error.map(|error| error.code().as_str()),
            Some("BAD_DEFINITION")
        );
    }

    #[test]
    fn a_small_text_that_means_a_large_value_is_refused() {
        let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
        for level in 1..10 {
            let before = format!("*a{}", level - 1);
            laughs += &format!(
                "a{level}: &a{level} [{}]\n",
                [before.as_str(); 9].join(", ")
            );
        }
        refused(&laughs, Format::Yaml);
        // Few aliases, each of a long text.
        let list = format!("t: &t {}\nl: [{}]", "x".repeat(1 << 20), "*t, ".repeat(90));
        refused(&list, Format::Yaml);
    }

    #[test]
    fn reading_stops_at_the_limit_of_steps() {
        let steps: Vec<String> = (0..6).map(|n| format!("\"s{n}\": {{}}")).collect();
        let text = format!("{{\"steps\": {{{}}}}}", steps.join(", "));
        for format in [Format::Json, Format::Yaml] {
            assert!(read_definition(&text, format, 6).is_ok());
            let refused = read_definition(&text, format, 5);
            assert!(matches!(refused, Err(NotRead::TooManySteps)));
        }
    }

    #[test]
    fn many_long_numbers_in_a_text_are_looked_up_and_not_searched_for() {
        let words = "0.1000000000000000055 ".repeat(200_000);
        let list: Vec<u32> = (0..200_000).collect();
        let text = json!({"a": words, "b": list}).to_string();
        assert!(parse_definition(&text, Format::Json).is_ok());
    }

    #[test]
    fn what_is_nested_too_deep_is_refused() {
        refused(&"[".repeat(100_000), Format::Yaml);
        refused(&"{a: ".repeat(100_000), Format::Yaml);
        refused(&"- ".repeat(100_000), Format::Yaml);
        refused(&"[".repeat(100_000), Format::Json);
        let blocks: String = (0..500)
            .map(|depth| format!("{}a:\n", " ".repeat(depth)))
            .collect();
        refused(&blocks, Format::Yaml);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-\\[\\]{}:,&*#|>'\"!%@ \\na-c01.~<]{0,60}") {
            let _ = parse_definition(&text, Format::Yaml);
            let _ = parse_definition(&text, Format::Json);
        }
    }
}
