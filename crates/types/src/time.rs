//! Milliseconds since the Unix epoch, and their ISO 8601 form on the wire.

use std::fmt;

use jiff::{Span, SpanRelativeTo, Timestamp};
use serde::{Serialize, Serializer};

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
}
