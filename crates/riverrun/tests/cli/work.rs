//! Work in every language, run by the real binary with the real interpreters.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Project, Server};

/// `examples/work`, in a folder of its own, with nothing installed.
fn example() -> Project {
    let project = Project::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/work");
    for name in ["riverrun.toml", "package.json"] {
        std::fs::copy(example.join(name), project.path(name)).unwrap();
    }
    std::fs::create_dir(project.path("processes")).unwrap();
    for entry in std::fs::read_dir(example.join("processes")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        let is_source = name.to_str().is_some_and(|name| name.contains('.'));
        if is_source && entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), project.path("processes").join(name)).unwrap();
        }
    }
    project
}

const DEV: [&str; 3] = ["dev", "--listen", "127.0.0.1:0"];

/// Adds a job and waits for its result.
fn job(server: &Server<'_>, queue: &str, data: &Value) -> Value {
    let data = data.to_string();
    let job = server.json(&["jobs", "add", queue, "-d", &data, "--wait"]);
    job["result"].clone()
}

#[test]
fn the_example_runs_in_every_language() {
    let project = example();
    let server = project.start(&DEV);
    let call =
        |process: &str, input: Value| server.json(&["call", process, "-d", &input.to_string()]);
    assert_eq!(
        call("greet", json!({"name": "Ada"})),
        json!({"greeting": "Hello, Ada!"})
    );
    assert_eq!(call("average", json!([1, 2, 3, 4])), json!(2.5));
    let picture = json!({"url": "cat.jpg", "width": 640});
    assert_eq!(
        job(&server, "resize", &picture),
        json!({"url": "cat.jpg", "width": 640, "attempt": 1})
    );
    assert_eq!(
        call("quote", json!({"width": 640, "copies": 3})),
        json!({"cents": 21, "each": 7})
    );
    // It stops when it is good enough.
    let mut trained = job(&server, "train", &json!({"epochs": 10}));
    let began = trained["startTime"].take();
    assert!(began.as_str().is_some_and(|at| at.contains('T')), "{began}");
    assert_eq!(
        trained,
        json!({
            "status": "complete", "epoch": 5, "totalEpochs": 10, "accuracy": 0.9543,
            "loss": 0.1184, "startTime": null,
        })
    );
    let sum = job(&server, "checksum", &json!("river"));
    assert_eq!(sum["attempt"], 1, "{sum}");
    // What breaks the schema is refused before it is a job.
    let bad = server.run(&["jobs", "add", "resize", "-d", "{}"]);
    bad.refused(2, &["INPUT_INVALID", "url"]);
    server.signal("-INT");
    assert_eq!(server.ended(), 0);
}

#[test]
fn a_saved_process_is_what_starts_and_a_broken_one_harms_nobody() {
    let project = Project::new();
    let handler = |text: &str| {
        format!("export const config = {{ runMode: 'call' }}\nexport default () => '{text}'\n")
    };
    project.write("processes/say.mjs", &handler("one"));
    project.write("processes/stays.mjs", &handler("here"));
    project.write("processes/broken.mjs", "export default (\n");
    let server = project.start(&DEV);
    let say = |process: &str| server.json(&["call", process, "-d", "null"]);
    assert_eq!(say("say"), "one");
    project.write("processes/say.mjs", &handler("two"));
    server.said("loaded say");
    assert_eq!(say("say"), "two");
    // A mistake keeps the old code.
    project.write("processes/say.mjs", "export default (");
    server.said("MODULE_SYNTAX");
    assert_eq!((say("say"), say("stays")), (json!("two"), json!("here")));
    std::fs::remove_file(project.path("processes/stays.mjs")).unwrap();
    server.said("removed stays");
    let gone = server.run(&["call", "stays", "-d", "null"]);
    gone.refused(2, &["PROCESS_NOT_FOUND"]);
}

