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

    /// A fresh id that sorts by time. The only place that creates ids; the engine gets them as
    /// input.
    pub fn fresh() -> Self {
        Self::new(&uuid::Uuid::now_v7().to_string())
    }

    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// An id derived from content: the same for the same bytes, everywhere and for ever.
    pub fn of_content(bytes: &[u8]) -> Self {
        Self::new(&uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, bytes).to_string())
    }

    /// The word for the newest run or job wherever the id of one is read.
    pub const LATEST: &'static str = "latest";

    /// Checks an id that came from outside: visible characters that need no quoting in a URL, a
    /// stream name or a shell. For existing ids; [`RunId::for_new`] checks new ones and rejects
    /// more.
    pub fn checked(text: &str) -> Result<Self, InvalidId> {
        let fits = (1..=Self::MAX_BYTES).contains(&text.len());
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
        if fits && text.chars().all(plain) {
            Ok(Self::new(text))
        } else {
            Err(InvalidId::Characters(text.chars().take(64).collect()))
        }
    }

    /// Checks the id of a run, a job or a call that is to be created: an id as above that no path
    /// resolves to another place and that does not mean the newest one.
    pub fn for_new(text: &str) -> Result<Self, InvalidId> {
        let id = Self::checked(text)?;
        match text {
            Self::LATEST => Err(InvalidId::Latest),
            _ if is_dot_segment(text) => Err(InvalidId::DotSegment(text.to_owned())),
            _ => Ok(id),
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

/// Whether a text is `.` or `..`. URL parsers, HTTP clients and file systems resolve these, also
/// in their percent-encoded form, so nothing that becomes a path segment or a file name may be
/// called so: no id, no queue, no step, no process.
pub fn is_dot_segment(text: &str) -> bool {
    matches!(text, "." | "..")
}

/// Whether a part of a name with slashes, such as the id of a process, is `.` or `..`.
pub fn has_dot_segment(name: &str) -> bool {
    name.split('/').any(is_dot_segment)
}

#[derive(Debug, thiserror::Error)]
pub enum InvalidId {
    #[error("the id {0:?} is not 1 to 128 characters of a-z, A-Z, 0-9, '-', '_', '.', '~'")]
    Characters(String),
    #[error("the id {0:?} would mean another place in a path")]
    DotSegment(String),
    #[error("the id \"latest\" is reserved: it stands for the newest one")]
    Latest,
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
    /// The streams of jobs: their life and their handlers' events.
    pub const JOB: &'static str = "job";
    /// The live channels of queues: delivered, and never stored.
    pub const QUEUE: &'static str = "queue";
    /// The streams of triggers and of callbacks.
    pub const TRIGGER: &'static str = "trigger";
    /// The streams of calls.
    pub const CALL: &'static str = "call";
    /// The one stream of flows that were registered.
    pub const REGISTRY: &'static str = "registry";
    /// The streams of workers.
    pub const WORKER: &'static str = "worker";
    /// The shared stream of events that belong to no other stream.
    pub const GLOBAL: &'static str = "global";

    pub fn new(kind: &str, id: &str) -> Self {
        Self {
            kind: Arc::from(kind),
            id: Arc::from(id),
        }
    }

    /// The shared stream of events that belong to no other stream.
    pub fn global() -> Self {
        Self::new(Self::GLOBAL, Self::GLOBAL)
    }

    pub fn flow(run: &RunId) -> Self {
        Self {
            kind: Arc::from(Self::FLOW),
            id: run.0.clone(),
        }
    }

    pub fn job(job: &RunId) -> Self {
        // Called for every job that moves while a reader follows one.
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

    /// Rejects the name of a stream that is to be written to if part of it is `.` or `..`.
    pub fn check_for_new(&self) -> Result<(), InvalidId> {
        match [&self.kind, &self.id]
            .into_iter()
            .find(|part| is_dot_segment(part))
        {
            Some(part) => Err(InvalidId::DotSegment(part.to_string())),
            None => Ok(()),
        }
    }

    /// Whether only the server writes to the stream: events from outside are rejected, whatever
    /// their type. The streams of runs, jobs and triggers take events that are not about the run,
    /// job or trigger itself.
    pub fn is_servers_own(&self) -> bool {
        match &*self.kind {
            Self::REGISTRY | Self::CALL | Self::QUEUE | Self::WORKER => true,
            // The only stream of its type.
            Self::GLOBAL => *self.id != *Self::GLOBAL,
            _ => false,
        }
    }
}

/// The prefix of a server's stream names on the wire: `nq` unless it is set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(Arc<str>);

impl Namespace {
    /// Accepts the characters of a run id.
    pub fn checked(text: &str) -> Result<Self, InvalidId> {
        RunId::for_new(text)?;
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
    fn nothing_new_is_called_latest_or_like_another_place_in_a_path() {
        for text in ["latest", ".", ".."] {
            assert!(RunId::for_new(text).is_err(), "{text:?}");
            assert!(RunId::checked(text).is_ok(), "{text:?} can still be read");
        }
        for text in ["...", ".a", "a..", "latest-1", "Latest"] {
            assert!(RunId::for_new(text).is_ok(), "{text:?}");
        }
        for (kind, id) in [("webhook", ".."), (".", "a")] {
            let stream = StreamName::checked(kind, id).unwrap();
            assert!(stream.check_for_new().is_err(), "{stream:?}");
        }
    }

    #[test]
    fn streams_that_only_the_server_writes_to() {
        for (kind, id, own) in [
            ("registry", "registry", true),
            ("registry", "x", true),
            ("call", "c", true),
            ("queue", "q", true),
            ("worker", "w", true),
            ("global", "x", true),
            ("global", "global", false),
            ("flow", "r", false),
            ("job", "j", false),
            ("trigger", "t", false),
            ("webhook", "w", false),
            ("orders", "7", false),
        ] {
            assert_eq!(
                StreamName::new(kind, id).is_servers_own(),
                own,
                "{kind}:{id}"
            );
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
