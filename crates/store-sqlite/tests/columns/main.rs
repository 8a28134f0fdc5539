//! A bit that flips in a column of a stored row: `verify` notices it, or the column is among those
//! that the guide lists.

#![allow(clippy::unwrap_used)]

mod cells;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use riverrun_store::{
    Change, Fired, Firing, FlowRecord, Lasts, NewJob, NewRun, NewRunTask, NewTrigger, NextDue,
    Parent, Settled, Snapshot, Steer, Take,
};
use riverrun_store_conformance::{awaits::given as awaits, given::*, queues::given as queues};
use riverrun_store_sqlite::{Inspector, Options, RunRow, SqliteStore, verify};
use riverrun_types::{Draft, EventType, RunId, RunStatus, StreamName};

/// Bits of each column that are flipped, over all its rows.
const BITS: usize = 40;

/// Columns of which some bits are not noticed. `docs/guides/backup.md` says what that means.
const UNSEEN: &[&str] = &[
    // Nothing depends on them but what people are shown.
    "flows.created_ms",
    "queues.created_ms",
    "triggers.created_ms",
    "triggers.updated_ms",
    "triggers.fired",
    "triggers.failed",
    "triggers.missed",
    "triggers.last_fired_ms",
    "triggers.last_failed_ms",
    "triggers.last_run",
    "awaits.created_ms",
    "awaits.fired_ms",
    "unheard.count",
    "once.ids",
    // It does not fit another run, and is ignored there.
    "snapshots.run",
    "runs.created_ms",
    // A chunk that is marked and has no marks is looked at in vain when it is removed.
    "chunks.marks",
    // The server that starts writes them anew, or they count within its life only.
    "runs.turn",
    "jobs.token",
    "jobs.owner",
    "jobs.until_ms",
    "jobs.woken",
    "jobs.at_ms",
    "leases.owner",
    "meta.value",
    "queues.turn",
    "queues.own_turn",
    "queues.rate_from_ms",
    "queues.rate_count",
    "lanes.turn",
    "shapes.used_ms",
    "shapes.logged_ms",
    // They are stored once, and nothing else follows from them.
    "work.rank",
    "work.at_ms",
    "work.attempt",
    "work.cancel",
    "work.taken",
    "work.created_ms",
    "work.started_ms",
    "work.name",
    "work.key",
    "work.lane",
    "work.told",
    "work.losses",
    "work.losses_in_row",
    "queues.paused",
    "uniques.until_ms",
    "awaits.step",
    "awaits.visit",
    "awaits.born",
    "awaits.expires_ms",
    "emits.kind",
    "emits.tenant",
    "emits.stream_kind",
    "emits.stream_id",
    "listened.kind",
    "markers.name",
    "markers.value",
    "once.key",
    "triggers.version",
    "triggers.kind",
    "triggers.enabled",
];

fn open(folder: &Path) -> S {
    SqliteStore::open(Options::new(folder)).unwrap()
}

/// Stands for what reduces the streams: it knows what they lead to.
#[derive(Default)]
struct Expecting {
    rows: HashMap<RunId, RunRow>,
    is_learning: bool,
}

