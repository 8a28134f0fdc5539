//! Schedules that start runs, across stops and instances.

use std::collections::HashSet;

use riverrun_runtime::{Clock, SimulatedClock};
use riverrun_store::{Change, Commit, NewTrigger, NextDue, Retention};
use riverrun_store_sqlite::SqliteStore;
use riverrun_triggers::{Backfill, Backfilled, Made, Triggers};
use riverrun_types::{Json, Millis, StreamName, time};
use serde_json::{Value, json};

use crate::given::*;

fn schedule(config: Value) -> Value {
    json!({"id": "s", "type": "schedule", "flow": "order", "config": config})
}

impl Given {
    /// Makes the schedule due at a past time, as if no server had run since.
    async fn due_at(&self, due_ms: Millis) {
        let record = self
            .runtime
            .base()
            .store()
            .trigger("s")
            .await
            .unwrap()
            .unwrap();
        let changed = NewTrigger {
            id: record.id,
            version: record.version + 1,
            kind: record.kind,
            enabled: true,
            definition: record.definition,
            route: None,
            due: NextDue::At(Some(due_ms)),
            now_ms: Clock::default().now_ms(),
        };
        let commit = Commit::of(Change::Trigger(Box::new(changed)));
        self.runtime.base().commit(commit).await.unwrap();
    }

    async fn due_times(&self) -> Vec<Millis> {
        let runs = self.runs().await;
        let due = runs.iter().map(|run| {
            let origin = origin(run);
            time::parse(origin["dueAt"].as_str().unwrap()).unwrap()
        });
        due.collect()
    }
}

#[tokio::test]
async fn an_interval_fires_again_and_again() {
    let given = Given::new().await;
    let mut every = schedule(json!({"everyMs": 100}));
    every["inputMap"] = json!("({due: tick.dueMs, by: trigger.type})");
    let shown = given.put(every).await;
    let created = time::parse(shown["createdAt"].as_str().unwrap()).unwrap();
    let fired = given.until("s", "trigger.fired", 3).await;
    given.triggers.enable("s", false).await.unwrap();
    assert_eq!(fired[0]["source"], "interval");
    let due = given.due_times().await;
    let distinct: HashSet<&Millis> = due.iter().collect();
    assert_eq!(distinct.len(), due.len());
    assert!(due.iter().all(|due| (due - created) % 100 == 0), "{due:?}");
    let runs = given.runs().await;
    let view = given.runtime.runs().run(&runs[0].id).await.unwrap();
    assert_eq!(
        view.state().input.value(),
        json!({"due": due[0], "by": "schedule"})
    );
    let key = format!("trigger:s:{}", time::iso(due[0]));
    assert_eq!(runs[0].idempotency_key.as_deref(), Some(key.as_str()));
    assert_eq!(given.shown("s").await.get("nextDueAt"), None);
}

/// Intervals are counted from one moment, before a restart and after it, however often the clock is
/// looked at while the schedule is made.
#[tokio::test]
async fn a_new_interval_fires_once_at_each_of_its_times_across_a_restart() {
    const HOUR: Millis = 3_600_000;
    let clock = SimulatedClock::starting_at_ms(1_767_225_600_000).ticking_ms(1);
    let folder = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(riverrun_store_sqlite::Options::new(folder.path())).unwrap();
    let given = Given::by(open(), (&clock).into()).await;
    given.put(schedule(json!({"everyMs": HOUR}))).await;
    let record = given
        .runtime
        .base()
        .store()
        .trigger("s")
        .await
        .unwrap()
        .unwrap();
    let times = [record.created_ms + HOUR, record.created_ms + 2 * HOUR];
    assert_eq!(record.due_ms, Some(times[0]));
    given.runtime.shutdown().await.unwrap();
    let given = Given::by(open(), (&clock).into()).await;
    clock.advance_to_ms(times[1] + HOUR / 2).await.unwrap();
    assert_eq!(given.due_times().await, times);
}

