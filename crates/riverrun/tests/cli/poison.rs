//! A data folder full of stored things that once took a server down, froze it or kept it from
//! starting (`tests/poison/README.md`): the server starts on it, answers throughout, and an
//! operator can remove what is there.

use std::{
    fs::File,
    io::{Read, Write},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support::{Project, Server};

/// The memory that the server may use, in KiB. One poisoned run used to take 4 GB.
const MEMORY_KIB: u64 = 1 << 20;

/// Far more than an answer takes on a busy machine, and far less than the poison used to hold up.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);

const SETTLED: Duration = Duration::from_secs(120);

#[test]
fn a_store_full_of_poison_starts_serves_and_is_cleaned() {
    let project = Project::new();
    let data = project.path(".riverrun");
    std::fs::create_dir(&data).unwrap();
    let packed = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/poison/riverrun.db.gz");
    let mut unpacked = GzDecoder::new(File::open(packed).unwrap());
    std::io::copy(
        &mut unpacked,
        &mut File::create(data.join("riverrun.db")).unwrap(),
    )
    .unwrap();

    let server = start(&project);
    let health = Health::watch(&server);
    // Every run ends, or waits in a way that it can explain.
    let begun = Instant::now();
    let left = loop {
        let runs = list(&server, &["runs", "ls", "--limit", "100"]);
        assert!(runs.len() >= 30, "{} runs", runs.len());
        // The run of a process that this server does not have waits for that process.
        let moves = |run: &&Value| {
            run["status"] == "running" || run["status"] == "pending" && run["flow"] != "no-process"
        };
        if !runs.iter().any(|run| moves(&run)) {
            break runs;
        }
        let moving: Vec<&Value> = runs.iter().filter(moves).collect();
        assert!(begun.elapsed() < SETTLED, "still moving: {moving:#?}");
        thread::sleep(Duration::from_millis(250));
    };
    // The server still does its work.
    project.write("flows/quick.yaml", crate::support::QUICK);
    server.ok(&["flows", "register", "flows/quick.yaml"]);
    let answer = server.json(&["run", "quick", "-d", r#"{"name": "Ada"}"#, "--wait"]);
    assert_eq!(answer["status"], "completed", "{answer:#}");

    for run in &left {
        let id = run["id"].as_str().or(run["runId"].as_str()).unwrap();
        if run["status"] == "waiting" || run["status"] == "pending" {
            let why = server.ok(&["runs", "why", id]);
            assert!(!why.trim().is_empty(), "{run:#}");
            server.ok(&["runs", "cancel", id]);
        }
        server.ok(&["runs", "delete", id]);
    }
    // Some are called `.` and `..`, which no path can name.
    for job in list(&server, &["jobs", "ls", "--limit", "100"]) {
        server.ok(&["jobs", "rm", job["id"].as_str().unwrap()]);
    }
    for trigger in list(&server, &["triggers", "ls"]) {
        server.ok(&["triggers", "rm", trigger["id"].as_str().unwrap()]);
    }
    health.stop();
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);

    let server = start(&project);
    let runs = list(&server, &["runs", "ls"]);
    assert_eq!(
        runs.len(),
        1,
        "only the run of this test is left: {runs:#?}"
    );
    assert_eq!(list(&server, &["jobs", "ls"]), Vec::<Value>::new());
}

/// What is done to a row of each kind of stored thing. Runs are `s0` and on, jobs `j0` and on.
const DAMAGE: &[&str] = &[
    "UPDATE runs SET extra = substr(extra, 1, length(extra) / 2) WHERE id = 's0'",
    "UPDATE runs SET status = 99 WHERE id = 's1'",
    "UPDATE runs SET len = 'garbage' WHERE id = 's2'",
    "UPDATE runs SET turn = 9223372036854775807 WHERE id = 's3'",
    "UPDATE runs SET version = -1 WHERE id = 's4'",
    "UPDATE runs SET created_ms = x'ff00' WHERE id = 's5'",
    "UPDATE chunks SET body = substr(body, 1, length(body) / 2)
     WHERE stream = (SELECT no FROM runs WHERE id = 's6')",
    "UPDATE work SET data = x'ff00fe' WHERE id = 'j0'",
    "UPDATE work SET rank = 'garbage' WHERE id = 'j1'",
    "UPDATE work SET attempt = -1 WHERE id = 'j2'",
    "UPDATE work SET created_ms = 'never' WHERE id = 'j3'",
    "UPDATE flows SET definition = '[]' WHERE id = 'broken'",
    "UPDATE triggers SET definition = x'00' WHERE id = 't0'",
    "UPDATE triggers SET definition = '[1]' WHERE id = 't1'",
    "UPDATE triggers SET updated_ms = 'never' WHERE id = 't2'",
    "UPDATE queues SET paused = 'perhaps', waiting = 'many' WHERE name = 'other'",
    "UPDATE streams SET len = -1 WHERE id = 'o1'",
    "UPDATE names SET text = x'ff00' WHERE text = 'unused'",
    "UPDATE markers SET value = '{'",
    "UPDATE meta SET value = 'garbage' WHERE key IN ('opens', 'log', 'stray_ms')",
];

/// Rows of every kind hold what is never written there: nothing but their own is lost.
#[test]
fn a_store_with_damaged_rows_starts_serves_and_is_cleaned() {
    let project = Project::new();
    let server = start(&project);
    let post = |path: &str, body: &str| {
        let (status, answer) = server.ask("POST", path, body);
        assert!((200..300).contains(&status), "{path} {body}: {answer}");
    };
    for flow in ["slow", "broken", "unused"] {
        let steps = r#"{"rest": {"type": "delay", "config": {"ms": 3600000}}}"#;
        let flow = format!(
            r#"{{"id": "{flow}", "version": "1.0.0", "initialStepId": "rest", "steps": {steps}}}"#
        );
        post("/api/flows", &flow);
    }
    post(
        "/api/flows/unused/start",
        r#"{"runId": "gone", "input": {}}"#,
    );
    server.ok(&["runs", "cancel", "gone"]);
    server.ok(&["runs", "delete", "gone"]);
    for at in 0..8 {
        let run = format!(r#"{{"runId": "s{at}", "input": {{}}, "tags": ["t"]}}"#);
        post("/api/flows/slow/start", &run);
        let job = format!(r#"{{"data": {at}, "options": {{"jobId": "j{at}"}}}}"#);
        post("/api/queue/emails/jobs?create=true", &job);
    }
    post(
        "/api/queue/other/jobs?create=true",
        r#"{"data": 1, "options": {"jobId": "o"}}"#,
    );
    for at in 0..4 {
        let trigger = format!(r#"{{"id": "t{at}", "type": "manual", "flow": "slow"}}"#);
        post("/api/triggers", &trigger);
    }
    post(
        "/api/events/order/o1",
        r#"{"type": "order.paid", "data": 1}"#,
    );
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);

    let file = project.path(".riverrun/riverrun.db");
    let conn = rusqlite::Connection::open(file).unwrap();
    for damage in DAMAGE {
        conn.execute(damage, []).unwrap();
    }
    drop(conn);
    // Everything is reported at once.
    let verified = project.run(&["verify"]);
    assert_eq!(verified.code, 1, "{verified:#?}");
    let ids = [
        "s0", "s1", "s2", "s3", "s4", "s5", "s6", "j0", "j2", "t0", "other", "o1",
    ];
    for id in ids {
        assert!(
            verified.out.contains(&format!(" {id}")),
            "{id} in {}",
            verified.out
        );
    }

    let server = start(&project);
    let health = Health::watch(&server);
    for list in [
        "/readyz",
        "/api/runs",
        "/api/executions",
        "/api/flows",
        "/api/jobs",
        "/api/queue",
        "/api/queue/emails/jobs",
        "/api/triggers",
        "/api/schedules",
        "/api/awaits",
        "/api/events?kind=order",
        "/api/events/order/list",
    ] {
        let (status, answer) = server.ask("GET", list, "");
        assert_eq!(status, 200, "{list}: {answer}");
    }
    let runs = list(&server, &["runs", "ls", "--limit", "100"]);
    assert_eq!(runs.len(), 8, "{runs:#?}");
    // What is whole goes on.
    project.write("flows/quick.yaml", crate::support::QUICK);
    server.ok(&["flows", "register", "flows/quick.yaml"]);
    let answer = server.json(&["run", "quick", "-d", r#"{"name": "Ada"}"#, "--wait"]);
    assert_eq!(answer["status"], "completed", "{answer:#}");
    server.ok(&["runs", "why", "s7"]);
    let damaged = server.ok(&["runs", "why", "s6"]);
    assert!(damaged.contains("the stored data is damaged"), "{damaged}");
    for at in 0..8 {
        let run = format!("s{at}");
        server.ok(&["runs", "cancel", &run]);
        server.ok(&["runs", "delete", &run]);
        server.ok(&["jobs", "rm", &format!("j{at}")]);
    }
    for trigger in list(&server, &["triggers", "ls"]) {
        server.ok(&["triggers", "rm", trigger["id"].as_str().unwrap()]);
    }
    health.stop();
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);
}

/// The binary, without a project, under a memory limit.
fn start(project: &Project) -> Server<'_> {
    let limited = format!("ulimit -d {MEMORY_KIB} && exec \"$0\" \"$@\"");
    let binary = project.command();
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", &limited])
        .arg(binary.get_program())
        .args(["serve", "--listen", "127.0.0.1:0"])
        .current_dir(project.folder.path());
    project.start_as(command)
}

fn list(server: &Server<'_>, args: &[&str]) -> Vec<Value> {
    server.json(args).as_array().cloned().unwrap_or_default()
}

/// Asks `/healthz` all the time.
struct Health {
    closing: Arc<AtomicBool>,
    asking: thread::JoinHandle<Duration>,
}

impl Health {
    fn watch(server: &Server<'_>) -> Self {
        let closing = Arc::new(AtomicBool::new(false));
        let closed = closing.clone();
        let address = server.url.trim_start_matches("http://").to_owned();
        let asking = thread::spawn(move || {
            let mut slowest = Duration::ZERO;
            while !closed.load(Ordering::Relaxed) {
                let begun = Instant::now();
                assert_eq!(ask(&address).unwrap(), "HTTP/1.1 200");
                slowest = slowest.max(begun.elapsed());
                thread::sleep(Duration::from_millis(50));
            }
            slowest
        });
        Self { closing, asking }
    }

    fn stop(self) {
        self.closing.store(true, Ordering::Relaxed);
        let slowest = self.asking.join().unwrap();
        assert!(slowest < LONGEST_ANSWER, "/healthz took {slowest:?}");
    }
}

fn ask(address: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(LONGEST_ANSWER * 2))?;
    write!(
        stream,
        "GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = [0; 12];
    stream.read_exact(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
