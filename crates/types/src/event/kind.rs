//! The types of events.

use std::fmt;

use serde::{Serialize, Serializer};

use super::EventType;

/// The writer of a family's events.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Engine,
    Server,
    /// The server writes the types that it knows; others are accepted from outside.
    ServerKnown,
    /// Their types are riverrun's, and clients append them, too.
    Anyone,
    User,
}

/// The server writes them as text: calls have no numbers in stored chunks.
const CALLS: [&str; 4] = [
    "call.started",
    "call.completed",
    "call.failed",
    "call.cancelled",
];

impl EventType {
    /// Reads a type that came from outside: a word that needs no quoting in a line of text.
    pub fn checked(text: &str) -> Option<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
        let fits = (1..=128).contains(&text.len()) && text.chars().all(plain);
        fits.then(|| Self::parse(text))
    }

    /// The part before the first dot: `flow`, `step`, `state`.
    pub fn family(&self) -> &str {
        let text = self.as_str();
        text.split_once('.').map_or(text, |(family, _)| family)
    }

    /// The writer of its family, also for types that riverrun does not know.
    fn writer(&self) -> Writer {
        match self.family() {
            "flow" | "step" => Writer::Engine,
            "job" => Writer::Server,
            "trigger" | "worker" | "call" => Writer::ServerKnown,
            "log" | "state" => Writer::Anyone,
            _ => Writer::User,
        }
    }

    /// Only the engine may write the events of a run and its steps.
    pub fn is_engines_own(&self) -> bool {
        self.writer() == Writer::Engine
    }

    /// Handlers do not emit such events, and no emitted event has such a topic.
    pub fn is_reserved(&self) -> bool {
        self.writer() != Writer::User
    }

    /// Only the server writes it: events of runs, jobs, calls, triggers and workers. Logs and
    /// writes to the state are accepted from outside.
    pub fn is_servers_own(&self) -> bool {
        match self.writer() {
            Writer::Engine | Writer::Server => true,
            Writer::ServerKnown => Self::KNOWN.contains(self) || CALLS.contains(&self.as_str()),
            Writer::Anyone | Writer::User => false,
        }
    }

    /// Whether a definition may let a step emit it: only types without a meaning in riverrun.
    pub fn is_free(&self) -> bool {
        self.is_emitted() && !self.is_reserved()
    }

    /// Whether events of this type can be emitted, so that steps subscribe to them and runs wait
    /// for them. All others are riverrun's own records.
    pub fn is_emitted(&self) -> bool {
        matches!(self, Self::Other(_)) && !matches!(self.family(), "flow" | "step" | "job")
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts_are_one_to_one() {
        for kind in EventType::KNOWN {
            assert_eq!(EventType::from_code(kind.code()).as_ref(), Some(kind));
            assert_eq!(&EventType::parse(kind.as_str()), kind);
        }
        assert_eq!(EventType::parse("order.paid").code(), 0);
    }

    #[test]
    fn types_from_outside_are_words() {
        assert_eq!(
            EventType::checked("step.started"),
            Some(EventType::StepStarted)
        );
        assert!(EventType::checked("order:paid/eu-1_x").is_some());
        for text in ["", "a b", "a\nb", "\u{1b}", "ä", &"x".repeat(129)] {
            assert_eq!(EventType::checked(text), None, "{text:?}");
        }
    }
}