#[tokio::test]
async fn a_one_off_fires_once() {
    let given = Given::new().await;
    let at = Clock::default().now_ms() + 1_000;
    let mut once = schedule(json!({"at": at}));
    once["input"] = json!({"n": 1});
    let shown = given.put(once).await;
    assert_eq!(shown["nextDueAt"], time::iso(at));
    given.until("s", "trigger.fired", 1).await;
    let shown = given.shown("s").await;
    assert_eq!(shown.get("nextDueAt"), None);
    assert_eq!(given.due_times().await, [at]);
    let view = given
        .runtime
        .runs()
        .run(&given.runs().await[0].id)
        .await
        .unwrap();
    assert_eq!(view.state().input.value(), json!({"n": 1}));
}

#[tokio::test]
async fn a_one_off_in_the_past_was_missed() {
    let at = Clock::default().now_ms() - 3_600_000;
    // By default it is made up for, once, whatever is changed about it later.
    let given = Given::new().await;
    let mut once = schedule(json!({"at": at}));
    given.put(once.clone()).await;
    given.until("s", "trigger.fired", 1).await;
    assert_eq!(given.due_times().await, [at]);
    once["input"] = json!({"n": 2});
    given.put(once).await;
    assert_eq!(given.shown("s").await.get("nextDueAt"), None);
    // Or it is recorded as missed.
    let given = Given::new().await;
    given
        .put(schedule(json!({"at": at, "missed": "skip"})))
        .await;
    given.until("s", "trigger.timeout", 1).await;
    assert!(given.due_times().await.is_empty());
    assert_eq!(given.shown("s").await["stats"]["missed"], 1);
}

/// The runs of an hourly schedule after five and a half hours without a server.
async fn missed(config: Value) -> (Vec<Millis>, Value) {
    const HOUR: Millis = 3_600_000;
    let given = Given::new().await;
    let last = Clock::default().now_ms() - HOUR / 2;
    let mut whole = json!({"everyMs": HOUR, "startAt": last - 100 * HOUR});
    for (key, value) in config.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let mut definition = schedule(whole);
    definition["enabled"] = json!(true);
    given.put(definition).await;
    let stream = StreamName::new("trigger", "s");
    let mut news = given.runtime.base().hub().subscribe(&stream);
    given.due_at(last - 5 * HOUR).await;
    // It has caught up when it is due in the future; each one is recorded.
    let mut after = given.shown("s").await;
    while time::parse(after["nextDueAt"].as_str().unwrap()).unwrap() <= Clock::default().now_ms() {
        tokio::time::timeout(LONG, news.next()).await.unwrap();
        after = given.shown("s").await;
    }
    let mut hours: Vec<Millis> = given
        .due_times()
        .await
        .iter()
        .map(|due| (due - last) / HOUR)
        .collect();
    hours.sort_unstable();
    (hours, after["stats"].clone())
}

#[tokio::test]
async fn missed_times_are_made_up_for_as_the_policy_says() {
    let (hours, stats) = missed(json!({"missed": "once"})).await;
    assert_eq!((hours, &stats["missed"]), (vec![0], &json!(5)));
    let (hours, stats) = missed(json!({"missed": "skip", "graceMs": 1_000})).await;
    assert_eq!((hours, &stats["missed"]), (vec![], &json!(6)));
    let (hours, stats) = missed(json!({"missed": "all"})).await;
    assert_eq!(
        (hours, &stats["missed"]),
        (vec![-5, -4, -3, -2, -1, 0], &json!(0))
    );
    let (hours, stats) = missed(json!({"missed": "all", "maxMissed": 2})).await;
    assert_eq!((hours, &stats["missed"]), (vec![-1, 0], &json!(4)));
}

