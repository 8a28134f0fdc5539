//! A schedule as it is written: one rule, its start and its end.

use std::str::FromStr;

use croner::{Cron, errors::CronError};
use jiff::{Timestamp, tz::TimeZone};
use riverrun_types::{Millis, time};
use serde::Deserialize;
use serde_json::Value;

use super::{Missed, Rule, Schedule, wall::Wall};
use crate::{Error, Result};

/// The shortest interval.
const MIN_EVERY_MS: Millis = 100;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    cron: Option<String>,
    #[serde(alias = "timeZone", alias = "tz")]
    timezone: Option<String>,
    every: Option<Value>,
    every_ms: Option<i64>,
    at: Option<Value>,
    start_at: Option<Value>,
    end_at: Option<Value>,
    #[serde(default)]
    missed: Missed,
    max_missed: Option<u64>,
    grace_ms: Option<i64>,
}

/// A server that is up and busy is a little late, too: that is not what is missed.
const LEAST_GRACE_MS: Millis = 1_000;

impl Schedule {
    /// Intervals are counted from `anchor_ms` where the schedule names no start.
    pub(crate) fn new(config: &Config, anchor_ms: Millis) -> Result<Self> {
        const MAX_MISSED: u64 = 1_000;
        let start_ms = moment("startAt", config.start_at.as_ref())?;
        let end_ms = moment("endAt", config.end_at.as_ref())?;
        let max_missed = config.max_missed.unwrap_or(100);
        if !(1..=MAX_MISSED).contains(&max_missed) {
            return Err(Error::invalid(
                "config.maxMissed",
                format!("it must be 1 to {MAX_MISSED}"),
            ));
        }
        let grace_ms = config.grace_ms.unwrap_or(60_000);
        if grace_ms < LEAST_GRACE_MS {
            let message = format!("it must be at least {LEAST_GRACE_MS}, a second");
            return Err(Error::invalid("config.graceMs", message));
        }
        Ok(Self {
            rule: rule(config, start_ms.unwrap_or(anchor_ms))?,
            start_ms,
            end_ms,
            missed: config.missed,
            max_missed,
            grace_ms,
        })
    }
}

fn rule(config: &Config, anchor_ms: Millis) -> Result<Rule> {
    let given = [
        config.cron.is_some(),
        config.every.is_some() || config.every_ms.is_some(),
        config.at.is_some(),
    ];
    if given.iter().filter(|given| **given).count() != 1 {
        return Err(Error::invalid(
            "config",
            "give one of cron, every (or everyMs) and at",
        ));
    }
    if config.timezone.is_some() && config.cron.is_none() {
        return Err(Error::invalid(
            "config.timezone",
            "only a cron pattern has a zone",
        ));
    }
    if let Some(pattern) = &config.cron {
        return cron(pattern, config.timezone.as_deref().unwrap_or("UTC"));
    }
    if let Some(at_ms) = moment("at", config.at.as_ref())? {
        return Ok(Rule::At(at_ms));
    }
    let field = match (&config.every, config.every_ms) {
        (Some(_), Some(_)) => {
            let message = "give either every or everyMs";
            return Err(Error::invalid("config.everyMs", message));
        }
        (None, Some(_)) => "config.everyMs",
        (_, None) => "config.every",
    };
    let every_ms = match (&config.every, config.every_ms) {
        (None, Some(ms)) => Some(ms),
        (Some(Value::Number(ms)), None) => ms.as_i64(),
        (Some(Value::String(text)), None) => time::duration_ms(text).map(|ms| ms as Millis),
        _ => None,
    };
    match every_ms {
        Some(ms) if (MIN_EVERY_MS..=time::MAX_WAIT_MS).contains(&ms) => {
            Ok(Rule::Every { ms, anchor_ms })
        }
        _ => {
            let message = format!(
                "it must be {}{MIN_EVERY_MS} to {} milliseconds",
                match field {
                    "config.every" => "a duration such as \"5m\", or ",
                    _ => "",
                },
                time::MAX_WAIT_MS
            );
            Err(Error::invalid(field, message))
        }
    }
}

