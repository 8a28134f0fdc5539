//! The data folder: one owner, and everything acknowledged is there for the next one.

#![allow(clippy::unwrap_used)]

use std::{path::Path, process::Command, sync::Arc};

use riverrun_store::{
    AwaitFilter, Awaited, Change, Error, FlowRecord, Kinds, LogQuery, Matcher, NewAwait, NewRun,
    NewRunTask, RunFilter, Signal, SignalsOf, adapter::HealthStore,
};
use riverrun_store_conformance::given::*;
use riverrun_store_sqlite::{Options, Pace, SqliteStore, backup};
use riverrun_types::{Draft, Event, EventType, StreamName, time::NEVER};

fn open(folder: &Path) -> riverrun_store::Result<Arc<SqliteStore>> {
    SqliteStore::open(Options::new(folder))
}

fn direct(folder: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(folder.join("riverrun.db")).unwrap()
}

#[tokio::test]
async fn a_second_server_gets_the_name_of_the_owner() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("made/on/the/way");
    let store = open(&folder).unwrap();
    let Err(Error::Locked(text)) = open(&folder) else {
        panic!("two owners");
    };
    assert!(text.contains(&folder.display().to_string()), "{text}");
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    assert!(text.contains("another folder"), "{text}");
    // Closing lets go, even while somebody still holds the store.
    store.close().await.unwrap();
    let next = open(&folder).unwrap();
    drop(next);
    open(&folder).unwrap();
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_drop_without_close() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let new = NewRun {
        tenant: Some("acme".into()),
        tags: names(["t"]),
        ..run("r1")
    };
    create(&store, new).await;
    must(change(&store, Change::Append(append_to("r1", logs(T0, 300)))).await);
    let lease = claim_one(&store, T0).await;
    let flow = FlowRecord {
        id: "f".into(),
        version: "1".into(),
        definition: json("{}"),
        created_ms: T0,
    };
    register(&store, flow.clone()).await;
    let (before, events) = (record(&store, "r1").await, stream_of(&store, "r1").await);
    drop(store);

    let store: S = open(folder.path()).unwrap();
    assert_eq!(record(&store, "r1").await, before);
    assert_eq!(stream_of(&store, "r1").await, events);
    assert_eq!(must(store.flow("f", "1").await), Some(flow));
    must(decide_under(&store, advance("r1"), &lease).await);
    assert_eq!(must(store.reclaim().await).runs.len(), 1);
    let next = claim_one(&store, T0).await;
    assert!(next.token > lease.token, "tokens grow across restarts");
    assert_eq!(
        refusal(decide_under(&store, advance("r1"), &lease).await),
        "LEASE_LOST"
    );
}

#[tokio::test]
async fn writes_are_synced_and_logged() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    store.check().await.unwrap();
    assert!(folder.path().join("riverrun.db-wal").exists());
    let facts = store.describe().await.unwrap().value();
    assert_eq!(facts["adapter"], "sqlite");
    assert_eq!(facts["schema"], 10);
    assert_eq!(
        facts["synchronous"], 2,
        "FULL: a commit is on disk when it is answered"
    );
    assert!(facts["bytes"].as_u64() > Some(4096));
    store.close().await.unwrap();
    // A clean end leaves one file that can be copied.
    assert!(!folder.path().join("riverrun.db-wal").exists());
}

/// Whoever syncs a file that has grown waits for its new size as well.
#[tokio::test]
async fn the_log_grows_in_steps_and_not_with_each_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let log = folder.path().join("riverrun.db-wal");
    let bytes = || std::fs::metadata(&log).unwrap().len();
    let mut sizes = std::collections::BTreeSet::new();
    for at in 0..300 {
        create(&store, run(&format!("r{at}"))).await;
        sizes.insert(bytes());
    }
    assert!(sizes.len() < 30, "{sizes:?}");
    assert!(sizes.last() < Some(&(16 << 20)), "{sizes:?}");
    // What was not used of it means nothing to whoever opens it next.
    let copy = tempfile::tempdir().unwrap();
    for file in ["riverrun.db", "riverrun.db-wal"] {
        std::fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
    }
    let copied: S = open(copy.path()).unwrap();
    assert_eq!(record(&copied, "r299").await, record(&store, "r299").await);
    create(&copied, run("more")).await;
}

