//! `riverrun serve`: how it starts, refuses and ends.

use serde_json::Value;

use crate::support::{Project, QUICK};

#[test]
fn it_says_where_to_look_and_ends_when_asked() {
    let project = Project::with_flows();
    let server = project.serve();
    assert!(server.said("data").contains(".riverrun"));
    assert!(server.said("flows").contains("quick@1.0.0"));
    server.ok(&["run", "slow"]);
    server.signal("-TERM");
    assert!(server.said("stopping").contains("SIGTERM"));
    assert_eq!(server.ended(), 0);
    // What was under way is there again, and the same flows register without complaint.
    let server = project.serve();
    assert_eq!(
        server
            .json(&["runs", "ls", "--status", "waiting"])
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_live_reader_does_not_hold_up_the_end() {
    let project = Project::with_flows();
    let server = project.serve();
    let following = crate::support::Running::of(server.command(&[
        "run",
        "slow",
        "--follow",
        "--timeout",
        "60s",
    ]));
    crate::support::wait_for(&following.out, "step.await.time");
    server.signal("-INT");
    assert_eq!(server.ended(), 0);
    let mut following = following;
    following.child.kill().unwrap();
    following.child.wait().unwrap();
}

#[test]
fn a_second_signal_ends_it_at_once() {
    // A server that takes a request and never answers keeps an attempt running.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let project = Project::new();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let flow = format!(
        "id: call\nversion: 1.0.0\ninitialStepId: call\nsteps:\n  call:\n    type: http\n    config: {{ url: '{url}' }}\n"
    );
    project.write("flows/call.yaml", &flow);
    project.write(
        "riverrun.toml",
        "grace = '10m'\n[http]\nallow = ['127.0.0.1']\n",
    );
    let server = project.serve();
    server.ok(&["run", "call"]);
    let _asked = silent.accept().unwrap();
    server.signal("-INT");
    server.said("stopping");
    server.signal("-INT");
    server.said("stopped at once");
    assert_eq!(server.ended(), 130);
}

#[test]
fn json_logs_are_json_from_the_first_line() {
    let project = Project::with_flows();
    let started = project
        .command()
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--store",
            "memory:",
            "--log-format",
            "json",
        ])
        .stderr(std::process::Stdio::piped())
        .spawn();
    let mut child = started.unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(first["message"], "listening");
    assert!(
        first["url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:")
    );
}

/// The answer to a request for a name, from its status on.
fn asked(url: &str, host: &str, path: &str) -> String {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer["HTTP/1.1 ".len()..].to_owned()
}

fn asked_as(url: &str, host: &str) -> String {
    asked(url, host, "/api/runs")[..3].to_owned()
}

