//! Ids of runs, events and streams.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, LazyLock},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millis;

/// The namespace that stream names carry on the wire.
const NAMESPACE: &str = "nq";

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

    /// An id that stands for a content: the same for the same bytes, everywhere and for ever.
    pub fn of_content(bytes: &[u8]) -> Self {
        Self::new(&uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, bytes).to_string())
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

/// The name of a stream within its [`Namespace`]: its type and an id.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StreamName {
    pub kind: Arc<str>,
    pub id: Arc<str>,
}

impl StreamName {
    /// The streams that hold a run each; every other type is a stream of its own.
    pub const FLOW: &'static str = "flow";
    /// The streams of jobs: what a job says, and its life.
    pub const JOB: &'static str = "job";
    /// The live channels of queues: heard, and never stored.
    pub const QUEUE: &'static str = "queue";
    /// The streams of triggers and of doors: what became of them.
    pub const TRIGGER: &'static str = "trigger";

    pub fn new(kind: &str, id: &str) -> Self {
        Self {
            kind: Arc::from(kind),
            id: Arc::from(id),
        }
    }

    /// The stream of what belongs to nobody in particular.
    pub fn global() -> Self {
        Self::new("global", "global")
    }

    pub fn flow(run: &RunId) -> Self {
        Self {
            kind: Arc::from(Self::FLOW),
            id: run.0.clone(),
        }
    }

    pub fn job(job: &RunId) -> Self {
        // Asked for with every job that moves while anybody follows one.
        static KIND: LazyLock<Arc<str>> = LazyLock::new(|| Arc::from(StreamName::JOB));
        Self {
            kind: KIND.clone(),
            id: job.0.clone(),
        }
    }

    pub fn is_job(&self) -> bool {
        &*self.kind == Self::JOB
    }

    /// The run whose stream this is, if it is a run's.
    pub fn run(&self) -> Option<RunId> {
        (&*self.kind == Self::FLOW).then(|| RunId(self.id.clone()))
    }

    pub fn checked(kind: &str, id: &str) -> Result<Self, InvalidId> {
        RunId::checked(kind)?;
        RunId::checked(id)?;
        Ok(Self::new(kind, id))
    }
}

/// What the names of all streams of a server begin with on the wire: `nq` unless it is set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// Takes what a run id may be made of.
    pub fn checked(text: &str) -> Result<Self, InvalidId> {
        RunId::checked(text)?;
        Ok(Self(Arc::from(text)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads `nq:flow:abc`, `flow:abc` or `nq:global`. Parts are checked like run ids.
    pub fn parse(&self, text: &str) -> Result<StreamName, InvalidId> {
        let rest = text
            .strip_prefix(self.as_str())
            .and_then(|t| t.strip_prefix(':'))
            .unwrap_or(text);
        let (kind, id) = rest.split_once(':').unwrap_or((rest, rest));
        StreamName::checked(kind, id)
    }

    /// The full name of a stream: `nq:flow:<runId>`, or `nq:global` for the only one of its type.
    pub fn name(&self, stream: &StreamName) -> String {
        let StreamName { kind, id } = stream;
        if kind == id {
            format!("{}:{kind}", self.0)
        } else {
            format!("{}:{kind}:{id}", self.0)
        }
    }
}

impl TryFrom<String> for Namespace {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        Self::checked(&text)
    }
}

impl From<Namespace> for String {
    fn from(namespace: Namespace) -> Self {
        namespace.as_str().to_owned()
    }
}

impl Default for Namespace {
    fn default() -> Self {
        Self(Arc::from(NAMESPACE))
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
            let nq = Namespace::default();
            assert_eq!(nq.name(&nq.parse(text).unwrap()), shown);
        }
        assert!(Namespace::default().parse("nq:a:b:c").is_err());
        let shop = Namespace::checked("shop").unwrap();
        assert_eq!(
            shop.name(&shop.parse("shop:flow:a").unwrap()),
            "shop:flow:a"
        );
        assert!(shop.parse("nq:flow:a").is_err());
        assert!(Namespace::checked("a:b").is_err());
    }
}