#[tokio::test]
async fn data_of_a_newer_riverrun_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).unwrap().close().await.unwrap();
    direct(folder.path())
        .pragma_update(None, "user_version", 99)
        .unwrap();
    match open(folder.path()).map(drop) {
        Err(Error::NewerSchema {
            found: 99,
            known: 10,
        }) => {}
        other => panic!("{other:?}"),
    }
    direct(folder.path())
        .pragma_update(None, "user_version", 10)
        .unwrap();
    open(folder.path()).unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("riverrun.db"), [b'x'; 9000]).unwrap();
    assert_eq!(open(folder.path()).err().unwrap().code(), "STORE_CORRUPT");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(
        open(&file.join("x")).err().unwrap().code(),
        "STORE_UNAVAILABLE"
    );
}

#[tokio::test]
async fn a_damaged_chunk_is_detected_and_leaves_other_streams_readable() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    create(&store, run("r1")).await;
    create(&store, run("r2")).await;
    drop(store);
    let sql = "UPDATE chunks SET body = x'0102ff'
               WHERE stream = (SELECT no FROM runs WHERE id = 'r1')";
    assert_eq!(direct(folder.path()).execute(sql, []).unwrap(), 1);
    let store: S = open(folder.path()).unwrap();
    let query = riverrun_store::EventQuery::forward(0, 9);
    let stream = |run: &str| riverrun_types::StreamName::flow(&id(run));
    assert_eq!(
        refusal(store.events(&stream("r1"), &query).await),
        "STORE_CORRUPT"
    );
    assert_eq!(must(store.events(&stream("r2"), &query).await).len(), 1);
}

/// Root may write anywhere, so the folder is opened by a process that is not root.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_says_so() {
    use std::os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    };
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let chmod = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), mode).unwrap();
    };
    for file in ["riverrun.db", "lock"] {
        let mode = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(folder.path().join(file), mode).unwrap();
    }
    chmod(0o555);
    // Test binaries may lie where only their owner can go.
    let binary = tempfile::tempdir().unwrap();
    std::fs::set_permissions(binary.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = binary.path().join("child");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let mut child = Command::new(&copy);
    child
        .args(["--exact", "child_that_opens", "--ignored", "--nocapture"])
        .env("RIVERRUN_TEST_FOLDER", folder.path())
        .current_dir("/");
    if std::fs::metadata(folder.path()).unwrap().uid() == 0 {
        child.uid(65_534).gid(65_534);
    }
    let out = child.output().unwrap();
    chmod(0o755);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("opened: STORE_READ_ONLY"), "{said} {out:?}");
}

#[test]
#[ignore = "the child of a_folder_that_cannot_be_written_says_so"]
fn child_that_opens() {
    let folder = std::env::var("RIVERRUN_TEST_FOLDER").unwrap();
    match open(Path::new(&folder)) {
        Ok(_) => eprintln!("opened: fine"),
        Err(error) => eprintln!("opened: {} {error}", error.code()),
    }
}

#[tokio::test]
async fn runs_are_listed_in_order_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c"] {
        let store: S = open(folder.path()).unwrap();
        create(&store, run(name)).await;
    }
    let store: S = open(folder.path()).unwrap();
    assert_eq!(ids(&store, RunFilter::default()).await, ["c", "b", "a"]);
}

#[tokio::test]
async fn data_of_an_older_riverrun_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let old = direct(folder.path());
    old.execute_batch(include_str!("../migrations/0001_runs_streams_jobs.sql"))
        .unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    drop(old);
    let store: S = open(folder.path()).unwrap();
    create(&store, run("r1")).await;
    assert!(must(store.queues(None).await).is_empty());
}

