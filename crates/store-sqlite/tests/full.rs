//! A disk without room, made by a limit on the file's pages: SQLite fails in the same way.

#![allow(clippy::unwrap_used)]

use riverrun_store::{Change, Commit, GroupId, NewRun, RunFilter};
use riverrun_store_conformance::given::*;
use riverrun_store_sqlite::{Options, SqliteStore};

fn bulky(name: &str) -> NewRun {
    let event = draft(T0, riverrun_types::EventType::Emit).data("x".repeat(3_000));
    NewRun {
        events: [event].into(),
        flow: format!("flow-of-{name}").into(),
        ..run(name)
    }
}

#[tokio::test]
async fn a_full_disk_refuses_writes_and_keeps_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        max_pages: Some(120),
        ..Options::new(folder.path())
    };
    let sqlite = SqliteStore::open(options).unwrap();
    let store: S = sqlite.clone();
    let mut acknowledged = Vec::new();
    let refused = loop {
        let name = format!("r{:04}", acknowledged.len());
        match change(&store, Change::Create(Box::new(bulky(&name)))).await {
            Ok(_) => acknowledged.push(name),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 1_000, "the limit holds");
    };
    assert_eq!(refused.code(), "DISK_FULL");
    // The whole group fails, the refused with it, and leaves nothing.
    let group = [bulky("g1"), bulky("r0000"), bulky("g2"), bulky("g3")]
        .map(|new| Commit::of(Change::Create(Box::new(new))));
    for result in store.commit(GroupId::first(), group.into()).await {
        assert_eq!(refusal(result), "DISK_FULL");
    }
    assert!(must(store.run(&id("g1")).await).is_none());
    // Reading goes on.
    acknowledged.reverse();
    let filter = RunFilter {
        limit: 7,
        ..RunFilter::default()
    };
    assert_eq!(ids(&store, filter.clone()).await, acknowledged);
    // Deleting makes room.
    must(decide(&store, finish("r0000")).await);
    must(change(&store, Change::Delete(id("r0000"))).await);
    create(&store, bulky("again")).await;
    acknowledged.pop();
    acknowledged.insert(0, "again".to_owned());
    // So does more disk.
    sqlite.limit_pages(None).await.unwrap();
    for name in ["g1", "g2"] {
        create(&store, bulky(name)).await;
        acknowledged.insert(0, name.to_owned());
        assert_eq!(&*record(&store, name).await.flow, format!("flow-of-{name}"));
    }
    must(store.check().await);
    drop((store, sqlite));
    let store: S = SqliteStore::open(Options::new(folder.path())).unwrap();
    assert_eq!(ids(&store, filter).await, acknowledged);
    for name in &acknowledged {
        assert_eq!(stream_of(&store, name).await.len(), 1);
        assert_eq!(&*record(&store, name).await.flow, format!("flow-of-{name}"));
    }
}

/// The tests below that need a small disk, each on one of its own: a file system in memory that only
/// the child sees. Where the system does not let a process make one, there is nothing to test on.
#[cfg(target_os = "linux")]
#[test]
fn real_small_disks() {
    use std::process::Command;
    let mount = "mount -t tmpfs -o size=16m small \"$1\" && RIVERRUN_SMALL_DISK=\"$1\"";
    let own = |script: String, disk: &std::path::Path| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &script, "sh"]).arg(disk);
        command
    };
    let disk = tempfile::tempdir().unwrap();
    let can = own(mount.to_owned(), disk.path()).output().unwrap();
    assert!(
        can.status.success(),
        "this test needs a small disk of its own, and `unshare -rm` with a tmpfs failed: {}",
        String::from_utf8_lossy(&can.stderr)
    );
    let exe = std::env::current_exe().unwrap();
    for name in [
        "a_real_full_disk_refuses_writes_and_keeps_what_was_acknowledged",
        "a_check_fails_on_a_real_full_disk",
        "a_real_full_disk_lets_deletes_through",
        "a_lone_delete_is_what_finds_the_disk_full",
        "the_log_has_room_however_long_it_was_when_the_disk_became_full",
    ] {
        let disk = tempfile::tempdir().unwrap();
        let script = format!("{mount} exec \"$2\" --exact {name} --ignored --nocapture");
        let out = own(script, disk.path()).arg(&exe).output().unwrap();
        let said = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{name}: {said}");
        assert!(
            String::from_utf8_lossy(&out.stdout).contains("1 passed"),
            "{name}"
        );
    }
}

fn ended_bulky(name: &str) -> NewRun {
    NewRun {
        projection: ended(riverrun_types::RunStatus::Completed, T0),
        task: None,
        ..bulky(name)
    }
}

/// Writes until not a byte fits any more.
fn fill(path: &std::path::Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for size in [1 << 16, 1 << 12, 1] {
        while std::io::Write::write_all(&mut file, &vec![0; size]).is_ok() {}
    }
}

