//! Triggers of a project with the real binary: files, requests, schedules, a kill.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Ended, Project, QUICK, Running, Server, wait_for};

const HOOK: &str = "id: greet\ntype: http\nflow: quick\nconfig: { path: '/greet/:name' }\ninputMap: '({name: request.params.name})'\n";
const TICK: &str = "id: tick\ntype: schedule\nflow: quick\ninput: { name: Ada }\nconfig: { cron: '* * * * * *', timezone: Europe/Berlin }\n";
const SIGNED: &str = "id: signed\ntype: http\nflow: quick\nconfig: { path: /signed, signature: { header: x-sign, secretEnv: HOOK_SECRET } }\n";

fn project() -> Project {
    let project = Project::new();
    project.write("flows/quick.yaml", QUICK);
    project
}

/// Posts a body as any sender of webhooks does.
fn post(server: &Server<'_>, path: &str, body: &str) -> (u16, Value) {
    let url = format!("{}{path}", server.url);
    let output = std::process::Command::new("curl")
        .args(["-s", "-X", "POST", "-H", "content-type: application/json"])
        .args(["-d", body, "-w", "\n%{http_code}", &url])
        .output();
    let ended = Ended::of(output.unwrap());
    let (body, status) = ended.out.trim_end().rsplit_once('\n').unwrap();
    (status.parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// Waits until a trigger has fired so often since its beginning, and gives all firings.
fn fired(server: &Server<'_>, id: &str, times: usize) -> Vec<Value> {
    let url = format!("{}/api/events/trigger/{id}/stream", server.url);
    let mut curl = std::process::Command::new("curl");
    curl.args(["-sN", &url]);
    let mut following = Running::of(curl);
    for _ in 0..times {
        wait_for(&following.out, r#""type":"trigger.fired""#);
    }
    following.child.kill().unwrap();
    following.child.wait().unwrap();
    let history = server.json(&["triggers", "history", id, "--limit", "1000"]);
    let events = history.as_array().unwrap().iter();
    let fired = events.filter(|event| event["type"] == "trigger.fired");
    fired.map(|event| event["data"].clone()).collect()
}

#[test]
fn a_request_starts_a_flow_of_the_project() {
    let project = project();
    project.write("triggers/greet.yaml", HOOK);
    let server = project.serve();
    let (status, started) = post(&server, "/hooks/greet/Ada", "{}");
    assert_eq!(status, 201, "{started}");
    let run = started["runId"].as_str().unwrap();
    let run = server.json(&["runs", "show", run]);
    assert_eq!(run["state"]["greeting"], "Hello, Ada!");
    assert_eq!(run["metadata"]["trigger"]["id"], "greet");
    let table = server.ok(&["triggers", "ls"]);
    assert!(
        table.contains("greet") && table.contains("POST /hooks/greet/:name"),
        "{table}"
    );
    let shown = server.ok(&["triggers", "show", "greet"]);
    assert!(shown.contains("fired 1, failed 0"), "{shown}");
    server.ok(&["triggers", "disable", "greet"]);
    assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 409);
    server
        .run(&["triggers", "fire", "greet"])
        .refused(2, &["TRIGGER_DISABLED", "triggers enable"]);
    server.ok(&["triggers", "enable", "greet"]);
    let run = server.ok(&[
        "triggers",
        "fire",
        "greet",
        "-d",
        r#"{"name": "Bob"}"#,
        "--key",
        "k",
    ]);
    let again = server.run(&["triggers", "fire", "greet", "-d", "{}", "--key", "k"]);
    assert_eq!((again.out, again.code), (run, 0));
    assert!(again.err.contains("started before"));
    let history = server.ok(&["triggers", "history", "greet"]);
    assert!(
        history.contains("registered") && history.contains("POST /hooks/greet/:name"),
        "{history}"
    );
    server
        .run(&["triggers", "show", "absent"])
        .refused(2, &["TRIGGER_NOT_FOUND", "triggers ls"]);
}

#[test]
fn a_schedule_fires_each_second_and_survives_a_kill() {
    let project = project();
    project.write("triggers/tick.yaml", TICK);
    let server = project.serve();
    fired(&server, "tick", 2);
    server.kill();
    let server = project.serve();
    let before = fired(&server, "tick", 1).len();
    let all = fired(&server, "tick", before + 2);
    // No due time has two runs, and none of them is another trigger's version.
    let due: BTreeSet<String> = all.iter().map(|data| data["dueAt"].to_string()).collect();
    assert_eq!(due.len(), all.len());
    let runs = server.json(&["runs", "ls", "--flow", "quick", "--limit", "1000"]);
    let origins: BTreeSet<String> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["metadata"]["trigger"]["dueAt"].to_string())
        .collect();
    assert_eq!(origins.len(), runs.as_array().unwrap().len());
    assert!(due.is_subset(&origins), "{due:?} {origins:?}");
    assert_eq!(server.json(&["triggers", "show", "tick"])["version"], 1);
    let listed = server.json(&["schedules", "ls"]);
    assert_eq!(listed[0]["upcoming"].as_array().unwrap().len(), 5);
}

#[test]
fn triggers_are_made_and_removed_and_times_made_up_for() {
    let project = project();
    let file = project.write(
        "daily.json",
        &json!({
            "id": "daily", "type": "schedule", "flow": "quick", "input": {"name": "Ada"},
            "config": {"cron": "0 3 * * *", "timezone": "Europe/Berlin"},
        })
        .to_string(),
    );
    let server = project.serve();
    let file = file.to_str().unwrap();
    assert!(
        server
            .ok(&["triggers", "add", file])
            .contains("daily made: due at ")
    );
    server.run(&["triggers", "add", file]).refused(
        2,
        &[
            "TRIGGER_EXISTS",
            "daily.json",
            "PATCH /api/triggers/daily",
            "try: riverrun triggers rm",
        ],
    );
    let range = [
        "--from",
        "2024-10-26T00:00:00Z",
        "--to",
        "2024-10-29T00:00:00Z",
        "--forgotten",
    ];
    let backfill = [&["schedules", "backfill", "daily"], &range[..]].concat();
    server
        .run(&backfill[..backfill.len() - 1])
        .refused(2, &["DUE_TIME_FORGOTTEN", "--forgotten"]);
    let done = server.run(&backfill);
    assert_eq!(done.code, 0, "{done:#?}");
    assert!(done.out.contains("2024-10-27 02:00:00"), "{}", done.out);
    assert!(done.err.contains("3 of 3 runs are new"), "{}", done.err);
    assert!(server.run(&backfill).err.contains("0 of 3 runs are new"));
    assert_eq!(
        server.ok(&["triggers", "rm", "daily"]).trim(),
        "daily removed"
    );
    assert_eq!(server.json(&["triggers", "ls"]), json!([]));
    let wrong = project.write(
        "wrong.yaml",
        "id: x\ntype: schedule\nflow: quick\nconfig: { cron: often }\n",
    );
    server
        .run(&["triggers", "add", wrong.to_str().unwrap()])
        .refused(2, &["CRON_INVALID", "often"]);
}

#[test]
fn errors_say_what_to_do_next() {
    let project = project();
    let server = project.serve();
    server
        .run(&["triggers", "add", "nope.yaml"])
        .refused(2, &["FILE_UNUSABLE", "the trigger nope.yaml"]);
    server.run(&["fire", "nope"]).refused(
        2,
        &[
            "AWAIT_NOT_FOUND",
            "try: riverrun runs why",
            "try: riverrun triggers ls",
        ],
    );
    let usage = server.run(&["triggers", "add"]);
    assert!(
        !usage.err.contains("--url <URL>"),
        "it need not be given: {}",
        usage.err
    );
    let manual = project.write("manual.yaml", "id: by-hand\ntype: manual\nflow: quick\n");
    server.ok(&["triggers", "add", manual.to_str().unwrap()]);
    let body = r#"{"input": {"name": "Ada"}}"#;
    let fired = server.ok(&["fire", "by-hand", "-d", body]);
    assert!(fired.contains("is started"), "{fired}");
    let story = server.ok(&["runs", "story", "latest"]);
    assert!(story.contains("flow.completed"), "{story}");
    let story = server.json(&["runs", "story", "latest"]);
    assert!(story.as_array().unwrap().len() > 1, "{story:#}");
}

#[test]
fn several_triggers_are_processed_and_printed_as_one_document() {
    let project = project();
    let server = project.serve();
    let one = |id: &str| format!("id: {id}\ntype: manual\nflow: quick\n");
    for id in ["a", "b"] {
        project.write(&format!("{id}.yaml"), &one(id));
    }
    project.write("wrong.yaml", "id: wrong\ntype: manual\nflow: absent\n");
    server
        .run(&["triggers", "add", "a.yaml", "wrong.yaml", "b.yaml"])
        .refused(2, &["1 of 3 could not be done", "wrong.yaml"]);
    let switched = server.json(&["triggers", "disable", "a", "b"]);
    let switched = switched.as_array().unwrap().iter();
    let switched: Vec<&Value> = switched.map(|trigger| &trigger["enabled"]).collect();
    assert_eq!(switched, [false, false]);
    server.ok(&["triggers", "enable", "a"]);
    project.write("in.json", r#"{"name": "Ada"}"#);
    server.ok(&["triggers", "fire", "a", "-d", "@in.json"]);
    server
        .run(&["triggers", "rm", "a", "gone", "b"])
        .refused(2, &["1 of 3 could not be done", "TRIGGER_NOT_FOUND"]);
    assert_eq!(server.json(&["triggers", "ls"]), json!([]));
}

#[test]
fn a_due_time_that_fails_is_logged_and_delays_no_other() {
    let project = project();
    project.write(
        "triggers/daily.yaml",
        "id: daily\ntype: schedule\nflow: quick\nconfig: { cron: '0 3 * * *' }\ninputMap: \"tick.dueAt < '2024-10-27' ? null.x : ({ name: 'Ada' })\"\n",
    );
    let server = project.serve();
    let range = [
        "--from",
        "2024-10-26T00:00:00Z",
        "--to",
        "2024-10-29T00:00:00Z",
        "--forgotten",
    ];
    let done = server.run(&[&["schedules", "backfill", "daily"], &range[..]].concat());
    let said = [
        "2 of 3 runs are new",
        "1 could not be started, the first with TRIGGER_EXPRESSION",
    ];
    done.refused(1, &said);
    assert!(done.out.contains("TRIGGER_EXPRESSION"), "{}", done.out);
}

#[test]
fn a_trigger_without_its_secret_is_seen_as_broken() {
    let project = project();
    let file = project.write("signed.yaml", SIGNED);
    let mut start = project.command();
    start
        .args(["serve", "--project", ".", "--listen", "127.0.0.1:0"])
        .env("HOOK_SECRET", "a secret of sixteen");
    let server = project.start_as(start);
    server.ok(&["triggers", "add", file.to_str().unwrap()]);
    server.kill();
    let server = project.serve();
    let listed = server.ok(&["triggers", "ls"]);
    assert!(
        listed.contains("signed") && listed.contains("broken"),
        "{listed}"
    );
    let shown = server.ok(&["triggers", "show", "signed"]);
    assert!(shown.contains("HOOK_SECRET"), "{shown}");
    let (status, body) = post(&server, "/hooks/signed", "{}");
    assert_eq!(
        (status, &body["error"]["code"]),
        (500, &json!("TRIGGER_BROKEN"))
    );
    server
        .run(&["triggers", "fire", "signed"])
        .refused(1, &["TRIGGER_BROKEN", "try: riverrun triggers show"]);
    server.ok(&["triggers", "disable", "signed"]);
    server.ok(&["triggers", "rm", "signed"]);
    assert_eq!(server.json(&["triggers", "ls"]), json!([]));
}

#[test]
fn what_would_keep_a_server_from_starting_is_not_built() {
    let project = project();
    project.write(
        "triggers/pace.yaml",
        "id: pace\ntype: schedule\nflow: quick\nconfig: { cron: '61 * * * *' }\n",
    );
    project.write(
        "triggers/lost.yaml",
        "id: lost\ntype: manual\nflow: absent\n",
    );
    project.run(&["build"]).refused(
        1,
        &["CRON_INVALID", "pace.yaml", "FLOW_NOT_FOUND", "lost.yaml"],
    );
    assert!(!project.path("riverrun.registry.json").exists());
    std::fs::remove_dir_all(project.path("triggers")).unwrap();
    // Its secret is where the server runs.
    project.write("triggers/signed.yaml", SIGNED);
    assert_eq!(project.run(&["build"]).code, 0);
}

#[test]
fn a_server_starts_without_the_secret_of_a_file() {
    let project = project();
    project.write("triggers/greet.yaml", HOOK);
    project.write("triggers/signed.yaml", SIGNED);
    assert_eq!(project.run(&["build"]).code, 0);
    let registry = ["--registry", "riverrun.registry.json"];
    for from in [&["--project", "."], &registry] {
        let server = project.start(&[&["serve", "--listen", "127.0.0.1:0"], &from[..]].concat());
        let listed = server.ok(&["triggers", "ls"]);
        assert!(listed.contains("broken"), "{listed}");
        assert_eq!(post(&server, "/hooks/signed", "{}").0, 500);
        assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 201);
        let shown = server.json(&["triggers", "show", "signed"]);
        assert_eq!(shown["version"], 1, "{shown:#}");
        server.kill();
    }
}

#[test]
fn a_file_takes_no_id_from_another() {
    let project = project();
    project.write("triggers/greet.yaml", HOOK);
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    project.write(
        "triggers/dup.yaml",
        "id: greet\ntype: manual\nflow: quick\n",
    );
    let said = wait_for(&server.err, "TRIGGER_EXISTS");
    assert!(
        said.contains("dup.yaml: ") && said.contains("greet.yaml has a trigger \"greet\" too"),
        "{said}"
    );
    assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 201);
}