fn says(kind: &str, order: u32) -> Change {
    Change::Signal(Box::new(Signal {
        kind: kind.into(),
        event: json(&format!("{{\"order\":{order}}}")),
        tenant: None,
        now_ms: T0,
        stream: StreamName::new("events", kind),
        has_subscriber: false,
        place: None,
    }))
}

fn listens(kind: &str) -> Change {
    Change::Listen {
        kind: kind.into(),
        on: true,
    }
}

#[tokio::test]
async fn awaits_and_signals_are_there_for_the_next_owner() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let asleep = NewRun {
        task: Some(NewRunTask::Ready { at_ms: NEVER }),
        ..run("r1")
    };
    create(&store, asleep).await;
    let waits = |name: &str, what: Awaited| {
        Change::Await(Box::new(NewAwait {
            id: name.into(),
            run: id("r1"),
            step: "wait".into(),
            visit: 1,
            tenant: None,
            created_ms: T0,
            expires_ms: None,
            what,
            given: Vec::new(),
        }))
    };
    let event = |kind: &str, matcher: Matcher| Awaited::Event {
        kind: kind.into(),
        matcher,
        lookback_ms: Some(1_000),
    };
    let order = |n: &str| vec![(riverrun_types::Path::new("order"), json(n))];
    let filter = Matcher::Filter {
        equal: Vec::new(),
        filter: json("1"),
    };
    let listen = listens("taken");
    let callback = Awaited::Callback {
        callback: json("{}"),
        many: false,
    };
    for given in [
        listen,
        says("k", 1),
        waits("open", event("k", Matcher::Equal(order("2")))),
        waits("fired", event("k", Matcher::Equal(order("1")))),
        waits("filter", event("k", filter)),
        waits("callback", callback),
        says("taken", 1),
        Change::Unawait("callback".into()),
    ] {
        must(change(&store, given).await);
    }
    let seen = async |store: &S| {
        (
            must(
                store
                    .list_awaits(&AwaitFilter {
                        limit: 10,
                        ..AwaitFilter::default()
                    })
                    .await,
            ),
            must(store.awaits_of(&id("r1")).await),
            must(store.await_stats().await),
            must(store.signals(SignalsOf::All, 0, 10).await),
        )
    };
    let before = seen(&store).await;
    assert_eq!((before.0.items.len(), before.3.len()), (4, 2));
    drop(store);

    let store: S = open(folder.path()).unwrap();
    assert_eq!(seen(&store).await, before);
    assert_eq!(must(change(&store, says("k", 2)).await).woken, [id("r1")]);
    assert!(must(change(&store, says("taken", 2)).await).signalled);
    let last = must(store.signals(SignalsOf::All, 0, 10).await)
        .pop()
        .unwrap()
        .no;
    for signal in must(store.signals(SignalsOf::All, 0, 10).await) {
        must(change(&store, Change::RemoveSignal(signal.no)).await);
    }
    drop(store);

    let store: S = open(folder.path()).unwrap();
    must(change(&store, says("taken", 3)).await);
    assert!(must(store.signals(SignalsOf::All, 0, 10).await)[0].no > last);
    let again = event("k", Matcher::Equal(order("1.0")));
    assert_eq!(
        must(change(&store, waits("again", again)).await)
            .woken
            .len(),
        1
    );
}