#[tokio::test]
async fn what_was_due_while_nobody_was_there_fires_once_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let given = Given::in_folder(folder.path()).await;
    let at = Clock::default().now_ms() + 1_500;
    given.put(schedule(json!({"at": at}))).await;
    given.runtime.shutdown().await.unwrap();
    assert!(
        Clock::default().now_ms() < at,
        "the server stopped too late for the test"
    );
    Clock::default().sleep_until(at + 1).await;
    for _ in 0..2 {
        let given = Given::in_folder(folder.path()).await;
        given.until("s", "trigger.fired", 1).await;
        assert_eq!(given.due_times().await, [at]);
        assert_eq!(given.shown("s").await["stats"]["fired"], 1);
        given.runtime.shutdown().await.unwrap();
    }
}

#[tokio::test]
async fn several_clocks_on_one_store_fire_once() {
    let store = SqliteStore::memory().unwrap();
    let given = Given::on(store).await;
    for _ in 0..3 {
        Triggers::open(&given.runtime).await.unwrap();
    }
    given.put(schedule(json!({"everyMs": 100}))).await;
    given.until("s", "trigger.fired", 5).await;
    given.triggers.enable("s", false).await.unwrap();
    let due = given.due_times().await;
    let distinct: HashSet<&Millis> = due.iter().collect();
    assert_eq!(distinct.len(), due.len());
    let fired = given.kinds("s").await;
    let fired = fired.iter().filter(|kind| *kind == "trigger.fired").count();
    assert_eq!(fired, due.len());
}

#[tokio::test]
async fn a_schedule_that_cannot_start_its_flow_goes_on() {
    let given = Given::new().await;
    let mut strict = schedule(json!({"everyMs": 100}));
    strict["flow"] = json!("strict");
    given.put(strict).await;
    let failed = given.until("s", "trigger.failed", 2).await;
    assert_eq!(failed[0]["error"]["code"], "INPUT_INVALID");
    assert_ne!(failed[0]["dueAt"], failed[1]["dueAt"]);
    assert!(given.runs().await.is_empty());
}

