//! Logs failures of the server, each code at most once in a while.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use riverrun_types::ErrorCode;

/// How often the same code is logged. A full disk or a busy run fails every request, and a line for
/// each would bury the rest of the log.
const EVERY: Duration = Duration::from_secs(10);

/// Logs a failure: as a warning if it is temporary, else as an error.
pub(super) fn failure(status: StatusCode, code: ErrorCode, reason: &str) {
    static LOGGED: LazyLock<LoggedCodes> = LazyLock::new(LoggedCodes::default);
    let Some(since) = LOGGED.note(code, Instant::now()) else {
        return;
    };
    if status == StatusCode::SERVICE_UNAVAILABLE {
        tracing::warn!(code = code.as_str(), reason, since, "a request failed");
    } else {
        tracing::error!(code = code.as_str(), reason, since, "a request failed");
    }
}

/// When each code was last logged, and how often it occurred since.
#[derive(Default)]
struct LoggedCodes(Mutex<HashMap<ErrorCode, (Instant, u64)>>);

impl LoggedCodes {
    /// How many of the code were not logged before this one; none if this one is not logged either.
    fn note(&self, code: ErrorCode, now: Instant) -> Option<u64> {
        let mut logged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match logged.get_mut(&code) {
            Some((at, since)) if now.saturating_duration_since(*at) < EVERY => {
                *since += 1;
                None
            }
            _ => Some(logged.insert(code, (now, 0)).map_or(0, |(_, since)| since)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::{Event, Level, Metadata, Subscriber, span};

    use super::*;

    #[test]
    fn a_code_is_logged_now_and_then_with_the_number_between() {
        let (logged, begun) = (LoggedCodes::default(), Instant::now());
        let note = |code, ms| logged.note(code, begun + Duration::from_millis(ms));
        assert_eq!(note(ErrorCode::Busy, 0), Some(0));
        assert_eq!(note(ErrorCode::Busy, 1), None);
        assert_eq!(note(ErrorCode::Internal, 1), Some(0));
        assert_eq!(note(ErrorCode::Busy, 9_999), None);
        assert_eq!(note(ErrorCode::Busy, 10_000), Some(2));
        assert_eq!(note(ErrorCode::Busy, 10_001), None);
        assert_eq!(note(ErrorCode::Busy, 30_000), Some(1));
    }

    /// Keeps the levels of what is logged.
    #[derive(Clone, Default)]
    struct Levels(Arc<Mutex<Vec<Level>>>);

    impl Subscriber for Levels {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

        fn event(&self, event: &Event<'_>) {
            self.0.lock().unwrap().push(*event.metadata().level());
        }

        fn enter(&self, _: &span::Id) {}

        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn what_passes_by_itself_is_no_error() {
        use axum::response::IntoResponse;

        use crate::errors::ApiError;
        let levels = Levels::default();
        tracing::subscriber::with_default(levels.clone(), || {
            for code in [
                ErrorCode::Busy,
                ErrorCode::DiskFull,
                ErrorCode::Busy,
                ErrorCode::BadJson,
            ] {
                let _ = ApiError::new(code, "so it is").into_response();
            }
        });
        assert_eq!(*levels.0.lock().unwrap(), [Level::WARN, Level::ERROR]);
    }
}
