//! `riverrun runs`.

use serde_json::{Value, json};

use crate::support::{Project, until};

#[test]
fn a_run_that_does_not_move_says_why() {
    let project = Project::with_flows();
    project.write(
        "flows/outer.yaml",
        "{id: outer, version: 1.0.0, initialStepId: sub, steps: {sub: {type: sub-flow, config: {flowId: slow}}}}",
    );
    let server = project.serve();
    server
        .run(&["runs", "why", "latest"])
        .refused(2, &["RUN_NOT_FOUND"]);
    server.ok(&["run", "slow"]);
    let run = server.json(&["runs", "show", "latest"])["runId"].clone();
    let run = run.as_str().unwrap();
    server.ok(&["runs", "pause", run, "--reason", "lunch"]);
    let shown = server.ok(&["runs", "why", run]);
    assert!(shown.contains("- paused (lunch), since "), "{shown}");
    let why = server.json(&["runs", "why", "latest"]);
    assert_eq!(why["reasons"][0]["kind"], "paused", "{why}");
    let shown = server.ok(&["runs", "show", run]);
    assert!(shown.contains("why       paused (lunch)"), "{shown}");
    server.ok(&["runs", "cancel", run]);
    let shown = server.ok(&["runs", "show", run]);
    assert!(!shown.contains("why  "), "{shown}");
    let shown = server.ok(&["runs", "why", run]);
    assert!(shown.contains("- nothing: it has ended at "), "{shown}");

    // A child is shown below the step that waits for it.
    let started = server.json(&["run", "outer"]);
    let outer = started["runId"].as_str().unwrap();
    let shown = server.ok(&["runs", "why", outer]);
    assert!(shown.contains("- step sub: waits for run "), "{shown}");
}

