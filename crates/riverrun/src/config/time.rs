//! Durations as people write them: `250ms`, `30s`, `1h30m`, `7d`.

use std::{fmt, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// From the largest down, each with its milliseconds.
const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Reads a duration: numbers with a unit each, one after the other.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let refuse = || format!("{text:?} is not a duration: write 250ms, 30s, 5m, 1h30m or 7d");
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(refuse());
    }
    let mut total_ms: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let unit_len = after.len()
            - after
                .trim_start_matches(|c: char| c.is_ascii_alphabetic())
                .len();
        let (unit, after) = after.split_at(unit_len);
        let number: u64 = number.parse().map_err(|_| refuse())?;
        let (_, unit_ms) = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(refuse)?;
        total_ms = number
            .checked_mul(*unit_ms)
            .and_then(|ms| total_ms.checked_add(ms))
            .filter(|ms| i64::try_from(*ms).is_ok())
            .ok_or_else(|| format!("{text:?} is too long"))?;
        rest = after;
    }
    Ok(Duration::from_millis(total_ms))
}

/// The shortest text that reads back to the same duration.
pub fn show_duration(duration: Duration) -> String {
    let mut ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if ms == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, unit_ms) in UNITS {
        if ms >= unit_ms {
            text.push_str(&format!("{}{unit}", ms / unit_ms));
            ms %= unit_ms;
        }
    }
    text
}

/// A duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

/// A duration, or `off` for no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep(pub Option<Duration>);

impl Keep {
    pub fn from_ms(ms: Option<i64>) -> Self {
        Self(ms.map(|ms| Duration::from_millis(ms.unsigned_abs())))
    }

    pub fn as_ms(self) -> Option<i64> {
        self.0
            .map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&show_duration(self.0))
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(time) => f.pad(&show_duration(time)),
            None => f.pad("off"),
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Keep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text(parse_duration)).map(Self)
    }
}

impl<'de> Deserialize<'de> for Keep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Text(parse_or_off)).map(Self)
    }
}

fn parse_or_off(text: &str) -> Result<Option<Duration>, String> {
    match text {
        "off" => Ok(None),
        text => parse_duration(text)
            .map(Some)
            .map_err(|error| format!("{error}, or off")),
    }
}

/// Takes a text and says of a plain number what is missing.
struct Text<F>(F);

impl<F: Fn(&str) -> Result<T, String>, T> de::Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration such as \"30s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        Err(E::custom(format!(
            "{number} has no unit: write \"{number}ms\" or \"{number}s\""
        )))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom(format!(
            "{number} has no unit: write \"30s\" or the like"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_show() {
        for (text, ms, shown) in [
            ("250ms", 250, "250ms"),
            ("30s", 30_000, "30s"),
            ("90s", 90_000, "1m30s"),
            ("1h30m", 5_400_000, "1h30m"),
            ("7d", 604_800_000, "7d"),
            ("0s", 0, "0s"),
            (" 5m ", 300_000, "5m"),
        ] {
            let read = parse_duration(text).unwrap();
            assert_eq!(read, Duration::from_millis(ms), "{text}");
            assert_eq!(show_duration(read), shown);
            assert_eq!(parse_duration(shown).unwrap(), read);
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "5",
            "s",
            "5x",
            "-5s",
            "5 s",
            "1.5s",
            "99999999999999999999d",
            "999999999999d",
        ] {
            assert!(parse_duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn off_is_for_ever_and_a_bare_number_is_rejected_with_the_missing_unit() {
        let keep: Keep = serde_json::from_str("\"off\"").unwrap();
        assert_eq!(keep, Keep(None));
        assert_eq!(keep.to_string(), "off");
        let error = serde_json::from_str::<Span>("30").unwrap_err().to_string();
        assert!(error.contains("30 has no unit"), "{error}");
        assert!(serde_json::from_str::<Span>("\"off\"").is_err());
    }
}
