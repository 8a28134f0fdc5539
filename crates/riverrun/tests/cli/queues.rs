//! `riverrun queues`, `jobs` and `dlq` where no process takes the jobs: they stay as they are.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::{Project, Server, with_input};

/// Adds a job, and gives its id.
fn add(server: &Server<'_>, args: &[&str]) -> String {
    let id = server.ok(&[&["jobs", "add", "mail", "--create"], args].concat());
    id.trim().to_owned()
}

fn states(server: &Server<'_>, args: &[&str]) -> Vec<String> {
    let jobs = server.json(&[&["jobs", "ls", "mail"], args].concat());
    let jobs = jobs.as_array().unwrap().iter();
    jobs.map(|job| job["state"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn jobs_are_added_listed_and_steered() {
    let project = Project::new();
    let server = project.serve();
    server.run(&["jobs", "add", "mail", "-d", "1"]).refused(
        2,
        &[
            "error[QUEUE_NOT_FOUND]",
            "try: riverrun queues ls",
            "jobs add mail --create",
        ],
    );
    let data = r#"{"to": "Ada", "n": 12345678901234567890123}"#;
    let job = add(
        &server,
        &[
            "-d",
            data,
            "--name",
            "welcome",
            "--priority",
            "-2",
            "--attempts",
            "4",
            "--key",
            "k",
            "--tag",
            "red",
            "--tenant",
            "t",
        ],
    );
    let shown = server.json(&["jobs", "show", &job]);
    for (key, value) in [
        ("queue", json!("mail")),
        ("name", json!("welcome")),
        ("state", json!("waiting")),
        ("priority", json!(-2)),
        ("attempts", json!(4)),
        ("key", json!("k")),
        ("tags", json!(["red"])),
        ("tenantId", json!("t")),
    ] {
        assert_eq!(shown[key], value, "{key}");
    }
    let shown = server.ok(&["jobs", "show", &job]);
    for text in [
        "welcome",
        "waiting",
        "0 of at most 4",
        "12345678901234567890123",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }

    // The same key, the same job.
    let first = add(&server, &["--idempotency-key", "i"]);
    let again = server.run(&["jobs", "add", "mail", "--idempotency-key", "i"]);
    assert_eq!(again.out.trim(), first);
    assert!(again.err.contains("was added before"), "{again:?}");
    assert_eq!(add(&server, &["--id", "mine"]), "mine");

    // What fails keeps nothing from the others, and several are one document.
    let some: Vec<String> = (0..3).map(|_| add(&server, &["--delay", "1h"])).collect();
    let [one, two, three] = &some[..] else {
        panic!("three jobs were added")
    };
    let ended = server.run(&["jobs", "cancel", one, "nosuch", two, "neither"]);
    ended.refused(2, &["error[JOB_NOT_FOUND]", "2 of 4", "nosuch, neither"]);
    for id in [one, two] {
        assert_eq!(server.json(&["jobs", "show", id])["state"], "cancelled");
    }
    let promoted = server.json(&["jobs", "retry", one, two]);
    assert_eq!(promoted[1]["id"], **two);
    let removed = server.json(&["jobs", "rm", one, two, three]);
    assert_eq!(removed[2], json!({"jobId": three, "removed": true}));

    // A delayed one, from its beginning to its end.
    let late = add(&server, &["--delay", "1h"]);
    assert_eq!(states(&server, &["--state", "delayed"]), ["delayed"]);
    assert!(server.ok(&["jobs", "promote", &late]).contains("waiting"));
    server
        .run(&["jobs", "promote", &late])
        .refused(2, &["error[JOB_STATE]"]);
    let tomorrow = SystemTime::now() + Duration::from_secs(24 * 60 * 60);
    let tomorrow = tomorrow.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let timed = add(&server, &["--run-at", &tomorrow.to_string()]);
    let run_at = server.json(&["jobs", "show", &timed])["runAt"].clone();
    let again = add(&server, &["--run-at", run_at.as_str().unwrap()]);
    assert_eq!(server.json(&["jobs", "show", &again])["runAt"], run_at);
    server
        .run(&["jobs", "add", "mail", "--run-at", "soon"])
        .refused(
            2,
            &[
                "error[BAD_REQUEST]",
                "runAt",
                "must be a time",
                "not \"soon\"",
            ],
        );
    server
        .run(&["jobs", "add", "mail", "--run-at", "1", "--delay", "1s"])
        .refused(2, &["error[USAGE]", "--delay"]);
    server.ok(&["jobs", "rm", &timed, &again]);
    let cancelled = server.ok(&["jobs", "cancel", &late, "--reason", "wrong"]);
    assert!(cancelled.contains("cancelled"), "{cancelled}");
    assert!(server.ok(&["jobs", "retry", &late]).contains("waiting"));
    let removed = server.json(&["jobs", "rm", &late]);
    assert_eq!(removed, json!({"jobId": late, "removed": true}));
    server
        .run(&["jobs", "show", &late])
        .refused(2, &["error[JOB_NOT_FOUND]", "try: riverrun jobs ls"]);

    // Lists.
    assert_eq!(states(&server, &[]).len(), 3);
    assert_eq!(states(&server, &["--limit", "2"]).len(), 2);
    assert_eq!(states(&server, &["--status", "failed", "--all"]).len(), 0);
    let lines = server.ok(&["jobs", "ls", "mail", "-o", "jsonl"]);
    assert_eq!(lines.lines().count(), 3);
    let table = server.ok(&["jobs", "ls", "mail"]);
    assert!(table.starts_with("JOB "), "{table}");
    assert!(table.contains("priority -2 key k #red"), "{table}");
    let none = server.run(&["jobs", "ls", "mail", "--state", "active"]);
    assert_eq!((none.code, none.err.trim()), (0, "no jobs"));
    assert_eq!(states(&server, &["--tag", "red"]).len(), 1);
    assert_eq!(states(&server, &["--key", "absent"]).len(), 0);
    // Of all queues.
    server.ok(&["jobs", "add", "audit", "--create"]);
    let all = server.json(&["jobs", "ls"]);
    let queues: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["queue"].as_str().unwrap())
        .collect();
    assert_eq!(queues, ["audit", "mail", "mail", "mail"]);
    assert_eq!(
        server
            .json(&["jobs", "ls", "--tag", "red"])
            .as_array()
            .unwrap()
            .len(),
        1
    );

    // Nothing was said yet, and nothing ends.
    let quiet = server.run(&["jobs", "logs", &job, "--type", "log"]);
    assert_eq!(
        (quiet.code, quiet.err.trim()),
        (0, "nothing of that; the job is waiting")
    );
    let logs = server.ok(&["jobs", "logs", &job]);
    assert!(logs.contains("job.added"), "{logs}");
    server
        .run(&["jobs", "add", "mail", "--wait", "--timeout", "200ms"])
        .refused(
            4,
            &["no process takes jobs of queue", "error[TIMEOUT]: job "],
        );
}

#[test]
fn many_jobs_are_added_at_once() {
    let project = Project::new();
    let server = project.serve();
    let bulk = |input: &str, args: &[&str]| {
        let args = [&["jobs", "add", "mail", "--create", "--bulk"], args].concat();
        with_input(server.command(&args), input)
    };
    let lines = bulk("{\"a\": 1}\n\n[2]\n3\n", &[]);
    assert_eq!((lines.code, lines.out.lines().count()), (0, 3), "{lines:?}");
    let array = bulk("[1,\n 12345678901234567890123]", &["-d", "-", "-o", "json"]);
    let array: Value = serde_json::from_str(&array.out).unwrap();
    assert_eq!(array["jobs"].as_array().unwrap().len(), 2);
    let file = project.write("jobs.jsonl", "7\n8\n");
    let file = format!("@{}", file.display());
    assert_eq!(bulk("", &["-d", &file, "--key", "k"]).code, 0);
    let jobs = server.ok(&["jobs", "ls", "mail", "-o", "jsonl"]);
    for data in [
        r#""data":{"a":1}"#,
        r#""data":[2]"#,
        r#""data":12345678901234567890123"#,
        r#""data":8"#,
    ] {
        assert!(jobs.contains(data), "{data} is not in {jobs}");
    }
    // All or none.
    bulk("9\n{\n", &[]).refused(2, &["error[INPUT_NOT_JSON]: line 2 of the data"]);
    bulk("", &[]).refused(2, &["error[INPUT_NOT_JSON]: there is no job"]);
    assert_eq!(states(&server, &[]).len(), 7);
    bulk("1\n2\n", &["--wait", "--timeout", "100ms"]).refused(4, &["2 jobs did not end"]);
}

#[test]
fn queues_are_steered_and_emptied() {
    let project = Project::new();
    let server = project.serve();
    assert!(server.run(&["queues", "ls"]).err.contains("no queues"));
    let late = add(&server, &["--delay", "1h"]);
    add(&server, &[]);
    let queues = server.json(&["queues", "ls"]);
    assert_eq!(queues[0]["counts"]["waiting"], 1);
    let table = server.ok(&["queues", "ls"]);
    assert!(table.starts_with("QUEUE  WAITING  DELAYED"), "{table}");

    assert_eq!(
        server.ok(&["queues", "pause", "mail"]).trim(),
        "mail paused"
    );
    assert_eq!(server.json(&["queues", "show", "mail"])["paused"], true);
    let shown = server.ok(&["queues", "show", "mail"]);
    for text in [
        "state     paused",
        "none takes its jobs",
        "delayed   1",
        "p99 -",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }
    server
        .run(&["jobs", "add", "mail", "--wait", "--timeout", "100ms"])
        .refused(4, &["is paused", "try: riverrun queues resume mail"]);
    assert_eq!(server.ok(&["queues", "resume", "mail"]).trim(), "mail open");

    server.ok(&["jobs", "cancel", &late]);
    let removed = |args: &[&str]| server.json(args)["removed"].clone();
    let clean = ["queues", "clean", "mail", "--status", "cancelled"];
    assert_eq!(removed(&[&clean[..], &["--older-than", "1h"]].concat()), 0);
    assert_eq!(removed(&clean), 1);
    add(&server, &["--delay", "1h"]);
    assert_eq!(removed(&["queues", "clear", "mail"]), 2);
    let drained = server.ok(&["queues", "drain", "mail", "--delayed"]);
    assert_eq!(drained.trim(), "removed 1 jobs");

    // Dead letters, where there are none.
    assert_eq!(
        server.run(&["dlq", "ls", "mail"]).err.trim(),
        "no dead letters"
    );
    assert_eq!(server.json(&["dlq", "redrive", "mail"])["redriven"], 0);
    assert_eq!(removed(&["dlq", "purge", "mail", "--limit", "3"]), 0);
    let job = add(&server, &[]);
    server
        .run(&["dlq", "redrive", "mail", &job])
        .refused(2, &["error[JOB_STATE]", "not a dead letter"]);
}

#[test]
fn names_that_are_not_there() {
    let project = Project::new();
    let server = project.serve();
    for args in [
        vec!["queues", "show", "gone"],
        vec!["queues", "pause", "gone"],
        vec!["queues", "resume", "gone"],
        vec!["queues", "clear", "gone"],
        vec!["queues", "clean", "gone"],
        vec!["jobs", "ls", "gone"],
        vec!["dlq", "ls", "gone"],
        vec!["dlq", "redrive", "gone"],
        vec!["dlq", "purge", "gone"],
    ] {
        let says = ["error[QUEUE_NOT_FOUND]", "try: riverrun queues ls"];
        server.run(&args).refused(2, &says);
    }
    for verb in ["show", "retry", "cancel", "promote", "rm", "logs"] {
        server
            .run(&["jobs", verb, "gone"])
            .refused(2, &["error[JOB_NOT_FOUND]"]);
    }
    for args in [
        vec!["call", "gone", "-d", "{}"],
        vec!["call", "gone", "--follow"],
        vec!["processes", "show", "gone"],
    ] {
        let says = ["error[PROCESS_NOT_FOUND]", "try: riverrun processes ls"];
        server.run(&args).refused(2, &says);
    }
    assert_eq!(server.run(&["processes", "ls"]).err.trim(), "no processes");
    let url = server.url.clone();
    server.kill();
    for args in [
        vec!["queues", "ls"],
        vec!["jobs", "add", "mail"],
        vec!["dlq", "ls", "mail"],
        vec!["call", "x"],
        vec!["processes", "ls"],
        vec!["top"],
    ] {
        let args = [&args[..], &["--url", &url, "--connect-timeout", "0s"]].concat();
        project.run(&args).refused(3, &["error[UNREACHABLE]"]);
    }
}

#[test]
fn what_a_job_says_cannot_move_the_terminal() {
    let project = Project::new();
    let server = project.serve();
    let title = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let data = json!({ "text": title }).to_string();
    let job = add(&server, &["-d", &data]);
    for args in [
        vec!["jobs", "show", &job],
        vec!["jobs", "ls", "mail"],
        vec!["jobs", "show", &job, "-o", "json"],
        vec!["jobs", "ls", "mail", "-o", "jsonl"],
        vec!["queues", "show", title],
        vec!["call", title],
    ] {
        let ended = server.run(&args);
        for said in [ended.out, ended.err] {
            let moves = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!said.contains(moves), "{args:?}: {said:?}");
        }
    }
    assert_eq!(server.json(&["jobs", "show", &job])["data"]["text"], title);
}

#[test]
fn jobs_that_have_not_begun_are_changed_and_the_latest_needs_no_id() {
    let project = Project::new();
    let server = project.serve();
    server
        .run(&["jobs", "show", "latest"])
        .refused(2, &["error[JOB_NOT_FOUND]: there is no job yet"]);
    add(&server, &["--id", "first"]);
    add(&server, &["--id", "second"]);
    assert_eq!(server.json(&["jobs", "show", "latest"])["id"], "second");
    let changed = server.json(&[
        "jobs",
        "update",
        "latest",
        "--priority",
        "-7",
        "--delay",
        "1h",
    ]);
    assert_eq!(
        (&changed["id"], &changed["priority"], &changed["state"]),
        (&json!("second"), &json!(-7), &json!("delayed"))
    );
    assert_eq!(
        server
            .ok(&["jobs", "update", "first", "--delay", "1h"])
            .trim(),
        "first delayed"
    );
    assert_eq!(
        server.ok(&["jobs", "promote", "latest"]).trim(),
        "second waiting"
    );
    server
        .run(&["jobs", "update", "gone", "--priority", "1"])
        .refused(2, &["error[JOB_NOT_FOUND]"]);
    server
        .run(&["jobs", "update", "latest"])
        .refused(2, &["--priority <PRIORITY>|--delay <TIME>"]);
    server.ok(&["jobs", "cancel", "latest"]);
    server
        .run(&["jobs", "update", "latest", "--priority", "1"])
        .refused(2, &["error[JOB_STATE]"]);
    let logs = server.ok(&["jobs", "logs", "latest"]);
    let kinds: Vec<&str> = logs
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(
        kinds,
        ["job.added", "job.waiting", "job.waiting", "job.cancelled"]
    );
    assert_eq!(
        server.ok(&["jobs", "rm", "latest"]).trim(),
        "second removed"
    );
}
