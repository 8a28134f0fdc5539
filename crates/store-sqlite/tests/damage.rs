//! Damage of every kind to the files of a store: it is detected, or it changes nothing.

#![allow(clippy::unwrap_used)]

use std::{
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use riverrun_store::{
    Awaited, Change, EventQuery, FlowRecord, JobFilter, JobState, Matcher, NewAwait, NewJob,
    NewRun, NewRunTask, NewTrigger, NextDue, RunFilter, Settled, Snapshot, Steer, Wanted,
};
use riverrun_store_conformance::{given::*, queues::given as queues};
use riverrun_store_sqlite::{Inspector, Options, Report, RunRow, SqliteStore, verify};
use riverrun_types::{Draft, EventType, StreamName, time::NEVER};

const FILES: [&str; 3] = ["riverrun.db", "riverrun.db-wal", "mark"];

fn open(folder: &Path) -> riverrun_store::Result<Arc<SqliteStore>> {
    SqliteStore::open(Options::new(folder))
}

fn direct(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("riverrun.db")).unwrap()
}

struct Silent;

impl Inspector for Silent {
    fn progress(&mut self, _stage: &'static str, _done: u64, _total: u64) {}

    fn events(&mut self, _events: Vec<Draft>) {}

    fn run(&mut self, _row: &RunRow) -> Option<String> {
        None
    }
}

fn verified(folder: &Path) -> Report {
    verify(folder, &mut Silent).unwrap()
}

/// Numbers that depend on a seed alone.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

/// Seeds of one run of a test; `RIVERRUN_SEED` repeats one alone.
fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("RIVERRUN_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let first = now.as_nanos() as u64 | 1;
            (0..count)
                .map(|at| first.wrapping_mul(2 * at + 3))
                .collect()
        }
    }
}

fn copy(from: &Path, to: &Path) {
    for file in FILES {
        if from.join(file).exists() {
            std::fs::copy(from.join(file), to.join(file)).unwrap();
        }
    }
}

