//! Runners that somebody else kills or freezes, and runners that end by their own doing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{PATIENCE, Project, Server};

/// Writes down its process, and returns its attempt once it may.
const NODE: &str = "import { appendFileSync, existsSync } from 'node:fs'\n\n\
    export default async (input, ctx) => {\n  \
    appendFileSync('begun', `${process.pid}\\n`)\n  \
    while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))\n  \
    return ctx.attempt\n}\n";
const PYTHON: &str = "import asyncio, os\n\n\n\
    async def handler(input, ctx):\n    \
    with open('begun', 'a') as begun:\n        begun.write(f'{os.getpid()}\\n')\n    \
    while not os.path.exists('go'):\n        await asyncio.sleep(0.02)\n    \
    return ctx.attempt\n";

const SERVE: [&str; 5] = ["serve", "--project", ".", "--listen", "127.0.0.1:0"];

/// Other processes have no signal that a test could wait on.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it did not come about: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A job that has one attempt.
fn add(server: &Server<'_>, queue: &str, timeout_ms: u64) -> String {
    let body =
        format!(r#"{{"data": null, "options": {{"attempts": 1, "timeoutMs": {timeout_ms}}}}}"#);
    let (status, added) = server.ask("POST", &format!("/api/queue/{queue}/jobs"), &body);
    assert_eq!(status, 201, "{added}");
    let added: Value = serde_json::from_str(&added).unwrap();
    added["jobs"][0]["jobId"].as_str().unwrap().to_owned()
}

fn ended(server: &Server<'_>, id: &str) -> Value {
    until(&format!("job {id} has ended"), || {
        let job = server.json(&["jobs", "show", id]);
        ["completed", "failed"]
            .contains(&job["state"].as_str().unwrap())
            .then_some(job)
    })
}

/// The process in which the handler has begun for the n-th time.
fn runner(project: &Project, nth: usize) -> String {
    until("the handler has begun", || {
        let begun = std::fs::read_to_string(project.path("begun")).ok()?;
        let whole = begun.rfind('\n')?;
        begun[..whole].lines().nth(nth).map(str::to_owned)
    })
}

fn signal(pid: &str, signal: &str) {
    let sent = std::process::Command::new("kill")
        .args([signal, pid])
        .status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_runner_that_others_kill_costs_its_job_no_attempt() {
    // Python runners ignore SIGINT.
    let python: &[&str] = &["-KILL", "-TERM", "-HUP"];
    let node: &[&str] = &["-KILL", "-TERM", "-INT", "-HUP"];
    for (file, text, signals) in [("hold.mjs", NODE, node), ("hold.py", PYTHON, python)] {
        let project = Project::new();
        project.write(&format!("processes/{file}"), text);
        let server = project.start(&SERVE);
        let job = add(&server, "hold", 120_000);
        for (nth, name) in signals.iter().enumerate() {
            signal(&runner(&project, nth), name);
        }
        runner(&project, signals.len());
        project.write("go", "");
        let done = ended(&server, &job);
        assert_eq!(
            (&done["state"], &done["result"]),
            (&json!("completed"), &json!(signals.len() + 1)),
            "{file}: {done:#}"
        );
        let said = server.ok(&["jobs", "logs", &job]);
        assert!(
            said.contains("WORKER_LOST") && said.contains("SIGHUP"),
            "{said}"
        );
    }
}

#[test]
fn a_runner_that_crashes_costs_its_job_an_attempt() {
    let project = Project::new();
    project.write("processes/hold.py", PYTHON);
    project.write(
        "processes/leave.mjs",
        "export default () => process.exit(3)\n",
    );
    project.write(
        "processes/passes-on.mjs",
        "export default () => { throw Object.assign(new Error('of a call'), { code: 'WORKER_LOST' }) }\n",
    );
    let server = project.start(&SERVE);
    for (nth, name) in ["-SEGV", "-ABRT"].iter().enumerate() {
        let job = add(&server, "hold", 120_000);
        signal(&runner(&project, nth), name);
        let failed = ended(&server, &job);
        assert_eq!(failed["error"]["code"], "RUNNER_DIED", "{failed:#}");
        assert_eq!(failed["attempt"], 1);
    }
    let failed = ended(&server, &add(&server, "leave", 120_000));
    assert_eq!(failed["error"]["code"], "RUNNER_DIED", "{failed:#}");
    // The error of somebody else's loss is the handler's own.
    let failed = ended(&server, &add(&server, "passes-on", 120_000));
    assert_eq!(
        (&failed["state"], &failed["attempt"]),
        (&json!("failed"), &json!(1))
    );
}

/// A process that a signal has stopped is not slow, and one that computes without end is.
#[test]
fn a_frozen_runner_costs_its_job_no_attempt_and_a_busy_one_does() {
    let project = Project::new();
    project.write("processes/hold.mjs", NODE);
    project.write("processes/spin.mjs", "export default () => { for (;;); }\n");
    let server = project.start(&SERVE);
    let job = add(&server, "hold", 1_500);
    signal(&runner(&project, 0), "-STOP");
    project.write("go", "");
    let done = ended(&server, &job);
    assert_eq!(
        (&done["state"], &done["result"]),
        (&json!("completed"), &json!(2)),
        "{done:#}"
    );
    let said = server.ok(&["jobs", "logs", &job]);
    assert!(
        said.contains("WORKER_LOST") && !said.contains("TIMEOUT"),
        "{said}"
    );
    let slow = ended(&server, &add(&server, "spin", 500));
    assert_eq!(
        (&slow["error"]["code"], &slow["attempt"]),
        (&json!("TIMEOUT"), &json!(1)),
        "{slow:#}"
    );
}