#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn a_real_full_disk_lets_deletes_through() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let folder = disk.join("data");
    let bytes = |name: &str| std::fs::metadata(folder.join(name)).unwrap().len();
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    assert_eq!(bytes("reserve"), 1 << 20, "a sixteenth of the disk");
    must(change(&store, Change::Enqueue([queued("job")].into())).await);
    create(&store, bulky("active")).await;
    let mut acknowledged = Vec::new();
    for _ in 0..400 {
        let name = format!("r{:05}", acknowledged.len());
        create(&store, ended_bulky(&name)).await;
        acknowledged.push(name);
    }
    // Somebody else takes the rest of the disk, to the last byte.
    fill(&disk.join("ballast"));
    let mut refusals = 0;
    while refusals < 20 {
        let name = format!("r{:05}", acknowledged.len());
        match change(&store, Change::Create(Box::new(ended_bulky(&name)))).await {
            Ok(_) => acknowledged.push(name),
            Err(error) => {
                assert_eq!(error.code(), "DISK_FULL", "{error}");
                refusals += 1;
            }
        }
    }
    assert_eq!(refusal(store.check().await), "DISK_FULL");
    let claim = riverrun_store_conformance::queues::given::asking(T0, 1);
    assert_eq!(refusal(store.claim_jobs(claim).await), "DISK_FULL");
    must(change(&store, Change::Delete(id("r00000"))).await);
    acknowledged.remove(0);
    let log = bytes("riverrun.db-wal");
    assert!(log < 1 << 20, "the log was brought into the file");
    drop(store);
    // A server that starts on a full disk can delete.
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    let cancel = Change::Steer {
        job: id("job"),
        steer: riverrun_store::Steer::Cancel { reason: None },
        now_ms: T0,
    };
    must(change(&store, cancel).await);
    let cancelled = riverrun_store::Advance {
        projection: ended(riverrun_types::RunStatus::Cancelled, T0),
        task: riverrun_store::RunTaskChange::Finish,
        ..finish("active")
    };
    must(decide(&store, cancelled).await);
    for name in &acknowledged {
        must(change(&store, Change::Delete(id(name))).await);
    }
    // There is room in the database, if not on the disk.
    create(&store, ended_bulky("again")).await;
    for name in std::fs::read_dir(&disk).unwrap() {
        let path = name.unwrap().path();
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
    create(&store, ended_bulky("more")).await;
    must(store.check().await);
    assert_eq!(bytes("reserve"), 1 << 20, "it was taken anew");
}

/// The log's pages are new ones of the database: to bring them in takes as much room again, on a disk
/// that has none.
#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn the_log_has_room_however_long_it_was_when_the_disk_became_full() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let ballast = disk.join("ballast");
    for before in [1, 40, 80, 120, 160] {
        let folder = disk.join(format!("data-{before}"));
        let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
        let mut acknowledged = Vec::new();
        let refused = loop {
            if acknowledged.len() == before {
                fill(&ballast);
            }
            let name = format!("r{:05}", acknowledged.len());
            match change(&store, Change::Create(Box::new(ended_bulky(&name)))).await {
                Ok(_) => acknowledged.push(name),
                Err(error) => break error,
            }
            assert!(acknowledged.len() < 2_000, "the disk is full");
        };
        assert_eq!(refused.code(), "DISK_FULL");
        let (first, others) = acknowledged.split_at(acknowledged.len() / 2);
        for name in first {
            must(change(&store, Change::Delete(id(name))).await);
        }
        drop(store);
        let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
        for name in others {
            must(change(&store, Change::Delete(id(name))).await);
        }
        // Half of it is free inside the database now: what fits there is accepted, each time.
        for name in others.iter().take(others.len() / 4) {
            create(&store, ended_bulky(&format!("again-{name}"))).await;
        }
        drop(store);
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::remove_file(&ballast).unwrap();
    }
}

/// Nothing was refused before, so the reserve is still there: the delete that finds the disk full is
/// tried again once it was given back.
#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn a_lone_delete_is_what_finds_the_disk_full() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let folder = disk.join("data");
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    let names: Vec<String> = (0..200).map(|at| format!("r{at}")).collect();
    for name in &names {
        create(&store, ended_bulky(name)).await;
    }
    // The log begins anew, so that the next write needs room.
    store.close().await.unwrap();
    drop(store);
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    fill(&disk.join("ballast"));
    assert!(folder.join("reserve").exists());
    for name in &names {
        let delete = Commit::of(Change::Delete(id(name)));
        let done = loop {
            // None while the writer is at something else.
            match store.commit_here(&delete) {
                Some(done) => break done,
                None => tokio::task::yield_now().await,
            }
        };
        must(done);
    }
}

/// The real thing, on a small disk of its own.
#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn a_real_full_disk_refuses_writes_and_keeps_what_was_acknowledged() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![0; 2 << 20]).unwrap();
    let folder = disk.join("data");
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    let mut acknowledged = Vec::new();
    let mut refusals = 0;
    while refusals < 20 {
        let name = format!("r{:05}", acknowledged.len());
        match change(&store, Change::Create(Box::new(bulky(&name)))).await {
            Ok(_) => acknowledged.push(name),
            Err(error) => {
                assert_eq!(error.code(), "DISK_FULL", "{error}");
                refusals += 1;
            }
        }
    }
    acknowledged.reverse();
    let filter = RunFilter {
        limit: 100,
        ..RunFilter::default()
    };
    assert_eq!(ids(&store, filter.clone()).await, acknowledged);
    std::fs::remove_file(&ballast).unwrap();
    create(&store, bulky("room")).await;
    acknowledged.insert(0, "room".to_owned());
    drop(store);
    let store: S = SqliteStore::open(Options::new(&folder)).unwrap();
    assert_eq!(ids(&store, filter).await, acknowledged);
    for name in &acknowledged {
        assert_eq!(stream_of(&store, name).await.len(), 1);
    }
}

/// The same disk, full to the last byte: there is always a hole that one small write fits into.
#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn a_check_fails_on_a_real_full_disk() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let store: S = SqliteStore::open(Options::new(disk.join("checked"))).unwrap();
    create(&store, bulky("r1")).await;
    must(store.check().await);
    let ballast = disk.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    drop(file);
    for _ in 0..5 {
        assert_eq!(refusal(store.check().await), "DISK_FULL");
    }
    std::fs::remove_file(&ballast).unwrap();
    must(store.check().await);
    drop(store);
    std::fs::remove_dir_all(disk.join("checked")).unwrap();
}
