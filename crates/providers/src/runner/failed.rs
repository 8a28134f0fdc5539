//! Modules that could not be loaded when an invocation came.
//!
//! The cause may be gone by now: a database that was unreachable, a file that was being copied. A
//! runner that cannot load a module a second time asks for a fresh one (`RELOAD`). That costs all
//! other work a warm child, so it is granted at once the first time and then at growing intervals;
//! in between, the answer is the last failure.

use riverrun_types::ErrorCode;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use riverrun_protocol::{Reply, WorkError};

/// The codes of a module that could not be loaded.
const CODES: [ErrorCode; 4] = [
    ErrorCode::ModuleConfig,
    ErrorCode::ModuleError,
    ErrorCode::ModuleSyntax,
    ErrorCode::ModuleTs,
];
/// The pause after the second failure in a row; it doubles with each further one.
const PAUSE: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Failed(Mutex<HashMap<String, Failure>>);

struct Failure {
    error: WorkError,
    /// Children in which it has failed in a row, and the last of them.
    children: u32,
    last: String,
    again: Instant,
}

impl Failed {
    /// The last failure of a module that is not to be tried yet.
    pub fn still(&self, file: &str) -> Option<WorkError> {
        let failed = self.0.lock();
        let failure = failed.get(file)?;
        (Instant::now() < failure.again).then(|| failure.error.clone())
    }

    /// Takes note of how an invocation ended, as far as it says something of its module.
    pub fn note(&self, file: &str, child: &str, ended: &Result<Reply, WorkError>) {
        let mut failed = self.0.lock();
        let error = match ended {
            Err(error) if error.code.known().is_some_and(|code| CODES.contains(&code)) => error,
            _ if failed.is_empty() => return,
            _ => {
                failed.remove(file);
                return;
            }
        };
        let failure = failed.entry(file.to_owned()).or_insert_with(|| Failure {
            error: error.clone(),
            children: 0,
            last: String::new(),
            again: Instant::now(),
        });
        // Many invocations may have waited for the same module.
        if failure.last != child {
            failure.children += 1;
            failure.last = child.to_owned();
            failure.again = Instant::now() + pause(failure.children);
        }
        failure.error = error.clone();
    }
}

fn pause(children: u32) -> Duration {
    let Some(doublings) = children.checked_sub(2) else {
        return Duration::ZERO;
    };
    PAUSE
        .saturating_mul(2u32.saturating_pow(doublings.min(16)))
        .min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_module_is_tried_again_at_once_and_then_more_and_more_seldom() {
        let failed = Failed::default();
        let error = || Err(WorkError::new("MODULE_ERROR", "database is down"));
        failed.note("a", "node runner 1", &error());
        failed.note("a", "node runner 1", &error());
        assert_eq!(failed.still("a"), None);
        failed.note("a", "node runner 2", &error());
        let still = failed.still("a").unwrap();
        assert_eq!(still.message, "database is down");
        assert_eq!(failed.still("b"), None);
        // A handler that fails has been loaded.
        let handled = Err(WorkError::new("HANDLER_ERROR", "no"));
        failed.note("a", "node runner 3", &handled);
        assert_eq!(failed.still("a"), None);
        for (children, ms) in [(1, 0), (2, 250), (3, 500), (5, 2_000), (99, 30_000)] {
            assert_eq!(pause(children), Duration::from_millis(ms), "{children}");
        }
    }
}
