//! Numbers in a definition that would be rounded.
//!
//! A definition is parsed, so its numbers become 64-bit ones: a long id or a long decimal would
//! change. Payloads keep their text and have no such limit.

use std::collections::HashSet;

use serde_json::{Number, Value};

/// A number that would be rounded, as it was written and as it would be read, and its line.
#[derive(Debug, PartialEq)]
pub(super) struct Rounded {
    pub line: usize,
    pub written: String,
    pub read: String,
}

/// Finds a number that differs from its spelling in `text`, the JSON or YAML from which
/// `definition` was read.
pub(super) fn rounded(text: &str, definition: &Value) -> Option<Rounded> {
    let between = |c: char| c.is_whitespace() || ",:[]{}\"'".contains(c);
    let lines = (1..).zip(text.lines());
    let mut words =
        lines.flat_map(|(line, text)| text.split(between).map(move |word| (line, word)));
    // Computed on first use: few definitions have a number with another spelling.
    let mut numbers: Option<HashSet<&Number>> = None;
    words.find_map(|(line, written)| {
        let number: Number = serde_json::from_str(written).ok()?;
        let read = number.to_string();
        // The same digits inside a text do not count.
        let is_rounded = Decimal::of(written) != Decimal::of(&read)
            && numbers
                .get_or_insert_with(|| all_numbers(definition))
                .contains(&number);
        is_rounded.then(|| Rounded {
            line,
            written: written.chars().take(64).collect(),
            read,
        })
    })
}

fn all_numbers(definition: &Value) -> HashSet<&Number> {
    let mut numbers = HashSet::new();
    let mut ahead = vec![definition];
    while let Some(value) = ahead.pop() {
        match value {
            Value::Number(number) => {
                numbers.insert(number);
            }
            Value::Array(items) => ahead.extend(items),
            Value::Object(members) => ahead.extend(members.values()),
            _ => {}
        }
    }
    numbers
}

/// A decimal number without the parts that do not change its value.
#[derive(PartialEq)]
struct Decimal<'a> {
    negative: bool,
    digits: Vec<&'a u8>,
    /// The power of ten of the last digit.
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Of text that JSON reads as a number.
    fn of(text: &'a str) -> Self {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let zero = |digit: &&u8| **digit == b'0';
        let digits = whole.as_bytes().iter().chain(fraction.as_bytes());
        let mut digits: Vec<&u8> = digits.skip_while(zero).collect();
        let zeros = digits.iter().rev().take_while(|digit| zero(digit)).count();
        digits.truncate(digits.len() - zeros);
        // An exponent beyond every machine number leaves zero or no readable number.
        let exponent: i64 = exponent.parse().unwrap_or(i64::MIN);
        let moved = zeros as i64 - fraction.len() as i64;
        Self {
            negative: mantissa.len() > unsigned.len() && !digits.is_empty(),
            exponent: if digits.is_empty() {
                0
            } else {
                exponent.saturating_add(moved)
            },
            digits,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(written: &str, expected: Option<&str>) {
        let number: Value = serde_json::from_str(written).unwrap();
        let text = format!("{{\n\"a\": [{written},1]}}");
        let rounded = rounded(&text, &json!({"a": [number, 1]}));
        let expected = expected.map(|read| Rounded {
            line: 2,
            written: written.to_owned(),
            read: read.to_owned(),
        });
        assert_eq!(rounded, expected, "{written}");
    }

    #[test]
    fn numbers_that_stay_what_they_are() {
        for written in [
            "0",
            "-0",
            "0.0",
            "0e5",
            "1",
            "-1",
            "1.10",
            "0.1",
            "100",
            "1e2",
            "1E+2",
            "1.5e-3",
            "18446744073709551615",
            "-9223372036854775808",
            "0.30000000000000004",
            "1e22",
            "1e300",
            "0.000001",
            "1.7976931348623157e308",
        ] {
            check(written, None);
        }
    }

    #[test]
    fn numbers_that_would_be_rounded() {
        for (written, read) in [
            ("12345678901234567890123", "1.2345678901234568e+22"),
            ("0.1000000000000000055", "0.1"),
            ("18446744073709551617", "1.8446744073709552e+19"),
            ("123456789.123456789123", "123456789.12345679"),
            ("1e-400", "0.0"),
            ("1e-99999999999999999999", "0.0"),
        ] {
            check(written, Some(read));
        }
    }

    #[test]
    fn digits_in_a_text_are_left_alone() {
        let text = r#"{"id": "12345678901234567890123", "n": 1}"#;
        let value = serde_json::from_str(text).unwrap();
        assert_eq!(rounded(text, &value), None);
    }
}
