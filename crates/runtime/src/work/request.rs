//! What somebody asks for when they add a job.

use std::{collections::HashMap, sync::Arc, time::Duration};

use riverrun_expr::Arg;
use riverrun_store::{Lasts, NewQueued, Unique, equality::canonical};
use riverrun_types::{
    Json, Millis, Name, RunId, label,
    time::{self, MAX_WAIT_MS},
    words::plain,
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::{
    config::{KeyFrom, OnFail, Pace, Policy, ProcessConfig, WrittenBackoff, WrittenRetry},
    process::Process,
};
use crate::{Error, Result, Runtime, steps::StepPlace};

/// A wish to add a job.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct JobRequest {
    pub name: Option<String>,
    pub data: Option<Json>,
    #[serde(alias = "opts")]
    pub options: JobOptions,
}

impl JobRequest {
    pub fn new(data: impl Into<Json>) -> Self {
        Self {
            data: Some(data.into()),
            ..Self::default()
        }
    }
}

/// How a job is to be run, where it differs from what its process says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct JobOptions {
    /// The same id again is the same job.
    pub job_id: Option<String>,
    /// Higher goes first.
    pub priority: i32,
    #[serde(alias = "delay")]
    pub delay_ms: Option<u64>,
    #[serde(deserialize_with = "moment")]
    pub run_at: Option<Millis>,
    pub attempts: Option<u32>,
    pub backoff: Option<Json>,
    pub timeout_ms: Option<u64>,
    pub on_fail: Option<OnFail>,
    pub retriable_errors: Option<Vec<String>>,
    /// One job for this key, as long as the job is known or for a time.
    pub idempotency_key: Option<String>,
    pub idempotency_window_ms: Option<u64>,
    /// The same, said in one.
    pub idempotency: Option<IdempotencyOptions>,
    /// One job for this key, until it has ended or for a time.
    pub dedupe: Option<Dedupe>,
    /// The first job in each window; the others are it.
    pub throttle: Option<Throttle>,
    /// The last job, once nobody has added another for a while.
    pub debounce: Option<Debounce>,
    /// Jobs of one key take turns with other keys and share the key's concurrency. Where there is
    /// none, the tenant is the key.
    #[serde(alias = "group")]
    pub key: Option<String>,
    pub tenant_id: Option<String>,
    pub tags: Vec<String>,
    pub metadata: Option<Json>,
    pub correlation_id: Option<String>,
    pub causation_id: Option<String>,
    /// How many events started a run on the way to it. Nobody outside says so.
    #[serde(skip)]
    pub chain: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IdempotencyOptions {
    pub key: String,
    pub window_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dedupe {
    pub key: String,
    pub window_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Throttle {
    pub key: Option<String>,
    #[serde(alias = "durationMs")]
    pub window_ms: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Debounce {
    pub key: Option<String>,
    #[serde(alias = "durationMs")]
    pub delay_ms: u64,
}

fn moment<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Millis>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "must be a time: ISO 8601 or milliseconds")]
    enum Moment {
        Ms(Millis),
        Text(String),
    }
    match Option::<Moment>::deserialize(from)? {
        None => Ok(None),
        Some(Moment::Ms(ms)) => Ok(Some(ms)),
        Some(Moment::Text(text)) => time::parse(&text).map(Some).ok_or_else(|| {
            D::Error::custom(format!("{text:?} is no time: ISO 8601 or milliseconds"))
        }),
    }
}

/// The part of the options that stays with the job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeptOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backoff: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_fail: Option<OnFail>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retriable_errors: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tenant_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// How many events started a run on the way to it.
    #[serde(skip_serializing_if = "riverrun_types::is_zero")]
    pub chain: u32,
    /// The visit of a run whose job it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepPlace>,
}

impl KeptOptions {
    pub fn read(options: Option<&Json>) -> Self {
        options
            .and_then(|options| options.read().ok())
            .unwrap_or_default()
    }