#[test]
fn reading_and_steering() {
    let project = Project::with_flows();
    let server = project.serve();
    server
        .run(&["runs", "show", "latest"])
        .refused(2, &["RUN_NOT_FOUND"]);
    assert_eq!(server.run(&["runs", "ls"]).err.trim(), "no runs");

    server.ok(&[
        "run",
        "quick",
        "-d",
        r#"{"name": "Ada"}"#,
        "--wait",
        "--tag",
        "red",
    ]);
    let quick = server.json(&["runs", "show", "latest"])["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let shown = server.ok(&["runs", "show", &quick]);
    for text in [
        "quick@1.0.0",
        "completed",
        "\"Hello, Ada!\"",
        "greet",
        "STEP",
    ] {
        assert!(shown.contains(text), "{text} is not in {shown}");
    }

    // Events, filtered and paged by the server.
    let events = server.json(&["runs", "events", &quick]);
    let types = |events: &Value| -> Vec<String> {
        let types = events
            .as_array()
            .unwrap()
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned());
        types.collect()
    };
    assert_eq!(types(&events).first().unwrap(), "flow.started");
    let count =
        |args: &[&str]| types(&server.json(&[&["runs", "events", &quick], args].concat())).len();
    assert_eq!(count(&["--type", "log"]), 1);
    assert_eq!(count(&["--step", "greet"]), 2);
    assert_eq!(count(&["--limit", "2"]), 2);
    assert_eq!(
        types(&server.json(&["runs", "events", &quick, "--newest-first", "--limit", "1"])),
        ["flow.completed"]
    );
    assert!(
        server
            .ok(&["runs", "events", &quick, "--follow"])
            .contains("flow.completed")
    );

    // The state, now and before.
    assert_eq!(
        server.json(&["runs", "state", &quick])["state"],
        json!({"name": "Ada", "greeting": "Hello, Ada!"})
    );
    let start = events[0]["id"].as_str().unwrap();
    assert_eq!(
        server.json(&["runs", "state", &quick, "--at", start])["state"],
        json!({"name": "Ada"})
    );

    // Lists and their filters.
    server.ok(&["run", "slow"]);
    let slow = server.json(&["runs", "show", "latest"])["runId"]
        .as_str()
        .unwrap()
        .to_owned();
    let listed = |args: &[&str]| {
        server
            .json(&[&["runs", "ls"], args].concat())
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(listed(&[]), 2);
    assert_eq!(listed(&["--flow", "slow"]), 1);
    assert_eq!(listed(&["--tag", "red"]), 1);
    assert_eq!(listed(&["--status", "completed", "--status", "failed"]), 1);
    assert_eq!(listed(&["--prefix", &quick]), 1);
    assert_eq!(listed(&["--limit", "1"]), 1);
    assert_eq!(listed(&["--since", "2100-01-01T00:00:00Z"]), 0);
    assert_eq!(server.ok(&["runs", "ls", "-o", "jsonl"]).lines().count(), 2);
    let table = server.ok(&["runs", "ls", "--oldest-first"]);
    assert!(table.starts_with("RUN "), "{table}");
    assert!(table.lines().nth(1).unwrap().starts_with(&quick), "{table}");

    // Steering.
    assert!(
        server
            .ok(&["runs", "pause", &slow, "--reason", "lunch"])
            .contains("paused")
    );
    assert!(server.ok(&["runs", "resume", &slow]).contains("waiting"));
    server
        .run(&["runs", "resume", &slow])
        .refused(2, &["RUN_NOT_PAUSED"]);
    server
        .run(&["runs", "delete", &slow])
        .refused(2, &["RUN_NOT_ENDED", "try: riverrun runs cancel"]);
    assert!(server.ok(&["runs", "cancel", &slow]).contains("cancelled"));
    server
        .run(&["runs", "cancel", &slow])
        .refused(2, &["RUN_ENDED"]);
    server.ok(&["runs", "delete", &slow]);
    assert_eq!(listed(&[]), 1);

    // Copies.
    let again = server.ok(&[
        "runs",
        "rerun",
        &quick,
        "-d",
        r#"{"name": "Eve"}"#,
        "--follow",
    ]);
    assert!(again.contains("Hello, Eve!"), "{again}");
    let at = events[1]["id"].as_str().unwrap();
    let fork = server.ok(&["runs", "fork", &quick, "--at", at]);
    let fork = server.json(&["runs", "show", fork.trim()]);
    assert_eq!(fork["forkedFrom"]["runId"], quick.as_str());
    // The event that is named is one to fork from.
    let ended = server.run(&["runs", "fork", &quick]);
    ended.refused(2, &["FORK_AT_END", "such as "]);
    let named = ended.err.split("such as ").nth(1).unwrap();
    let named = named.split(',').next().unwrap();
    let fork = server.ok(&["runs", "fork", &quick, "--at", named]);
    let fork = until(&server, fork.trim(), "completed");
    assert_eq!(fork["forkedFrom"]["eventId"], named);
    server.ok(&["runs", "delete", fork["runId"].as_str().unwrap()]);
    // People see the ids that they need for it.
    let shown = server.ok(&["runs", "events", &quick]);
    let ids = events.as_array().unwrap().iter();
    for (line, event) in shown.lines().zip(ids) {
        assert!(line.starts_with(event["id"].as_str().unwrap()), "{line}");
    }

    // Export: a run with its events on each line.
    let export = server.ok(&["runs", "export", "--flow", "quick"]);
    assert_eq!(export.lines().count(), 3);
    let export = server.ok(&["runs", "export", &quick]);
    let line: Value = serde_json::from_str(&export).unwrap();
    assert_eq!(line["run"]["runId"], quick.as_str());
    assert_eq!(line["events"], events);

    // Import: the same run elsewhere, once.
    project.write("runs.jsonl", &export);
    let elsewhere = Project::with_flows();
    let other = elsewhere.serve();
    let file = project.path("runs.jsonl");
    let file = file.to_str().unwrap();
    other.ok(&["runs", "import", file]);
    let text = |answer: String| answer.split_once(r#""events""#).unwrap().1.to_owned();
    let export_of_other = other.ok(&["runs", "export", &quick]);
    assert_eq!(text(export_of_other.clone()), text(export));
    let export_of_other = export_of_other.trim_end();
    other
        .run(&["runs", "import", file])
        .refused(2, &["error[RUN_EXISTS]", "runs.jsonl line 1: "]);
    // Each line that is refused is named with its reason, and the others come in.
    let fresh = other.ok(&["run", "quick", "-d", r#"{"name": "Bo"}"#, "--wait"]);
    assert!(fresh.contains("Bo"));
    let good = other.ok(&["runs", "export", "latest"]);
    let forged = good.replacen("\"log.info\"", "\"log\\nid: 9\"", 1);
    assert_ne!(forged, good);
    let lines = format!("{forged}{export_of_other}\n\n{good}");
    project.write("mixed.jsonl", &lines);
    let mixed = project.path("mixed.jsonl");
    server
        .run(&["runs", "import", mixed.to_str().unwrap()])
        .refused(
            2,
            &[
                "error[BAD_EVENT]",
                "mixed.jsonl line 1: event ",
                "error[RUN_EXISTS]",
                "mixed.jsonl line 2: ",
                "imported 1 runs",
            ],
        );
    other
        .run(&["runs", "import", "gone.jsonl"])
        .refused(2, &["FILE_UNUSABLE"]);
}

#[test]
fn what_a_run_says_cannot_move_the_terminal() {
    let project = Project::new();
    project.write("flows/slow.yaml", &crate::support::resting("slow", 600_000));
    let server = project.serve();
    let title = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    let data = serde_json::json!({ "text": title }).to_string();
    let run = server.ok(&["run", "slow", "-d", &data]);
    let run = run.trim();
    server.ok(&["runs", "cancel", run, "--reason", title]);
    for args in [
        vec!["runs", "show", run],
        vec!["runs", "events", run],
        vec!["runs", "state", run],
        vec!["runs", "ls"],
        vec!["runs", "show", run, "-o", "json"],
        vec!["runs", "export", run],
    ] {
        let ended = server.run(&args);
        for said in [ended.out, ended.err] {
            let moves = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!said.contains(moves), "{args:?}: {said:?}");
        }
    }
    let shown = server.json(&["runs", "show", run]);
    assert_eq!(shown["input"]["text"], title);
}

#[test]
fn a_run_that_waits_is_moved_with_what_it_waits_for() {
    let flow = "id: pay\nversion: 1.0.0\ninitialStepId: wait\nsteps:\n  wait:\n    type: set\n    config: { value: paid }\n    await: { type: event, eventKind: order.paid, match: { data.id: input.id } }\n";
    let (project, elsewhere) = (Project::new(), Project::new());
    project.write("flows/pay.yaml", flow);
    elsewhere.write("flows/pay.yaml", flow);
    let (server, other) = (project.serve(), elsewhere.serve());
    let run = server.ok(&["run", "pay", "-d", r#"{"id": 7}"#]);
    let run = run.trim();
    let export = server.ok(&["runs", "export", run]);
    let line: Value = serde_json::from_str(&export).unwrap();
    assert_eq!(line["awaits"][0]["event"]["kind"], "order.paid");
    let file = project.write("runs.jsonl", &export);
    other.ok(&["runs", "import", file.to_str().unwrap()]);
    other.ok(&["emit", "order.paid", "-d", r#"{"id": 7}"#]);
    let events = other.ok(&["runs", "events", run, "--follow"]);
    assert!(events.contains("flow.completed"), "{events}");
    // Where it came from it still waits.
    let still = server.json(&["runs", "show", run]);
    assert_eq!(still["status"], "waiting");
}
