use proptest::prelude::*;
use riverrun_types::time;
use serde_json::{Value, json};

use super::*;
use crate::Result;

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

/// The due times from a moment up to another, in UTC.
#[track_caller]
fn between(pattern: &str, zone: &str, from: &str, until: &str, expected: &[&str]) {
    let schedule = schedule(cron(pattern, zone));
    let (found, _) = schedule.between(ms(from), ms(until), 10_000);
    let expected: Vec<_> = expected.iter().map(|text| time::iso(ms(text))).collect();
    let times: Vec<_> = found.iter().map(|ms| time::iso(*ms)).collect();
    assert_eq!(times, expected, "{pattern} in {zone}");
    // The way back leads past the same ones.
    let mut back = Vec::new();
    let mut at = schedule.last_until(ms(until) - 1);
    while let Some(found) = at.filter(|at| *at >= ms(from)) {
        back.push(found);
        at = schedule.last_until(found - 1);
    }
    back.reverse();
    assert_eq!(back, found, "{pattern} in {zone}, looking back");
}

#[test]
fn fixed_times_in_the_gap_are_due_once_together() {
    const BERLIN: &str = "Europe/Berlin";
    let day = |pattern, expected: &[&str]| {
        // The 28th of March 2027 in Berlin, which has no 02:00 to 03:00; 03:00 is 01:00 UTC.
        let (from, until) = ("2027-03-27T23:00:00Z", "2027-03-28T22:00:00Z");
        between(pattern, BERLIN, from, until, expected);
    };
    const AFTER: &str = "2027-03-28T01:00:00Z";
    day("30 2,14 * * *", &[AFTER, "2027-03-28T12:30:00Z"]);
    day("15,45 2 * * *", &[AFTER]);
    day("0,30 2 * * SUN", &[AFTER]);
    day("10,20 30 2 * * *", &[AFTER]);
    // What is there at the end of the gap is due with them, once.
    day("0 2,3 * * *", &[AFTER]);
    day(
        "0 1-4 * * *",
        &["2027-03-28T00:00:00Z", AFTER, "2027-03-28T02:00:00Z"],
    );
    day(
        "30 0-4/2 * * *",
        &["2027-03-27T23:30:00Z", AFTER, "2027-03-28T02:30:00Z"],
    );
    day("0-59 0-59 2 * * *", &[AFTER]);
    // A pace goes with the clock: what that never shows is not due.
    day("*/20 2 * * *", &[]);
    day("* 30 2 * * *", &[]);
    day(
        "30 */12 * * *",
        &["2027-03-27T23:30:00Z", "2027-03-28T10:30:00Z"],
    );
    between(
        "15,45 2,5 * * *",
        "America/New_York",
        "2027-03-14T05:00:00Z",
        "2027-03-15T04:00:00Z",
        &[
            "2027-03-14T07:00:00Z",
            "2027-03-14T09:15:00Z",
            "2027-03-14T09:45:00Z",
        ],
    );
    // Half an hour is missing, from 02:00 to 02:30.
    between(
        "0,15,45 2 * * *",
        "Australia/Lord_Howe",
        "2027-10-02T13:30:00Z",
        "2027-10-03T13:00:00Z",
        &["2027-10-02T15:30:00Z", "2027-10-02T15:45:00Z"],
    );
    // Midnight is missing.
    between(
        "0 0,12 * * *",
        "Africa/Cairo",
        "2024-04-25T12:00:00Z",
        "2024-04-26T12:00:00Z",
        &["2024-04-25T22:00:00Z", "2024-04-26T09:00:00Z"],
    );
    // A whole day is missing: the 30th of December.
    between(
        "0 8,20 * * *",
        "Pacific/Apia",
        "2011-12-29T10:00:00Z",
        "2011-12-31T10:00:00Z",
        &[
            "2011-12-29T18:00:00Z",
            "2011-12-30T06:00:00Z",
            "2011-12-30T10:00:00Z",
            "2011-12-30T18:00:00Z",
            "2011-12-31T06:00:00Z",
        ],
    );
}