#[cfg(unix)]
#[test]
fn it_stops_when_its_data_is_gone() {
    let project = Project::with_flows();
    let server = project.serve();
    server.ok(&["run", "slow"]);
    std::fs::remove_dir_all(project.path(".riverrun")).unwrap();
    server.said("the data is gone");
    server.said("error[STORE_GONE]");
    assert_eq!(server.ended(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_not_ready_on_a_full_disk() {
    let project = Project::new();
    let server = project.serve();
    let ready = || asked(&server.url, "localhost", "/readyz");
    assert!(ready().starts_with("200"));
    std::os::unix::fs::symlink("/dev/full", project.path(".riverrun/room")).unwrap();
    let answer = ready();
    assert!(answer.starts_with("507"), "{answer}");
    assert!(answer.contains("DISK_FULL"), "{answer}");
    assert!(answer.contains("No space left"), "{answer}");
    assert!(ready().starts_with("200"));
}

#[test]
fn it_answers_under_its_own_names_alone() {
    let project = Project::new();
    let listen = ["serve", "--listen", "127.0.0.1:0", "--store", "memory:"];
    let server = project.start(&listen);
    for (host, status) in [
        ("localhost", "200"),
        ("evil.example", "403"),
        ("flows.lan", "403"),
    ] {
        assert_eq!(asked_as(&server.url, host), status, "{host}");
    }
    server.ok(&["runs", "ls"]);
    let allowed = ["--set", "allowed_hosts=flows.lan"];
    let server = project.start(&[&listen[..], &allowed].concat());
    assert_eq!(asked_as(&server.url, "flows.lan"), "200");
    assert_eq!(asked_as(&server.url, "evil.example"), "403");
    // On other addresses the operator configures the names.
    let beyond = ["--listen", "0.0.0.0:0", "--allow-unauthenticated"];
    let beyond = [&["serve", "--store", "memory:"][..], &beyond].concat();
    let server = project.start(&beyond);
    let url = server.url.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(asked_as(&url, "flows.lan"), "200");
    let server = project.start(&[&beyond[..], &allowed].concat());
    let url = server.url.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(asked_as(&url, "flows.lan"), "200");
    assert_eq!(asked_as(&url, "evil.example"), "403");
}

#[test]
fn a_second_server_is_refused() {
    let project = Project::with_flows();
    let server = project.serve();
    let second = project.run(&["serve", "--listen", "127.0.0.1:0"]);
    second.refused(
        1,
        &["error[STORE_LOCKED]", "in use by process", "try: --data"],
    );
    let address = server.url.trim_start_matches("http://");
    let second = project.run(&["serve", "--listen", address, "--data", "other"]);
    second.refused(1, &["error[PORT_IN_USE]", address, "try: riverrun doctor"]);
    assert!(!project.path("other").exists());
}

#[test]
fn what_cannot_be_served_is_refused() {
    let project = Project::with_flows();
    let refused = |args: &[&str], code: i32, says: &[&str]| {
        project
            .run(&[&["serve"], args].concat())
            .refused(code, says);
    };
    refused(
        &["--listen", "0.0.0.0:0"],
        2,
        &["error[LISTEN_UNAUTHENTICATED]", "--allow-unauthenticated"],
    );
    refused(
        &["--listen", "nonsense"],
        2,
        &["error[CONFIG_INVALID]: listen"],
    );
    let any = ["--listen", "127.0.0.1:0"];
    refused(
        &[&any[..], &["--store", "postgres://h/d"]].concat(),
        2,
        &["error[STORE_NOT_BUILT_IN]", "sqlite://"],
    );
    refused(
        &[&any[..], &["--store", "what:"]].concat(),
        2,
        &["error[STORE_UNKNOWN]"],
    );
    refused(
        &[&any[..], &["--project", "nowhere"]].concat(),
        2,
        &["error[PROJECT_NOT_FOUND]", "riverrun init nowhere"],
    );
    project.write("a-file", "");
    refused(
        &[&any[..], &["--data", "a-file/data"]].concat(),
        1,
        &["error[STORE_", "a-file/data"],
    );
    refused(&["--set", "lease"], 2, &["error[USAGE]"]);
    refused(
        &["--set", "allowed_hosts=http://a:80"],
        2,
        &["error[CONFIG_INVALID]: allowed_hosts", "http://a:80"],
    );
}

#[test]
fn a_definition_that_changed_under_its_version_is_refused_with_its_file() {
    let project = Project::with_flows();
    project.serve().kill();
    project.write("flows/quick.yaml", &QUICK.replace("Hello", "Hi"));
    let ended = project.run(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    ended.refused(
        1,
        &[
            "error[FLOW_EXISTS]",
            "quick.yaml",
            "quick@1.0.0",
            "try: a new version",
        ],
    );
    project.write("flows/quick.yaml", &QUICK.replace("type: log", "type: lgo"));
    let ended = project.run(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    ended.refused(1, &["error[FLOW_INVALID]", "quick.yaml", "steps.say.type"]);
}

#[test]
fn a_module_that_failed_once_is_loaded_again() {
    let project = Project::new();
    project.write(
        "processes/imp.mjs",
        "import { existsSync } from 'node:fs'\n\
         if (existsSync('down')) throw new Error('database is down')\n\
         export default () => 'fine'\n",
    );
    project.write("processes/other.mjs", "export default () => 'well'\n");
    project.write("processes/imp_py.py", "import os\nif os.path.exists('down'): raise Exception('database is down')\ndef handler(input, ctx): return 'fine'\n");
    assert_eq!(project.run(&["build", "."]).code, 0);
    let down = project.write("down", "");
    let registry = ["serve", "--registry", "riverrun.registry.json"];
    let server = project.start(&[&registry[..], &["--listen", "127.0.0.1:0"]].concat());
    for queue in ["imp", "imp_py"] {
        let failed = server.run(&["jobs", "add", queue, "-d", "1", "--wait"]);
        failed.refused(1, &["database is down", "MODULE_ERROR"]);
    }
    std::fs::remove_file(down).unwrap();
    for (queue, result) in [("imp", "fine"), ("imp_py", "fine"), ("other", "well")] {
        let job = server.json(&["jobs", "add", queue, "-d", "1", "--wait"]);
        assert_eq!(job["result"], result, "{job}");
    }
}

/// Without the steps of a file that does not load, a flow would be another one, and the newest.
#[test]
fn a_flow_of_processes_stays_whole_while_a_file_of_it_does_not_load() {
    const ENTRY: &str = "export const config = { flow: { id: 'inc', role: 'entry', step: 'a', emits: ['inc.x'] } }\nexport default async (input, ctx) => { await ctx.emit('inc.x', { n: 1 }) }\n";
    const STEP: &str = "export const config = { flow: { id: 'inc', role: 'step', step: 'b', subscriptions: [{ eventKind: 'inc.x' }] } }\nexport default async () => 'shipped'\n";
    let project = Project::new();
    project.write("package.json", r#"{"type":"module"}"#);
    project.write("processes/a.mjs", ENTRY);
    project.write(
        "processes/mail.mjs",
        "export const config = {}\nexport default async () => 'sent'\n",
    );
    let broken = format!("import 'not-installed-module'\n{STEP}");
    project.write("processes/b.mjs", &broken);
    // A file that has nothing to do with any flow holds none back, and neither does one of another flow.
    project.write(
        "processes/torn.mjs",
        "export const config = { queue: 'torn'\n",
    );
    project.write("processes/other/start.py", "config = {\"flow\": {\"id\": \"other\", \"role\": \"entry\", \"step\": \"start\"}}\n\ndef handler(input, ctx):\n    return 'other'\n");
    // It is not registered without its step; starting it returns the reason, and others work.
    let server = project.serve();
    server.said("flow \"inc\" stays as it was registered");
    let other = server.ok(&["run", "other", "--wait"]);
    assert_eq!(other.trim(), "\"other\"");
    let started = server.run(&["run", "inc"]);
    started.refused(2, &["FLOW_NOT_FOUND", "b.mjs does not load"]);
    assert!(!started.err.contains("torn.mjs"), "{}", started.err);
    let unknown = server.run(&["run", "nowhere"]);
    unknown.refused(2, &["FLOW_NOT_FOUND"]);
    assert!(!unknown.err.contains(".mjs"), "{}", unknown.err);
    let sent = server.ok(&["jobs", "add", "mail", "--wait", "-d", "{}"]);
    assert_eq!(sent.trim(), "\"sent\"");
    server.kill();
    project.write("processes/b.mjs", STEP);
    std::fs::remove_file(project.path("processes/other/start.py")).unwrap();
    let server = project.serve();
    let versions = |server: &crate::support::Server<'_>| {
        let flows = server.json(&["flows", "ls"]);
        let flows = flows.as_array().unwrap().iter();
        let shown = flows.map(|flow| format!("{}@{}", flow["id"], flow["version"]));
        shown.collect::<Vec<_>>()
    };
    let whole = versions(&server);
    assert_eq!(whole, [r#""inc"@"1.0.0""#, r#""other"@"1.0.0""#]);
    server.kill();
    // And it stays what it was, whatever is left of the file.
    for text in [broken.as_str(), "export default (\n"] {
        project.write("processes/b.mjs", text);
        let server = project.serve();
        assert_eq!(versions(&server), whole);
        server.said("stays as it was registered");
        server.kill();
    }
}