#[test]
fn a_saved_file_is_what_fires() {
    let project = project();
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    project.write("triggers/greet.yaml", HOOK);
    wait_for(&server.err, "set trigger greet");
    assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 201);
    project.write("triggers/greet.yaml", &HOOK.replace("/greet/", "/hello/"));
    wait_for(&server.err, "set trigger greet");
    assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 404);
    assert_eq!(post(&server, "/hooks/hello/Ada", "{}").0, 201);
    project.write(
        "triggers/greet.yaml",
        &HOOK.replace("flow: quick", "flow: absent"),
    );
    wait_for(&server.err, "FLOW_NOT_FOUND");
    assert_eq!(post(&server, "/hooks/hello/Ada", "{}").0, 201);
    std::fs::remove_file(project.path("triggers/greet.yaml")).unwrap();
    wait_for(&server.err, "removed trigger greet");
    assert_eq!(post(&server, "/hooks/hello/Ada", "{}").0, 404);
}

#[test]
fn a_server_does_not_start_with_a_trigger_that_is_none() {
    let project = project();
    project.write(
        "triggers/x.yaml",
        "id: x\ntype: schedule\nflow: quick\nconfig: { cron: '* * * * *', timezone: Mars }\n",
    );
    let ended = project.run(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    ended.refused(1, &["TIME_ZONE_UNKNOWN", "x.yaml"]);
}

#[test]
fn a_registry_file_holds_the_triggers() {
    let project = project();
    project.write("triggers/greet.yaml", HOOK);
    assert_eq!(project.run(&["build", "."]).code, 0);
    std::fs::remove_dir_all(project.path("triggers")).unwrap();
    let server = project.start(&[
        "serve",
        "--registry",
        "riverrun.registry.json",
        "--listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(post(&server, "/hooks/greet/Ada", "{}").0, 201);
}
