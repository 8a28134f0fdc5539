//! When schedules are due. Pure: every function is given the time.
//!
//! A cron pattern speaks of the clock on the wall of its zone. Where that clock jumps forward, a
//! time that does not exist is due once, at the first moment after the gap. Where it goes back, a
//! pattern with a fixed time of day is due once, the first time; one that repeats within the day
//! (`*`, `*/15`) goes on at its pace through both hours.

use std::str::FromStr;

use croner::Cron;
use jiff::{Timestamp, tz::TimeZone};
use riverrun_types::{Millis, time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Result, wall::Wall};

/// The shortest interval.
const MIN_EVERY_MS: Millis = 100;

/// How many due times that passed are counted, at most.
const MAX_COUNTED: u64 = 1_000;

/// What is done about due times at which nobody was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missed {
    /// Nothing, unless the last of them was just now.
    Skip,
    /// The last of them stands for all.
    #[default]
    Once,
    /// All of them are made up for, up to a number.
    All,
}

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

/// A schedule, ready to be asked.
#[derive(Clone, Debug)]
pub struct Schedule {
    rule: Rule,
    start_ms: Option<Millis>,
    end_ms: Option<Millis>,
    missed: Missed,
    max_missed: u64,
    grace_ms: Millis,
}

#[derive(Clone, Debug)]
enum Rule {
    Cron(Box<Wall>),
    Every { ms: Millis, anchor_ms: Millis },
    At(Millis),
}

