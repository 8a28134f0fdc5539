//! `riverrun run`, and how it ends.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, Running, wait_for, with_input};

#[test]
fn starting_waiting_and_following() {
    let project = Project::with_flows();
    let server = project.serve();

    // Without waiting: the id alone on stdout.
    let id = server.ok(&["run", "quick", "-d", r#"{"name": "Ada"}"#]);
    assert_eq!(server.json(&["runs", "show", id.trim()])["flow"], "quick");

    // Waiting: the result.
    assert_eq!(
        server
            .ok(&["run", "quick", "-d", r#"{"name": "Ada"}"#, "--wait"])
            .trim(),
        "\"Hello, Ada!\""
    );
    let run = server.json(&[
        "run",
        "quick@1.0.0",
        "-d",
        r#"{"name": "Ada"}"#,
        "--wait",
        "--tag",
        "a",
        "--tag",
        "b",
        "--tenant",
        "t",
    ]);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["tags"], json!(["a", "b"]));
    assert_eq!(run["tenantId"], "t");

    // Following: one line per event, for people and for programs.
    let events = server.ok(&["run", "short", "--follow", "--timeout", "60s"]);
    for text in [
        "flow.started",
        "step.await.time",
        "step.resumed",
        "flow.completed",
    ] {
        assert!(events.contains(text), "{text} is not in {events}");
    }
    assert!(!events.contains('\u{1b}'), "colours in a pipe: {events}");
    let events = server.ok(&["run", "short", "--follow", "-o", "jsonl"]);
    let events: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events[0]["type"], "flow.started");
    assert_eq!(events.last().unwrap()["type"], "flow.completed");

    // Input from a file and from stdin; no number is rounded on its way.
    let input = r#"{"name": "Ada", "id": 12345678901234567890123}"#;
    let path = project.write("input.json", input);
    server.ok(&[
        "run",
        "quick",
        "-d",
        &format!("@{}", path.display()),
        "--wait",
    ]);
    assert!(
        server
            .ok(&["runs", "show", "latest", "-o", "json"])
            .contains("12345678901234567890123")
    );
    let ended = with_input(
        server.command(&["run", "quick", "-d", "-", "--wait"]),
        r#"{"name": "Eve"}"#,
    );
    assert_eq!(ended.out.trim(), "\"Hello, Eve!\"");

    // The same key is the same run.
    let started =
        |args: &[&str]| server.json(&[&["run", "quick", "-d", r#"{"name": "x"}"#], args].concat());
    let first = started(&["--key", "k"]);
    let second = started(&["--key", "k"]);
    assert_eq!(first["runId"], second["runId"]);
    assert_eq!(
        (first["created"].as_bool(), second["created"].as_bool()),
        (Some(true), Some(false))
    );

    let delayed = started(&["--delay", "1h"]);
    let shown = server.json(&["runs", "show", delayed["runId"].as_str().unwrap()]);
    assert!(shown["wakeAt"].is_string(), "{shown:#}");
}

#[test]
fn exit_codes() {
    let project = Project::with_flows();
    let server = project.serve();
    let failed = server.run(&["run", "failing", "--wait"]);
    assert_eq!(failed.out, "", "a failed run has no result");
    failed.refused(1, &["error[NO_MATCH]", "try: riverrun runs events"]);
    let whole = server.run(&["run", "failing", "--wait", "-o", "json"]);
    let run: serde_json::Value = serde_json::from_str(&whole.out).unwrap();
    assert_eq!(run["status"], "failed");
    server
        .run(&["run", "failing", "--follow"])
        .refused(1, &["error[NO_MATCH]", "failed"]);
    server
        .run(&["run", "nothing"])
        .refused(2, &["error[FLOW_NOT_FOUND]", "try: riverrun flows ls"]);
    server
        .run(&["run", "quick", "-d", "{"])
        .refused(2, &["error[INPUT_NOT_JSON]"]);
    server
        .run(&["run", "quick", "-d", r#"{"n": 1e999}"#])
        .refused(2, &["error[INPUT_NOT_JSON]", "out of range"]);
    server
        .run(&["run", "quick", "-d", "@nowhere.json"])
        .refused(2, &["error[FILE_UNUSABLE]", "nowhere.json"]);
    server
        .run(&["run", "quick", "--version", "9.9.9"])
        .refused(2, &["error[FLOW_NOT_FOUND]"]);
    server
        .run(&["run", "slow", "--wait", "--timeout", "100ms"])
        .refused(4, &["error[TIMEOUT]", "the run continues"]);
    server
        .run(&["run", "slow", "--wait", "--timeout", "soon"])
        .refused(2, &["error[USAGE]", "not a duration"]);
    server
        .run(&["runs", "show", "nothing"])
        .refused(2, &["error[RUN_NOT_FOUND]"]);

    let url = server.url.clone();
    server.kill();
    let away = ["run", "quick", "--url", &url, "--connect-timeout", "0s"];
    let away = project.run(&away);
    away.refused(3, &["error[UNREACHABLE]", &url, "try: riverrun dev"]);
    project
        .run(&["runs", "ls", "--url", "nonsense"])
        .refused(2, &["error[URL_INVALID]"]);
}

#[test]
fn ctrl_c_leaves_the_run_alone() {
    let project = Project::with_flows();
    let server = project.serve();
    let following = Running::of(server.command(&["run", "slow", "--follow"]));
    wait_for(&following.out, "step.await.time");
    let interrupt = Command::new("kill")
        .args(["-INT", &following.child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let said = wait_for(&following.err, "it continues");
    assert!(said.contains("no longer following run"), "{said}");
    assert_eq!(following.code(), 0);
    assert_eq!(
        server.json(&["runs", "show", "latest"])["status"],
        "waiting"
    );
}

#[test]
fn following_outlives_the_server() {
    let project = Project::with_flows();
    project.write("flows/long.yaml", &crate::support::resting("long", 2_000));
    let server = project.serve();
    let address = server.url.trim_start_matches("http://").to_owned();
    let following = Running::of(server.command(&["run", "long", "--follow", "-o", "jsonl"]));
    wait_for(&following.out, "step.await.time");
    server.kill();
    wait_for(&following.err, "the connection broke");
    let _again = project.start(&["serve", "--project", ".", "--listen", &address]);
    wait_for(&following.out, "step.resumed");
    wait_for(&following.out, "flow.completed");
    assert_eq!(following.code(), 0);
}

/// A command that is typed right after the server's does not have to wait for it.
#[test]
fn a_command_waits_for_a_server_that_is_starting() {
    let project = Project::with_flows();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    drop(port);
    let url = format!("http://{address}");
    let mut asking = project.command();
    asking.args(["run", "quick", "-d", r#"{"name": "Ada"}"#, "--wait"]);
    asking.args(["--connect-timeout", "60s", "--url", &url]);
    let asking = Running::of(asking);
    // It says what it waits for, once it has tried for a while.
    let shown = wait_for(&asking.err, "waiting for a server");
    assert!(shown.contains(&url), "{shown}");
    let server = project.start(&["serve", "--project", ".", "--listen", &address]);
    wait_for(&asking.out, "Hello, Ada!");
    assert_eq!(asking.code(), 0);
    server.kill();
}

#[test]
fn lists_take_several_tags() {
    let project = Project::with_flows();
    let server = project.serve();
    let start = |tags: &[&str]| {
        let tags = tags.iter().flat_map(|tag| ["--tag", tag]);
        let args: Vec<&str> = ["run", "quick", "-d", "{}"]
            .into_iter()
            .chain(tags)
            .collect();
        server.json(&args)["runId"].clone()
    };
    let both = start(&["red", "large"]);
    start(&["red"]);
    start(&["large"]);
    let found = server.json(&["runs", "ls", "--tag", "red", "--tag", "large"]);
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["runId"], both);
    let found = server.json(&["runs", "ls", "--tag", "red"]);
    assert_eq!(found.as_array().unwrap().len(), 2);
    for tags in [&["--tag", "red", "--tag", "large"][..], &["--tag", "red"]] {
        server.ok(&[&["jobs", "add", "mail", "--create"], tags].concat());
    }
    let found = server.json(&["jobs", "ls", "--tag", "large", "--tag", "red"]);
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
}