#[test]
fn broken_files_are_shown_and_their_error_is_returned() {
    let project = Project::new();
    project.write("processes/broken.mjs", "export default (\n");
    let mail = "export const config = { queue: 'mail' }\nexport default () => 1\n";
    project.write("processes/mail.mjs", mail);
    project.write("processes/post.mjs", mail);
    let odd =
        "export const config = { concurency: 2, timeoutMs: 'long' }\nexport default () => 1\n";
    project.write("processes/odd.mjs", odd);
    project.write("processes/nothing.mjs", "export const config = {}\n");
    for (file, limit) in [("one", 1), ("two", 2)] {
        let step = format!(
            "export const config = {{ queue: 'steps', concurrency: {limit}, flow: {{ id: 'f', step: '{file}', \
             subscriptions: [{{ eventKind: 'go' }}] }} }}\nexport default () => 1\n"
        );
        project.write(&format!("processes/{file}.mjs"), &step);
    }
    project.write("processes/plain.sh", "#!/bin/sh\necho 1\n");
    let built = project.run(&["build"]);
    assert_eq!(built.code, 1, "{}", built.err);
    for shown in [
        "broken.mjs",
        "MODULE_SYNTAX",
        "mail.mjs",
        "post.mjs",
        "PROCESS_CONFLICT",
        "two.mjs take the jobs of queue \"steps\", with different limits for it",
        "the same limits in both, or a queue of its own",
        "did you mean concurrency?",
        "timeoutMs: must be a whole number",
        "chmod +x processes/plain.sh",
        "processes/nothing.mjs exports no handler",
    ] {
        assert!(built.err.contains(shown), "{shown}: {}", built.err);
    }
    let server = project.start(&DEV);
    let listed = server.json(&["processes", "ls"]);
    let error = |id: &str| {
        let found = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == id);
        found.unwrap_or_else(|| panic!("{listed}"))["error"].clone()
    };
    assert_eq!(error("broken")["code"], "MODULE_SYNTAX");
    assert_eq!(error("odd")["code"], "PROCESS_INVALID");
    assert_eq!(error("mail"), Value::Null);
    let conflict = error("post");
    assert_eq!(conflict["code"], "PROCESS_CONFLICT");
    let message = conflict["message"].as_str().unwrap();
    assert!(
        message.contains("mail.mjs") && message.contains("post.mjs"),
        "{message}"
    );
    let table = server.run(&["processes", "ls"]);
    assert!(table.out.contains("MODULE_SYNTAX"), "{}", table.out);
    let added = server.run(&["jobs", "add", "broken", "-d", "{}"]);
    added.refused(1, &["MODULE_SYNTAX", "broken.mjs"]);
    let called = server.run(&["call", "broken", "-d", "{}"]);
    called.refused(1, &["MODULE_SYNTAX", "broken.mjs"]);
    project.write("processes/broken.mjs", "export default () => 'mended'\n");
    server.said("loaded broken");
    assert_eq!(server.json(&["call", "broken", "-d", "{}"]), "mended");
    let listed = server.json(&["processes", "ls"]);
    assert!(!listed.to_string().contains("MODULE_SYNTAX"), "{listed}");
}

#[test]
fn what_a_process_imports_is_loaded_anew_too() {
    let project = Project::new();
    let words = |text: &str| format!("export const words = '{text}'\n");
    project.write("lib/words.mjs", &words("one"));
    project.write(
        "processes/say.mjs",
        "import { words } from '../lib/words.mjs'\n\
         export const config = { runMode: 'call' }\nexport default () => words\n",
    );
    project.write("shared/numbers.py", "number = 1\n");
    project.write(
        "processes/count.py",
        "from shared.numbers import number\n\nconfig = {'run_mode': 'call'}\n\n\n\
         def handler(input, ctx):\n    return number\n",
    );
    let server = project.start(&DEV);
    let say = |process: &str| server.json(&["call", process, "-d", "null"]);
    assert_eq!((say("say"), say("count")), (json!("one"), json!(1)));
    project.write("lib/words.mjs", &words("two"));
    server.said("lib/words.mjs has changed");
    assert_eq!((say("say"), say("count")), (json!("two"), json!(1)));
    project.write("shared/numbers.py", "number = 22\n");
    server.said("shared/numbers.py has changed");
    assert_eq!((say("say"), say("count")), (json!("two"), json!(22)));
    // What does not load keeps the old code, as with a process itself; others move on.
    project.write(
        "processes/other.mjs",
        "export const config = { runMode: 'call' }\nexport default () => 'other'\n",
    );
    server.said("loaded other");
    project.write("lib/words.mjs", "export const words = (");
    server.said("MODULE_SYNTAX");
    server.said("loaded 1 process file anew: lib/words.mjs has changed");
    assert_eq!((say("say"), say("other")), (json!("two"), json!("other")));
    project.write("lib/words.mjs", &words("three"));
    server.said("loaded 2 process files anew: lib/words.mjs has changed");
    assert_eq!((say("say"), say("other")), (json!("three"), json!("other")));
    // A new file in a new folder, first without an importer, then with one.
    project.write("fresh/deep/more.mjs", "export const more = 'four'\n");
    server.said("fresh/deep/more.mjs has changed");
    project.write(
        "lib/words.mjs",
        "export { more as words } from '../fresh/deep/more.mjs'\n",
    );
    server.said("lib/words.mjs has changed");
    assert_eq!(say("say"), "four");
}

