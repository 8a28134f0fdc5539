//! Job uniqueness: keys, dedupe, throttle, debounce. The job's own settings override those of its
//! process.

use std::time::Duration;

use riverrun_contract::{KeyFrom, Pace, Process, ProcessConfig};
use riverrun_expr::Arg;
use riverrun_store::{Lasts, Unique, equality::canonical};
use riverrun_types::{Json, Millis, Name, RunId, label};

use super::JobOptions;
use crate::{
    base::{Error, Result},
    queues::Queues,
};

impl Queues {
    pub(super) async fn unique(
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
        // Equal data has one text: the order of members and the spelling of a number make no
        // difference, and no digit is lost.
        let auto = || {
            let id = RunId::of_content(canonical(data).as_bytes());
            Some(unique("key", id.as_str(), lasts))
        };
        match given.or(own.map(|own| own.key.as_str())) {
            // The same rule as in the settings of a process.
            Some("auto") => return Ok(auto()),
            Some(given) => return Ok(Some(unique("key", given, lasts))),
            None => {}
        }
        Ok(match theirs.map(|theirs| &theirs.from) {
            None => None,
            Some(KeyFrom::Auto) => auto(),
            Some(KeyFrom::Expr(expr)) => {
                let found = self.key_of(expr, data).await?;
                found.map(|found| unique("key", &found, lasts))
            }
        })
    }

    /// The key of a pace: from the job, else from the process, else the job's key.
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

    /// The value of an expression over a job's data, as text; nothing if it is null.
    pub(super) async fn key_of(
        &self,
        expr: &riverrun_expr::Expr,
        data: &Json,
    ) -> Result<Option<String>> {
        let args = [Arg::new("input", data.as_str())];
        let found = self.base().sandbox().eval(expr, &args).await;
        let found = found.map_err(|error| match error.is_retriable() {
            true => Error::ExpressionsUnavailable(error),
            false => Error::BadRequest(format!("the key of the job: {} ({})", error, error.code())),
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

/// The pace that a process sets for its jobs. A job has one pace or key: the process's is ignored
/// if the job sets its own.
pub(super) fn fallback<'a>(
    process: Option<&'a Process>,
    options: &JobOptions,
) -> Option<&'a ProcessConfig> {
    let config = process.map(|process| &process.config);
    config.filter(|_| own_paces(options) == 0)
}

/// How many paces and keys a job sets itself.
pub(super) fn own_paces(options: &JobOptions) -> usize {
    let given = [
        options.debounce.is_some(),
        options.throttle.is_some(),
        options.dedupe.is_some(),
        has_key(options),
    ];
    given.into_iter().filter(|is_given| *is_given).count()
}

pub(super) fn has_key(options: &JobOptions) -> bool {
    options.idempotency_key.is_some() || options.idempotency.is_some()
}

/// How long a job waits for a later one to replace it.
pub(super) fn debounce(config: Option<&ProcessConfig>, options: &JobOptions) -> Option<Millis> {
    let own = options.debounce.as_ref().map(|debounce| debounce.delay_ms);
    let theirs = || Some(millis(config?.debounce.as_ref()?.time));
    own.or_else(theirs)
        .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