/// What is to be done about a due time that has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// The due time for which a run is started.
    pub fire_ms: Option<Millis>,
    /// How many due times are let go by. More than a thousand are not counted.
    pub missed: u64,
    /// When it is due next. May have passed: then it has another turn.
    pub next_ms: Option<Millis>,
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
        if grace_ms < 0 {
            return Err(Error::invalid("config.graceMs", "it must not be negative"));
        }
        Ok(Self {
            rule: rule(config, start_ms.unwrap_or(anchor_ms))?,
            start_ms,
            end_ms,
            missed: config.missed,
            max_missed,
            grace_ms: grace_ms.max(LEAST_GRACE_MS),
        })
    }

    /// What the schedule is called in a run's metadata.
    pub(crate) fn source(&self) -> &'static str {
        match self.rule {
            Rule::Cron(..) => "cron",
            Rule::Every { .. } => "interval",
            Rule::At(_) => "at",
        }
    }

    /// The first due time after a moment.
    pub fn next_after(&self, ms: Millis) -> Option<Millis> {
        let ms = ms.max(
            self.start_ms
                .map_or(Millis::MIN, |start| start.saturating_sub(1)),
        );
        let next = match &self.rule {
            Rule::Cron(wall) => wall.next_after(second(ms)?)?.as_millisecond(),
            Rule::Every {
                ms: every,
                anchor_ms,
            } => {
                let passed = ms.saturating_sub(*anchor_ms).div_euclid(*every).max(0);
                let turn = passed.checked_add(1)?;
                anchor_ms.checked_add(every.checked_mul(turn)?)?
            }
            Rule::At(at_ms) => *at_ms,
        };
        (next > ms && self.end_ms.is_none_or(|end| next <= end)).then_some(next)
    }

    /// The last due time at or before a moment.
    pub fn last_until(&self, ms: Millis) -> Option<Millis> {
        let ms = self.end_ms.map_or(ms, |end| ms.min(end));
        let last = match &self.rule {
            Rule::Cron(wall) => wall.last_until(second(ms)?)?.as_millisecond(),
            Rule::Every {
                ms: every,
                anchor_ms,
            } => {
                let passed = ms.saturating_sub(*anchor_ms).div_euclid(*every);
                if passed < 1 {
                    return None;
                }
                anchor_ms.checked_add(every.checked_mul(passed)?)?
            }
            Rule::At(at_ms) => *at_ms,
        };
        (last <= ms && self.start_ms.is_none_or(|start| last >= start)).then_some(last)
    }

    /// The one due time of a schedule that had passed when it was made.
    pub fn passed(&self, now_ms: Millis) -> Option<Millis> {
        match self.rule {
            Rule::At(_) => self.last_until(now_ms),
            Rule::Cron(_) | Rule::Every { .. } => None,
        }
    }

    /// What to do at `now_ms` about a schedule that was due at `due_ms`.
    pub fn turn(&self, due_ms: Millis, now_ms: Millis) -> Turn {
        let last_ms = self.last_until(now_ms).unwrap_or(due_ms).max(due_ms);
        match self.missed {
            Missed::Skip => {
                let is_late = now_ms.saturating_sub(last_ms) > self.grace_ms;
                Turn {
                    fire_ms: (!is_late).then_some(last_ms),
                    missed: self.count(due_ms, last_ms) + u64::from(is_late),
                    next_ms: self.next_after(now_ms),
                }
            }
            Missed::Once => Turn {
                fire_ms: Some(last_ms),
                missed: self.count(due_ms, last_ms),
                next_ms: self.next_after(now_ms),
            },
            Missed::All => {
                let first_ms = self.back(due_ms, last_ms, self.max_missed - 1);
                Turn {
                    fire_ms: Some(first_ms),
                    missed: self.count(due_ms, first_ms),
                    next_ms: self.next_after(first_ms),
                }
            }
        }
    }

    /// Due times from `due_ms` on that come before `last_ms`.
    fn count(&self, due_ms: Millis, last_ms: Millis) -> u64 {
        let mut count = 0;
        let mut at = last_ms;
        while count < MAX_COUNTED && at > due_ms {
            at = self.before(at).unwrap_or(due_ms).max(due_ms);
            count += 1;
        }
        count
    }

    /// As many due times back from `last_ms`, but not before `due_ms`.
    fn back(&self, due_ms: Millis, last_ms: Millis, steps: u64) -> Millis {
        let mut at = last_ms;
        for _ in 0..steps {
            match self.before(at) {
                Some(before) if before >= due_ms => at = before,
                _ if at > due_ms => return due_ms,
                _ => return at,
            }
        }
        at
    }

    fn before(&self, ms: Millis) -> Option<Millis> {
        self.last_until(ms.checked_sub(1)?)
    }

    /// The due times between two moments, the first included, up to `limit`; and whether there
    /// are more.
    pub fn between(&self, from_ms: Millis, until_ms: Millis, limit: usize) -> (Vec<Millis>, bool) {
        let mut found = Vec::new();
        let mut at = from_ms.saturating_sub(1);
        while let Some(next) = self.next_after(at).filter(|next| *next < until_ms) {
            if found.len() == limit {
                return (found, true);
            }
            found.push(next);
            at = next;
        }
        (found, false)
    }
}