    /// What happens to an attempt that fails: what the process says, amended by the job's own.
    pub fn policy(&self, process: Option<&Process>) -> Policy {
        let mut policy =
            process.map_or_else(Policy::default, |process| process.config.policy.clone());
        policy.amend(&WrittenRetry {
            attempts: self.attempts,
            backoff: self
                .backoff
                .as_ref()
                .and_then(|backoff| backoff.read().ok()),
            on_fail: self.on_fail,
            retriable_errors: self.retriable_errors.clone(),
        });
        if let Some(ms) = self.timeout_ms {
            policy.timeout = Some(Duration::from_millis(ms));
        }
        policy
    }
}

impl Runtime {
    /// Turns wishes into jobs of their queues, whose processes are known.
    pub(super) async fn prepare_jobs(
        &self,
        takers: &HashMap<Name, Option<Arc<Process>>>,
        requests: Vec<(Name, JobRequest)>,
    ) -> Result<Vec<NewQueued>> {
        let now = self.now_ms();
        let mut jobs = Vec::with_capacity(requests.len());
        for (at, (queue, request)) in requests.into_iter().enumerate() {
            let process = takers.get(&queue).and_then(Option::as_deref);
            let job = self.prepare_job(&queue, process, request, now).await;
            jobs.push(job.map_err(|error| error.of_job(at))?);
        }
        Ok(jobs)
    }