#[tokio::test]
async fn only_a_change_of_the_schedule_moves_the_due_time() {
    let given = Given::new().await;
    let before = given.put(schedule(json!({"every": "1h"}))).await["nextDueAt"].clone();
    let mut other = schedule(json!({"every": "1h"}));
    other["description"] = json!("x");
    assert_eq!(given.put(other).await["nextDueAt"], before);
    assert_ne!(
        given.put(schedule(json!({"every": "2h"}))).await["nextDueAt"],
        before
    );
    let off = given.triggers.enable("s", false).await.unwrap();
    assert_eq!(Json::of(&off.trigger).value().get("nextDueAt"), None);
    let on = given.triggers.enable("s", true).await.unwrap();
    assert_eq!(
        Json::of(&on.trigger).value()["upcoming"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
}

#[tokio::test]
async fn a_range_is_made_up_for_and_never_twice() {
    let given = Given::new().await;
    given
        .put(schedule(
            json!({"cron": "0 0 * * *", "timezone": "Europe/Berlin"}),
        ))
        .await;
    let ms = |text: &str| time::parse(text).unwrap();
    let wanted = Backfill {
        from_ms: ms("2024-10-25T00:00:00+02:00"),
        until_ms: ms("2024-10-29T00:00:00+01:00"),
        limit: 3,
        forgotten: true,
    };
    let (done, next) = given.triggers.backfill("s", wanted).await.unwrap();
    let days: Vec<String> = done.iter().map(|done| time::iso(done.due_ms)).collect();
    assert_eq!(
        days,
        [
            "2024-10-24T22:00:00.000Z",
            "2024-10-25T22:00:00.000Z",
            "2024-10-26T22:00:00.000Z"
        ]
    );
    let is_new = |done: &Backfilled| matches!(done.made, Made::Started(_));
    assert!(done.iter().all(is_new));
    assert_eq!(next, Some(ms("2024-10-28T00:00:00+01:00")));
    let all = Backfill {
        limit: 100,
        ..wanted
    };
    let (done, next) = given.triggers.backfill("s", all).await.unwrap();
    let created: Vec<bool> = done.iter().map(is_new).collect();
    assert_eq!((created, next), (vec![false, false, false, true], None));
    // What was there is no use of the trigger.
    let stats = given.shown("s").await["stats"].clone();
    assert_eq!(stats["fired"], 4);
    let Made::Started(last) = &done[3].made else {
        panic!("{done:?}");
    };
    assert_eq!(stats["lastRunId"], last.as_str());
    let fired = given.kinds("s").await;
    let fired = fired.iter().filter(|kind| *kind == "trigger.fired");
    assert_eq!(fired.count(), 4);
    assert_eq!(given.runs().await.len(), 4);
    let future = Backfill {
        until_ms: Clock::default().now_ms() + 1_000_000,
        ..wanted
    };
    assert_eq!(
        code(given.triggers.backfill("s", future).await),
        "UNPROCESSABLE"
    );
    given
        .put(json!({"id": "m", "type": "manual", "flow": "order"}))
        .await;
    assert_eq!(
        code(given.triggers.backfill("m", wanted).await),
        "TRIGGER_NO_SCHEDULE"
    );
}

#[tokio::test]
async fn what_may_have_run_and_be_forgotten_is_not_made_up_for() {
    let given = Given::new().await;
    given.put(schedule(json!({"cron": "0 * * * *"}))).await;
    let (day, now) = (Retention::DAY_MS, Clock::default().now_ms());
    let range = |from_ms, until_ms| Backfill {
        from_ms,
        until_ms,
        limit: 100,
        forgotten: false,
    };
    // Completed runs are kept for seven days, and those are the first to go.
    let old = range(now - 8 * day, now - 6 * day);
    let refused = given.triggers.backfill("s", old).await.unwrap_err();
    assert_eq!(refused.code(), "DUE_TIME_FORGOTTEN");
    let said = refused.to_string();
    assert!(
        said.contains("completed runs are kept for 7d (retention.completed)"),
        "{said}"
    );
    assert!(given.runs().await.is_empty());
    let recent = range(now - 7 * day + LONG.as_millis() as Millis, now - 6 * day);
    let (done, _) = given.triggers.backfill("s", recent).await.unwrap();
    assert_eq!(done.len(), given.runs().await.len());
    let wanted = Backfill {
        forgotten: true,
        ..range(now - 8 * day, now - 7 * day)
    };
    let (done, _) = given.triggers.backfill("s", wanted).await.unwrap();
    assert_eq!(done.len(), 24);
}

#[tokio::test]
async fn a_due_time_that_cannot_be_made_up_for_holds_up_no_other() {
    let given = Given::new().await;
    let mut daily = schedule(json!({"cron": "0 0 * * *"}));
    daily["inputMap"] = json!("tick.dueAt.startsWith('2024-01-02') ? null.x : {}");
    given.put(daily.clone()).await;
    let ms = |text: &str| time::parse(text).unwrap();
    let wanted = Backfill {
        from_ms: ms("2024-01-01T00:00:00Z"),
        until_ms: ms("2024-01-04T00:00:00Z"),
        limit: 100,
        forgotten: true,
    };
    let made = async || {
        let (done, next) = given.triggers.backfill("s", wanted).await.unwrap();
        assert_eq!(next, None);
        let outcomes = done.into_iter().map(|done| match done.made {
            Made::Started(_) => "started",
            Made::WasThere(_) => "was there",
            Made::Failed { code, .. } => code.as_str(),
        });
        outcomes.collect::<Vec<_>>()
    };
    assert_eq!(made().await, ["started", "TRIGGER_EXPRESSION", "started"]);
    assert_eq!(
        made().await,
        ["was there", "TRIGGER_EXPRESSION", "was there"]
    );
    // The request got the error: it counts as nothing, however often.
    let stats = given.shown("s").await["stats"].clone();
    assert_eq!((&stats["fired"], &stats["failed"]), (&json!(2), &json!(0)));
    daily["inputMap"] = json!("({})");
    given.put(daily).await;
    assert_eq!(made().await, ["was there", "started", "was there"]);
    given.triggers.enable("s", false).await.unwrap();
    let refused = given.triggers.backfill("s", wanted).await;
    assert_eq!(code(refused), "TRIGGER_DISABLED");
}
