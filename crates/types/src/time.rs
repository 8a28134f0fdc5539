//! Milliseconds since the Unix epoch, and their ISO 8601 form on the wire.

use std::fmt;

use jiff::{Span, SpanRelativeTo, Timestamp};
use serde::{Deserializer, Serialize, Serializer, de};

/// Milliseconds since the Unix epoch. Every time in a store or an event is one of these.
pub type Millis = i64;

/// A time so far away that it means "no time at all": the wake time of a run that only another
/// run or a person can move.
pub const NEVER: Millis = i64::MAX;

/// Ten years, in which a run may wait, retry or begin later. Longer is a mistake in the unit.
pub const MAX_WAIT_MS: Millis = 10 * 366 * 24 * 60 * 60 * 1000;

/// `2025-10-29T16:15:54.834Z`: always UTC, always three digits of milliseconds.
pub fn iso(ms: Millis) -> String {
    Iso(ms).to_string()
}

/// A time that is shown and serialised in its ISO form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Iso(pub Millis);

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(ts) => write!(f, "{ts:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Iso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads ISO 8601 with any offset, or plain milliseconds.
pub fn parse(text: &str) -> Option<Millis> {
    if let Ok(ms) = text.parse::<i64>() {
        return Some(ms);
    }
    text.parse::<Timestamp>().ok().map(|ts| ts.as_millisecond())
}

/// Reads a time that may be absent or null, for `deserialize_with`: ISO 8601 or milliseconds, as a
/// text or a number.
pub fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
    struct Moment;

    impl de::Visitor<'_> for Moment {
        type Value = Option<Millis>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a time: ISO 8601 or milliseconds since 1970")
        }

        fn visit_i64<E>(self, ms: i64) -> Result<Self::Value, E> {
            Ok(Some(ms))
        }

        fn visit_u64<E: de::Error>(self, ms: u64) -> Result<Self::Value, E> {
            let read = Millis::try_from(ms).map(Some);
            read.map_err(|_| E::invalid_value(de::Unexpected::Unsigned(ms), &self))
        }

        fn visit_f64<E: de::Error>(self, ms: f64) -> Result<Self::Value, E> {
            // 1e3 is a whole number too.
            const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
            match ms.fract() == 0.0 && ms.abs() <= MAX_EXACT {
                true => Ok(Some(ms as Millis)),
                false => Err(E::invalid_value(de::Unexpected::Float(ms), &self)),
            }
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            let shown: String = text.chars().take(64).collect();
            let refuse = || E::invalid_value(de::Unexpected::Str(&shown), &self);
            parse(text).map(Some).ok_or_else(refuse)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    from.deserialize_any(Moment)
}

/// Reads a duration: milliseconds, `90s`, `1h 30m`, `2 days`, `PT5M`. Days are 24 hours and weeks
/// seven days; months and years have no fixed length.
pub fn duration_ms(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(ms) = text.parse() {
        return Some(ms);
    }
    let span: Span = text.parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Some(duration.as_millis_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iso_has_milliseconds_and_reads_back() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_761_754_554_834, "2025-10-29T16:15:54.834Z"),
            (1_761_754_554_000, "2025-10-29T16:15:54.000Z"),
        ] {
            assert_eq!(iso(ms), text);
            assert_eq!(parse(text), Some(ms));
        }
        assert_eq!(
            parse("2025-10-29T17:15:54.834+01:00"),
            Some(1_761_754_554_834)
        );
        assert_eq!(parse("1761754554834"), Some(1_761_754_554_834));
        assert_eq!(parse("yesterday"), None);
    }

    #[test]
    fn moments_are_texts_or_numbers() {
        let read = |text: &str| moment(&mut serde_json::Deserializer::from_str(text)).ok();
        for (text, expected) in [
            ("1000", Some(1_000)),
            ("1e3", Some(1_000)),
            ("-1000.0", Some(-1_000)),
            (r#""1000""#, Some(1_000)),
            (r#""1970-01-01T00:00:01Z""#, Some(1_000)),
            ("null", None),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        for text in [
            "1.5",
            "1e300",
            "9223372036854775808",
            "true",
            "[]",
            "{}",
            r#""soon""#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
