//! Whether JSON text can be read: the grammar allows more than any parser takes.
//!
//! `"\ud800"` is half a character, `1e999` is beyond every machine number, and a thousand brackets
//! are deeper than a parser goes. Text with any of these matches the JSON grammar and cannot be
//! parsed. It is rare, and a fast scan rules it out: only suspicious text is parsed.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

/// The most digits, exponent counted, that surely make a number that a machine holds.
const SURE_DIGITS: usize = 300;

/// Refuses JSON text that cannot be read, or nests deeper than `depth`. The text must be JSON by
/// its grammar already.
pub(super) fn check(text: &str, depth: usize) -> Result<(), serde_json::Error> {
    if is_deeper(text, depth) {
        let message = format!("it nests deeper than {depth} levels");
        return Err(serde_json::Error::custom(message));
    }
    if is_suspicious(text.as_bytes()) {
        serde_json::from_str::<Readable>(text)?;
    }
    Ok(())
}

/// Whether brackets nest deeper than a number of levels.
pub(super) fn is_deeper(text: &str, levels: usize) -> bool {
    let bytes = text.as_bytes();
    // Fewer brackets cannot nest deeper, wherever they stand.
    if bytes.len() <= levels || count(bytes, |byte| matches!(byte, b'[' | b'{')) <= levels {
        return false;
    }
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

/// Whether the text holds more values and names of members than a number.
pub(super) fn has_more_values(text: &str, most: usize) -> bool {
    let bytes = text.as_bytes();
    let separates = |byte: u8| matches!(byte, b'[' | b'{' | b',' | b':');
    // The value itself, and one for each of these.
    if bytes.len() < most || count(bytes, separates) < most {
        return false;
    }
    let (mut count, mut in_text, mut escaped) = (1_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            byte if !in_text && separates(*byte) => count += 1,
            _ => {}
        }
        if count > most {
            return true;
        }
    }
    false
}

/// How many bytes are of a kind. The sums of short pieces fit into a byte and no branch depends on
/// the text, so the compiler takes sixteen bytes at a time.
fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let piece = |piece: &[u8]| piece.iter().map(|byte| u8::from(is(*byte))).sum::<u8>();
    bytes
        .chunks(usize::from(u8::MAX))
        .map(|bytes| usize::from(piece(bytes)))
        .sum()
}

/// Whether the text may hold half a character or a number beyond all machines. Never false where
/// it does; seldom true where it does not.
fn is_suspicious(bytes: &[u8]) -> bool {
    let Some((_, seconds)) = bytes.split_first() else {
        return false;
    };
    // Sixteen at a time, as in `count`: nearly always nothing is found.
    let found = bytes.iter().zip(seconds).fold(0, |found, (first, second)| {
        let escape = u8::from(*first == b'\\') & u8::from(*second == b'u');
        let exponent = u8::from(first.is_ascii_digit()) & u8::from(*second | 0x20 == b'e');
        found | escape | exponent
    });
    (found > 0 && has_suspicious_pair(bytes)) || has_many_digits(bytes)
}

fn has_suspicious_pair(bytes: &[u8]) -> bool {
    let mut at = 0;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'\\', b'u') => match surrogate(bytes, at) {
                None => at += 1,
                Some(Surrogate::High) if surrogate(bytes, at + 6) == Some(Surrogate::Low) => {
                    at += 11;
                }
                Some(_) => return true,
            },
            // What is escaped begins no escape of its own.
            (b'\\', _) => at += 1,
            (b'0'..=b'9', b'e' | b'E') if is_large(bytes, at + 1) => return true,
            _ => {}
        }
        at += 1;
    }
    false
}

#[derive(PartialEq)]
enum Surrogate {
    High,
    Low,
}

/// Which half of a character the escape `\uXXXX` at a place is, if it is one.
fn surrogate(bytes: &[u8], at: usize) -> Option<Surrogate> {
    match bytes.get(at..at + 4)? {
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B',
        ] => Some(Surrogate::High),
        [b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F'] => Some(Surrogate::Low),
        _ => None,
    }
}

/// Whether the `e` at a place may belong to a number that is too large: a hash in a text has many
/// of them.
fn is_large(bytes: &[u8], e: usize) -> bool {
    let (before, after) = (&bytes[..e], &bytes[e + 1..]);
    let in_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let mantissa = before.iter().rev().take_while(in_number).count();
    let before = &before[..e - mantissa];
    let before = before.strip_suffix(b"-").unwrap_or(before);
    let begins = matches!(
        before.last(),
        None | Some(b'[' | b',' | b':' | b' ' | b'\t' | b'\n' | b'\r')
    );
    let after = after.strip_prefix(b"+").unwrap_or(after);
    let digits = after.iter().take_while(|byte| byte.is_ascii_digit());
    let exponent = digits.fold(0_usize, |value, digit| {
        let digit = usize::from(digit - b'0');
        value.saturating_mul(10).saturating_add(digit)
    });
    begins && mantissa.saturating_add(exponent) > SURE_DIGITS
}

