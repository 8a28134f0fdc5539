//! What a power loss leaves: everything that was synced, and any part of what was not.
//!
//! A child process writes with a library preloaded that remembers what was synced
//! (`power_loss/forget.c`). It is killed, and from what it had synced and what it had written since,
//! disks are made as a power loss may leave them: every block that was not synced is the old one or
//! the new one, every folder has its old entries or its new ones.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use riverrun_store::{Change, Commit, Hub, Writer};
use riverrun_store_conformance::given::*;
use riverrun_store_sqlite::{Inspector, Options, RunRow, SqliteStore, verify};
use riverrun_types::Draft;

const BLOCK: usize = 512;

fn open(folder: &Path) -> riverrun_store::Result<Arc<SqliteStore>> {
    SqliteStore::open(Options::new(folder))
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

/// What a process had written and synced when it was killed.
struct Left {
    data: PathBuf,
    shadow: PathBuf,
}

impl Left {
    /// The disk after a power loss, as one seed has it.
    fn disk(&self, dice: &mut Dice) -> tempfile::TempDir {
        let disk = tempfile::tempdir().unwrap();
        let now: BTreeMap<u64, PathBuf> = std::fs::read_dir(&self.data)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (std::fs::metadata(&path).unwrap().ino(), path))
            .collect();
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut entries: BTreeMap<String, u64> = now
            .iter()
            .map(|(inode, path)| (name(path), *inode))
            .collect();
        // Either the entries that were synced last, or those that are there.
        let inode = std::fs::metadata(&self.data).unwrap().ino();
        let synced = self.shadow.join("entries").join(inode.to_string());
        if dice.below(2) == 0
            && let Ok(text) = std::fs::read_to_string(synced)
        {
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            entries = lines
                .map(|(inode, name)| (name.to_owned(), inode.parse().unwrap()))
                .collect();
        }
        for (name, inode) in entries {
            let synced = self.shadow.join("content").join(inode.to_string());
            let old = std::fs::read(synced).unwrap_or_default();
            // A file that was removed since has what was synced of it.
            let new = now.get(&inode).map(|path| std::fs::read(path).unwrap());
            let content = mixed(&old, new.as_deref().unwrap_or(&old), dice);
            std::fs::write(disk.path().join(name), content).unwrap();
        }
        // Memory that processes share is no file.
        let _ = std::fs::remove_file(disk.path().join("riverrun.db-shm"));
        disk
    }
}

/// Each block old or new; what lies between the two lengths may be missing or zero.
fn mixed(old: &[u8], new: &[u8], dice: &mut Dice) -> Vec<u8> {
    // Some disks keep nearly everything, some nearly nothing.
    let odds = 1 + dice.below(9);
    let len = match dice.below(2) {
        0 => old.len(),
        _ => new.len(),
    };
    let mut content = vec![0; len];
    for (at, block) in content.chunks_mut(BLOCK).enumerate() {
        let from = if dice.below(10) < odds { new } else { old };
        let begin = at * BLOCK;
        let end = (begin + block.len()).min(from.len());
        if let Some(there) = from.get(begin..end) {
            block[..there.len()].copy_from_slice(there);
        }
    }
    content
}

fn library(folder: &Path) -> PathBuf {
    let library = folder.join("forget.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power_loss/forget.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(
        built.unwrap().success(),
        "a C compiler is needed, as for SQLite"
    );
    library
}

struct Silent;

impl Inspector for Silent {
    fn progress(&mut self, _stage: &'static str, _done: u64, _total: u64) {}

    fn events(&mut self, _events: Vec<Draft>) {}

    fn run(&mut self, _row: &RunRow) -> Option<String> {
        None
    }
}

/// Kills a child after so many acknowledgements, and says what it left and had acknowledged.
fn killed_after(temp: &Path, count: usize) -> (Left, Vec<String>) {
    let left = Left {
        data: temp.join("data"),
        shadow: temp.join("shadow"),
    };
    for kind in ["content", "entries"] {
        std::fs::create_dir_all(left.shadow.join(kind)).unwrap();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_that_writes", "--ignored", "--nocapture"])
        .env("RIVERRUN_TEST_FOLDER", &left.data)
        .env("FORGET_SHADOW", &left.shadow)
        .env("LD_PRELOAD", library(temp))
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
    read(&mut lines.by_ref().take(count));
    child.kill().unwrap();
    read(&mut lines);
    child.wait().unwrap();
    assert!(acknowledged.len() >= count / 2, "{}", acknowledged.len());
    (left, acknowledged)
}

#[tokio::test]
async fn a_power_loss_takes_nothing_that_was_acknowledged_and_raises_no_alarm() {
    let seeds: Vec<u64> = match std::env::var("RIVERRUN_SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            let first = now.as_nanos() as u64 | 1;
            (0..24).map(|at| first.wrapping_mul(2 * at + 3)).collect()
        }
    };
    // The first start, a few commits, and a log that has grown several times.
    for (count, disks) in [(1, 8), (120, 8), (900, 8)] {
        let temp = tempfile::tempdir().unwrap();
        let (left, acknowledged) = killed_after(temp.path(), count);
        for seed in seeds.iter().take(disks) {
            let disk = left.disk(&mut Dice(*seed));
            let place = format!("RIVERRUN_SEED={seed} after {count}");
            let store: S = match open(disk.path()) {
                Ok(store) => store,
                Err(error) => panic!("{place}: {error}"),
            };
            for name in &acknowledged {
                let found = must(store.run(&id(name)).await);
                assert!(found.is_some(), "{place}: {name} is lost");
                assert_eq!(stream_of(&store, name).await.len(), 2, "{place}: {name}");
            }
            create(&store, run("after")).await;
            store.close().await.unwrap();
            let report = verify(disk.path(), &mut Silent).unwrap();
            assert!(report.is_well(), "{place}: {report:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child of a_power_loss_takes_nothing_that_was_acknowledged_and_raises_no_alarm"]
async fn child_that_writes() {
    let folder = std::env::var("RIVERRUN_TEST_FOLDER").unwrap();
    let store: S = open(Path::new(&folder)).unwrap();
    let writer = Writer::spawn(store.clone(), Arc::new(Hub::default()));
    let producers: Vec<_> = (0..4)
        .map(|producer| {
            let writer = writer.clone();
            tokio::spawn(async move {
                for at in 0.. {
                    let name = format!("p{producer}-{at}");
                    let new = Change::Create(Box::new(finished(&name)));
                    must(writer.commit(Commit::of(new)).await);
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