/// Takes something away under an open store, and says what becomes of the store.
#[cfg(unix)]
async fn taken_away(take: impl FnOnce(&Path)) {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("data");
    let store: S = open(&folder).unwrap();
    create(&store, run("r1")).await;
    must(store.check().await);
    take(&folder);
    // Even who does not ask learns of it, and whoever asks at once.
    let gone = tokio::time::timeout(std::time::Duration::from_secs(20), store.gone()).await;
    assert_eq!(gone.unwrap().code(), "STORE_GONE");
    let refused = change(&store, Change::Create(Box::new(run("r2")))).await;
    assert_eq!(refusal(refused), "STORE_GONE");
    assert_eq!(refusal(store.check().await), "STORE_GONE");
    assert_eq!(refusal(store.run(&id("r1")).await), "STORE_GONE");
    assert_eq!(refusal(store.close().await), "STORE_GONE");
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_are_deleted_under_a_store_are_missed() {
    let delete = |name: &'static str| {
        taken_away(move |folder| std::fs::remove_file(folder.join(name)).unwrap())
    };
    tokio::join!(
        delete("riverrun.db"),
        delete("riverrun.db-wal"),
        delete("riverrun.db-shm"),
        delete("lock"),
        taken_away(|folder| std::fs::remove_dir_all(folder).unwrap()),
        taken_away(|folder| std::fs::rename(folder, folder.with_extension("old")).unwrap()),
    );
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_are_put_in_their_place_are_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("data");
    let store: S = open(&folder).unwrap();
    create(&store, run("r1")).await;
    std::fs::rename(&folder, temp.path().join("old")).unwrap();
    // Another owner with a run of its own, which is in the log still.
    let other: S = open(&folder).unwrap();
    create(&other, run("r2")).await;
    assert_eq!(refusal(store.check().await), "STORE_GONE");
    assert_eq!(refusal(store.run(&id("r2")).await), "STORE_GONE");
    assert_eq!(refusal(store.close().await), "STORE_GONE");
    drop(store);
    must(other.check().await);
    assert_eq!(ids(&other, RunFilter::default()).await, ["r2"]);
    // What was moved away is whole.
    let moved: S = open(&temp.path().join("old")).unwrap();
    assert_eq!(ids(&moved, RunFilter::default()).await, ["r1"]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_writer_that_nobody_warns_notices_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    std::fs::remove_file(folder.path().join("riverrun.db")).unwrap();
    let mut count = 0;
    let refused = loop {
        let name = format!("r{count}");
        match change(&store, Change::Create(Box::new(run(&name)))).await {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(refused.code(), "STORE_GONE");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_check_proves_that_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    // Whatever is written there finds the disk full, while SQLite's own files have room.
    let room = folder.path().join("room");
    std::os::unix::fs::symlink("/dev/full", &room).unwrap();
    assert_eq!(refusal(store.check().await), "DISK_FULL");
    // The proof clears away what it wrote, so the next one is on the disk itself.
    must(store.check().await);
    assert!(!room.exists());
}

#[tokio::test]
async fn jobs_of_an_older_riverrun_have_lives_too() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    must(change(&store, Change::Enqueue([queued("j1")].into())).await);
    store.close().await.unwrap();
    // As the schema was before the stream of a job had its life.
    let before = direct(folder.path());
    before.execute_batch(WITHOUT_LOG).unwrap();
    before
        .execute_batch(
            "DROP TABLE triggers; ALTER TABLE work DROP COLUMN told; PRAGMA user_version = 3;",
        )
        .unwrap();
    drop(before);
    let store: S = open(folder.path()).unwrap();
    let stream = StreamName::job(&id("j1"));
    let kinds = |events: Vec<Event>| -> Vec<String> {
        events.iter().map(|event| event.kind.to_string()).collect()
    };
    assert_eq!(kinds(all_events(&store, &stream).await), ["job.added"]);
    must(change(&store, Change::Append(append(stream.clone(), logs(T0, 1)))).await);
    assert_eq!(
        kinds(all_events(&store, &stream).await),
        ["job.added", "log.info"]
    );
}

#[tokio::test]
async fn the_outbox_of_an_older_riverrun_is_found_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    must(change(&store, listens("taken")).await);
    must(change(&store, says("taken", 1)).await);
    let before = must(store.signals(SignalsOf::All, 0, 10).await);
    assert_eq!(before.len(), 1);
    store.close().await.unwrap();
    direct(folder.path()).execute_batch(WITHOUT_LOG).unwrap();
    let store: S = open(folder.path()).unwrap();
    let lane = before[0].lane();
    assert_eq!(
        must(store.signals(SignalsOf::Lane(&lane), 0, 10).await),
        before
    );
}

/// Takes back what brought the log of all events, and what came after it.
const WITHOUT_LOG: &str = "
    DROP INDEX work_parked; DROP TABLE markers;
    ALTER TABLE work DROP COLUMN losses; ALTER TABLE work DROP COLUMN losses_in_row;
    ALTER TABLE queues DROP COLUMN parked;
    DROP INDEX signals_kind; DROP INDEX signals_over; DROP INDEX signals_only;
    ALTER TABLE signals DROP COLUMN over; ALTER TABLE signals DROP COLUMN kind;
    CREATE INDEX emits_kind ON emits (kind);
    DROP TABLE once;
    DROP INDEX uniques_left; ALTER TABLE uniques DROP COLUMN id;
    DROP INDEX runs_story; ALTER TABLE runs DROP COLUMN correlation;
    DROP INDEX work_story; ALTER TABLE work DROP COLUMN correlation;
    DROP TABLE kinds; DROP TABLE stories; DROP TABLE unheard;
    DELETE FROM meta WHERE key IN ('log', 'unheard');
    ALTER TABLE chunks DROP COLUMN marks;
    PRAGMA user_version = 5;";

#[tokio::test]
async fn events_of_an_older_riverrun_are_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path()).unwrap();
    let stream = StreamName::new("webhook", "w");
    for _ in 0..3 {
        let paid = Draft::new(T0, EventType::parse("order.paid"));
        let log = Draft::new(T0, EventType::LogInfo);
        let events = [log.clone(), paid, log].into();
        must(change(&store, Change::Append(append(stream.clone(), events))).await);
    }
    store.close().await.unwrap();
    let before = direct(folder.path());
    before.execute_batch(WITHOUT_LOG).unwrap();
    // Chunks were numbered one by one.
    before
        .execute_batch("UPDATE chunks SET seq = -(seq + 2) / 3; UPDATE chunks SET seq = -seq;")
        .unwrap();
    drop(before);
    let store: S = open(folder.path()).unwrap();
    for (kinds, expected) in [(&["order.paid"][..], 3), (&[], 9), (&["log"], 6)] {
        let query = LogQuery {
            after: 0,
            kinds: Kinds::new(kinds),
            limit: 100,
            max_bytes: riverrun_store::EventQuery::PAGE_BYTES,
        };
        let page = must(store.log(&query).await);
        assert_eq!(page.events.len(), expected, "{kinds:?}");
        assert!(page.events.windows(2).all(|two| two[0].no < two[1].no));
        assert!(page.is_end);
    }
    let end = must(store.log_end().await);
    must(change(&store, Change::Append(append(stream, logs(T0, 1)))).await);
    assert_eq!(must(store.log_end().await), end + 1);
}

