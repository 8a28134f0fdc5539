//! Job uniqueness: the settings that decide when two jobs are the same (idempotency, throttle and
//! debounce), and the job's own key, which throttle and debounce use where they have none.

use std::time::Duration;

use riverrun_expr::Expr;

use super::{
    ConfigIssue,
    written::{Function, Written},
};
use crate::compile_expr;

/// How a job gets its idempotency key.
pub struct Idempotency {
    pub from: KeyFrom,
    /// How long a key is taken; as long as its job is known where absent.
    pub window: Option<Duration>,
}

pub enum KeyFrom {
    /// All of the job's data.
    Auto,
    Expr(Expr),
}

/// One job in a while: the first of a window, or the last.
pub struct Pace {
    pub time: Duration,
    /// Jobs of one key have a pace of their own. The job's own key where absent.
    pub key: Option<Expr>,
}

/// The keys that a config asks for. What cannot be compiled is added to `issues`.
pub(super) struct Keys {
    pub key: Option<Expr>,
    pub idempotency: Option<Idempotency>,
    pub throttle: Option<Pace>,
    pub debounce: Option<Pace>,
}

impl Keys {
    pub fn read(written: &Written, issues: &mut Vec<ConfigIssue>) -> Self {
        let mut expr = |path: &str, function: &Function| {
            let compiled = compile_expr(function.source());
            compiled
                .map_err(|error| issues.push(ConfigIssue::new(path, error.to_string())))
                .ok()
        };
        let key = written.key.as_ref().and_then(|key| expr("key", key));
        let twin = written.idempotency.as_ref();
        let asked = match (&written.idempotency_key, twin) {
            (Some(function), _) => Some(("idempotencyKey", function)),
            (None, Some(twin)) => Some(("idempotency.key", &twin.key)),
            (None, None) => None,
        };
        let from = asked.and_then(|(path, function)| match function {
            Function::Text(text) if text == "auto" => Some(KeyFrom::Auto),
            function => expr(path, function).map(KeyFrom::Expr),
        });
        let window = written.idempotency_window_ms;
        let window = window.or(twin.and_then(|twin| twin.window_ms));
        let idempotency = from.map(|from| Idempotency {
            from,
            window: window.map(Duration::from_millis),
        });
        let mut pace = |path: &str, key: Option<&Function>, ms: u64| Pace {
            time: Duration::from_millis(ms),
            key: key.and_then(|key| expr(path, key)),
        };
        let throttle = written.throttle.as_ref();
        let throttle = throttle.map(|t| pace("throttle.key", t.key.as_ref(), t.window_ms));
        let debounce = written.debounce.as_ref();
        let debounce = debounce.map(|d| pace("debounce.key", d.key.as_ref(), d.delay_ms));
        if window.is_some() && idempotency.is_none() {
            let message = "there is no key that it could hold for".to_owned();
            issues.push(ConfigIssue::new("idempotencyWindowMs", message));
        }
        Self {
            key,
            idempotency,
            throttle,
            debounce,
        }
    }
}