/// Whether more digits stand in a row than a number may surely have. As many cannot hide between
/// the places that are looked at.
fn has_many_digits(bytes: &[u8]) -> bool {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    (0..bytes.len()).step_by(SURE_DIGITS).any(|at| {
        let (before, after) = bytes.split_at(at);
        let before = before.iter().rev().take(SURE_DIGITS).take_while(is_digit);
        let after = after.iter().take(SURE_DIGITS).take_while(is_digit);
        before.count() + after.count() >= SURE_DIGITS
    })
}

/// Any JSON that a parser takes, looked through and dropped.
pub(super) struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, value::RawValue};

    use super::*;

    fn verdict(text: &str, readable: bool) {
        RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(check(text, 120).is_ok(), readable, "{text:.80}");
        assert_eq!(serde_json::from_str::<Value>(text).is_ok(), readable);
    }

    #[test]
    fn what_no_parser_takes_is_refused() {
        for text in [
            r#""\ud800""#,
            r#""\uD800""#,
            r#""\udc00""#,
            r#""\ud83d\ud83d""#,
            r#""\ud83d\u0061""#,
            r#""\\ud83d\ude00""#,
            r#"{"\ud800":1}"#,
            "1e999",
            "-1E+999",
            "[1.5,2e400]",
            "1e18446744073709551619",
            r#"{"a" :1e309}"#,
            &"9".repeat(400),
            &format!("[{}e9]", "1".repeat(305)),
        ] {
            verdict(text, false);
        }
    }

    #[test]
    fn what_only_looks_suspicious_is_not() {
        for text in [
            r#""\ud83d\ude00""#,
            r#""\\ud800 \u00e9""#,
            r#""1e999, 2e999""#,
            r#"["3e999", "a-1e999"]"#,
            "1e-999",
            "1e0000000001",
            "1e308",
            r#""7e18446744073709551619""#,
            &format!("\"{}\"", "9".repeat(1_000)),
            &format!("0.{}", "1".repeat(1_000)),
        ] {
            verdict(text, true);
        }
    }

    #[test]
    fn brackets_nest_only_so_deep() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(check(&nested(120), 120).is_ok());
        assert!(check(&nested(121), 120).is_err());
        // Beside each other, or in a text, they do not nest.
        assert!(check(&format!("[{}1]", "[],".repeat(500)), 120).is_ok());
        assert!(check(&format!("[\"{}\\\"[\"]", "[".repeat(500)), 120).is_ok());
    }

    proptest! {
        /// The glance never lets through what the parser refuses.
        #[test]
        fn a_glance_is_enough(text in r#"[\[\]{}",:\\ud8cD0-9e+\-. a]{0,24}"#) {
            for text in [text.clone(), format!("\"{text}\""), format!("[{text}]")] {
                if RawValue::from_string(text.clone()).is_ok() {
                    let parsed = serde_json::from_str::<Value>(&text);
                    prop_assert_eq!(check(&text, 120).is_ok(), parsed.is_ok(), "{}", text);
                }
            }
        }

        #[test]
        fn escapes_are_judged_as_the_parser_does(
            parts in proptest::collection::vec(
                prop::sample::select(vec!["\\\\", "\\n", "\\ud83d", "\\uDE00", "ud83d", "\\u0041", "x"]), 0..6,
            ),
        ) {
            let text = format!("{{\"{}\":1}}", parts.concat());
            let parsed = serde_json::from_str::<Value>(&text);
            prop_assert_eq!(check(&text, 120).is_ok(), parsed.is_ok(), "{}", text);
        }

        #[test]
        fn numbers_are_judged_as_the_parser_does(
            digits in 1..330_usize, fraction in 0..5_usize, exponent in -400..400_i32,
        ) {
            let mut text = "7".repeat(digits);
            if fraction > 0 {
                text += &format!(".{}", "7".repeat(fraction));
            }
            for text in [text.clone(), format!("{text}e{exponent}"), format!("[-{text}E{exponent} ]")] {
                let parsed = serde_json::from_str::<Value>(&text);
                prop_assert_eq!(check(&text, 120).is_ok(), parsed.is_ok(), "{}", text);
            }
        }
    }
}
