//! A server that is killed leaves no processes.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use riverrun_contract::Provider;
use riverrun_providers::{External, ExternalOptions};
use serde_json::{Value, json};

use crate::harness::{Fake, invocation, is_alive, until};

const FOLDER: &str = "GUARD_TEST_FOLDER";

/// The server of the test below, in a process of its own; does nothing without its variable.
#[tokio::test]
async fn the_server_that_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let file = |name: &str| Path::new(&folder).join(name);
    let script = format!(
        "sleep 1000 & echo $! > {}; wait",
        file("external").display()
    );
    let external = External::new(
        vec!["sh".into(), "-c".into(), script.into()],
        ExternalOptions::default(),
    );
    // Neither reacts to the end of its input: one never reads it, the other is busy forever.
    let fake = Fake::new(|_| ());
    let pid = fake.value(json!({"do": "pid"})).await;
    std::fs::write(file("runner"), format!("{pid}\n")).unwrap();
    let (one, other) = (
        invocation(Value::Null),
        invocation(json!({"do": "stubborn"})),
    );
    let _ = tokio::join!(external.invoke(one.invocation.clone()), fake.run(&other));
}

#[tokio::test]
async fn a_server_that_is_killed_leaves_no_processes() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "guard::the_server_that_is_killed"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut pids = Vec::new();
    for name in ["external", "runner"] {
        let file = folder.path().join(name);
        until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))).await;
        pids.push(std::fs::read_to_string(&file).unwrap().trim().to_owned());
    }
    assert!(pids.iter().all(|pid| is_alive(pid)));
    server.kill().unwrap();
    server.wait().unwrap();
    for pid in pids {
        until(|| !is_alive(&pid)).await;
    }
}