    async fn prepare_job(
        &self,
        queue: &Name,
        process: Option<&Process>,
        request: JobRequest,
        now: Millis,
    ) -> Result<NewQueued> {
        let JobRequest {
            name,
            data,
            options,
        } = request;
        let data = data.unwrap_or_else(Json::null);
        if let Some(schema) = process.and_then(|process| process.config.input_schema.as_ref()) {
            let issues = schema.issues(&data.value());
            if !issues.is_empty() {
                return Err(Error::InputInvalid(issues));
            }
        }
        check(&options, name.as_deref(), now)?;
        check_window(&options, process)?;
        let id = match &options.job_id {
            None => RunId::fresh(),
            Some(id) => {
                RunId::checked(id).map_err(|error| Error::BadRequest(format!("jobId: {error}")))?
            }
        };
        let key = match (
            &options.key,
            process.and_then(|process| process.config.key.as_ref()),
        ) {
            (Some(key), _) => Some(key.clone()),
            (None, Some(expr)) => self.key_of(expr, &data).await?,
            (None, None) => None,
        };
        let key = key.or_else(|| options.tenant_id.clone());
        let delay = |ms: u64| now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX));
        let mut at_ms = options.run_at.or(options.delay_ms.map(delay));
        let unique = self
            .unique(process, &options, &data, key.as_deref(), now)
            .await?;
        if let Some(debounce) = debounce(fallback(process, &options), &options) {
            let quiet = now.saturating_add(debounce);
            at_ms = Some(at_ms.map_or(quiet, |asked| asked.max(quiet)));
        }
        Ok(NewQueued {
            is_named: options.job_id.is_some(),
            id,
            queue: queue.clone(),
            name: name.filter(|name| **name != **queue).map(Name::from),
            priority: options.priority,
            at_ms,
            created_ms: now,
            key: key.map(Name::from),
            unique,
            correlation: options.correlation_id.as_deref().map(Name::from),
            options: kept(options),
            data,
        })
    }

    async fn unique(
        &self,
        process: Option<&Process>,
        options: &JobOptions,
        data: &Json,
        key: Option<&str>,
        now: Millis,
    ) -> Result<Option<Unique>> {
        let until =
            |ms: u64| Lasts::Until(now.saturating_add(i64::try_from(ms).unwrap_or(i64::MAX)));
        let unique = |prefix: &str, key: &str, lasts| Unique {
            key: Name::from(format!("{prefix}:{key}")),
            lasts,
            replace: prefix == "debounce",
        };
        let all = process.map(|process| &process.config);
        let config = fallback(process, options);
        if debounce(config, options).is_some() {
            let own = options.debounce.as_ref();
            let theirs = all.and_then(|config| config.debounce.as_ref());
            let given = own.map(|own| own.key.as_deref());
            let name = self.pace_key(given, theirs, data, key).await?;
            return Ok(Some(unique("debounce", &name, Lasts::UntilEnd)));
        }
        let theirs = config.and_then(|config| config.throttle.as_ref());
        let own = options.throttle.as_ref();
        if let Some(window_ms) = own
            .map(|own| own.window_ms)
            .or_else(|| theirs.map(|theirs| millis(theirs.time)))
        {
            let theirs = all.and_then(|config| config.throttle.as_ref());
            let given = own.map(|own| own.key.as_deref());
            let name = self.pace_key(given, theirs, data, key).await?;
            return Ok(Some(unique("throttle", &name, until(window_ms))));
        }
        if let Some(dedupe) = &options.dedupe {
            let lasts = dedupe.window_ms.map_or(Lasts::UntilEnd, until);
            return Ok(Some(unique("dedupe", &dedupe.key, lasts)));
        }
        let theirs = all.and_then(|config| config.idempotency.as_ref());
        let own = options.idempotency.as_ref();
        let window = options
            .idempotency_window_ms
            .or(own.and_then(|own| own.window_ms))
            .or_else(|| theirs?.window.map(millis));
        let lasts = window.map_or(Lasts::Always, until);
        let given = options.idempotency_key.as_deref();
        if let Some(given) = given.or(own.map(|own| own.key.as_str())) {
            return Ok(Some(unique("key", given, lasts)));
        }
        Ok(match theirs.map(|theirs| &theirs.from) {
            None => None,
            // Equal data has one text: neither the order of members nor the spelling of a number
            // makes another job, and no digit is lost.
            Some(KeyFrom::Auto) => {
                let id = RunId::of_content(canonical(data).as_bytes());
                Some(unique("key", id.as_str(), lasts))
            }
            Some(KeyFrom::Expr(expr)) => {
                let found = self.key_of(expr, data).await?;
                found.map(|found| unique("key", &found, lasts))
            }
        })
    }

    /// What a pace is kept for: what the job says, else what the process says, else the job's key.
    async fn pace_key(
        &self,
        given: Option<Option<&str>>,
        theirs: Option<&Pace>,
        data: &Json,
        key: Option<&str>,
    ) -> Result<String> {
        if let Some(given) = given.flatten() {
            return Ok(given.to_owned());
        }
        let expr = theirs.and_then(|theirs| theirs.key.as_ref());
        let found = match expr {
            Some(expr) => self.key_of(expr, data).await?,
            None => None,
        };
        Ok(found.or(key.map(str::to_owned)).unwrap_or_default())
    }

    /// What an expression makes of a job's data, as text; nothing if it says null.
    async fn key_of(&self, expr: &riverrun_expr::Expr, data: &Json) -> Result<Option<String>> {
        let args = [Arg::new("input", data.as_str())];
        let found = match expr.eval_native(&args) {
            Some(found) => found,
            None => self.services().sandbox.eval(expr, &args).await,
        };
        let found = found.map_err(|error| {
            Error::BadRequest(format!("the key of the job: {} ({})", error, error.code()))
        })?;
        let key = found.map(Json::try_from).transpose().map_err(|error| {
            Error::BadRequest(format!("the key of the job cannot be read: {error}"))
        })?;
        let key = key.filter(|key| !key.is_null());
        let key = key.map(|key| key.as_text().into_owned());
        match key {
            Some(key) if !label::is_valid(&key) => {
                let message = format!("the key of the job is not {}", label::RULE);
                Err(Error::BadRequest(message))
            }
            key => Ok(key),
        }
    }
}

