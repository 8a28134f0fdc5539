//! Equality between the values in an event and those of an await, so that an index can find it.
//!
//! An await's paths are its shape; its values, in one canonical text, are its key. All awaits of a
//! shape are found by one look-up of the key that an event has under that shape.
//!
//! Numbers are equal if their values are: `1`, `1.0` and `10e-1` are equal, and no digit is lost to
//! the width of a machine's numbers. A string is never a number. The order of an object's members
//! does not count.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
};

use riverrun_types::{Json, Path};
use serde_json::value::RawValue;

/// The index form of an await's equalities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The paths in order, as a list of JSON.
    pub paths: String,
    /// The values at these paths, as canonical JSON.
    pub key: String,
}

impl Shape {
    pub fn of(equal: &[(Path, Json)]) -> Self {
        let mut pairs: Vec<(String, String)> = equal
            .iter()
            .map(|(path, value)| (path.to_string(), canonical(value)))
            .collect();
        pairs.sort();
        let paths: Vec<&str> = pairs.iter().map(|(path, _)| path.as_str()).collect();
        Self {
            paths: Json::of(&paths).as_str().to_owned(),
            key: key_of(pairs.iter().map(|(_, value)| value.as_str())),
        }
    }
}

/// The keys of one event under the shapes that are requested. A path is followed once.
pub struct Keys<'a> {
    event: &'a Json,
    picked: HashMap<String, Option<String>>,
}

impl<'a> Keys<'a> {
    pub fn new(event: &'a Json) -> Self {
        Self {
            event,
            picked: HashMap::new(),
        }
    }

    /// The key under the shape of these paths; none if the event lacks one of them.
    pub fn key(&mut self, paths: &str) -> Option<String> {
        let paths: Vec<String> = serde_json::from_str(paths).ok()?;
        for path in &paths {
            if !self.picked.contains_key(path) {
                let found = self.event.path(&Path::new(path));
                let found = found.as_ref().map(canonical);
                self.picked.insert(path.clone(), found);
            }
        }
        let values: Option<Vec<&str>> = paths
            .iter()
            .map(|path| self.picked.get(path).and_then(Option::as_deref))
            .collect();
        Some(key_of(values?.into_iter()))
    }
}

/// Whether the event has all of these values.
pub fn holds(equal: &[(Path, Json)], event: &Json) -> bool {
    let shape = Shape::of(equal);
    Keys::new(event).key(&shape.paths) == Some(shape.key)
}

fn key_of<'a>(values: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// The canonical text that all equal values share.
pub fn canonical(value: &Json) -> String {
    let mut text = String::with_capacity(value.bytes());
    write(value.raw(), &mut text);
    text
}

fn write(raw: &RawValue, out: &mut String) {
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
            Ok(members) => write_members(&members, out),
            Err(_) => out.push_str(text),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(items) => write_items(&items, out),
            Err(_) => out.push_str(text),
        },
        // The same characters may be escaped in one text and plain in another.
        Some(b'"') if text.contains('\\') => match serde_json::from_str::<String>(text) {
            Ok(plain) => out.push_str(Json::of(&plain).as_str()),
            Err(_) => out.push_str(text),
        },
        Some(b'-' | b'0'..=b'9') => write_number(text, out),
        _ => out.push_str(text),
    }
}

fn write_members(members: &BTreeMap<String, &RawValue>, out: &mut String) {
    out.push('{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        out.push_str(Json::of(name).as_str());
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn write_items(items: &[&RawValue], out: &mut String) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

/// A number as its digits without zeros at either end, and the power of ten that they are
/// multiplied with: `150` and `1.5e2` are `15e1`.
fn write_number(text: &str, out: &mut String) {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
        None => (text, Some(0)),
    };
    let Some(exponent) = exponent else {
        return out.push_str(text);
    };
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let dropped = digits.len() - significant.len();
    let power = exponent.saturating_add(dropped as i64 - fraction.len() as i64);
    let significant = significant.trim_start_matches('0');
    match (significant, power) {
        ("", _) => out.push('0'),
        (significant, 0) => {
            out.push_str(sign);
            out.push_str(significant);
        }
        (significant, power) => {
            // Writing into a text does not fail.
            let _ = write!(out, "{sign}{significant}e{power}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse_text(text.to_owned()).expect("JSON")
    }

    #[test]
    fn equal_values_have_one_text() {
        let check = |texts: &[&str]| {
            for text in texts {
                assert_eq!(canonical(&json(text)), canonical(&json(texts[0])), "{text}");
            }
        };
        check(&["1", "1.0", "1.000", "10e-1", "0.1e1", "1E0", "1e+0"]);
        check(&["0", "-0", "0.0", "0e9", "-0.0e-3"]);
        check(&["150", "1.5e2", "15e1", "150.0"]);
        check(&["-0.25", "-25e-2", "-2.5E-1"]);
        check(&["9007199254740993", "9007199254740993.0"]);
        check(&[r#""a/b""#, r#""a\/b""#, r#""\u0061/b""#]);
        check(&[
            r#"{"a":1,"b":[1,{"d":null,"c":true}]}"#,
            r#"{ "b" : [1.0, {"c":true, "d":null}], "a": 1.0 }"#,
        ]);
        check(&[r#"{"a":2}"#, r#"{"a":1,"a":2}"#]);
    }

    #[test]
    fn other_values_have_other_texts() {
        let all = [
            "1",
            "10",
            "-1",
            "0.1",
            "\"1\"",
            "true",
            "null",
            "\"null\"",
            "[1]",
            "{}",
            "[]",
            "\"\"",
            "9007199254740993",
            "9007199254740992",
            r#"{"a":1}"#,
            r#"["a",1]"#,
            "[[1]]",
            "[1,1]",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(
                    canonical(&json(one)),
                    canonical(&json(other)),
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn an_event_holds_what_it_has() {
        let event = json(r#"{"data":{"orderId":4711,"lines":[{"sku":"x"}],"note":null}}"#);
        let check = |pairs: &[(&str, &str)], expected: bool| {
            let equal: Vec<_> = pairs
                .iter()
                .map(|(path, value)| (Path::new(path), json(value)))
                .collect();
            assert_eq!(holds(&equal, &event), expected, "{pairs:?}");
        };
        check(&[], true);
        check(&[("data.orderId", "4711.0")], true);
        check(&[("data.orderId", "\"4711\"")], false);
        check(
            &[("data.lines.0.sku", "\"x\""), ("data.orderId", "4711")],
            true,
        );
        check(
            &[("data.orderId", "4711"), ("data.lines.0.sku", "\"x\"")],
            true,
        );
        check(
            &[("data.orderId", "4711"), ("data.lines.1.sku", "\"x\"")],
            false,
        );
        check(&[("data.orderId", "4711"), ("data.orderId", "4712")], false);
        check(&[("data.note", "null")], true);
        check(&[("data.missing", "null")], false);
    }
}
