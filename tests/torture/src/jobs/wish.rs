//! What is asked for: jobs whose every attempt is planned.

use rand::{RngExt, rngs::StdRng};
use serde::Serialize;
use serde_json::{Value, json};

use super::QUEUES;

/// What a handler does on an attempt, where nothing comes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Deed {
    /// Ends well.
    Work,
    /// Fails, and may be tried again.
    Throw,
    /// Fails, and may not.
    Fatal,
    /// Never ends by itself.
    Hang,
    /// Takes its whole process with it.
    Exit,
}

impl Deed {
    /// The code of the failure that it is recorded as.
    pub fn code(self) -> Option<&'static str> {
        match self {
            Self::Work => None,
            Self::Throw => Some("PLANNED"),
            Self::Fatal => Some("PLANNED_FATAL"),
            Self::Hang => Some("TIMEOUT"),
            Self::Exit => Some("RUNNER_DIED"),
        }
    }
}

/// One job that somebody wants.
#[derive(Clone, Debug)]
pub struct Wish {
    /// No other wish has it.
    pub n: u64,
    plan: Vec<Deed>,
    /// How often it may be tried.
    pub attempts: u32,
    ms: u64,
    priority: i32,
    key: Option<u32>,
    delay_ms: Option<u64>,
}

/// What the processes say where the job says nothing.
const ATTEMPTS: u32 = 30;

impl Wish {
    pub fn any(n: u64, dice: &mut StdRng) -> Self {
        let some = |dice: &mut StdRng, percent: u32| dice.random_range(0..100) < percent;
        let (plan, attempts) = match dice.random_range(0..100) {
            0..60 => (vec![], ATTEMPTS),
            60..75 => (vec![Deed::Throw; dice.random_range(1..4)], ATTEMPTS),
            // A dead letter, whatever happens.
            75..82 => (vec![Deed::Throw; 3], 3),
            // One if it is lost once more than it throws.
            82..88 => (vec![Deed::Throw], 2),
            88..92 => (vec![Deed::Throw, Deed::Fatal], ATTEMPTS),
            92..98 => (vec![Deed::Hang], ATTEMPTS),
            _ => (vec![Deed::Exit], ATTEMPTS),
        };
        Self {
            n,
            plan,
            attempts,
            ms: dice.random_range(0..60),
            priority: dice.random_range(-3..4),
            key: some(dice, 60).then(|| dice.random_range(0..7)),
            delay_ms: some(dice, 20).then(|| dice.random_range(1..400)),
        }
    }

    pub fn deed(&self, attempt: u32) -> Deed {
        let at = attempt as usize - 1;
        self.plan.get(at).copied().unwrap_or(Deed::Work)
    }

    fn body(&self, unique: Option<Unique>) -> Value {
        let mut options = json!({"priority": self.priority});
        if self.attempts != ATTEMPTS {
            options["attempts"] = json!(self.attempts);
        }
        if self.plan.contains(&Deed::Hang) {
            options["timeoutMs"] = json!(300);
        }
        if let Some(key) = self.key {
            options["key"] = json!(format!("key-{key}"));
        }
        if let Some(ms) = self.delay_ms {
            options["delayMs"] = json!(ms);
        }
        let name = format!("n-{}", self.n);
        match unique {
            None => {}
            Some(Unique::Key) => options["idempotencyKey"] = json!(name),
            Some(Unique::Id) => options["jobId"] = json!(name),
            Some(Unique::Dedupe) => {
                options["dedupe"] = json!({"key": name, "windowMs": 3_600_000});
            }
        }
        let data = json!({"n": self.n, "ms": self.ms, "plan": self.plan});
        json!({"data": data, "options": options})
    }
}

/// What makes a request that is sent again the same request.
#[derive(Clone, Copy, Debug)]
pub enum Unique {
    Key,
    Id,
    Dedupe,
}

/// One request: a job, or several of which there are all or none.
#[derive(Clone, Debug)]
pub struct Request {
    pub queue: &'static str,
    pub wishes: Vec<Wish>,
    pub unique: Option<Unique>,
    pub is_bulk: bool,
}

impl Request {
    /// Takes the numbers of its jobs from `next`.
    pub fn any(mut next: impl FnMut() -> u64, dice: &mut StdRng) -> Self {
        let is_bulk = dice.random_range(0..100) < 20;
        let count = if is_bulk { dice.random_range(2..12) } else { 1 };
        Self {
            queue: QUEUES[dice.random_range(0..QUEUES.len())],
            wishes: (0..count).map(|_| Wish::any(next(), dice)).collect(),
            unique: match dice.random_range(0..5) {
                0 => Some(Unique::Key),
                1 => Some(Unique::Id),
                2 => Some(Unique::Dedupe),
                _ => None,
            },
            is_bulk,
        }
    }

    pub fn body(&self) -> Value {
        let jobs: Vec<Value> = self
            .wishes
            .iter()
            .map(|wish| wish.body(self.unique))
            .collect();
        match (self.is_bulk, jobs.first()) {
            (false, Some(one)) => one.clone(),
            _ => json!({ "jobs": jobs }),
        }
    }
}
