//! What is asked for: runs whose every wait is planned.

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};

/// A run that somebody wants.
#[derive(Clone, Debug)]
pub struct Wish {
    /// No other wish has it.
    pub key: String,
    pub shape: Shape,
    /// It is started by a request to a route, not by name.
    pub is_routed: bool,
    /// What it does, in order; of [`Shape::Code`] the plan that its code is given.
    pub deeds: Vec<Deed>,
}

/// Where a run's waits are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In the code of a process.
    Code,
    /// In the definition, before and after processes.
    Declared,
    /// In the definition, before executables.
    Tools,
    /// In the definition, of built-in steps in branches.
    Branches,
    /// Nowhere: events lead from step to step, are joined, and undone.
    Saga,
}

impl Shape {
    pub const ALL: [Self; 5] = [
        Self::Code,
        Self::Declared,
        Self::Tools,
        Self::Branches,
        Self::Saga,
    ];

    pub fn flow(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Declared => "declared",
            Self::Tools => "tools",
            Self::Branches => "branches",
            Self::Saga => "saga",
        }
    }

    /// The trigger whose route starts the flow.
    pub fn route(self) -> String {
        format!("route-{}", self.flow())
    }
}

#[derive(Clone, Debug)]
pub enum Deed {
    Run,
    Time {
        ms: u64,
    },
    Event {
        /// Only an expression can select it.
        filtered: bool,
        timeout_ms: Option<u64>,
        lookback_ms: Option<u64>,
    },
    Callback {
        timeout_ms: Option<u64>,
    },
}

impl Deed {
    /// The timeout of the wait.
    pub fn timeout_ms(&self) -> Option<u64> {
        match self {
            Self::Run | Self::Time { .. } => None,
            Self::Event { timeout_ms, .. } | Self::Callback { timeout_ms } => *timeout_ms,
        }
    }

    fn any(dice: &mut StdRng) -> Self {
        let timeout_ms = (dice.random_range(0..100) < 40).then(|| dice.random_range(60..400));
        match dice.random_range(0..10) {
            0..3 => Self::Run,
            3 => Self::Time {
                ms: dice.random_range(1..200),
            },
            4..7 => Self::Event {
                filtered: dice.random_range(0..3) == 0,
                timeout_ms,
                lookback_ms: (dice.random_range(0..100) < 50).then_some(600_000),
            },
            _ => Self::Callback { timeout_ms },
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Run => json!({"do": "run"}),
            Self::Time { ms } => json!({"do": "time", "ms": ms}),
            Self::Event {
                filtered,
                timeout_ms,
                lookback_ms,
            } => {
                json!({"do": "event", "filtered": filtered, "timeoutMs": timeout_ms, "lookbackMs": lookback_ms})
            }
            Self::Callback { timeout_ms } => json!({"do": "callback", "timeoutMs": timeout_ms}),
        }
    }
}

/// All runs that were wished for have it.
pub const TAG: &str = "awaits";

/// What the definitions say.
pub const DECLARED_TIMEOUT_MS: u64 = 300;

impl Wish {
    pub fn any(n: u64, dice: &mut StdRng) -> Self {
        let shape = match dice.random_range(0..10) {
            0..4 => Shape::Code,
            4 => Shape::Declared,
            5..7 => Shape::Tools,
            7..9 => Shape::Branches,
            _ => Shape::Saga,
        };
        let event = |lookback_ms| Deed::Event {
            filtered: false,
            timeout_ms: None,
            lookback_ms,
        };
        let callback = Deed::Callback {
            timeout_ms: Some(DECLARED_TIMEOUT_MS),
        };
        let deeds = match shape {
            Shape::Code => (0..dice.random_range(1..5))
                .map(|_| Deed::any(dice))
                .collect(),
            Shape::Declared | Shape::Tools => vec![event(Some(600_000)), callback],
            Shape::Branches => vec![event(None), callback],
            Shape::Saga => Vec::new(),
        };
        Self {
            key: format!("a{n}"),
            shape,
            is_routed: dice.random_range(0..2) == 0,
            deeds,
        }
    }

    /// Where and with what it is asked for. Asking twice starts one run.
    pub fn request(&self) -> (String, Value) {
        let (flow, key) = (self.shape.flow(), &self.key);
        let plan: Vec<Value> = self.deeds.iter().map(Deed::json).collect();
        match self.is_routed {
            true => (format!("/hooks/{flow}/{key}"), json!({ "plan": plan })),
            false => (
                format!("/api/flows/{flow}/start"),
                json!({"input": {"key": key, "plan": plan}, "idempotencyKey": key, "tags": [TAG]}),
            ),
        }
    }

    /// The idempotency key of its run.
    pub fn run_key(&self) -> String {
        match self.is_routed {
            true => format!("trigger:{}:{}", self.shape.route(), self.key),
            false => self.key.clone(),
        }
    }
}
