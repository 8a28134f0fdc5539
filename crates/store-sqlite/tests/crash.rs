//! What a process that was killed leaves behind.

#![allow(clippy::unwrap_used)]

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
};

use riverrun_store::{Change, Commit, Hub, Writer};
use riverrun_store_conformance::given::*;
use riverrun_store_sqlite::{Options, SqliteStore};

fn open(folder: &Path) -> Arc<SqliteStore> {
    SqliteStore::open(Options::new(folder)).unwrap()
}

/// Every run of the list is whole, and the file is sound.
async fn check(folder: &Path, acknowledged: &[String]) {
    let store: S = open(folder);
    for name in acknowledged {
        let got = record(&store, name).await;
        assert_eq!(got.len, 2, "{name}");
        assert_eq!(stream_of(&store, name).await.len(), 2, "{name}");
    }
    create(&store, run("after")).await;
    drop(store);
    let conn = rusqlite::Connection::open(folder.join("riverrun.db")).unwrap();
    let verdict: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let torn: i64 = conn
        .query_row(
            "SELECT count(*) FROM runs r
             WHERE len <> (SELECT coalesce(sum(count), 0) FROM chunks WHERE stream = r.no)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(torn, 0, "every run has the events that it says it has");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_taken_while_writing_opens_with_all_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store: S = open(folder.path());
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let producers: Vec<_> = (0..32)
        .map(|producer| {
            let (writer, acknowledged) = (writer.clone(), acknowledged.clone());
            tokio::spawn(async move {
                for at in 0..40 {
                    let name = format!("p{producer}-{at}");
                    let new = Change::Create(Box::new(finished(&name)));
                    must(writer.commit(Commit::of(new)).await);
                    acknowledged.lock().unwrap().push(name);
                }
            })
        })
        .collect();
    let mut copies = Vec::new();
    while producers.iter().any(|producer| !producer.is_finished()) {
        let known = acknowledged.lock().unwrap().clone();
        let copy = tempfile::tempdir().unwrap();
        for file in ["riverrun.db", "riverrun.db-wal"] {
            std::fs::copy(folder.path().join(file), copy.path().join(file)).unwrap();
        }
        copies.push((copy, known));
        tokio::task::yield_now().await;
    }
    for producer in producers {
        producer.await.unwrap();
    }
    assert!(!copies.is_empty());
    let every = copies.len().div_ceil(10);
    for (copy, known) in copies.iter().step_by(every) {
        check(copy.path(), known).await;
    }
}

#[tokio::test]
async fn a_killed_process_loses_nothing_that_it_acknowledged() {
    for round in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_writes", "--ignored", "--nocapture"])
            .env("RIVERRUN_TEST_FOLDER", folder.path())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut acknowledged: Vec<String> = Vec::new();
        let mut read = |lines: &mut dyn Iterator<Item = std::io::Result<String>>| {
            for line in lines {
                if let Some(name) = line.unwrap().strip_prefix("acknowledged ") {
                    acknowledged.push(name.to_owned());
                }
            }
        };
        read(&mut lines.by_ref().take(300 + round * 170));
        child.kill().unwrap();
        // What it said before it died counts too.
        read(&mut lines);
        child.wait().unwrap();
        assert!(acknowledged.len() > 200);
        check(folder.path(), &acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child of a_killed_process_loses_nothing_that_it_acknowledged"]
async fn child_that_writes() {
    let folder = std::env::var("RIVERRUN_TEST_FOLDER").unwrap();
    let store: S = open(Path::new(&folder));
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    let producers: Vec<_> = (0..16)
        .map(|producer| {
            let writer = writer.clone();
            tokio::spawn(async move {
                for at in 0.. {
                    let name = format!("p{producer}-{at}");
                    let new = Change::Create(Box::new(finished(&name)));
                    must(writer.commit(Commit::of(new)).await);
                    // One write a line, so that the kill cuts none in two.
                    let line = format!("acknowledged {name}\n");
                    std::io::stderr().write_all(line.as_bytes()).unwrap();
                }
            })
        })
        .collect();
    for producer in producers {
        producer.await.unwrap();
    }
}
