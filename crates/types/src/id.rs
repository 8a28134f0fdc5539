//! Ids of runs, events and streams.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millis;

/// The namespace that stream names carry on the wire.
pub const NAMESPACE: &str = "nq";

/// The id of a run: a UUID v7 unless the caller gave its own.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Arc<str>);

impl RunId {
    /// The longest id that a caller may give.
    pub const MAX_BYTES: usize = 128;

    /// A fresh id that sorts by time. The one place that makes ids; the engine is handed them.
    pub fn fresh() -> Self {
        Self::new(&uuid::Uuid::now_v7().to_string())
    }

    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// Checks an id that came from outside: visible characters that need no quoting in a URL, a
    /// stream name or a shell.
    pub fn checked(text: &str) -> Result<Self, InvalidId> {
        let fits = (1..=Self::MAX_BYTES).contains(&text.len());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        if fits && text.chars().all(plain) {
            Ok(Self::new(text))
        } else {
            Err(InvalidId {
                text: text.chars().take(64).collect(),
            })
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the id {text:?} is not 1 to 128 characters of a-z, A-Z, 0-9, '-', '_', '.', '~'")]
pub struct InvalidId {
    text: String,
}

/// `<milliseconds>-<n>`: the place of an event in its stream and the cursor of every reader.
///
/// `n` is the event's position in the stream, counted from 0, so a cursor leads straight to its
/// place; the milliseconds never decrease along a stream, so ids grow strictly in both parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct EventId {
    pub ms: Millis,
    pub seq: u64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

impl FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let parse = || {
            let (ms, seq) = text.split_once('-')?;
            let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
            (digits(ms) && digits(seq)).then_some(())?;
            Some(Self {
                ms: ms.parse().ok()?,
                seq: seq.parse().ok()?,
            })
        };
        parse().ok_or_else(|| InvalidEventId {
            text: text.chars().take(64).collect(),
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{text:?} is not an event id: expected <milliseconds>-<n>, as in 1761754554858-0")]
pub struct InvalidEventId {
    text: String,
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The name of a stream: `nq:flow:<runId>` on the wire.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StreamName {
    pub kind: Arc<str>,
    pub id: Arc<str>,
}

impl StreamName {
    /// The streams that hold a run each; every other type is a stream of its own.
    pub const FLOW: &'static str = "flow";

    pub fn new(kind: &str, id: &str) -> Self {
        Self {
            kind: Arc::from(kind),
            id: Arc::from(id),
        }
    }

    pub fn flow(run: &RunId) -> Self {
        Self {
            kind: Arc::from(Self::FLOW),
            id: run.0.clone(),
        }
    }

    /// The run whose stream this is, if it is a run's.
    pub fn run(&self) -> Option<RunId> {
        (&*self.kind == Self::FLOW).then(|| RunId(self.id.clone()))
    }

    /// Reads `nq:flow:abc`, `flow:abc` or `nq:global`. Parts are checked like run ids.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let rest = text
            .strip_prefix(NAMESPACE)
            .and_then(|t| t.strip_prefix(':'))
            .unwrap_or(text);
        let (kind, id) = rest.split_once(':').unwrap_or((rest, rest));
        Self::checked(kind, id)
    }

    pub fn checked(kind: &str, id: &str) -> Result<Self, InvalidId> {
        RunId::checked(kind)?;
        RunId::checked(id)?;
        Ok(Self::new(kind, id))
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == self.id {
            write!(f, "{NAMESPACE}:{}", self.kind)
        } else {
            write!(f, "{NAMESPACE}:{}:{}", self.kind, self.id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_read_back_and_refuse_nonsense() {
        let id = EventId {
            ms: 1_761_754_554_858,
            seq: 7,
        };
        assert_eq!(id.to_string(), "1761754554858-7");
        assert_eq!("1761754554858-7".parse::<EventId>().unwrap(), id);
        for text in [
            "",
            "-",
            "1",
            "1-",
            "-1",
            "a-b",
            "1-2-3",
            "+1-2",
            " 1-2",
            "99999999999999999999-1",
        ] {
            assert!(text.parse::<EventId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn run_ids_from_outside_are_plain() {
        assert!(RunId::checked("order-42_a.b~c").is_ok());
        for text in ["", "a b", "a/b", "a:b", "ä", "\u{0}", &"x".repeat(129)] {
            assert!(RunId::checked(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn stream_names() {
        for (text, shown) in [
            ("nq:flow:abc", "nq:flow:abc"),
            ("flow:abc", "nq:flow:abc"),
            ("nq:global", "nq:global"),
            ("registry", "nq:registry"),
        ] {
            assert_eq!(StreamName::parse(text).unwrap().to_string(), shown);
        }
        assert!(StreamName::parse("nq:a:b:c").is_err());
    }
}