/// The whole second of a moment: cron knows no parts of them.
fn second(ms: Millis) -> Option<Timestamp> {
    Timestamp::from_second(ms.div_euclid(1_000)).ok()
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
                "it must be a duration such as \"5m\", or {MIN_EVERY_MS} to {} milliseconds",
                time::MAX_WAIT_MS
            );
            Err(Error::invalid("config.every", message))
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
    let cron = Cron::from_str(pattern).map_err(|error| refuse(error.to_string()))?;
    let unknown = || Error::TimeZone(zone.chars().take(64).collect());
    let zone = TimeZone::get(zone).map_err(|_| unknown())?;
    Ok(Rule::Cron(Box::new(Wall::new(cron, zone))))
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
            "it must be a time such as 2030-01-31T12:00:00Z, or milliseconds since 1970",
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn schedule(config: Value) -> Schedule {
        try_schedule(config).unwrap()
    }

    fn try_schedule(config: Value) -> Result<Schedule> {
        Schedule::new(
            &serde_json::from_value(config).unwrap(),
            ms("2024-01-01T00:00:00Z"),
        )
    }

    fn ms(text: &str) -> Millis {
        time::parse(text).unwrap()
    }

    /// The due times after a moment, in UTC.
    #[track_caller]
    fn check(config: Value, from: &str, expected: &[&str]) {
        let schedule = schedule(config);
        let mut at = ms(from);
        for expected in expected {
            let next = schedule.next_after(at).unwrap();
            assert_eq!(time::iso(next), time::iso(ms(expected)));
            assert_eq!(
                schedule.last_until(next),
                Some(next),
                "looking back from {expected}"
            );
            at = next;
        }
    }

    fn cron(pattern: &str, zone: &str) -> Value {
        json!({"cron": pattern, "timezone": zone})
    }

    #[test]
    fn cron_has_seconds_and_zones() {
        check(
            json!({"cron": "*/20 * * * * *"}),
            "2024-05-01T10:00:05.500Z",
            &[
                "2024-05-01T10:00:20Z",
                "2024-05-01T10:00:40Z",
                "2024-05-01T10:01:00Z",
            ],
        );
        check(
            json!({"cron": "30 9 * * MON-FRI"}),
            "2024-05-03T09:30:00Z",
            &["2024-05-06T09:30:00Z", "2024-05-07T09:30:00Z"],
        );
        check(
            cron("0 9 * * *", "Asia/Tokyo"),
            "2024-05-01T00:00:00Z",
            &["2024-05-02T00:00:00Z"],
        );
        // A part of a second before is not yet, a part after is over.
        check(
            json!({"cron": "0 0 12 * * *"}),
            "2024-05-01T11:59:59.999Z",
            &["2024-05-01T12:00:00Z"],
        );
        check(
            json!({"cron": "0 0 12 * * *"}),
            "2024-05-01T12:00:00.001Z",
            &["2024-05-02T12:00:00Z"],
        );
        check(
            json!({"cron": "0 0 L * *"}),
            "2024-02-01T00:00:00Z",
            &["2024-02-29T00:00:00Z"],
        );
        check(
            json!({"cron": "@daily"}),
            "2024-02-01T00:00:00Z",
            &["2024-02-02T00:00:00Z"],
        );
    }

    #[test]
    fn a_time_that_does_not_exist_is_due_once_after_the_gap() {
        // On 2024-03-31 the clocks of Berlin went from 02:00 to 03:00, which is 01:00 UTC.
        check(
            cron("30 2 * * *", "Europe/Berlin"),
            "2024-03-30T00:00:00Z",
            &[
                "2024-03-30T01:30:00Z",
                "2024-03-31T01:00:00Z",
                "2024-04-01T00:30:00Z",
            ],
        );
        check(
            cron("*/30 * * * *", "Europe/Berlin"),
            "2024-03-31T00:15:00Z",
            &[
                "2024-03-31T00:30:00Z",
                "2024-03-31T01:00:00Z",
                "2024-03-31T01:30:00Z",
            ],
        );
        // In Cairo midnight itself is missing on 2024-04-26.
        check(
            cron("0 0 * * *", "Africa/Cairo"),
            "2024-04-25T12:00:00Z",
            &["2024-04-25T22:00:00Z", "2024-04-26T21:00:00Z"],
        );
        // Which does not touch a time later in that night.
        check(
            cron("30 2 * * *", "Africa/Cairo"),
            "2024-04-25T12:00:00Z",
            &["2024-04-25T23:30:00Z", "2024-04-26T23:30:00Z"],
        );
    }

    #[test]
    fn a_time_that_exists_twice_is_due_once() {
        // On 2024-10-27 the clocks of Berlin went back from 03:00 to 02:00, which is 01:00 UTC.
        check(
            cron("30 2 * * *", "Europe/Berlin"),
            "2024-10-26T12:00:00Z",
            &["2024-10-27T00:30:00Z", "2024-10-28T01:30:00Z"],
        );
        // From within the second half it is over for the day.
        check(
            cron("30 2 * * *", "Europe/Berlin"),
            "2024-10-27T01:10:00Z",
            &["2024-10-28T01:30:00Z"],
        );
        // What repeats within the day goes on at its pace.
        check(
            cron("*/30 * * * *", "Europe/Berlin"),
            "2024-10-27T00:00:00Z",
            &[
                "2024-10-27T00:30:00Z",
                "2024-10-27T01:00:00Z",
                "2024-10-27T01:30:00Z",
                "2024-10-27T02:00:00Z",
            ],
        );
        check(
            cron("30 1 * * *", "America/New_York"),
            "2024-11-03T00:00:00Z",
            &["2024-11-03T05:30:00Z", "2024-11-04T06:30:00Z"],
        );
    }

    #[test]
    fn intervals_keep_their_phase() {
        check(
            json!({"every": "15m"}),
            "2024-01-01T00:07:00Z",
            &["2024-01-01T00:15:00Z", "2024-01-01T00:30:00Z"],
        );
        check(
            json!({"everyMs": 500, "startAt": "2024-01-01T00:00:00.100Z"}),
            "2024-01-01T00:00:01Z",
            &["2024-01-01T00:00:01.100Z", "2024-01-01T00:00:01.600Z"],
        );
        let late = schedule(json!({"every": 1_000, "startAt": "2030-01-01T00:00:00Z"}));
        assert_eq!(late.next_after(0), Some(ms("2030-01-01T00:00:01Z")));
        assert_eq!(late.last_until(ms("2030-01-01T00:00:00Z")), None);
    }

    #[test]
    fn what_has_an_end_ends() {
        let once = schedule(json!({"at": "2024-05-01T00:00:00Z"}));
        let at = ms("2024-05-01T00:00:00Z");
        assert_eq!(once.next_after(at - 1), Some(at));
        assert_eq!(once.next_after(at), None);
        let ends = schedule(json!({"cron": "0 0 * * *", "endAt": "2024-05-02T00:00:00Z"}));
        assert_eq!(ends.next_after(at), Some(ms("2024-05-02T00:00:00Z")));
        assert_eq!(ends.next_after(ms("2024-05-02T00:00:00Z")), None);
        assert_eq!(
            ends.last_until(ms("2024-06-01T00:00:00Z")),
            Some(ms("2024-05-02T00:00:00Z"))
        );
    }

    #[test]
    fn what_is_wrong_has_a_code() {
        for (config, code) in [
            (json!({"cron": "61 * * * *"}), "CRON_INVALID"),
            (json!({"cron": "often"}), "CRON_INVALID"),
            (json!({"cron": ""}), "CRON_INVALID"),
            (cron("* * * * *", "Mars/Olympus"), "TIME_ZONE_UNKNOWN"),
            (json!({}), "TRIGGER_INVALID"),
            (
                json!({"cron": "* * * * *", "every": "1m"}),
                "TRIGGER_INVALID",
            ),
            (json!({"every": "1m", "timezone": "UTC"}), "TRIGGER_INVALID"),
            (json!({"every": "0s"}), "TRIGGER_INVALID"),
            (json!({"every": 99}), "TRIGGER_INVALID"),
            (json!({"every": "1e30s"}), "TRIGGER_INVALID"),
            (json!({"at": "tomorrow"}), "TRIGGER_INVALID"),
            (json!({"at": i64::MAX}), "TRIGGER_INVALID"),
            (
                json!({"every": "1m", "maxMissed": 1_001}),
                "TRIGGER_INVALID",
            ),
        ] {
            let refused = try_schedule(config.clone()).err();
            assert_eq!(refused.map(|error| error.code()), Some(code), "{config}");
        }
    }

    /// A schedule of every minute that was due at 10:00 and is looked at later.
    #[track_caller]
    fn turn(missed: Value, now: &str, fire: Option<&str>, let_go: u64, next: &str) {
        let mut config = json!({"cron": "* * * * *"});
        for (key, value) in missed.as_object().unwrap() {
            config[key] = value.clone();
        }
        let expected = Turn {
            fire_ms: fire.map(ms),
            missed: let_go,
            next_ms: Some(ms(next)),
        };
        let turn = schedule(config).turn(ms("2024-05-01T10:00:00Z"), ms(now));
        assert_eq!(turn, expected);
    }

    #[test]
    fn missed_times_are_treated_by_policy() {
        const NOW: &str = "2024-05-01T10:05:30Z";
        for policy in ["skip", "once", "all"] {
            let on_time = "2024-05-01T10:00:00.020Z";
            let fire = Some("2024-05-01T10:00:00Z");
            turn(
                json!({"missed": policy}),
                on_time,
                fire,
                0,
                "2024-05-01T10:01:00Z",
            );
        }
        let last = Some("2024-05-01T10:05:00Z");
        turn(json!({}), NOW, last, 5, "2024-05-01T10:06:00Z");
        turn(
            json!({"missed": "once"}),
            NOW,
            last,
            5,
            "2024-05-01T10:06:00Z",
        );
        turn(
            json!({"missed": "skip"}),
            NOW,
            last,
            5,
            "2024-05-01T10:06:00Z",
        );
        let strict = json!({"missed": "skip", "graceMs": 10_000});
        turn(strict, NOW, None, 6, "2024-05-01T10:06:00Z");
        // A server that is up is late by some milliseconds at least.
        let none = json!({"missed": "skip", "graceMs": 0});
        let just = "2024-05-01T10:05:00.900Z";
        turn(none, just, last, 5, "2024-05-01T10:06:00Z");
        let first = Some("2024-05-01T10:00:00Z");
        turn(
            json!({"missed": "all"}),
            NOW,
            first,
            0,
            "2024-05-01T10:01:00Z",
        );
        let three = json!({"missed": "all", "maxMissed": 3});
        turn(
            three,
            NOW,
            Some("2024-05-01T10:03:00Z"),
            3,
            "2024-05-01T10:04:00Z",
        );
        // However long nobody was there, it is bounded.
        turn(
            json!({"missed": "all", "maxMissed": 1_000}),
            "2026-05-01T00:00:30Z",
            Some("2026-04-30T07:21:00Z"),
            1_000,
            "2026-04-30T07:22:00Z",
        );
    }

    #[test]
    fn all_that_was_missed_is_made_up_for_one_by_one() {
        let schedule = schedule(json!({"every": "1m", "missed": "all"}));
        let now = ms("2024-01-01T00:04:30Z");
        let mut due = ms("2024-01-01T00:01:00Z");
        let mut fired = Vec::new();
        while due <= now {
            let turn = schedule.turn(due, now);
            fired.extend(turn.fire_ms);
            due = turn.next_ms.unwrap();
        }
        let expected: Vec<Millis> = (1..=4)
            .map(|at| ms("2024-01-01T00:00:00Z") + at * 60_000)
            .collect();
        assert_eq!(fired, expected);
    }

    #[test]
    fn a_one_off_that_was_missed_has_one_turn() {
        let once = schedule(json!({"at": "2024-05-01T00:00:00Z"}));
        let at = ms("2024-05-01T00:00:00Z");
        let expected = Turn {
            fire_ms: Some(at),
            missed: 0,
            next_ms: None,
        };
        assert_eq!(once.turn(at, at + 86_400_000), expected);
    }

    proptest! {
        /// Whatever the zone and the season, due times grow, and looking back finds them.
        #[test]
        fn due_times_grow_and_are_found_again(
            pattern in prop::sample::select(vec![
                "* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 * * *", "15 1-3 * * *",
                "*/10 30 2 * * *", "0 12 29 2 *", "0 3 * * SUN",
            ]),
            zone in prop::sample::select(vec![
                "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo",
                "America/Santiago", "Asia/Kathmandu", "Pacific/Apia",
            ]),
            from in 1_600_000_000_000_i64..1_900_000_000_000,
        ) {
            let schedule = schedule(cron(pattern, zone));
            let mut at = from;
            for _ in 0..20 {
                let next = schedule.next_after(at).unwrap();
                prop_assert!(next > at);
                prop_assert_eq!(schedule.last_until(next), Some(next));
                let before = schedule.last_until(next - 1);
                prop_assert!(before.is_none_or(|before| before <= at));
                at = next;
            }
        }
    }
}
