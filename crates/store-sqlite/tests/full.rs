//! A disk without room, made by a limit on the file's pages: SQLite fails in the same way.

#![allow(clippy::unwrap_used)]

use riverrun_store::{Change, Commit, NewRun, RunFilter};
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
    for result in store.commit(group.into()).await {
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

/// The real thing: `mount -t tmpfs -o size=8m small $RIVERRUN_SMALL_DISK`, then
/// `cargo nextest run -j 1 -p riverrun-store-sqlite --run-ignored only real`.
#[tokio::test]
#[ignore = "needs a file system of a few megabytes, named by RIVERRUN_SMALL_DISK"]
async fn a_real_full_disk_refuses_writes_and_keeps_what_was_acknowledged() {
    let disk = std::path::PathBuf::from(std::env::var("RIVERRUN_SMALL_DISK").unwrap());
    let ballast = disk.join("ballast");
    std::fs::write(&ballast, vec![0; 1 << 20]).unwrap();
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
