//! Workers on other folders, as on other machines: real processes, real sockets, killed for real.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{PATIENCE, Project, Running, Server, wait_for};

/// Says that it has begun, and returns its attempt once it may.
const HOLD: &str = "import asyncio, os\n\nconfig = {'timeout_ms': 120_000}\n\n\n\
    async def handler(input, ctx):\n    \
    with open('begun', 'a') as begun:\n        begun.write(f'{ctx.attempt}\\n')\n    \
    ctx.logger.info('holding')\n    \
    while not os.path.exists('go'):\n        await asyncio.sleep(0.02)\n    \
    open('done', 'w').close()\n    return ctx.attempt\n";

const SERVE: [&str; 7] = [
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--set",
    "lease=3s",
    "--set",
    "worker_reconnect=3s",
];

/// A worker that is killed when the test is over.
struct Worker {
    running: Running,
}

impl Worker {
    fn start(project: &Project, url: &str, args: &[&str]) -> Self {
        let mut command = project.command();
        command.args(["worker", "--server", url]).args(args);
        let worker = Self {
            running: Running::of(command),
        };
        wait_for(&worker.running.err, "is connected to");
        worker
    }

    fn signal(&self, signal: &str) {
        let id = self.running.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Waits until it has ended by itself.
    fn ended(mut self) -> i32 {
        self.running.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.running.child.kill();
        let _ = self.running.child.wait();
    }
}

/// Other processes have no signal that a test could wait on.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it did not come about: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn add(server: &Server<'_>, queue: &str) -> String {
    let added = server.json(&["jobs", "add", queue, "-d", "null"]);
    added["jobs"][0]["jobId"].as_str().unwrap().to_owned()
}

fn job_is(server: &Server<'_>, id: &str, state: &str) -> Value {
    until(&format!("job {id} is {state}"), || {
        let job = server.json(&["jobs", "show", id]);
        (job["state"] == state).then_some(job)
    })
}

/// A project with one process that holds, and a job of it that runs.
fn holding(server: &Server<'_>, project: &Project, args: &[&str]) -> (Worker, String) {
    project.write("processes/hold.py", HOLD);
    let worker = Worker::start(project, &server.url, args);
    let job = add(server, "hold");
    until("the handler has begun", || {
        project.path("begun").exists().then_some(())
    });
    (worker, job)
}

fn begun(project: &Project) -> String {
    std::fs::read_to_string(project.path("begun")).unwrap()
}

#[test]
fn steps_are_run_elsewhere_and_give_their_places_back() {
    let (home, away) = (Project::new(), Project::new());
    away.write(
        "processes/add.mjs",
        "export default (n) => (Number.isInteger(n) ? n : 0) + 1\n",
    );
    home.write(
        "flow.yaml",
        "id: sum\nversion: 1.0.0\ninitialStepId: a\nsteps:\n  \
         a: {type: process, config: {process: add}, outputKey: n, transitions: {onSuccess: b}}\n  \
         b: {type: process, config: {process: add}, input: {type: key, key: n}, transitions: {onSuccess: null}}\n",
    );
    let server = home.start(&SERVE);
    // With one place, one step that keeps it is the last.
    let _worker = Worker::start(&away, &server.url, &["--concurrency", "1"]);
    server.ok(&["flows", "register", "flow.yaml"]);
    for _ in 0..3 {
        let ended = server.json(&["run", "sum", "--wait", "--timeout", "20s"]);
        assert_eq!(
            (&ended["status"], &ended["result"]),
            (&json!("completed"), &json!(2))
        );
    }
    let job = server.json(&["jobs", "add", "add", "-d", "4", "--wait"]);
    assert_eq!(job["result"], 5);
}