#[test]
fn a_job_survives_the_death_of_its_server() {
    let project = Project::new();
    project.write(
        "processes/slow.py",
        "import asyncio\n\nconfig = {'retry_policy': {'attempts': 3}}\n\n\n\
         async def handler(input, ctx):\n    if ctx.attempt == 1:\n        \
         await asyncio.sleep(60)\n    return ctx.attempt\n",
    );
    let serve = ["serve", "--project", ".", "--listen", "127.0.0.1:0"];
    let server = project.start(&serve);
    let added = server.json(&["jobs", "add", "slow", "-d", "null"]);
    let id = added["jobs"][0]["jobId"].as_str().unwrap().to_owned();
    let state = |server: &Server<'_>, wanted: &str| {
        for _ in 0..400 {
            let job = server.json(&["jobs", "show", &id]);
            if job["state"] == wanted {
                return job;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("the job is not {wanted}");
    };
    state(&server, "active");
    server.kill();
    let server = project.start(&serve);
    let job = state(&server, "completed");
    assert_eq!((&job["result"], &job["attempt"]), (&json!(2), &json!(2)));
}

#[test]
fn data_beside_the_project_is_found_by_what_runs_in_it() {
    let project = Project::new();
    project.write(
        "shop/processes/say.mjs",
        "export const config = { runMode: 'call' }\nexport default (name) => `Hello, ${name}!`\n",
    );
    let server = project.start(&[
        "serve",
        "--project",
        "shop",
        "--data",
        "kept",
        "--listen",
        "127.0.0.1:0",
    ]);
    let said = server.json(&["call", "say", "-d", "\"Ada\""]);
    assert_eq!(said, "Hello, Ada!");
    assert!(project.path("kept").is_dir());
}

#[test]
fn a_registry_boots_without_looking() {
    let project = Project::new();
    project.write(
        "processes/say.mjs",
        "export const config = { runMode: 'call' }\nexport default (name) => `Hello, ${name}!`\n",
    );
    let built = project.run(&["build"]);
    assert_eq!(built.code, 0, "{}", built.err);
    let registry = std::fs::read_to_string(project.path("riverrun.registry.json")).unwrap();
    let registry: Value = serde_json::from_str(&registry).unwrap();
    assert_eq!(registry["processes"][0]["id"], "say");
    let server = project.start(&[
        "serve",
        "--registry",
        "riverrun.registry.json",
        "--listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(
        server.json(&["call", "say", "-d", "\"Ada\""]),
        "Hello, Ada!"
    );
}

#[test]
fn a_frozen_runner_costs_its_job_no_attempt_of_its_retry_policy() {
    let project = Project::new();
    project.write("riverrun.toml", "[runners]\nsilent_timeout = '2s'\n");
    project.write(
        "processes/js.mjs",
        "export const config = { timeoutMs: 3600000, retryPolicy: { backoff: { type: 'fixed', delayMs: 1 } } }
         export default (input, ctx) => {
           if (ctx.attempt > 1) return ctx.attempt
           process.kill(process.pid, 'SIGSTOP')
           return new Promise(() => {})
         }",
    );
    project.write(
        "processes/py.py",
        "import os, signal\n\n\
         config = {'timeout_ms': 3600000, 'retry_policy': {'backoff': {'type': 'fixed', 'delay_ms': 1}}}\n\n\n\
         def handler(input, ctx):\n    \
         if ctx.attempt == 1:\n        os.kill(os.getpid(), signal.SIGSTOP)\n        ctx.signal.wait()\n    \
         return ctx.attempt\n",
    );
    let server = project.serve();
    for queue in ["js", "py"] {
        let added = server.json(&["jobs", "add", queue, "-d", "{}", "--wait"]);
        assert_eq!(added["result"], 2, "{queue}");
        let logs = server.run(&["jobs", "logs", added["id"].as_str().unwrap()]);
        assert!(logs.out.contains("stalled: WORKER_LOST"), "{}", logs.out);
    }
}
