//! Lookups in JSON text. Each lookup scans one object or array and builds nothing but borrowed
//! slices; nested values that are not asked for are skipped.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The member of an object, the last one if the key repeats, as `JSON.parse` has it.
pub(super) fn member<'a>(object: &'a str, key: &str) -> serde_json::Result<Option<&'a str>> {
    scan(object, Member { key })
}

/// The element of an array.
pub(super) fn element(array: &str, index: usize) -> serde_json::Result<Option<&str>> {
    scan(array, Element { index })
}

/// The UTF-16 code units of a JSON string, quotes included in `text`. Unlike Rust's strings these
/// can hold the lone surrogates that JSON's escapes allow.
pub(super) fn code_units(text: &str) -> Vec<u16> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
    let mut units = Vec::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match chars.next() {
            Some('b') => 8,
            Some('f') => 12,
            Some('n') => 10,
            Some('r') => 13,
            Some('t') => 9,
            Some('u') => chars.by_ref().take(4).fold(0, hex_digit),
            // `"`, `\` and `/` stand for themselves; the text is valid, so nothing else comes.
            other => other.map_or(0, |c| c as u16),
        });
    }
    units
}

fn hex_digit(unit: u16, digit: char) -> u16 {
    (unit << 4) | digit.to_digit(16).unwrap_or(0) as u16
}

fn scan<'a, S>(text: &'a str, seed: S) -> serde_json::Result<S::Value>
where
    S: DeserializeSeed<'a>,
{
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = seed.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

struct Member<'k> {
    key: &'k str,
}

impl Member<'_> {
    fn is(&self, raw: &str) -> bool {
        if raw.contains('\\') {
            // A key with a lone surrogate is no Rust string, and so not the one asked for.
            serde_json::from_str::<Cow<'_, str>>(raw).is_ok_and(|key| key == self.key)
        } else {
            raw.get(1..raw.len() - 1) == Some(self.key)
        }
    }
}

impl<'a> DeserializeSeed<'a> for Member<'_> {
    type Value = Option<&'a str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Member<'_> {
    type Value = Option<&'a str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<&'a RawValue>()? {
            if self.is(key.get()) {
                found = Some(map.next_value::<&'a RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

struct Element {
    index: usize,
}

impl<'a> DeserializeSeed<'a> for Element {
    type Value = Option<&'a str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Element {
    type Value = Option<&'a str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        for _ in 0..self.index {
            if seq.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        let found = seq.next_element::<&'a RawValue>()?.map(RawValue::get);
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_meaning_and_the_last_one_wins() {
        let check = |text, key, expected| assert_eq!(member(text, key).unwrap(), expected);
        check(r#"{"a": 1, "b": [2]}"#, "b", Some("[2]"));
        check(r#"{"a": 1}"#, "b", None);
        check(r#"{"a": 1, "a": 2}"#, "a", Some("2"));
        check("{\"\\u0061\": 1}", "a", Some("1"));
        check(r#"{"\ud800": 1, "a": 2}"#, "a", Some("2"));
        assert!(member(r#"{"a": 1"#, "a").is_err());
        assert!(member(r#"{"a": 1} x"#, "a").is_err());
    }

    #[test]
    fn elements_are_found_by_index() {
        let check = |text, index, expected| assert_eq!(element(text, index).unwrap(), expected);
        check("[1, [2, 3], 4]", 1, Some("[2, 3]"));
        check("[1]", 1, None);
        check("[]", 0, None);
        assert!(element("[1, 2", 0).is_err());
    }

    #[test]
    fn strings_decode_to_code_units() {
        let check = |text, expected: &[u16]| assert_eq!(code_units(text), expected);
        check(r#""ab""#, &[97, 98]);
        check(r#""\n\"\/\u00e9""#, &[10, 34, 47, 0xe9]);
        check("\"\u{1f600}\"", &[0xd83d, 0xde00]);
        check(r#""\ud83d""#, &[0xd83d]);
        check("", &[]);
    }
}
