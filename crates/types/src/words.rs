//! Serde's errors about a value, in the words of the value's format.

/// `invalid type: string "x", expected u32` becomes `must be a whole number from 0 to 4294967295,
/// not "x"`. What is said otherwise stays as it is.
pub fn plain(said: &str) -> String {
    let (said, place) = match said.rfind(" at line ") {
        Some(at) => said.split_at(at),
        None => (said, ""),
    };
    let worded = unfit(said)
        .or_else(|| unknown(said))
        .or_else(|| unknown_field(said))
        .or_else(|| member(said));
    format!("{}{place}", worded.as_deref().unwrap_or(said))
}

fn unfit(said: &str) -> Option<String> {
    let said = said
        .strip_prefix("invalid type: ")
        .or_else(|| said.strip_prefix("invalid value: "))?;
    // The given value may itself contain these words.
    let (given, expected) = said.rsplit_once(", expected ")?;
    Some(format!("must be {}, not {}", wanted(expected), is(given)))
}

fn unknown(said: &str) -> Option<String> {
    let said = said.strip_prefix("unknown variant `")?;
    let (given, expected) = said.rsplit_once("`, expected ")?;
    Some(format!("must be {}, not {given:?}", list(expected, "or")))
}

fn unknown_field(said: &str) -> Option<String> {
    let said = said.strip_prefix("unknown field `")?;
    let (given, expected) = said.split_once("`, ")?;
    Some(match expected.strip_prefix("expected ") {
        Some(known) => format!("there is no `{given}` here, only {}", list(known, "and")),
        None => format!("there is no `{given}` here"),
    })
}

fn member(said: &str) -> Option<String> {
    let name = |prefix| said.strip_prefix(prefix)?.strip_suffix('`');
    let missing = name("missing field `").map(|name| format!("`{name}` is missing"));
    missing.or_else(|| name("duplicate field `").map(|name| format!("`{name}` is there twice")))
}

/// The names between backquotes: `a`, `a or b`, `a, b or c`.
fn list(names: &str, word: &str) -> String {
    let names: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
    match &names[..] {
        [] => "something else".to_owned(),
        [only] => (*only).to_owned(),
        [before @ .., last] => format!("{} {word} {last}", before.join(", ")),
    }
}

fn wanted(expected: &str) -> String {
    let whole = |from: &str, to: &str| format!("a whole number from {from} to {to}");
    let zero_to = |to: u128| whole("0", &to.to_string());
    match expected {
        "u8" => zero_to(u8::MAX.into()),
        "u16" => zero_to(u16::MAX.into()),
        "u32" => zero_to(u32::MAX.into()),
        "u64" | "usize" | "u128" => "a whole number that is not negative".to_owned(),
        "a nonzero u32" => whole("1", &u32::MAX.to_string()),
        "a nonzero u64" | "a nonzero usize" => "a whole number from 1 on".to_owned(),
        "i32" => whole(&i32::MIN.to_string(), &i32::MAX.to_string()),
        "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "str" | "string" => "a text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        "unit" => "null".to_owned(),
        other if other.starts_with("struct ") => "an object".to_owned(),
        other => other.to_owned(),
    }
}

fn is(given: &str) -> String {
    let value = ["string ", "integer ", "floating point ", "boolean "]
        .iter()
        .find_map(|kind| given.strip_prefix(kind));
    match (value, given) {
        (Some(value), _) => value.trim_matches('`').to_owned(),
        (None, "map") => "an object".to_owned(),
        (None, "sequence") => "a list".to_owned(),
        (None, "unit value") => "null".to_owned(),
        (None, other) => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_to_know_rust() {
        for (said, worded) in [
            (
                "invalid type: string \"x\", expected i32 at line 1 column 5",
                "must be a whole number from -2147483648 to 2147483647, not \"x\" at line 1 column 5",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "must be a whole number that is not negative, not -1",
            ),
            (
                "invalid value: integer `0`, expected a nonzero u32",
                "must be a whole number from 1 to 4294967295, not 0",
            ),
            (
                "invalid type: string \"a, expected b\", expected a sequence",
                "must be a list, not \"a, expected b\"",
            ),
            (
                "invalid type: map, expected a string",
                "must be a text, not an object",
            ),
            (
                "invalid type: null, expected a boolean",
                "must be true or false, not null",
            ),
            (
                "invalid type: floating point `1.5`, expected struct Limit",
                "must be an object, not 1.5",
            ),
            (
                "invalid type: integer `7`, expected the name of a queue",
                "must be the name of a queue, not 7",
            ),
            (
                "unknown variant `linear`, expected `fixed` or `exponential`",
                "must be fixed or exponential, not \"linear\"",
            ),
            (
                "unknown variant `up`, expected one of `a`, `b`, `c`",
                "must be a, b or c, not \"up\"",
            ),
            (
                "missing field `id` at line 1 column 2",
                "`id` is missing at line 1 column 2",
            ),
            ("duplicate field `id`", "`id` is there twice"),
            (
                "unknown field `ida`, expected one of `id`, `at`, `by`",
                "there is no `ida` here, only id, at and by",
            ),
            (
                "unknown field `ida`, expected `id` or `at`",
                "there is no `ida` here, only id and at",
            ),
            (
                "unknown field `a`, there are no fields",
                "there is no `a` here",
            ),
            ("the queue is paused", "the queue is paused"),
        ] {
            assert_eq!(plain(said), worded);
        }
    }
}