#[test]
fn a_server_without_a_project_has_its_work_done_by_a_worker() {
    let (home, away) = (Project::new(), Project::new());
    away.write(
        "processes/resize.mjs",
        "export default async (input, ctx) => {\n  ctx.logger.info('resizing')\n  \
         await ctx.state.set('width', input.width)\n  \
         return { width: await ctx.state.get('width'), attempt: ctx.attempt }\n}\n",
    );
    away.write(
        "processes/ml/train.py",
        "config = {'input_schema': {'type': 'object', 'required': ['epochs']}}\n\n\n\
         async def handler(input, ctx):\n    ctx.progress(50)\n    return input['epochs'] * 2\n",
    );
    away.write(
        "processes/greet.mjs",
        "export const config = { runMode: 'call' }\nexport default (name) => `Hello, ${name}!`\n",
    );
    away.write("processes/broken.mjs", "export default (\n");
    let server = home.start(&SERVE);
    let args = ["--name", "far", "--tag", "gpu", "--concurrency", "3"];
    let worker = Worker::start(&away, &server.url, &args);
    let workers = server.json(&["workers", "ls"]);
    let shown = &workers[0];
    assert_eq!(
        (&shown["name"], &shown["tags"]),
        (&json!("far"), &json!(["gpu"]))
    );
    assert_eq!(shown["processes"], json!(["greet", "ml/train", "resize"]));
    assert_eq!(
        (&shown["window"], &shown["state"]),
        (&json!(3), &json!("connected"))
    );

    let run = |queue: &str, data: &str| {
        server.json(&["jobs", "add", queue, "-d", data, "--wait"])["result"].clone()
    };
    assert_eq!(
        run("resize", r#"{"width": 640}"#),
        json!({"width": 640, "attempt": 1})
    );
    assert_eq!(run("train", r#"{"epochs": 21}"#), 42);
    assert_eq!(
        server.json(&["call", "greet", "-d", "\"Ada\""]),
        "Hello, Ada!"
    );
    // What breaks the schema is refused here, before it is a job.
    let bad = server.run(&["jobs", "add", "train", "-d", "{}"]);
    bad.refused(2, &["INPUT_INVALID", "epochs"]);

    assert!(server.ok(&["workers", "drain", "1"]).contains("far"));
    assert_eq!(worker.ended(), 0);
    assert_eq!(server.json(&["workers", "ls"]), json!([]));
    let refused = server.run(&["call", "greet", "-d", "\"Ada\""]);
    refused.refused(3, &["NO_WORKER", "greet"]);
    let waits = server.json(&["jobs", "add", "resize", "-d", "{}"]);
    let waits = server.json(&["jobs", "show", waits["jobs"][0]["jobId"].as_str().unwrap()]);
    assert_eq!(
        (&waits["state"], &waits["attempt"]),
        (&json!("waiting"), &json!(0))
    );
    server
        .run(&["workers", "drain", "1"])
        .refused(2, &["WORKER_NOT_FOUND"]);
}

/// Without the steps of a file that does not load, a flow would be another one, and the newest.
#[test]
fn flows_of_a_worker_stay_whole_while_a_file_of_it_does_not_load() {
    const ENTRY: &str = "export const config = { flow: { id: 'ship', role: 'entry', step: 'a', emits: ['packed'] } }\nexport default async (input, ctx) => { await ctx.emit('packed', {}) }\n";
    const STEP: &str = "export const config = { flow: { id: 'ship', role: 'step', step: 'b', subscriptions: [{ eventKind: 'packed' }] } }\nexport default async () => 'shipped'\n";
    let (home, away) = (Project::new(), Project::new());
    away.write("processes/a.mjs", ENTRY);
    let broken = format!("({STEP}");
    away.write("processes/b.mjs", &broken);
    away.write("processes/torn.mjs", "export default (\n");
    away.write("processes/alone.mjs", "export const config = { flow: { id: 'alone', role: 'entry', step: 'only' } }\nexport default () => 'alone'\n");
    away.write("processes/mail.mjs", "export default () => 'sent'\n");
    let server = home.start(&SERVE);
    let versions = || {
        let flows = server.json(&["flows", "ls"]);
        let flows = flows.as_array().unwrap().iter();
        flows
            .map(|flow| format!("{}@{}", flow["id"], flow["version"]))
            .collect::<Vec<_>>()
    };
    let worker = Worker::start(&away, &server.url, &["--name", "half"]);
    // Only the flow that the file belongs to waits for it.
    assert_eq!(versions(), [r#""alone"@"1.0.0""#]);
    let faults = server.json(&["workers", "ls"])[0]["faults"].clone();
    assert_eq!(faults[0]["code"], "PROCESS_BROKEN", "{faults}");
    let message = faults[0]["message"].as_str().unwrap();
    assert!(
        message.contains("b.mjs does not load (MODULE_SYNTAX)"),
        "{message}"
    );
    // What it could load works.
    let sent = server.json(&["jobs", "add", "mail", "-d", "1", "--wait"]);
    assert_eq!(sent["result"], "sent");
    let leave = |worker: Worker| {
        let id = server.json(&["workers", "ls"])[0]["id"].to_string();
        server.ok(&["workers", "drain", &id]);
        assert_eq!(worker.ended(), 0);
    };
    leave(worker);
    away.write("processes/b.mjs", STEP);
    let worker = Worker::start(&away, &server.url, &["--name", "whole"]);
    let whole = versions();
    assert_eq!(whole, [r#""alone"@"1.0.0""#, r#""ship"@"1.0.0""#]);
    leave(worker);
    // And it stays what it was.
    away.write("processes/b.mjs", "export default (\n");
    let _worker = Worker::start(&away, &server.url, &["--name", "half"]);
    assert_eq!(versions(), whole);
}

#[test]
fn a_killed_workers_job_is_taken_by_another_soon() {
    let (home, first, second) = (Project::new(), Project::new(), Project::new());
    let server = home.start(&SERVE);
    let (mut worker, job) = holding(&server, &first, &["--name", "first"]);
    second.write("processes/hold.py", HOLD);
    second.write("go", "");
    let _other = Worker::start(&second, &server.url, &["--name", "second"]);
    worker.running.child.kill().unwrap();
    let done = job_is(&server, &job, "completed");
    assert_eq!((&done["result"], &done["attempt"]), (&json!(2), &json!(2)));
    assert_eq!(
        (begun(&first), begun(&second)),
        ("1\n".to_owned(), "2\n".to_owned())
    );
    let said = server.ok(&["jobs", "logs", &job]);
    assert!(said.contains("WORKER_LOST"), "{said}");
}

/// With a lease that is as long as the job's time, as by default: whichever is over first.
#[test]
fn a_frozen_worker_costs_its_job_no_attempt() {
    let (home, first, second) = (Project::new(), Project::new(), Project::new());
    let server = home.start(&SERVE);
    let once = "'timeout_ms': 3_000, 'retry_policy': {'attempts': 1}";
    let hold = HOLD.replace("'timeout_ms': 120_000", once);
    first.write("processes/hold.py", &hold);
    second.write("processes/hold.py", &hold);
    second.write("go", "");
    let frozen = Worker::start(&first, &server.url, &["--name", "first"]);
    let job = add(&server, "hold");
    until("the handler has begun", || {
        first.path("begun").exists().then_some(())
    });
    frozen.signal("-STOP");
    let _other = Worker::start(&second, &server.url, &["--name", "second"]);
    let done = job_is(&server, &job, "completed");
    assert_eq!((&done["result"], &done["attempt"]), (&json!(2), &json!(2)));
    let said = server.ok(&["jobs", "logs", &job]);
    assert!(
        said.contains("WORKER_LOST") && !said.contains("TIMEOUT"),
        "{said}"
    );
}

#[test]
fn a_handler_that_takes_too_long_in_a_worker_that_answers_has_failed() {
    let (home, away) = (Project::new(), Project::new());
    let server = home.start(&SERVE);
    let once = "'timeout_ms': 3_000, 'retry_policy': {'attempts': 1}";
    away.write(
        "processes/hold.py",
        &HOLD.replace("'timeout_ms': 120_000", once),
    );
    let _worker = Worker::start(&away, &server.url, &[]);
    let job = add(&server, "hold");
    let failed = job_is(&server, &job, "failed");
    assert_eq!(
        (&failed["error"]["code"], &failed["attempt"]),
        (&json!("TIMEOUT"), &json!(1))
    );
}

/// Between a worker and its server: it can be cut, and let through again.
struct Wire {
    url: String,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    fn to(server: &Server<'_>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let target = server.url.trim_start_matches("http://").to_owned();
        let is_cut = Arc::new(AtomicBool::new(false));
        let open: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let (cut, streams) = (is_cut.clone(), open.clone());
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let mut streams = streams.lock().unwrap();
                let far = TcpStream::connect(&target);
                let (false, Ok(far)) = (cut.load(Ordering::SeqCst), far) else {
                    continue;
                };
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || carry(from, to));
                }
                streams.extend([near, far]);
            }
        });
        Self { url, is_cut, open }
    }

    fn cut(&self) {
        let mut open = self.open.lock().unwrap();
        self.is_cut.store(true, Ordering::SeqCst);
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 4_096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_job_whose_connection_was_cut_and_mended_ends_once() {
    let (home, away) = (Project::new(), Project::new());
    let server = home.start(&["serve", "--listen", "127.0.0.1:0", "--set", "lease=30s"]);
    let wire = Wire::to(&server);
    away.write("processes/hold.py", HOLD);
    let worker = Worker::start(&away, &wire.url, &["--name", "far"]);
    let job = add(&server, "hold");
    until("the handler has begun", || {
        away.path("begun").exists().then_some(())
    });
    wire.cut();
    until("the server has detected it", || {
        (server.json(&["workers", "ls"])[0]["state"] == "away").then_some(())
    });
    // It ends while there is no connection.
    away.write("go", "");
    until("the handler has ended", || {
        away.path("done").exists().then_some(())
    });
    assert_eq!(server.json(&["jobs", "show", &job])["state"], "active");
    wire.mend();
    let done = job_is(&server, &job, "completed");
    assert_eq!((&done["result"], &done["attempt"]), (&json!(1), &json!(1)));
    wait_for(&worker.running.err, "again");
    assert_eq!(
        server.json(&["jobs", "add", "hold", "-d", "null", "--wait"])["result"],
        1
    );
    assert_eq!(begun(&away), "1\n1\n");
    assert_eq!(server.json(&["workers", "ls"]).as_array().unwrap().len(), 1);
}

#[test]
fn a_worker_that_is_asked_to_stop_ends_what_it_runs_and_takes_no_more() {
    let (home, away) = (Project::new(), Project::new());
    let server = home.start(&SERVE);
    let (worker, job) = holding(&server, &away, &[]);
    worker.signal("-TERM");
    until("the worker is draining", || {
        (server.json(&["workers", "ls"])[0]["state"] == "draining").then_some(())
    });
    let later = add(&server, "hold");
    away.write("go", "");
    assert_eq!(worker.ended(), 0);
    let done = job_is(&server, &job, "completed");
    assert_eq!(done["attempt"], 1);
    let waits = server.json(&["jobs", "show", &later]);
    assert_eq!(
        (&waits["state"], &waits["attempt"]),
        (&json!("waiting"), &json!(0))
    );
    assert_eq!(begun(&away), "1\n");
}

#[test]
fn a_second_signal_ends_a_worker_at_once() {
    let (home, away) = (Project::new(), Project::new());
    let server = home.start(&SERVE);
    let (worker, job) = holding(&server, &away, &[]);
    worker.signal("-TERM");
    wait_for(&worker.running.err, "a second signal stops at once");
    worker.signal("-TERM");
    assert_eq!(worker.ended(), 130);
    // No other worker is connected: the job waits for one.
    let waits = job_is(&server, &job, "waiting");
    assert_eq!(waits["attempt"], 1);
}

#[test]
fn a_worker_comes_back_to_a_server_that_was_restarted() {
    let (home, away) = (Project::new(), Project::new());
    let server = home.start(&SERVE);
    let listen = server.url.trim_start_matches("http://").to_owned();
    let (worker, job) = holding(&server, &away, &["--name", "far"]);
    server.signal("-TERM");
    wait_for(&worker.running.err, "the server stops");
    assert_eq!(server.ended(), 0);
    away.write("go", "");
    let server = home.start(&["serve", "--listen", &listen]);
    wait_for(&worker.running.err, "again");
    // What the old server gave back was not begun, as far as anybody can tell.
    assert_eq!(job_is(&server, &job, "completed")["attempt"], 1);
    server.kill();
    let server = home.start(&["serve", "--listen", &listen]);
    wait_for(&worker.running.err, "again");
    assert_eq!(
        server.json(&["jobs", "add", "hold", "-d", "null", "--wait"])["result"],
        1
    );
}

#[test]
fn a_worker_says_why_it_cannot_work() {
    let project = Project::new();
    let worker = |args: &[&str]| project.run(&[&["worker"], args].concat());
    worker(&["--project", "nowhere"]).refused(2, &["PROJECT_NOT_FOUND"]);
    worker(&[]).refused(2, &["NO_PROCESSES", "processes/"]);
    project.write("processes/hold.py", HOLD);
    worker(&["--server", "nonsense"]).refused(2, &["URL_INVALID"]);
    let unreached = worker(&["--server", "http://127.0.0.1:1", "--wait", "200ms"]);
    unreached.refused(3, &["UNREACHABLE", "http://127.0.0.1:1", "--server"]);

    // Servers that are something else, or an older riverrun.
    let answers = [
        ("200 OK", "welcome", "NOT_RIVERRUN", 3),
        (
            "404 Not Found",
            r#"{"error":{"code":"NOT_FOUND","message":"there is no route"}}"#,
            "takes no workers",
            2,
        ),
    ];
    for (status, body, says, code) in answers {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request);
            stream.write_all(answer.as_bytes()).unwrap();
        });
        worker(&["--server", &url]).refused(code, &[says]);
    }
}

#[test]
fn a_flow_of_a_workers_processes_is_started_like_any_other() {
    let (home, away) = (Project::new(), Project::new());
    let ship = |kind: &str| {
        let text = format!(
            "config = {{'flow': {{'id': 'shop', 'step': 'ship', 'subscriptions': [{{'event_kind': '{kind}'}}]}}}}\n\n\n\
             def handler(input):\n    return {{'shipped': input['n']}}\n"
        );
        away.write("processes/ship.py", &text);
    };
    away.write(
        "processes/order.py",
        "config = {'flow': {'id': 'shop', 'role': 'entry', 'step': 'order', 'emits': ['ordered']}}\n\n\n\
         async def handler(input, ctx):\n    await ctx.emit('ordered', {'n': 7})\n    return 'ordered'\n",
    );
    ship("ordered");
    let server = home.start(&SERVE);
    let worker = Worker::start(&away, &server.url, &["--name", "one"]);
    let run = server.json(&["run", "shop", "--wait"]);
    assert_eq!(run["status"], "completed", "{run}");
    assert_eq!(run["result"], json!({"shipped": 7}), "{run}");
    // One that was deployed half is logged, and shown.
    ship("paid");
    let _second = Worker::start(&away, &server.url, &["--name", "two"]);
    let listed = server.run(&["workers", "ls"]);
    assert!(listed.err.contains("two: FLOW_CONFLICT: "), "{listed:?}");
    drop(worker);
}
