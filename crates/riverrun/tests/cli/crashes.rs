//! Work that kills the server whenever it is taken up.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{PATIENCE, Project, Server};

/// Kills the server that runs it, and returns its attempt once its input says that it is harmless.
const POISON: &str = "import os, signal, time\n\n\n\
    def handler(input, ctx):\n    \
    if os.path.exists('harmless'):\n        return ctx.attempt\n    \
    victim, pid = None, os.getppid()\n    \
    while os.path.basename(os.readlink(f'/proc/{pid}/exe')).startswith('riverrun'):\n        \
    victim = pid\n        \
    pid = int(open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[1])\n    \
    os.kill(victim, signal.SIGKILL)\n    \
    time.sleep(60)\n";
const FINE: &str = "def handler(input, ctx):\n    return 'fine'\n";

const SERVE: [&str; 5] = ["serve", "--project", ".", "--listen", "127.0.0.1:0"];

fn job_is(server: &Server<'_>, id: &str, state: &str) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let job = server.json(&["jobs", "show", id]);
        if job["state"] == state {
            return job;
        }
        assert!(Instant::now() < deadline, "{job:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The first crash, two starts that die of it, and the one that parks it.
#[test]
fn a_job_that_kills_every_server_is_parked_and_can_be_released() {
    let project = Project::new();
    project.write("processes/poison.py", POISON);
    project.write("processes/fine.py", FINE);
    let server = project.start(&SERVE);
    let (status, added) = server.ask(
        "POST",
        "/api/queue/poison/jobs",
        r#"{"data": {}, "options": {"jobId": "bad", "attempts": 1}}"#,
    );
    // It may die before it can answer; what it stored is there.
    assert!([0, 201].contains(&status), "{status} {added}");
    server.ended();
    for _ in 0..2 {
        let died = project
            .command()
            .args(SERVE)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(died.code(), None, "{died}");
    }
    let server = project.start(&SERVE);
    let job = job_is(&server, "bad", "parked");
    assert_eq!(job["error"]["code"], "JOB_QUARANTINED", "{job:#}");
    let why = server.json(&["runs", "why", "bad"]);
    assert_eq!(why["reasons"][0]["release"], "riverrun jobs retry bad");
    let fine = server.json(&["jobs", "add", "fine", "-d", "{}", "--wait"]);
    assert_eq!(fine["result"], "fine");
    project.write("harmless", "");
    server.ok(&["jobs", "retry", "bad"]);
    let job = job_is(&server, "bad", "completed");
    assert_eq!(job["result"], json!(4));
}
