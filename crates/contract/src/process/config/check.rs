//! Rules for settings that were read.

use super::MAX_CLAIM;
use super::{ConfigIssue, queue_name::check_new_queue_name, written::Written};

const MAX_CONCURRENCY: u32 = 65_536;
/// The most jobs of a batch: those that one claim takes.
const MAX_BATCH: u32 = MAX_CLAIM as u32;

/// Everything that is wrong, in the order in which it is reported.
pub(super) fn check(written: &Written, queue: &str) -> Vec<ConfigIssue> {
    let mut issues = Vec::new();
    let mut issue = |path: &str, message: String| issues.push(ConfigIssue::new(path, message));
    if let Err(message) = check_new_queue_name(queue) {
        issue("queue", message);
    }
    if written
        .concurrency()
        .is_some_and(|n| n == 0 || n > MAX_CONCURRENCY)
    {
        issue("concurrency", format!("must be 1 to {MAX_CONCURRENCY}"));
    }
    if written.key_concurrency == Some(0) {
        issue("keyConcurrency", "must be 1 or more".to_owned());
    }
    if let Some(rate) = &written.rate_limit
        && (rate.max == 0 || rate.duration_ms <= 0)
    {
        let message = "max and durationMs must be 1 or more".to_owned();
        issue("rateLimit", message);
    }
    if let Some(batch) = &written.batch {
        if !(1..=MAX_BATCH).contains(&batch.size) {
            issue("batch.size", format!("must be 1 to {MAX_BATCH}"));
        }
        if batch.wait_ms < 0 {
            issue("batch.waitMs", "must be 0 or more".to_owned());
        }
    }
    if written.timeout_ms == Some(0) {
        issue("timeoutMs", "must be 1 or more".to_owned());
    }
    if let Some((path, message)) = two_paces(written) {
        issue(path, message);
    }
    if let Some(dead) = written.dlq.as_ref().and_then(|dlq| dlq.queue.as_deref())
        && let Err(message) = check_new_queue_name(dead)
    {
        issue("dlq.queue", message);
    }
    issues
}

/// A job is held to one of them.
fn two_paces(written: &Written) -> Option<(&'static str, String)> {
    let key = written.idempotency_key.is_some() || written.idempotency.is_some();
    let all = [
        ("debounce", written.debounce.is_some()),
        ("throttle", written.throttle.is_some()),
        ("idempotencyKey", key),
    ];
    let mut given = all.iter().filter(|(_, is_given)| *is_given);
    let ((first, _), (second, _)) = (given.next()?, given.next()?);
    let message = format!("cannot stand beside {second}: give one of them");
    Some((first, message))
}