#[test]
fn fixed_times_that_exist_twice_are_due_once_each() {
    let day = |pattern, expected: &[&str]| {
        // The 31st of October 2027 in Berlin: 02:00 to 03:00 is there from 00:00 to 02:00 UTC.
        let (from, until) = ("2027-10-30T22:00:00Z", "2027-10-31T23:00:00Z");
        between(pattern, "Europe/Berlin", from, until, expected);
    };
    day(
        "30 2,14 * * *",
        &["2027-10-31T00:30:00Z", "2027-10-31T13:30:00Z"],
    );
    day(
        "15,45 2 * * *",
        &["2027-10-31T00:15:00Z", "2027-10-31T00:45:00Z"],
    );
    day(
        "0 1-4 * * *",
        &[
            "2027-10-30T23:00:00Z",
            "2027-10-31T00:00:00Z",
            "2027-10-31T02:00:00Z",
            "2027-10-31T03:00:00Z",
        ],
    );
    // A pace goes through both hours.
    day(
        "*/30 2 * * *",
        &[
            "2027-10-31T00:00:00Z",
            "2027-10-31T00:30:00Z",
            "2027-10-31T01:00:00Z",
            "2027-10-31T01:30:00Z",
        ],
    );
    // As many as there are.
    let dense = schedule(cron("0-59 0-59 2 * * *", "Europe/Berlin"));
    let (from, until) = (ms("2027-10-31T00:00:00Z"), ms("2027-10-31T02:00:00Z"));
    assert_eq!(dense.between(from, until, 10_000).0.len(), 3_600);
    let last = Some(ms("2027-10-31T00:59:59Z"));
    assert_eq!(dense.last_until(ms("2027-10-31T01:20:00Z")), last);
    assert_eq!(dense.last_until(until - 1), last);
    between(
        "15,45 1 * * *",
        "America/New_York",
        "2027-11-07T04:00:00Z",
        "2027-11-08T05:00:00Z",
        &["2027-11-07T05:15:00Z", "2027-11-07T05:45:00Z"],
    );
    between(
        "15,45 1 * * *",
        "Australia/Lord_Howe",
        "2027-04-03T13:00:00Z",
        "2027-04-04T13:30:00Z",
        &["2027-04-03T14:15:00Z", "2027-04-03T14:45:00Z"],
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
        (json!({"cron": "* * * *"}), "CRON_INVALID"),
        (json!({"cron": "* * * * * * *"}), "CRON_INVALID"),
        (json!({"cron": "@sometimes"}), "CRON_INVALID"),
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
        assert_eq!(
            refused.map(|error| error.code().as_str()),
            Some(code),
            "{config}"
        );
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (config, said) in [
        (
            json!({"cron": "@reboot"}),
            "there is no such word, but @yearly",
        ),
        (json!({"cron": "@every 5m"}), "every: 5m is an interval"),
        (
            json!({"cron": "*/70 * * * *"}),
            "\"*/70\" has a step of 70, and the minute has 60 values",
        ),
        (
            json!({"cron": "0 0 1,5-23/25 * * *"}),
            "a step of 25, and the hour has 24 values",
        ),
        (json!({"everyMs": 10}), "config.everyMs: it must be 100 to"),
        (
            json!({"every": "1ms"}),
            "config.every: it must be a duration",
        ),
        (
            json!({"every": "1m", "everyMs": 60_000}),
            "either every or everyMs",
        ),
        (
            json!({"every": "1m", "graceMs": 1}),
            "config.graceMs: it must be at least 1000",
        ),
        (
            json!({"at": "9999-12-31T23:59:59Z"}),
            "not after 9999-12-30T22:00:00",
        ),
    ] {
        let refused = try_schedule(config.clone()).err().unwrap().to_string();
        assert!(refused.contains(said), "{config}: {refused}");
    }
    for fine in ["*/60 * * * *", "0 */24 * * *", "*/59 0-59/30 * * * *"] {
        assert!(try_schedule(json!({ "cron": fine })).is_ok(), "{fine}");
    }
}

/// A schedule of every minute that was due at 10:00 and is looked at later.
#[track_caller]
fn decide(missed: Value, now: &str, fire: Option<&str>, let_go: u64, next: &str) {
    let mut config = json!({"cron": "* * * * *"});
    for (key, value) in missed.as_object().unwrap() {
        config[key] = value.clone();
    }
    let expected = DueDecision {
        fire_ms: fire.map(ms),
        missed: let_go,
        next_ms: Some(ms(next)),
    };
    let decision = schedule(config).decide(ms("2024-05-01T10:00:00Z"), ms(now));
    assert_eq!(decision, expected);
}

#[test]
fn missed_times_are_treated_by_policy() {
    const NOW: &str = "2024-05-01T10:05:30Z";
    for policy in ["skip", "once", "all"] {
        let on_time = "2024-05-01T10:00:00.020Z";
        let fire = Some("2024-05-01T10:00:00Z");
        decide(
            json!({"missed": policy}),
            on_time,
            fire,
            0,
            "2024-05-01T10:01:00Z",
        );
    }
    let last = Some("2024-05-01T10:05:00Z");
    decide(json!({}), NOW, last, 5, "2024-05-01T10:06:00Z");
    decide(
        json!({"missed": "once"}),
        NOW,
        last,
        5,
        "2024-05-01T10:06:00Z",
    );
    decide(
        json!({"missed": "skip"}),
        NOW,
        last,
        5,
        "2024-05-01T10:06:00Z",
    );
    let strict = json!({"missed": "skip", "graceMs": 10_000});
    decide(strict, NOW, None, 6, "2024-05-01T10:06:00Z");
    // A server that is up is late by some milliseconds at least.
    let none = json!({"missed": "skip", "graceMs": 1_000});
    let just = "2024-05-01T10:05:00.900Z";
    decide(none, just, last, 5, "2024-05-01T10:06:00Z");
    let first = Some("2024-05-01T10:00:00Z");
    decide(
        json!({"missed": "all"}),
        NOW,
        first,
        0,
        "2024-05-01T10:01:00Z",
    );
    let three = json!({"missed": "all", "maxMissed": 3});
    decide(
        three,
        NOW,
        Some("2024-05-01T10:03:00Z"),
        3,
        "2024-05-01T10:04:00Z",
    );
    // The number is bounded, however long no server ran.
    decide(
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
        let decision = schedule.decide(due, now);
        fired.extend(decision.fire_ms);
        due = decision.next_ms.unwrap();
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
    let expected = DueDecision {
        fire_ms: Some(at),
        missed: 0,
        next_ms: None,
    };
    assert_eq!(once.decide(at, at + 86_400_000), expected);
}

proptest! {
    /// Whatever the zone and the season, due times grow, and looking back finds them.
    #[test]
    fn due_times_grow_and_are_found_again(
        pattern in prop::sample::select(vec![
            "* * * * *", "*/7 * * * *", "30 2 * * *", "0 0 * * *", "15 1-3 * * *", "30 2,14 * * *",
            "15,45 0-3 * * *", "0-59 0-59 1-2 * * *",
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