/// Runs `r0..`, jobs, a flow, a trigger, an await and a snapshot.
fn definition() -> FlowRecord {
    FlowRecord {
        id: "f".into(),
        version: "1".into(),
        definition: json(r#"{"steps":{"a":{"type":"noop"}}}"#),
        created_ms: T0,
    }
}

async fn fill(store: &S) {
    register(store, definition()).await;
    for at in 0..20 {
        let events = (0..5).map(|event| {
            draft(T0, EventType::Emit).data(format!("payload {at} {event}").repeat(9))
        });
        let new = NewRun {
            events: events.collect(),
            tags: names(["t"]),
            metadata: Some(json(&format!(r#"{{"of":{at}}}"#))),
            snapshot: Some(Snapshot {
                len: 5,
                body: json(r#"{"reduced":true}"#),
            }),
            ..run(&format!("r{at}"))
        };
        create(store, new).await;
    }
    let jobs = (0..20).map(|at| NewJob {
        data: json(&format!(r#"{{"job":{at}}}"#)),
        ..queued(&format!("j{at}"))
    });
    queues::add(store, jobs).await;
    let large = NewJob {
        data: json(&format!("\"{}\"", "large ".repeat(900))),
        ..queued("large")
    };
    queues::add(store, [large]).await;
    let first = queues::claim_jobs(store, T0, 1).await.remove(0);
    let result = json(r#"{"paid":100}"#);
    must(queues::settle(store, &first.lease, T0, Settled::Completed { result }).await);
    let trigger = NewTrigger {
        id: "t".into(),
        version: 1,
        kind: "manual".into(),
        enabled: true,
        definition: json(r#"{"flow":"f"}"#),
        route: None,
        due: NextDue::At(None),
        now_ms: T0,
    };
    must(change(store, Change::Trigger(Box::new(trigger))).await);
    let asleep = NewRun {
        task: Some(NewRunTask::Ready { at_ms: NEVER }),
        ..run("waits")
    };
    create(store, asleep).await;
    let waits = NewAwait {
        id: "await".into(),
        run: id("waits"),
        step: "wait".into(),
        visit: 1,
        tenant: None,
        created_ms: T0,
        expires_ms: None,
        what: Awaited::Event {
            kind: "k".into(),
            matcher: Matcher::Equal(vec![(riverrun_types::Path::new("order"), json("1"))]),
            lookback_ms: None,
        },
        given: Vec::new(),
    };
    must(change(store, Change::Await(Box::new(waits))).await);
}

/// Every payload that can be asked for, or the code of what was said instead.
async fn payloads(store: &S) -> Vec<(String, Result<String, &'static str>)> {
    let mut found = Vec::new();
    let query = EventQuery::forward(0, 100);
    for at in 0..20 {
        let run = id(&format!("r{at}"));
        let events = store.events(&StreamName::flow(&run), &query).await;
        let events = events.map(|events| {
            let data = events.iter().map(|event| event.data.as_ref());
            let data: Vec<_> = data.map(|data| data.map(|data| data.as_str())).collect();
            format!("{data:?}")
        });
        found.push((
            format!("events of {run}"),
            events.map_err(|error| error.code().as_str()),
        ));
        let record = store.run(&run).await;
        let record = record.map(|record| match record {
            None => Err("missing"),
            Some(record) if record.error.is_some() => Err("STORE_CORRUPT"),
            Some(record) => Ok(format!("{:?} {:?}", record.metadata, record.tags)),
        });
        let record = record.map_err(|error| error.code().as_str()).flatten();
        found.push((format!("record of {run}"), record));
        let snapshot = store.snapshot(&run, 5).await;
        let snapshot = snapshot.map(|found| match found {
            None => Err("none"),
            Some(snapshot) => Ok(snapshot.body.as_str().to_owned()),
        });
        let snapshot = snapshot.map_err(|error| error.code().as_str()).flatten();
        found.push((format!("snapshot of {run}"), snapshot));
    }
    let jobs = (0..20).map(|at| format!("j{at}")).chain(["large".into()]);
    for name in jobs {
        let job = store.job(&id(&name)).await;
        let job = job.map(|job| match job {
            None => Err("missing"),
            Some(job) if job.error.is_some() => Err("STORE_CORRUPT"),
            Some(job) => Ok(format!("{:?} {:?}", job.data.as_str(), job.result)),
        });
        found.push((name, job.map_err(|error| error.code().as_str()).flatten()));
    }
    let flow = store.flow("f", "1").await;
    let flow = flow.map(|flow| flow.map(|flow| flow.definition.as_str().to_owned()));
    let flow = flow.map_err(|error| error.code().as_str());
    found.push(("flow".into(), flow.and_then(|flow| flow.ok_or("missing"))));
    let trigger = store.trigger("t").await;
    let trigger = trigger.map(|found| match found {
        None => Err("missing"),
        Some(found) if found.damage().is_some() => Err("STORE_CORRUPT"),
        Some(found) => Ok(found.definition.as_str().to_owned()),
    });
    let trigger = trigger.map_err(|error| error.code().as_str()).flatten();
    found.push(("trigger".into(), trigger));
    let waits = store.await_by("await").await;
    let waits = waits.map(|found| found.map(|found| format!("{:?}", found.what)));
    let waits = waits.map_err(|error| error.code().as_str());
    found.push(("await".into(), waits.and_then(|it| it.ok_or("missing"))));
    found
}

/// Flips a bit of a payload in the first row for which a condition holds.
fn flip_payload(folder: &Path, table: &str, column: &str, condition: &str) {
    let conn = direct(folder);
    let key = match table {
        "snapshots" => "run",
        "chunks" => "seq",
        "work_data" => "no",
        _ => "id",
    };
    let sql = format!(
        "SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL AND {condition} LIMIT 1"
    );
    let (of, mut body): (rusqlite::types::Value, Vec<u8>) = conn
        .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let middle = body.len() / 2;
    body[middle] ^= 0x10;
    let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
    conn.execute(&sql, (of, body)).unwrap();
}

#[tokio::test]
async fn damage_is_found_in_its_row_and_harms_nobody_else() {
    let whole = tempfile::tempdir().unwrap();
    let store: S = open(whole.path()).unwrap();
    fill(&store).await;
    let before = payloads(&store).await;
    store.close().await.unwrap();
    let report = verified(whole.path());
    assert!(report.is_well(), "{report:#?}");
    assert_eq!(report.unchecked, 0, "everything has a checksum");
    assert!(report.checked > 80, "{report:?}");
    for (table, column, condition, damaged, code) in [
        ("chunks", "body", "1", "events of r0", "STORE_CORRUPT"),
        (
            "runs",
            "extra",
            "id = 'r3'",
            "record of r3",
            "STORE_CORRUPT",
        ),
        ("snapshots", "body", "1", "snapshot of r0", "none"),
        ("work", "data", "id = 'j7'", "j7", "STORE_CORRUPT"),
        ("work", "result", "1", "j0", "STORE_CORRUPT"),
        ("work_data", "data", "1", "large", "STORE_CORRUPT"),
        ("flows", "definition", "1", "flow", "STORE_CORRUPT"),
        ("triggers", "definition", "1", "trigger", "STORE_CORRUPT"),
        ("awaits", "body", "1", "await", "STORE_CORRUPT"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(whole.path(), folder.path());
        flip_payload(folder.path(), table, column, condition);
        let report = verified(folder.path());
        let found: Vec<_> = report.findings.iter().map(|found| &*found.place).collect();
        assert_eq!(found, [table], "{report:#?}");
        let store: S = open(folder.path()).unwrap();
        for ((what, was), (_, is)) in before.iter().zip(payloads(&store).await) {
            match what == damaged {
                true => assert_eq!(is, Err(code), "{table}.{column}"),
                false => assert_eq!(is, *was, "{what} after damage to {table}.{column}"),
            }
        }
        // Lists show what can be shown.
        let filter = RunFilter {
            limit: 100,
            ..RunFilter::default()
        };
        assert_eq!(ids(&store, filter).await.len(), 21);
        must(store.flows(None).await);
        assert_eq!(must(store.list_triggers(10, None).await).items.len(), 1);
        // Registering a damaged definition again repairs it; a damaged trigger can be removed.
        if damaged == "flow" {
            must(change(&store, Change::Register(definition())).await);
            let repaired = must(store.flow("f", "1").await).unwrap();
            assert_eq!(repaired.definition, definition().definition);
        }
        if damaged == "trigger" {
            let version = must(store.trigger("t").await).unwrap().version;
            let (id, now_ms) = ("t".into(), T0);
            let remove = Change::Untrigger {
                id,
                version,
                now_ms,
            };
            must(change(&store, remove).await);
            assert!(must(store.trigger("t").await).is_none());
        }
        // Whoever owns it can be removed.
        let owner = damaged.rsplit(' ').next().unwrap();
        if owner.starts_with('r') {
            must(decide(&store, finish(owner)).await);
            must(change(&store, Change::Delete(id(owner))).await);
        }
        create(&store, run("after")).await;
        store.close().await.unwrap();
    }
}

/// Rows that are read when a store opens and hold what this program never writes there.
#[tokio::test]
async fn a_store_opens_with_rows_that_hold_anything() {
    let whole = tempfile::tempdir().unwrap();
    let store: S = open(whole.path()).unwrap();
    fill(&store).await;
    must(store.set_marker("starts", Some(json("1"))).await);
    store.close().await.unwrap();
    for damage in [
        "UPDATE names SET text = x'ff00ff' WHERE no = (SELECT max(no) FROM names)",
        "UPDATE queues SET waiting = 'many', turn = x'ff'",
        "UPDATE queues SET paused = 'perhaps'",
        "UPDATE markers SET value = x'ff00'",
        "UPDATE markers SET value = '{'",
        "UPDATE triggers SET definition = '{', last_error = x'00'",
        "UPDATE triggers SET definition = x'00'",
        "UPDATE flows SET definition = '[', created_ms = 'never'",
        "UPDATE flows SET definition = printf('%.1000c', '[')",
        "UPDATE snapshots SET body = 'null'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(whole.path(), folder.path());
        assert!(
            direct(folder.path()).execute(damage, []).unwrap() > 0,
            "{damage}"
        );
        let store: S = open(folder.path()).unwrap();
        must(store.marker("starts").await);
        must(store.flows(None).await);
        must(store.list_triggers(10, None).await);
        must(store.due_triggers(i64::MAX, 10).await);
        create(&store, run("after")).await;
        store.close().await.unwrap();
    }
}

/// A clock that goes back is no damage: the times of a job are in order all the same.
#[tokio::test]
async fn a_job_of_a_clock_that_went_back_is_whole() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    queues::add(&store, ["done", "cancelled", "waits"].map(queued)).await;
    let job = queues::claim_jobs(&store, T0 - 3 * DAY_MS, 1)
        .await
        .remove(0);
    let done = queues::done("1");
    must(queues::settle(&store, &job.lease, T0 - 5 * DAY_MS, done).await);
    let cancel = Steer::Cancel { reason: None };
    must(queues::steer(&store, "cancelled", cancel, T0 - 3 * DAY_MS).await);
    let job = queues::read(&store, "done").await;
    assert_eq!((job.started_ms, job.ended_ms), (Some(T0), Some(T0)));
    let events = all_events(&store, &StreamName::new("job", "done")).await;
    assert!(events.is_sorted_by_key(|event| event.id), "{events:?}");
    store.close().await.unwrap();
    let report = verified(folder.path());
    assert!(report.is_well(), "{report:#?}");
}

/// A stream whose events were all removed goes on behind them, also if the row that says how many
/// they were is damaged.
#[tokio::test]
async fn a_stream_without_events_goes_on_behind_those_that_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let orders = StreamName::new("orders", "o1");
    let store: S = open(folder.path()).unwrap();
    must(change(&store, Change::Append(append(orders.clone(), logs(T0, 3)))).await);
    let last = all_events(&store, &orders).await.pop().unwrap();
    store.close().await.unwrap();
    let conn = direct(folder.path());
    conn.execute("DELETE FROM chunks", []).unwrap();
    conn.execute("UPDATE streams SET len = -1", []).unwrap();
    drop(conn);
    let store: S = open(folder.path()).unwrap();
    must(
        change(
            &store,
            Change::Append(append(orders.clone(), logs(T0 + 10, 1))),
        )
        .await,
    );
    store.close().await.unwrap();
    let store: S = open(folder.path()).unwrap();
    let behind = EventQuery::forward(last.id.seq + 1, 10);
    let next = must(store.events(&orders, &behind).await);
    assert_eq!(next.len(), 1, "a reader behind the last event gets it");
    assert!(next[0].id > last.id);
}

/// A page of triggers does not end where one of them is damaged.
#[tokio::test]
async fn a_damaged_trigger_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    fill(&store).await;
    store.close().await.unwrap();
    let copies =
        "INSERT INTO triggers (id, version, kind, enabled, definition, created_ms, updated_ms)
         SELECT 'x' || value, version, kind, enabled, definition, created_ms, updated_ms
         FROM triggers, json_each('[1,2,3,4,5,6,7]')";
    direct(folder.path()).execute(copies, []).unwrap();
    let damage = "UPDATE triggers SET created_ms = 'never' WHERE id IN ('x2', 'x5')";
    direct(folder.path()).execute(damage, []).unwrap();
    let store: S = open(folder.path()).unwrap();
    let (mut ids, mut cursor) = (Vec::new(), None);
    loop {
        let page = must(store.list_triggers(3, cursor.as_deref()).await);
        ids.extend(page.items.iter().map(|found| found.id.to_string()));
        match page.next {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(ids, ["t", "x1", "x2", "x3", "x4", "x5", "x6", "x7"]);
}

/// A job that cannot be read has failed; those behind it are claimed.
#[tokio::test]
async fn a_damaged_job_is_set_aside_when_it_is_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let jobs = ["first", "second", "third"].map(queued);
    queues::add(&store, jobs).await;
    store.close().await.unwrap();
    flip_payload(folder.path(), "work", "data", "id = 'second'");
    let store: S = open(folder.path()).unwrap();
    let claimed = queues::claim_jobs(&store, T0, 10).await;
    assert_eq!(queues::ids_of(&claimed), ["first", "third"]);
    let job = must(store.job(&id("second")).await).unwrap();
    assert_eq!(job.state, JobState::Failed);
    assert_eq!(job.error.unwrap().value()["code"], "STORE_CORRUPT");
    let queue = must(store.queue("mail").await).unwrap();
    assert_eq!((queue.waiting, queue.active, queue.failed), (0, 2, 1));
    let filter = JobFilter {
        queue: "mail".into(),
        states: Vec::new(),
        wanted: Wanted::default(),
        limit: 10,
        cursor: None,
    };
    assert_eq!(must(store.list_jobs(&filter).await).items.len(), 3);
    assert!(queues::claim_jobs(&store, T0, 10).await.is_empty());
}

#[tokio::test]
async fn a_bit_of_the_database_that_flips_changes_no_payload() {
    let whole = tempfile::tempdir().unwrap();
    let store: S = open(whole.path()).unwrap();
    fill(&store).await;
    let before = payloads(&store).await;
    store.close().await.unwrap();
    let bytes = std::fs::read(whole.path().join("riverrun.db")).unwrap();
    let mut detected = 0;
    for seed in seeds(60) {
        let mut dice = Dice(seed);
        let folder = tempfile::tempdir().unwrap();
        copy(whole.path(), folder.path());
        let mut damaged = bytes.clone();
        let bit = dice.below(bytes.len() as u64 * 8) as usize;
        damaged[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(folder.path().join("riverrun.db"), &damaged).unwrap();
        let place = format!("RIVERRUN_SEED={seed}, bit {bit}");
        let store: S = match open(folder.path()) {
            Ok(store) => store,
            Err(error) => {
                let codes = ["STORE_CORRUPT", "STORE_DAMAGED", "NEWER_SCHEMA"];
                assert!(codes.contains(&error.code().as_str()), "{place}: {error}");
                detected += 1;
                continue;
            }
        };
        let mut is_detected = false;
        for ((what, was), (_, is)) in before.iter().zip(payloads(&store).await) {
            is_detected |= is.is_err();
            assert!(
                is.is_err() || is == *was,
                "{place}: {what}: {is:?} was {was:?}"
            );
        }
        detected += usize::from(is_detected);
        drop(store);
    }
    assert!(detected > 0 || std::env::var("RIVERRUN_SEED").is_ok());
}

/// A folder as a killed process leaves it: all that was acknowledged is in the log.
async fn killed() -> (tempfile::TempDir, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let mut acknowledged = Vec::new();
    for at in 0..60 {
        let name = format!("r{at}");
        create(&store, finished(&name)).await;
        acknowledged.push(name);
    }
    let left = tempfile::tempdir().unwrap();
    copy(folder.path(), left.path());
    drop(store);
    (left, acknowledged)
}

/// Opens a damaged folder: it is refused, or everything is there.
async fn refused_or_whole(folder: &Path, acknowledged: &[String], place: &str) -> bool {
    let store: S = match open(folder) {
        Ok(store) => store,
        Err(error) => {
            let codes = ["STORE_DAMAGED", "STORE_CORRUPT"];
            assert!(codes.contains(&error.code().as_str()), "{place}: {error}");
            return true;
        }
    };
    for name in acknowledged {
        let found = must(store.run(&id(name)).await);
        assert!(
            found.is_some(),
            "{place}: {name} is lost, and it was not detected"
        );
        assert_eq!(stream_of(&store, name).await.len(), 2, "{place}");
    }
    false
}

#[tokio::test]
async fn a_bit_of_the_log_that_flips_is_detected() {
    let (left, acknowledged) = killed().await;
    assert!(!refused_or_whole_copy(&left, &acknowledged, "whole", |_| {}).await);
    let bytes = std::fs::read(left.path().join("riverrun.db-wal")).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    let mut detected = 0;
    for seed in seeds(40) {
        let bit = Dice(seed).below(used * 8) as usize;
        let place = format!("RIVERRUN_SEED={seed}, bit {bit} of {}", used * 8);
        let flip = |folder: &Path| {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(folder.join("riverrun.db-wal"), damaged).unwrap();
        };
        detected += usize::from(refused_or_whole_copy(&left, &acknowledged, &place, flip).await);
    }
    assert!(detected > 0 || std::env::var("RIVERRUN_SEED").is_ok());
}

async fn refused_or_whole_copy(
    left: &tempfile::TempDir,
    acknowledged: &[String],
    place: &str,
    damage: impl FnOnce(&Path),
) -> bool {
    let folder = tempfile::tempdir().unwrap();
    copy(left.path(), folder.path());
    damage(folder.path());
    refused_or_whole(folder.path(), acknowledged, place).await
}

#[tokio::test]
async fn files_that_are_cut_emptied_or_missing_are_detected() {
    let (left, acknowledged) = killed().await;
    let len = |name: &str| std::fs::metadata(left.path().join(name)).unwrap().len();
    for name in ["riverrun.db", "riverrun.db-wal"] {
        let used = match name {
            "riverrun.db" => len(name),
            _ => std::fs::read(left.path().join(name))
                .unwrap()
                .iter()
                .rposition(|byte| *byte != 0)
                .unwrap() as u64,
        };
        let cut = |to: u64| {
            move |folder: &Path| {
                let file = std::fs::File::options().write(true).open(folder.join(name));
                file.unwrap().set_len(to).unwrap();
            }
        };
        let mut dice = Dice(seeds(1)[0]);
        let middle = 1 + dice.below(used - 1);
        for to in [0, 1, middle, used / 2, used - 1] {
            let place = format!("{name} cut to {to} of {used}");
            assert!(
                refused_or_whole_copy(&left, &acknowledged, &place, cut(to)).await,
                "{place}"
            );
        }
        let remove = |folder: &Path| std::fs::remove_file(folder.join(name)).unwrap();
        let place = format!("{name} missing");
        assert!(
            refused_or_whole_copy(&left, &acknowledged, &place, remove).await,
            "{place}"
        );
    }
    // Without its mark a folder is one of an older version, and what can be known is known.
    let unmarked = |folder: &Path| std::fs::remove_file(folder.join("mark")).unwrap();
    assert!(!refused_or_whole_copy(&left, &acknowledged, "no mark", unmarked).await);
    let orphaned = |folder: &Path| {
        std::fs::remove_file(folder.join("mark")).unwrap();
        std::fs::remove_file(folder.join("riverrun.db")).unwrap();
    };
    assert!(refused_or_whole_copy(&left, &acknowledged, "a log alone", orphaned).await);
}

#[tokio::test]
async fn a_closed_folder_knows_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    create(&store, finished("r0")).await;
    store.close().await.unwrap();
    let old = std::fs::read(folder.path().join("riverrun.db")).unwrap();
    let store: S = open(folder.path()).unwrap();
    create(&store, finished("r1")).await;
    store.close().await.unwrap();
    let new = std::fs::read(folder.path().join("riverrun.db")).unwrap();
    let try_with = |bytes: Option<&[u8]>| {
        let copied = tempfile::tempdir().unwrap();
        copy(folder.path(), copied.path());
        let file = copied.path().join("riverrun.db");
        match bytes {
            Some(bytes) => std::fs::write(file, bytes).unwrap(),
            None => std::fs::remove_file(file).unwrap(),
        }
        open(copied.path())
            .map(drop)
            .map_err(|error| error.code().as_str())
    };
    assert_eq!(try_with(Some(&new)), Ok(()));
    assert_eq!(try_with(Some(&old)), Err("STORE_DAMAGED"), "an older copy");
    assert_eq!(try_with(Some(&[])), Err("STORE_DAMAGED"));
    assert_eq!(try_with(None), Err("STORE_DAMAGED"));
    assert!(try_with(Some(&new[..new.len() / 2])).is_err());
}

/// Whoever looks into the database with other tools, or changes it on purpose, is not in the way.
#[tokio::test]
async fn other_programs_may_open_the_database() {
    let (left, acknowledged) = killed().await;
    // The last one to close it brings the log into the file, and removes the log.
    let count: i64 = direct(left.path())
        .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, acknowledged.len() as i64);
    assert!(!left.path().join("riverrun.db-wal").exists());
    assert!(!refused_or_whole(left.path(), &acknowledged, "looked at").await);
    direct(left.path())
        .execute_batch("DELETE FROM runs WHERE id = 'r0'; VACUUM;")
        .unwrap();
    assert!(!refused_or_whole(left.path(), &acknowledged[1..], "changed").await);
}

#[tokio::test]
async fn a_loss_can_be_accepted() {
    let (left, acknowledged) = killed().await;
    let log = left.path().join("riverrun.db-wal");
    let mut bytes = std::fs::read(&log).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    bytes[used / 2] ^= 1;
    std::fs::write(&log, &bytes).unwrap();
    let error = open(left.path()).err().unwrap();
    assert_eq!(error.code(), "STORE_DAMAGED");
    for said in ["riverrun.db-wal", "acknowledged", "verify", "--accept-loss"] {
        assert!(error.to_string().contains(said), "{error}");
    }
    let report = verified(left.path());
    assert_eq!(report.findings[0].place, "acknowledged", "{report:#?}");
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was changed");
    let options = Options {
        accept_loss: true,
        ..Options::new(left.path())
    };
    let store: S = SqliteStore::open(options).unwrap();
    let kept = left.path().join("before-loss-1/riverrun.db-wal");
    assert_eq!(std::fs::read(kept).unwrap(), bytes);
    let found = ids(
        &store,
        RunFilter {
            limit: 100,
            ..RunFilter::default()
        },
    )
    .await;
    assert!(!found.is_empty() && found.len() < acknowledged.len());
    create(&store, run("after")).await;
    store.close().await.unwrap();
    let store: S = open(left.path()).unwrap();
    assert!(must(store.run(&id("after")).await).is_some());
    store.close().await.unwrap();
    assert!(verified(left.path()).is_well());
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_look_into_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("data");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let check = || {
        assert_eq!(mode(&folder), 0o700);
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    };
    let store: S = open(&folder).unwrap();
    create(&store, run("r1")).await;
    check();
    drop(store);
    // A folder that was made by an older version.
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&folder, 0o755);
    set(&folder.join("riverrun.db"), 0o644);
    set(&folder.join("lock"), 0o644);
    let store: S = open(&folder).unwrap();
    create(&store, run("r2")).await;
    check();
}