/// What a process says of the pace of its jobs. A job is held to one pace or key: it is passed over
/// where the job says something itself.
fn fallback<'a>(process: Option<&'a Process>, options: &JobOptions) -> Option<&'a ProcessConfig> {
    let config = process.map(|process| &process.config);
    config.filter(|_| own_paces(options) == 0)
}

/// How many paces and keys a job gives itself.
fn own_paces(options: &JobOptions) -> usize {
    let given = [
        options.debounce.is_some(),
        options.throttle.is_some(),
        options.dedupe.is_some(),
        has_key(options),
    ];
    given.into_iter().filter(|is_given| *is_given).count()
}

fn has_key(options: &JobOptions) -> bool {
    options.idempotency_key.is_some() || options.idempotency.is_some()
}

/// How long a job waits for a later one to take its place.
fn debounce(config: Option<&ProcessConfig>, options: &JobOptions) -> Option<Millis> {
    let own = options.debounce.as_ref().map(|debounce| debounce.delay_ms);
    let theirs = || Some(millis(config?.debounce.as_ref()?.time));
    own.or_else(theirs)
        .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn kept(options: JobOptions) -> Option<Json> {
    let kept = KeptOptions {
        attempts: options.attempts,
        backoff: options.backoff,
        timeout_ms: options.timeout_ms,
        on_fail: options.on_fail,
        retriable_errors: options.retriable_errors,
        tenant_id: options.tenant_id,
        tags: options.tags,
        metadata: options.metadata,
        correlation_id: options.correlation_id,
        causation_id: options.causation_id,
        chain: options.chain,
        step: None,
    };
    (kept != KeptOptions::default()).then(|| Json::of(&kept))
}

fn check(options: &JobOptions, name: Option<&str>, now: Millis) -> Result<()> {
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
        let message = plain(&error.to_string());
        return Err(Error::BadRequest(format!("backoff: {message}")));
    }
    if options.attempts == Some(0) {
        return Err(Error::BadRequest("attempts: must be 1 or more".to_owned()));
    }
    Ok(())
}

fn check_time(options: &JobOptions, now: Millis) -> Result<()> {
    let bad = |message: &str| Err(Error::BadRequest(message.to_owned()));
    match (options.run_at, options.delay_ms) {
        (Some(_), Some(_)) => bad("delayMs and runAt: give one of them"),
        (Some(at_ms), None) if at_ms.saturating_sub(now) > MAX_WAIT_MS => {
            bad("runAt: may be ten years from now at most")
        }
        _ => Ok(()),
    }
}

fn check_paces(options: &JobOptions) -> Result<()> {
    let bad = |message: &str| Err(Error::BadRequest(message.to_owned()));
    let is_timed = options.delay_ms.is_some() || options.run_at.is_some();
    match own_paces(options) {
        0 | 1 if options.debounce.is_some() && is_timed => {
            bad("debounce: says when the job begins; give it without delayMs and runAt")
        }
        0 | 1 => Ok(()),
        _ => bad("idempotencyKey, dedupe, throttle, debounce: give one of them"),
    }
}

/// A window of a key needs one: the job's own, or that of its process.
fn check_window(options: &JobOptions, process: Option<&Process>) -> Result<()> {
    let theirs = fallback(process, options).and_then(|config| config.idempotency.as_ref());
    if options.idempotency_window_ms.is_none() || has_key(options) || theirs.is_some() {
        return Ok(());
    }
    let message = "idempotencyWindowMs: there is no key that it could hold for";
    Err(Error::BadRequest(message.to_owned()))
}

fn check_idempotency(options: &JobOptions) -> Result<()> {
    let bad = |message: &str| Err(Error::BadRequest(message.to_owned()));
    let is_twice = options.idempotency_key.is_some() || options.idempotency_window_ms.is_some();
    match (&options.idempotency, options.idempotency_window_ms) {
        (Some(_), _) if is_twice => {
            bad("idempotency: give it alone, or idempotencyKey and idempotencyWindowMs")
        }
        _ => Ok(()),
    }
}
