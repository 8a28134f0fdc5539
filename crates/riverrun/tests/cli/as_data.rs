//! Flows of events without a line of code: steps of built-in handlers, and executables.

use serde_json::{Value, json};

use crate::support::{Project, Server};

/// A run that the command waits for, as it ended.
fn run(server: &Server<'_>, flow: &str) -> Value {
    let ended = server.run(&["run", flow, "--wait", "-o", "json"]);
    serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("{ended:#?}"))
}

/// A run that was started, as it ended.
fn end(server: &Server<'_>, started: &Value) -> Value {
    let id = started["runId"].as_str().unwrap();
    server.ok(&["runs", "events", id, "--follow"]);
    server.json(&["runs", "show", id])
}

/// Types of events with their steps.
fn events(server: &Server<'_>, run: &Value) -> Vec<String> {
    let id = run["runId"].as_str().unwrap();
    let page = server.json(&["runs", "events", id]);
    let events = page.as_array().or_else(|| page["items"].as_array());
    let line = |event: &Value| {
        let step = event["stepName"].as_str().unwrap_or_default();
        let kind = event["type"].as_str().unwrap();
        format!("{kind} {step}").trim_end().to_owned()
    };
    events.unwrap().iter().map(line).collect()
}

#[test]
fn a_flow_as_data_emits_waits_and_hears_what_came() {
    let project = Project::new();
    project.write(
        "flows/evb.yaml",
        r#"
id: evb
version: 1.0.0
initialStepId: begin
steps:
  begin:
    type: transform
    config: { transform: "({ n: 1 })" }
    emits: [evb.begun]
    await: { type: time, delay: 50 }
  next:
    type: log
    config: { message: "${input.n}" }
    subscriptions: [{ eventKind: evb.begun }]
"#,
    );
    project.write(
        "flows/evc.yaml",
        r#"
id: evc
version: 1.0.0
initialStepId: pay
steps:
  pay:
    type: set
    config: { value: "by ${awaited.data.by}" }
    await: { type: event, eventKind: evc.paid }
"#,
    );
    let server = project.serve();
    let ended = run(&server, "evb");
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(
        events(&server, &ended),
        [
            "flow.started",
            "step.started begin",
            "step.await.time begin",
            "step.resumed begin",
            "step.completed begin",
            "evb.begun begin",
            "step.entered next",
            "step.started next",
            "log.info next",
            "step.completed next",
            "flow.completed",
        ]
    );
    let waiting = server.json(&["run", "evc"]);
    server.ok(&["emit", "evc.paid", "-d", r#"{"by":"card"}"#]);
    let ended = end(&server, &waiting);
    assert_eq!(ended["result"], "by card", "{ended}");
}

#[test]
fn a_signed_callback_is_resumed_with_its_secret() {
    let project = Project::new();
    // A variable that the tests of every crate have.
    project.write(
        "flows/signed.yaml",
        r#"
id: signed
version: 1.0.0
initialStepId: receive
steps:
  receive:
    type: set
    config: { value: "from ${awaited.by}" }
    await: { type: trigger, triggerType: webhook, secretEnv: CARGO_PKG_NAME }
"#,
    );
    let secret = env!("CARGO_PKG_NAME");
    project.write("secret", &format!("{secret}\n"));
    let server = project.serve();
    for given in [secret, "@secret"] {
        let waiting = server.json(&["run", "signed"]);
        let run = waiting["runId"].as_str().unwrap();
        let why = server.json(&["runs", "why", run]);
        let url = why["reasons"][0]["url"].as_str();
        let id = url.unwrap_or_else(|| panic!("{why:#}")).rsplit('/').next();
        let fire = ["fire", id.unwrap(), "-d", r#"{"by":"bank"}"#];
        server.run(&fire).refused(2, &["SIGNATURE_INVALID"]);
        server
            .run(&[&fire[..], &["--secret", "other"]].concat())
            .refused(2, &["SIGNATURE_INVALID"]);
        server.ok(&[&fire[..], &["--secret", given]].concat());
        let ended = end(&server, &waiting);
        assert_eq!(ended["result"], "from bank", "{ended}");
    }
}

#[test]
fn a_run_that_meets_its_limit_is_undone() {
    let project = Project::new();
    project.write(
        "flows/lim.yaml",
        r#"
id: lim
version: 1.0.0
initialStepId: book
limits: { maxSteps: 3 }
steps:
  book:
    type: set
    config: { value: 7 }
    compensation: { step: unbook }
    transitions: { onSuccess: spin }
  spin:
    type: set
    config: { value: 1 }
    transitions: { onSuccess: spin }
  unbook:
    type: log
    config: { message: "undone: ${input.result}" }
"#,
    );
    let server = project.serve();
    let ended = run(&server, "lim");
    assert_eq!(ended["error"]["code"], "MAX_STEPS", "{ended}");
    let events = events(&server, &ended);
    let undone = events.iter().position(|line| line == "flow.compensating");
    assert_eq!(
        events[undone.unwrap()..],
        [
            "flow.compensating",
            "step.entered unbook",
            "step.started unbook",
            "log.info unbook",
            "step.completed unbook",
            "flow.failed",
        ]
    );
}

#[cfg(unix)]
#[test]
fn an_executable_emits_and_hears_what_came() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    let executable = |name: &str, config: Value, script: &str| {
        let path = project.write(&format!("processes/{name}.sh"), script);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        project.write(&format!("processes/{name}.yaml"), &config.to_string());
    };
    executable(
        "make",
        json!({"flow": {"id": "shf", "role": "entry", "step": "make", "emits": ["sh.made"]}}),
        r#"#!/bin/sh
echo '{"method":"emit","params":{"type":"sh.made","data":{"n":7}}}' >&3
echo '{"method":"bogus"}' >&3
"#,
    );
    executable(
        "take",
        json!({"flow": {"id": "shf", "step": "take", "subscriptions": [{"eventKind": "sh.made"}],
               "await": {"type": "event", "eventKind": "sh.paid", "lookback": "run"}}}),
        "#!/bin/sh\necho \"[$RIVERRUN_INPUT,$RIVERRUN_AWAITED]\"\n",
    );
    let server = project.serve();
    let started = server.json(&["run", "shf"]);
    // It looks back to the beginning of the run, so nothing has to be waited for here.
    server.ok(&["emit", "sh.paid", "-d", r#"{"by":"card"}"#]);
    let ended = end(&server, &started);
    assert_eq!(ended["result"][0], json!({"n": 7}), "{ended}");
    assert_eq!(ended["result"][1]["data"], json!({"by": "card"}));
    let events = events(&server, &ended);
    assert!(
        events.iter().any(|line| line == "sh.made make"),
        "{events:#?}"
    );
    assert!(
        events.iter().any(|line| line == "log.warn make"),
        "{events:#?}"
    );
}