/// Somebody writes a megabyte for each megabyte that is copied, and the copy is slow.
#[tokio::test]
async fn a_backup_is_given_up_before_the_log_is_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(Options::new(folder.path())).unwrap();
    let conn = rusqlite::Connection::open(folder.path().join("riverrun.db")).unwrap();
    conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    // What is there already would not be written again.
    let write = |name: &str| {
        let sql =
            "INSERT OR REPLACE INTO markers (name, value) VALUES (?1, hex(randomblob(524288)))";
        conn.execute(sql, [name]).unwrap();
    };
    for n in 0..8 {
        write(&format!("m{n}"));
    }
    // The log begins anew.
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let to = folder.path().join("backup.db");
    let pace = Pace {
        rate: None,
        max_log_bytes: Some(2 << 20),
    };
    let mut written = 0;
    let given_up = backup(folder.path(), &to, pace, &mut |_, _| {
        written += 1;
        write("again");
    });
    let error = given_up.unwrap_err().to_string();
    assert!(error.contains("--max-log"), "{error}");
    assert!(written <= 4, "{written}");
    assert!(!to.exists());
    let unlimited = Pace {
        max_log_bytes: None,
        ..pace
    };
    backup(folder.path(), &to, unlimited, &mut |_, _| write("again")).unwrap();
    assert!(to.exists());
    store.close().await.unwrap();
}
