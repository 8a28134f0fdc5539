//! `riverrun dev`: serves, runs the example, reloads, and goes on after a crash.

use crate::support::{Project, QUICK, resting, wait_for};

#[test]
fn a_new_project_runs() {
    let project = Project::new();
    assert_eq!(project.run(&["init", "new"]).code, 0);
    let server = project.start(&["dev", "new", "--listen", "127.0.0.1:0"]);
    server.said("hello@1.0.0");
    server.said("riverrun run hello --follow");
    wait_for(&server.out, "flow.started");
    let log = wait_for(&server.out, "log.info");
    assert!(log.contains("Hello, World!"), "{log}");
    wait_for(&server.out, "flow.completed");
    server.said("completed");
    assert_eq!(
        server
            .ok(&["run", "hello", "-d", r#"{"name": "Ada"}"#, "--wait"])
            .trim(),
        "\"Hello, Ada!\""
    );
    assert!(project.path("new/.riverrun/riverrun.db").exists());
    // What is there needs nothing that has to be installed first.
    let ada = r#"{"name": "Ada"}"#;
    let job = server.json(&["jobs", "add", "greet", "-d", ada, "--wait"]);
    assert_eq!(job["result"]["greeting"], "Hello, Ada!", "{job}");
    assert_eq!(server.json(&["call", "average", "-d", "[1, 2, 3, 4]"]), 2.5);
    server.signal("-INT");
    assert_eq!(server.ended(), 0);
}

#[test]
fn a_run_under_way_goes_on_after_a_crash() {
    let project = Project::new();
    project.write("flows/rest.yaml", &resting("rest", 1_500));
    project.write("riverrun.toml", "[dev]\nrun = 'rest'\n");
    let dev = ["dev", "--listen", "127.0.0.1:0"];
    let server = project.start(&dev);
    let started = server.said("started rest as run ");
    let run = started.rsplit(' ').next().unwrap().to_owned();
    wait_for(&server.out, "step.await.time");
    server.kill();

    let server = project.start(&dev);
    assert!(server.said("1 unfinished run continues").ends_with(&run));
    wait_for(&server.out, "step.resumed");
    wait_for(&server.out, "flow.completed");
    assert_eq!(server.json(&["runs", "ls"]).as_array().unwrap().len(), 1);
    server.kill();

    // Nothing is under way any more: a fresh one starts. Unless it is not to.
    let server = project.start(&dev);
    assert!(!server.said("started rest as run ").ends_with(&run));
    server.kill();
    let server = project.start(&["dev", "--listen", "127.0.0.1:0", "--no-run"]);
    assert_eq!(server.json(&["runs", "ls"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_saved_file_is_what_starts() {
    let project = Project::new();
    project.write("flows/quick.yaml", QUICK);
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    let greet = || server.ok(&["run", "quick", "-d", r#"{"name": "Ada"}"#, "--wait"]);
    assert_eq!(greet().trim(), "\"Hello, Ada!\"");
    project.write("flows/quick.yaml", &QUICK.replace("Hello", "Hi"));
    server.said("reloaded quick@1.0.0+dev.1");
    assert_eq!(greet().trim(), "\"Hi, Ada!\"");
    // What is invalid is shown with every issue, and what was there stays.
    project.write(
        "flows/quick.yaml",
        &QUICK
            .replace("type: log", "type: lgo")
            .replace("initialStepId: greet", "initialStepId: nowhere"),
    );
    server.said("FLOW_INVALID");
    server.said("initialStepId");
    server.said("steps.say.type");
    server.said("nothing was registered");
    assert_eq!(greet().trim(), "\"Hi, Ada!\"");
    project.write("flows/quick.yaml", &QUICK.replace("Hello", "Hey"));
    server.said("reloaded quick@1.0.0+dev.2");
    assert_eq!(greet().trim(), "\"Hey, Ada!\"");
    // A new file is a new flow.
    project.write("flows/short.yaml", &resting("short", 1));
    server.said("reloaded short@1.0.0");
}

#[test]
fn a_folder_that_is_not_there_is_refused() {
    Project::new().run(&["dev", "nowhere"]).refused(
        2,
        &["error[PROJECT_NOT_FOUND]", "try: riverrun init nowhere"],
    );
}

#[test]
fn flows_of_processes_warn_of_what_nobody_takes() {
    let project = Project::new();
    let step = |kind: &str| {
        format!(
            "export const config = {{ flow: {{ id: 'shop', step: 'order', role: 'entry', emits: ['{kind}'] }} }}\n\
             export default () => 1\n"
        )
    };
    project.write("processes/order.mjs", &step("ordered"));
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    let shown = server.said("warning: shop@");
    assert!(
        shown.contains("no step of the flow takes \"ordered\""),
        "{shown}"
    );
    project.write("processes/order.mjs", &step("bought"));
    let shown = server.said("takes \"bought\"");
    assert!(shown.contains("warning: shop@"), "{shown}");
    server.kill();
    let server = project.start(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    server.said("takes \"bought\"");
}

#[test]
fn processes_that_make_no_flow_are_reported_wherever_they_are_read() {
    let project = Project::new();
    let write = |name: &str, config: &str| {
        let text = format!("export const config = {config}\nexport default () => 1\n");
        project.write(&format!("processes/{name}.mjs"), &text);
    };
    write(
        "order",
        "{ flow: { id: 'shop', role: 'entry', emits: ['order.created'] } }",
    );
    write(
        "typo",
        "{ step: 'typo', subscriptions: [{ eventKind: 'ordr.created' }] }",
    );
    let left_out = "step \"typo\" is in no flow: no step of one emits \"ordr.created\"; did you mean order.created?";
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    assert!(server.said(left_out).contains("warning:"));
    // A second process for a step, and a word that means nothing, are faults.
    write(
        "again",
        "{ flow: { id: 'shop', step: 'order', role: 'step', emit: ['x'] } }",
    );
    server.said("step \"order\" of flow \"shop\" is process order already");
    server.kill();
    let server = project.start(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    server.said(left_out);
    server.kill();
    project.run(&["build"]).refused(
        1,
        &[
            "warning: typo.flow: step \"typo\" is in no flow",
            "again.flow.emit: is not a setting; did you mean emits?",
            "error[PROCESS_INVALID]",
        ],
    );
}

#[test]
fn a_module_that_hangs_at_import_keeps_nobody_from_working() {
    for mode in ["dev", "serve"] {
        let project = Project::new();
        let load = "[runners]\nload_timeout = '12s'\n";
        project.write("riverrun.toml", load);
        project.write("processes/blocks.mjs", "while (true);\n");
        project.write("processes/waits.mjs", "await new Promise(() => {})\n");
        project.write("processes/sleeps.py", "import time\ntime.sleep(10000)\n");
        project.write("processes/dies.mjs", "process.exit(3)\n");
        project.write("processes/good.mjs", "export default (input) => input\n");
        project.write(
            "processes/fine.py",
            "def handler(input, ctx): return input\n",
        );
        let server = match mode {
            "dev" => project.start(&["dev", "--listen", "127.0.0.1:0"]),
            _ => project.serve(),
        };
        // The others work while one is still loading.
        for queue in ["good", "fine"] {
            let add = ["jobs", "add", queue, "-d", "7", "--wait"];
            // On a busy machine even these may take a moment.
            let is_loading = || server.run(&add).err.contains("MODULE_LOADING");
            while is_loading() {}
            assert_eq!(server.json(&add)["result"], 7, "{mode}");
        }
        for queue in ["blocks", "waits", "sleeps"] {
            let refused = server.run(&["jobs", "add", queue, "-d", "7"]);
            refused.refused(3, &["error[MODULE_LOADING]"]);
        }
        // Each is reported when its time is over.
        let mut hung: Vec<String> = (0..3).map(|_| server.said("did not load within")).collect();
        hung.sort();
        hung.dedup();
        assert_eq!(hung.len(), 3, "{mode}: {hung:?}");
        let refused = server.run(&["jobs", "add", "waits", "-d", "7"]);
        refused.refused(1, &["error[RUNNER_HUNG]"]);
        let refused = server.run(&["jobs", "add", "dies", "-d", "7"]);
        refused.refused(1, &["error[RUNNER_DIED]"]);
        let job = server.json(&["jobs", "add", "good", "-d", "8", "--wait"]);
        assert_eq!(job["result"], 8, "{mode}: {job}");
    }
}

/// `dev` shows the logs and failures of handlers under the names of their processes.
#[test]
fn output_of_handlers_is_shown_live() {
    let project = Project::new();
    project.write(
        "processes/mail/send.ts",
        "type To = { to: string }\nexport const config = { retryPolicy: { attempts: 1 } }\nexport default async (input: To, ctx) => {\n  ctx.logger.info('sending', { to: input.to, n: 1 })\n  console.warn('slow')\n  throw new Error('no postman')\n}\n",
    );
    project.write(
        "processes/sum.py",
        "def handler(input, ctx):\n    ctx.logger.error('odd', by='two')\n    return fail(input)\n\ndef fail(input):\n    raise ValueError('no sum')\n",
    );
    let server = project.start(&["dev", "--listen", "127.0.0.1:0"]);
    server.run(&["jobs", "add", "send", "-d", r#"{"to": "ada"}"#, "--wait"]);
    server.said("[mail/send] sending  to=ada n=1");
    server.said("[mail/send] warn slow");
    server.said("[mail/send] error HANDLER_ERROR: no postman");
    let frame = server.said("[mail/send]     at ");
    assert!(frame.contains("send.ts:6:9"), "{frame}");
    server.run(&["call", "sum", "-d", "1"]);
    server.said("[sum] error odd  by=two");
    server.said("[sum] error HANDLER_ERROR: no sum");
    server.said("sum.py\", line 6");
}
