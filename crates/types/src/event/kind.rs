//! The types of events.

use std::{fmt, sync::Arc};

use serde::{Serialize, Serializer};

macro_rules! event_types {
    ($($code:literal $variant:ident $text:literal),+ $(,)?) => {
        /// What happened. The vocabulary is open: an unknown type is carried as its text.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum EventType { $($variant,)+ Other(Arc<str>) }

        impl EventType {
            /// Every type that riverrun itself knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant => $text,)+ Self::Other(text) => text }
            }

            pub fn parse(text: &str) -> Self {
                match text { $($text => Self::$variant,)+ _ => Self::Other(Arc::from(text)) }
            }

            /// A small number for compact storage; 0 for a type that must be stored as text.
            /// Codes are never reused: stored streams hold them.
            pub fn code(&self) -> u8 {
                match self { $(Self::$variant => $code,)+ Self::Other(_) => 0 }
            }

            pub fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

event_types! {
    1 FlowStarted "flow.started",
    2 FlowCompleted "flow.completed",
    3 FlowFailed "flow.failed",
    4 FlowCancelled "flow.cancelled",
    5 FlowPaused "flow.paused",
    6 FlowResumed "flow.resumed",
    7 FlowForked "flow.forked",
    8 FlowRegistered "flow.registered",
    9 FlowCompensating "flow.compensating",
    10 StepStarted "step.started",
    11 StepCompleted "step.completed",
    12 StepFailed "step.failed",
    13 StepRetry "step.retry",
    14 StepResumed "step.resumed",
    15 StepCancelled "step.cancelled",
    16 StepAwaitTime "step.await.time",
    17 StepAwaitEvent "step.await.event",
    18 StepAwaitTrigger "step.await.trigger",
    19 StepAwaitTimeout "step.await.timeout",
    20 StepAwaitBranches "step.await.branches",
    21 StepAwaitRun "step.await.run",
    22 StepMemo "step.memo",
    23 StepEntered "step.entered",
    24 StepJoined "step.joined",
    25 StepParked "step.parked",
    26 StepReleased "step.released",
    27 StepMemoRetry "step.memo.retry",
    30 Emit "emit",
    31 Progress "progress",
    32 Partial "partial",
    40 LogDebug "log.debug",
    41 LogInfo "log.info",
    42 LogWarn "log.warn",
    43 LogError "log.error",
    50 StateSet "state.set",
    51 StateDelete "state.delete",
    52 StateBatch "state.batch",
    53 StateSnapshot "state.snapshot",
    60 TriggerRegistered "trigger.registered",
    61 TriggerFired "trigger.fired",
    62 TriggerTimeout "trigger.timeout",
    63 TriggerCancelled "trigger.cancelled",
    64 TriggerFailed "trigger.failed",
    70 WorkerRegistered "worker.registered",
    71 WorkerHeartbeat "worker.heartbeat",
    72 WorkerStopped "worker.stopped",
    80 JobAdded "job.added",
    81 JobWaiting "job.waiting",
    82 JobActive "job.active",
    83 JobProgress "job.progress",
    84 JobCompleted "job.completed",
    85 JobFailed "job.failed",
    86 JobCancelled "job.cancelled",
    87 JobRemoved "job.removed",
}

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

    /// Only the engine may say what became of a run and its steps.
    pub fn is_engines_own(&self) -> bool {
        matches!(self.family(), "flow" | "step")
    }

    /// Only the server may say what became of what is its own. Handlers do not emit such events, and
    /// nobody does under such a topic.
    pub fn is_reserved(&self) -> bool {
        let own = ["job", "call", "state", "log", "trigger", "worker"];
        self.is_engines_own() || own.contains(&self.family())
    }

    /// Only the server writes it: what became of runs, jobs, calls, triggers and workers. Logs and
    /// writes to the state are taken from outside.
    pub fn is_servers_own(&self) -> bool {
        let is_life = matches!(self.family(), "trigger" | "worker") && Self::KNOWN.contains(self);
        let calls = [
            "call.started",
            "call.completed",
            "call.failed",
            "call.cancelled",
        ];
        self.is_engines_own() || self.family() == "job" || is_life || calls.contains(&self.as_str())
    }

    /// Whether a definition may have a step emit it: of no type that somebody here gives a meaning.
    pub fn is_free(&self) -> bool {
        self.is_emitted() && !self.is_reserved()
    }

    /// Whether events of this type can be emitted, so that steps subscribe to them and runs wait for
    /// them. All others are what riverrun itself writes down.
    pub fn is_emitted(&self) -> bool {
        matches!(self, Self::Other(_)) && !matches!(self.family(), "flow" | "step" | "job")
    }

    /// Whether it is the last word about a run or a job, unless somebody begins it anew.
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            Self::FlowCompleted
                | Self::FlowFailed
                | Self::FlowCancelled
                | Self::JobCompleted
                | Self::JobFailed
                | Self::JobCancelled
        )
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
