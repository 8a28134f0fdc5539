//! Rejects invalid job options: malformed labels, times out of range, options that contradict each
//! other.

use riverrun_contract::{Process, WrittenBackoff};
use riverrun_types::{
    Millis, id::is_dot_segment, json::is_repeated_member, label, time::MAX_WAIT_MS, words::plain,
};

use super::{
    JobOptions,
    pace::{fallback, has_key, own_paces},
};
use crate::base::{Error, Result, check_metadata};

pub(super) fn check(options: &JobOptions, name: Option<&str>, now: Millis) -> Result<()> {
    let text = |field: &str, text: Option<&str>| match text.is_none_or(label::is_valid) {
        true => Ok(()),
        false => Err(Error::BadRequest(format!("{field}: not {}", label::RULE))),
    };
    text("name", name)?;
    text("key", options.key.as_deref())?;
    text("idempotencyKey", options.idempotency_key.as_deref())?;
    let idempotency = options.idempotency.as_ref();
    text("idempotency.key", idempotency.map(|own| own.key.as_str()))?;
    text("tenantId", options.tenant_id.as_deref())?;
    text("correlationId", options.correlation_id.as_deref())?;
    check_segment("correlationId", options.correlation_id.as_deref())?;
    text("causationId", options.causation_id.as_deref())?;
    text(
        "dedupe.key",
        options.dedupe.as_ref().map(|d| d.key.as_str()),
    )?;
    let throttle = options.throttle.as_ref().and_then(|t| t.key.as_deref());
    text("throttle.key", throttle)?;
    let debounce = options.debounce.as_ref().and_then(|d| d.key.as_deref());
    text("debounce.key", debounce)?;
    for tag in &options.tags {
        text("tags", Some(tag))?;
    }
    if options.tags.len() > label::MAX_TAGS {
        return Err(Error::BadRequest(format!(
            "tags: a job may have {}",
            label::MAX_TAGS
        )));
    }
    if let Some(metadata) = &options.metadata {
        check_metadata(metadata)?;
    }
    let delays = [
        options.delay_ms,
        options.debounce.as_ref().map(|d| d.delay_ms),
        options.timeout_ms,
    ];
    if delays
        .into_iter()
        .flatten()
        .any(|ms| ms > MAX_WAIT_MS.unsigned_abs())
    {
        let message = "delayMs, timeoutMs and debounce.delayMs may be ten years at most";
        return Err(Error::BadRequest(message.to_owned()));
    }
    if options.timeout_ms == Some(0) {
        return Err(Error::BadRequest("timeoutMs: must be 1 or more".to_owned()));
    }
    check_time(options, now)?;
    check_paces(options)?;
    check_idempotency(options)?;
    if let Some(backoff) = &options.backoff
        && let Err(error) = backoff.read::<WrittenBackoff>()
    {
        let message = format!("backoff: {}", plain(&error.to_string()));
        return Err(match is_repeated_member(&error) {
            true => Error::DuplicateMember(message),
            false => Error::BadRequest(message),
        });
    }
    if options.attempts == Some(0) {
        return Err(Error::BadRequest("attempts: must be 1 or more".to_owned()));
    }
    Ok(())
}

fn check_segment(field: &str, text: Option<&str>) -> Result<()> {
    match text.filter(|text| is_dot_segment(text)) {
        Some(text) => Err(Error::BadId(format!(
            "{field}: {text:?} would mean another place in a path"
        ))),
        None => Ok(()),
    }
}

fn check_time(options: &JobOptions, now: Millis) -> Result<()> {
    let refuse = |message: &str| Err(Error::Unprocessable(message.to_owned()));
    match (options.run_at, options.delay_ms) {
        (Some(_), Some(_)) => refuse("delayMs and runAt: give one of them"),
        (Some(at_ms), None) if at_ms.saturating_sub(now) > MAX_WAIT_MS => {
            refuse("runAt: may be ten years from now at most")
        }
        _ => Ok(()),
    }
}

fn check_paces(options: &JobOptions) -> Result<()> {
    let refuse = |message: &str| Err(Error::Unprocessable(message.to_owned()));
    let is_timed = options.delay_ms.is_some() || options.run_at.is_some();
    match own_paces(options) {
        0 | 1 if options.debounce.is_some() && is_timed => {
            refuse("debounce: says when the job begins; give it without delayMs and runAt")
        }
        0 | 1 => Ok(()),
        _ => refuse("idempotencyKey, dedupe, throttle, debounce: give one of them"),
    }
}

/// A window of a key needs one: the job's own, or that of its process.
pub(super) fn check_window(options: &JobOptions, process: Option<&Process>) -> Result<()> {
    let theirs = fallback(process, options).and_then(|config| config.idempotency.as_ref());
    if options.idempotency_window_ms.is_none() || has_key(options) || theirs.is_some() {
        return Ok(());
    }
    let message = "idempotencyWindowMs: there is no key that it could hold for";
    Err(Error::Unprocessable(message.to_owned()))
}

fn check_idempotency(options: &JobOptions) -> Result<()> {
    let refuse = |message: &str| Err(Error::Unprocessable(message.to_owned()));
    let is_twice = options.idempotency_key.is_some() || options.idempotency_window_ms.is_some();
    match (&options.idempotency, options.idempotency_window_ms) {
        (Some(_), _) if is_twice => {
            refuse("idempotency: give it alone, or idempotencyKey and idempotencyWindowMs")
        }
        _ => Ok(()),
    }
}
