//! `riverrun flows` and `riverrun handlers`.

use crate::support::{Project, QUICK, file};

#[test]
fn with_a_server() {
    let project = Project::new();
    let server = project.serve();
    assert!(server.run(&["flows", "ls"]).err.contains("no flows"));
    let path = project.write("quick.yaml", QUICK);
    assert_eq!(
        server.ok(&["flows", "register", file(&path)]).trim(),
        "quick@1.0.0 registered"
    );
    assert_eq!(
        server.ok(&["flows", "register", file(&path)]).trim(),
        "quick@1.0.0 was registered before"
    );
    project.write("quick.yaml", &QUICK.replace("Hello", "Hi"));
    server
        .run(&["flows", "register", file(&path)])
        .refused(2, &["error[FLOW_EXISTS]", "quick.yaml"]);
    project.write("quick.yaml", &QUICK.replace("1.0.0", "1.1.0"));
    server.ok(&["flows", "register", file(&path)]);
    project.write("quick.yaml", &QUICK.replace("type: log", "type: lgo"));
    server
        .run(&["flows", "register", file(&path)])
        .refused(2, &["error[FLOW_INVALID]", "steps.say.type"]);

    assert!(server.ok(&["flows", "ls"]).contains("1.1.0"));
    assert_eq!(
        server
            .json(&["flows", "ls", "quick"])
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        server.json(&["flows", "show", "quick@1.0.0"])["version"],
        "1.0.0"
    );
    assert!(
        server
            .ok(&["flows", "graph", "quick"])
            .contains("▶ greet  transform")
    );
    let built_in = riverrun_handlers::all(riverrun::HandlerOptions::default());
    let listed = server.json(&["handlers", "ls"]);
    // With `process`, which is the runtime's.
    assert_eq!(listed.as_array().unwrap().len(), built_in.len() + 1);
    server
        .run(&["handlers", "show", "nothing"])
        .refused(2, &["HANDLER_NOT_FOUND"]);
}

#[test]
fn without_a_server() {
    let project = Project::new();
    let good = project.write("good.yaml", QUICK);
    let bad = project.write("bad.json", r#"{"id": "bad id", "version": "1", "initialStepId": "x", "steps": {"a": {"type": "nope"}}}"#);
    let broken = project.write("broken.yaml", "a: [");

    let ended = project.run(&["flows", "validate", file(&good)]);
    assert_eq!(
        (ended.code, ended.out.starts_with('✓')),
        (0, true),
        "{ended:?}"
    );
    let ended = project.run(&["flows", "validate", file(&good), file(&bad), file(&broken)]);
    assert_eq!(ended.code, 1);
    for text in [
        "✗",
        "initialStepId: there is no step \"x\" (target)",
        "steps.a.type",
        "id: ",
        "not YAML",
    ] {
        assert!(ended.out.contains(text), "{text} is not in {}", ended.out);
    }
    project
        .run(&["flows", "validate", "nowhere.yaml"])
        .refused(2, &["FILE_UNUSABLE"]);

    let drawn = project.run(&["flows", "graph", file(&good)]);
    assert_eq!(
        drawn.out,
        "quick@1.0.0  Quick\n\n▶ greet  transform\n│\n▼\n● say  log\n"
    );
    let drawn = project.run(&["flows", "graph", file(&good), "--format", "mermaid"]);
    assert!(drawn.out.starts_with("flowchart TD"), "{}", drawn.out);
    let forked = project.write(
        "forked.yaml",
        "{id: f, version: 1.0.0, initialStepId: a, steps: {a: {type: parallel, config: {branches: [b, c]}}, b: {type: set, config: {value: 1}}, c: {type: log, config: {message: hi}}}}",
    );
    let drawn = project.run(&["flows", "graph", file(&forked)]);
    assert_eq!(
        drawn.out,
        "f@1.0.0\n\n▶ a  parallel\n├─ branch ─▶ b\n└─ branch ─▶ c\n    ● b  set\n    ● c  log\n"
    );
    let drawn = project.run(&["flows", "graph", file(&forked), "-o", "json"]);
    let drawn: serde_json::Value = serde_json::from_str(&drawn.out).unwrap();
    assert_eq!(drawn["edges"][1]["type"], "inside", "{drawn}");

    let shop = project.write(
        "shop.yaml",
        "{id: shop, version: 1.0.0, initialStepId: order, steps: {order: {type: process, config: {process: order}, emits: [made, lost]}, pay: {type: process, config: {process: pay}, subscriptions: [{eventKind: made}], await: {type: event, eventKind: paid, timeout: 24h}}}}",
    );
    let drawn = project.run(&["flows", "graph", file(&shop)]);
    assert_eq!(
        drawn.out,
        "shop@1.0.0\n\n▶ order  process\n│  ─▶ lost taken by nobody here\n│ made\n▼\n● pay  process ⏱ event paid, timeout 24h\n│  ◀─ paid comes from outside\n"
    );
    let ended = project.run(&["flows", "validate", file(&shop)]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.out.contains(
            "warning: steps.order.emits.1: no step of the flow takes \"lost\" (emit-unheard)"
        ),
        "{}",
        ended.out
    );

    let listed = project.run(&["handlers"]);
    assert!(
        listed.out.contains("http") && listed.out.contains("transform"),
        "{}",
        listed.out
    );
    let shown = project.run(&["handlers", "show", "http", "-o", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(shown["type"], "http");
    assert!(shown["schema"]["properties"]["url"].is_object());
}

#[test]
fn names_that_the_project_does_not_have_are_warnings() {
    let project = Project::new();
    project.write("processes/send-email.mjs", "export default async () => 1\n");
    let flow = project.write(
        "flows/names.yaml",
        r#"
id: names
version: 1.0.0
initialStepId: mail
steps:
  mail: { type: send-email, config: { template: welcome }, transitions: { onSuccess: call } }
  call: { type: process, config: { process: send-emial }, transitions: { onSuccess: sub } }
  sub: { type: sub-flow, config: { flowId: absent }, transitions: { onSuccess: again } }
  again: { type: sub-flow, config: { flowId: names }, transitions: { onSuccess: word } }
  word: { type: transform, config: { transform: uper }, retry: { maxAttempts: 1, backoffMs: 10 } }
"#,
    );
    let ended = project.run(&["flows", "validate", file(&flow)]);
    assert_eq!(ended.code, 0, "{ended:?}");
    for text in [
        "steps.call.config.process",
        "did you mean send-email?",
        "steps.sub.config.flowId",
        "steps.word.config.transform",
        "did you mean upper?",
        "steps.word.retry.maxAttempts",
    ] {
        assert!(ended.out.contains(text), "{text}: {}", ended.out);
    }
    for text in ["steps.mail", "steps.again"] {
        assert!(!ended.out.contains(text), "{text}: {}", ended.out);
    }
}
