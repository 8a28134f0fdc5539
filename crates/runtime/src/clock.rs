//! The one place that reads the clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use riverrun_types::Millis;

pub fn now_ms() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How long until a time, bounded: a timer that would sleep for years looks at the clock once a
/// day instead, so that a clock that was set does not matter for longer.
pub fn until(ms: Millis) -> Duration {
    const DAY_MS: i64 = 86_400_000;
    let left = ms.saturating_sub(now_ms()).clamp(0, DAY_MS);
    Duration::from_millis(left.unsigned_abs())
}