impl Inspector for Expecting {
    fn progress(&mut self, _stage: &'static str, _done: u64, _total: u64) {}

    fn events(&mut self, _events: Vec<Draft>) {}

    fn run(&mut self, row: &RunRow) -> Option<String> {
        if self.is_learning {
            self.rows.insert(row.id.clone(), row.clone());
            return None;
        }
        (self.rows.get(&row.id) != Some(row)).then(|| "its events lead elsewhere".to_owned())
    }
}

async fn fill(store: &S) {
    runs(store).await;
    jobs(store).await;
    waiting(store).await;
    let trigger = |id: &str, due| NewTrigger {
        id: id.into(),
        version: 1,
        kind: "schedule".into(),
        enabled: true,
        definition: json(r#"{"flow":"f"}"#),
        route: None,
        due: NextDue::At(due),
        now_ms: T0,
    };
    for (id, due) in [("t1", Some(T0 + 1_000)), ("t2", None)] {
        must(change(store, Change::Trigger(Box::new(trigger(id, due)))).await);
    }
    let firing = Firing {
        trigger: "t1".into(),
        now_ms: T0 + 1_001,
        outcome: Fired::Run(id("ended")),
        due: Some(Take {
            version: 1,
            from_ms: T0 + 1_000,
            to_ms: Some(T0 + 2_000),
            missed: 2,
        }),
    };
    must(change(store, Change::Fired(Box::new(firing))).await);
    must(store.set_marker("starts", Some(json("1"))).await);
    let correlated = Draft {
        correlation_id: Some("story".into()),
        ..draft(T0, EventType::parse("order.paid")).data(1)
    };
    let own = append(StreamName::new("orders", "o1"), [correlated].into());
    must(change(store, Change::Append(own)).await);
}

async fn runs(store: &S) {
    let flow = FlowRecord {
        id: "f".into(),
        version: "1".into(),
        definition: json(r#"{"steps":{"a":{"type":"noop"}}}"#),
        created_ms: T0,
    };
    register(store, flow).await;
    for version in ["1", "2", "3"] {
        let new = NewRun {
            version: version.into(),
            tags: names(["paid", "late"]),
            metadata: Some(json(r#"{"of":1}"#)),
            tenant: Some("acme".into()),
            idempotency_key: Some(format!("once{version}").into()),
            correlation: Some("story".into()),
            parent: Some(Parent {
                run: id("parent"),
                step: "child".into(),
                visit: 1,
            }),
            snapshot: Some(Snapshot {
                len: 1,
                body: json(r#"{"len":1}"#),
            }),
            ..run(&format!("whole{version}"))
        };
        create(store, new).await;
    }
    create(store, finished("ended")).await;
    let waits = NewRun {
        projection: riverrun_store::Projection {
            wake_ms: Some(T0 + 60_000),
            ..projection(RunStatus::Waiting)
        },
        task: Some(NewRunTask::Ready { at_ms: T0 + 60_000 }),
        ..run("waits")
    };
    create(store, waits).await;
    claim(store, T0, 1).await;
}

async fn jobs(store: &S) {
    let large = NewJob {
        data: json(&format!("\"{}\"", "large ".repeat(300))),
        ..queued("large")
    };
    let ended = ["done", "failed", "again", "parked", "released"];
    queues::add(store, ended.map(queued)).await;
    let outcomes = [
        queues::done(r#"{"paid":100}"#),
        Settled::Failed {
            error: queues::wrong(),
        },
        Settled::Retry {
            at_ms: T0 + 5_000,
            error: queues::wrong(),
        },
        Settled::Parked {
            error: queues::wrong(),
        },
        Settled::Released,
    ];
    for (job, outcome) in queues::claim_jobs(store, T0, 5).await.iter().zip(outcomes) {
        must(queues::settle(store, &job.lease, T0, outcome).await);
    }
    let more = [
        queues::unique("unique", Lasts::UntilEnd, false),
        queues::keyed("keyed1", "a"),
        queues::keyed("keyed2", "a"),
        large,
    ];
    queues::add(store, more).await;
    queues::add(store, [queued("cancelled")]).await;
    must(queues::steer(store, "cancelled", Steer::Cancel { reason: None }, T0).await);
    queues::claim_jobs(store, T0, 2).await;
    queues::add(store, [queues::keyed("keyed3", "b"), queued("plain")]).await;
    let own = append(StreamName::new("job", "plain"), logs(T0, 2));
    must(change(store, Change::Append(own)).await);
}

async fn waiting(store: &S) {
    awaits::sleepers(store, &["s1", "s2", "s3"]).await;
    let order = awaits::equals("order", &[("id", "1")]);
    awaits::wait(store, awaits::awaits("await1", "s1", order)).await;
    let filtered = awaits::filters("order", &[("id", "2")]);
    awaits::wait(store, awaits::awaits("await2", "s2", filtered)).await;
    awaits::wait(store, awaits::awaits("door", "s3", awaits::callback(true))).await;
    must(awaits::fire(store, "door", r#"{"approved":true}"#).await);
    awaits::say(store, awaits::signal("order", r#"{"id":1}"#)).await;
    awaits::say(store, awaits::signal("order", r#"{"id":2}"#)).await;
    awaits::say(store, awaits::signal("nobody", r#"{"id":2}"#)).await;
    let listen = Change::Listen {
        kind: "heard".into(),
        on: true,
    };
    must(change(store, listen).await);
}

/// Whether a check of the folder notices something.
fn is_detected(folder: &Path, expecting: &mut Expecting) -> bool {
    verify(folder, expecting).map_or(true, |report| !report.is_well())
}

#[tokio::test]
async fn a_flipped_bit_of_a_column_is_detected_or_documented() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    fill(&store).await;
    store.close().await.unwrap();
    let mut expecting = Expecting {
        is_learning: true,
        ..Expecting::default()
    };
    let report = verify(folder.path(), &mut expecting).unwrap();
    assert!(report.is_well(), "{report:#?}");
    expecting.is_learning = false;
    let file = folder.path().join("riverrun.db");
    let mut columns: BTreeMap<String, Vec<(usize, u8)>> = BTreeMap::new();
    for cell in cells::cells(&file) {
        let bits = cell
            .bytes
            .iter()
            .flat_map(|at| (0..8).map(|bit| (*at, bit)));
        let name = format!("{}.{}", cell.table, cell.column);
        columns.entry(name).or_default().extend(bits);
    }
    for table in [
        "runs", "jobs", "work", "queues", "awaits", "lanes", "uniques",
    ] {
        let is_of = |name: &&String| name.starts_with(&format!("{table}."));
        assert!(columns.keys().any(|name| is_of(&name)), "{table} has rows");
    }
    let whole = std::fs::read(&file).unwrap();
    let mut damaged = std::fs::File::options().write(true).open(&file).unwrap();
    let mut write = |at: usize, byte: u8| {
        damaged.seek(SeekFrom::Start(at as u64)).unwrap();
        damaged.write_all(&[byte]).unwrap();
    };
    let mut unseen = BTreeSet::new();
    for (name, bits) in &columns {
        // A step that is odd meets every bit of a byte.
        let step = (bits.len() / BITS).max(1) | 1;
        for (at, bit) in bits.iter().step_by(step) {
            // A row whose last columns are absent reads the same with one of them less.
            if whole[*at] == 0 && *bit == 7 {
                continue;
            }
            write(*at, whole[*at] ^ 1 << bit);
            if !is_detected(folder.path(), &mut expecting) {
                unseen.insert(name.as_str());
            }
            write(*at, whole[*at]);
        }
    }
    assert!(!is_detected(folder.path(), &mut expecting));
    let unknown: Vec<_> = unseen
        .iter()
        .filter(|name| !UNSEEN.contains(name))
        .collect();
    assert!(unknown.is_empty(), "not noticed: {unknown:?}");
}
