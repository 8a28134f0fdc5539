//! An optional time limit.

use std::time::Duration;

/// Returns after so many milliseconds; never if there are none.
pub(crate) async fn timer(timeout_ms: Option<u64>) {
    match timeout_ms {
        Some(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
        None => std::future::pending().await,
    }
}
