//! What outlives every death: the answers to clients, and the effects of handlers.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;
use riverrun_types::RunId;
use serde_json::Value;

#[derive(Default)]
pub struct World {
    /// Answers that a client got, by what it had asked for.
    answers: Mutex<HashMap<String, Value>>,
    /// Effects of `run`, by run and name.
    effects: Mutex<HashMap<(String, String), Effect>>,
    next: AtomicU64,
    broken: Mutex<Vec<String>>,
}

#[derive(Clone, Copy, Default)]
struct Effect {
    times: usize,
    is_recorded: bool,
}

impl World {
    /// What was answered to this, in whatever life.
    pub fn answer(&self, to: &str) -> Option<Value> {
        self.answers.lock().get(to).cloned()
    }

    /// Another answer than before breaks the promise.
    pub fn answered(&self, to: &str, answer: Value) {
        let before = self.answers.lock().insert(to.to_owned(), answer.clone());
        assert!(
            before.as_ref().is_none_or(|before| *before == answer),
            "{to}: {before:?} was acknowledged, and now {answer:?}"
        );
    }

    /// A number that nobody was given before.
    pub fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A handler does something that is to be recorded.
    pub fn does(&self, run: &str, name: &str) {
        let mut effects = self.effects.lock();
        let effect = effects.entry((run.into(), name.into())).or_default();
        effect.times += 1;
        if effect.is_recorded {
            let broken = format!("{name} of run {run} is done again after it was recorded");
            self.broken.lock().push(broken);
        }
    }

    /// It got the answer that its effect is recorded.
    pub fn recorded(&self, run: &str, name: &str) {
        let mut effects = self.effects.lock();
        effects
            .entry((run.into(), name.into()))
            .or_default()
            .is_recorded = true;
    }

    /// What handlers have seen that must not be.
    pub fn broken(&self) -> Vec<String> {
        self.broken.lock().clone()
    }

    /// How often a handler did something: never less than once.
    pub fn times(&self, run: &RunId, name: &str) -> usize {
        let key = (run.to_string(), name.to_owned());
        self.effects.lock().get(&key).map_or(0, |e| e.times)
    }
}