fn cron(pattern: &str, zone: &str) -> Result<Rule> {
    let refuse = |message: String| Error::Cron {
        cron: pattern.chars().take(128).collect(),
        message,
    };
    if pattern.len() > 256 {
        return Err(refuse("it is longer than 256 bytes".to_owned()));
    }
    let fields: Vec<&str> = pattern.split_whitespace().collect();
    if pattern.trim_start().starts_with('@') {
        check_word(pattern.trim()).map_err(refuse)?;
    } else {
        check_fields(&fields).map_err(refuse)?;
    }
    let cron = Cron::from_str(pattern).map_err(|error| refuse(misread(pattern, &error)))?;
    let unknown = || Error::TimeZone(zone.chars().take(64).collect());
    let zone = TimeZone::get(zone).map_err(|_| unknown())?;
    Ok(Rule::Cron(Box::new(Wall::new(cron, zone))))
}

/// The words that stand for a pattern.
fn check_word(word: &str) -> std::result::Result<(), String> {
    const WORDS: [&str; 6] = [
        "@yearly",
        "@annually",
        "@monthly",
        "@weekly",
        "@daily",
        "@hourly",
    ];
    match WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
        true => Ok(()),
        false => Err(format!(
            "there is no such word, but {}; every: 5m is an interval",
            WORDS.join(", ")
        )),
    }
}

/// The fields of a pattern, and how many values each has. The first may be left out.
const FIELDS: [(&str, u32); 6] = [
    ("second", 60),
    ("minute", 60),
    ("hour", 24),
    ("day of the month", 31),
    ("month", 12),
    ("day of the week", 7),
];

/// There are as many as there may be, and none has a step beyond its end, which would mean its first
/// value alone.
fn check_fields(fields: &[&str]) -> std::result::Result<(), String> {
    let count = fields.len();
    if !matches!(count, 5 | 6) {
        return Err(format!(
            "it has {count} fields: give five, or six with seconds first"
        ));
    }
    for (field, (name, values)) in fields.iter().zip(&FIELDS[FIELDS.len() - count..]) {
        let steps = field.split(',').filter_map(|part| part.split_once('/'));
        let mut steps = steps.filter_map(|(_, step)| step.parse::<u32>().ok());
        if let Some(step) = steps.find(|step| step > values) {
            return Err(format!(
                "{field:?} has a step of {step}, and the {name} has {values} values"
            ));
        }
    }
    Ok(())
}

/// What is wrong with a pattern, and with which of its fields: the one that is wrong by itself.
fn misread(pattern: &str, error: &CronError) -> String {
    let said = error.to_string();
    let said = said
        .trim_start_matches("Component error: ")
        .trim_end_matches('.');
    let fields: Vec<&str> = pattern.split_whitespace().collect();
    let names = FIELDS.iter().map(|(name, _)| name);
    let names = names.skip(FIELDS.len().saturating_sub(fields.len()));
    let wrong = fields.iter().zip(names).enumerate().find(|(index, _)| {
        let mut alone = vec!["*"; fields.len()];
        alone[*index] = fields[*index];
        Cron::from_str(&alone.join(" ")).is_err()
    });
    match wrong {
        Some((_, (field, name))) => format!("{field:?} is no {name} ({said})"),
        None => said.to_owned(),
    }
}

fn moment(field: &str, value: Option<&Value>) -> Result<Option<Millis>> {
    let read = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(ms)) => ms.as_i64(),
        Some(Value::String(text)) => time::parse(text),
        Some(_) => None,
    };
    // What no clock shows would be due for ever, or never.
    match read.filter(|ms| Timestamp::from_millisecond(*ms).is_ok()) {
        Some(ms) => Ok(Some(ms)),
        None => Err(Error::invalid(
            format!("config.{field}"),
            format!(
                "it must be a time such as 2030-01-31T12:00:00Z, or milliseconds since 1970, and not after {}",
                time::iso(Timestamp::MAX.as_second() * 1_000)
            ),
        )),
    }
}
