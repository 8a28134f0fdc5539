//! The statuses of runs and visits, with one spelling everywhere.

use serde::{Deserialize, Serialize};

macro_rules! statuses {
    ($(#[$meta:meta])* $name:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($variant),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|status| status.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

statuses! {
    /// The status of a run.
    RunStatus {
        Pending = "pending",
        Running = "running",
        Waiting = "waiting",
        Paused = "paused",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl RunStatus {
    /// An ended run never changes again.
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

statuses! {
    /// The status of a visit of a step.
    VisitStatus {
        Pending = "pending",
        Running = "running",
        Retrying = "retrying",
        Waiting = "waiting",
        Completed = "completed",
        Failed = "failed",
        Timeout = "timeout",
        Cancelled = "cancelled",
    }
}

impl VisitStatus {
    pub fn is_ended(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Timeout | Self::Cancelled
        )
    }
}
