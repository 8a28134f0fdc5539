//! Commands that need no server: help, init, config, doctor, completions, version.

use serde_json::Value;

use crate::support::Project;

#[test]
fn help_version_and_completions() {
    let project = Project::new();
    let help = project.run(&["--help"]);
    assert_eq!(help.code, 0);
    assert!(
        help.out.starts_with("One server for background jobs"),
        "{}",
        help.out
    );
    let help = project.run(&["run", "--help"]);
    let mut lines = help.out.lines();
    assert_eq!(lines.next(), Some("Start a run of a flow"));
    assert!(
        lines.any(|line| line.starts_with("Example: riverrun run")),
        "{}",
        help.out
    );
    project
        .run(&["nonsense"])
        .refused(2, &["error[USAGE]: unrecognized subcommand"]);
    project.run(&[]).refused(2, &["Usage: riverrun"]);
    assert!(project.run(&["--version"]).out.starts_with("riverrun 0."));
    let version: Value =
        serde_json::from_str(&project.run(&["version", "-o", "json"]).out).unwrap();
    assert!(version["version"].is_string());
    for shell in ["bash", "zsh", "fish"] {
        let script = project.run(&["completions", shell]).out;
        for word in [
            "riverrun",
            "queues",
            "drain",
            "jobs",
            "promote",
            "dlq",
            "redrive",
            "call",
            "processes",
            "top",
        ] {
            assert!(script.contains(word), "{word} is not completed in {shell}");
        }
    }
}

#[test]
fn config_says_where_each_value_is_from() {
    let project = Project::new();
    project.write(
        "riverrun.toml",
        "lease = '9s'\n[retention]\nfailed = 'off'\n",
    );
    let shown = project
        .command()
        .args(["config", "--listen", "127.0.0.1:1", "-o", "json"])
        .env("RIVERRUN_LOG", "debug")
        .output();
    let rows: Vec<Value> = serde_json::from_slice(&shown.unwrap().stdout).unwrap();
    for (key, value, source) in [
        ("listen", "127.0.0.1:1", "flag --listen"),
        ("log", "debug", "env RIVERRUN_LOG"),
        ("lease", "9s", "file riverrun.toml"),
        ("retention.failed", "off", "file riverrun.toml"),
        ("retention.completed", "7d", "default"),
    ] {
        let row = rows.iter().find(|row| row["key"] == key).unwrap();
        assert_eq!(
            (row["value"].as_str(), row["source"].as_str()),
            (Some(value), Some(source)),
            "{key}"
        );
    }
    project
        .run(&["config", "--set", "leese=1s"])
        .refused(2, &["error[CONFIG_UNKNOWN_KEY]", "\"lease\""]);
    project.write("riverrun.toml", "lease = 'x'\n");
    project.run(&["config"]).refused(
        2,
        &["error[CONFIG_INVALID]: lease", "from file riverrun.toml"],
    );
}

#[test]
fn init_refuses_to_overwrite() {
    let project = Project::new();
    let made = project.run(&["init", "new"]);
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.err.contains("riverrun dev new"), "{}", made.err);
    assert_eq!(
        project
            .run(&["flows", "validate", "new/flows/hello.yaml"])
            .code,
        0
    );
    project.run(&["init", "new"]).refused(
        2,
        &["error[FILE_EXISTS]", "riverrun.toml", "nothing was written"],
    );
}

#[test]
fn doctor_finds_what_is_wrong() {
    let project = Project::with_flows();
    let listen = "--listen=127.0.0.1:0";
    let ended = project.run(&["doctor", "--project", ".", listen]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    for text in [
        "✓ config",
        "✓ data",
        "✓ lock",
        "✓ disk",
        "✓ sync",
        "✓ flows    4",
    ] {
        assert!(ended.out.contains(text), "{text} is not in {}", ended.out);
    }
    project.write("flows/bad.yaml", "id: 1");
    project.write("riverrun.toml", "log = 'info'");
    let ended = project.run(&[
        "doctor",
        "--project",
        ".",
        listen,
        "--url",
        "http://127.0.0.1:1",
    ]);
    assert_eq!(ended.code, 1);
    for text in ["✗ server", "✗ flows", "try: riverrun flows validate"] {
        assert!(ended.out.contains(text), "{text} is not in {}", ended.out);
    }
    // Interpreters, and the processes that do not load.
    project.write("processes/good.ts", "export default (a: number) => a\n");
    project.write("processes/bad.ts", "export default (a: ) => a\n");
    project.write("processes/gone.py", "import not_there\n");
    project.write(
        "processes/away.ts",
        "import x from 'not-installed'\nexport default () => x\n",
    );
    let ended = project.run(&["doctor", "--project", ".", listen]);
    assert_eq!(ended.code, 1);
    for text in [
        "✓ node",
        "✓ python",
        "✗ process",
        "bad.ts:1:20",
        "try: Correct the line",
        "not_there",
        "away.ts:1:15",
        "try: npm install not-installed",
        "✓ work     1 processes loaded",
    ] {
        assert!(ended.out.contains(text), "{text} is not in {}", ended.out);
    }
    let bad = ended
        .out
        .lines()
        .filter(|line| line.starts_with('✗'))
        .count();
    let next = ended
        .out
        .lines()
        .filter(|line| line.starts_with("  try: "))
        .count();
    assert_eq!(bad, next, "{}", ended.out);
    assert!(!ended.out.contains("riverrun help"), "{}", ended.out);
    project.write("riverrun.toml", "[runners]\nnode = '/nowhere/node'\n");
    let ended = project.run(&["doctor", "--project", ".", listen]);
    assert!(ended.out.contains("✗ node"), "{}", ended.out);
    project.write("riverrun.toml", "log = 1");
    let ended = project.run(&["doctor", "-o", "jsonl"]);
    assert_eq!(ended.code, 1);
    let first: Value = serde_json::from_str(ended.out.lines().next().unwrap()).unwrap();
    assert_eq!(
        (first["name"].as_str(), first["ok"].as_bool()),
        (Some("config"), Some(false))
    );
}

#[test]
fn doctor_with_a_server() {
    let project = Project::with_flows();
    let server = project.serve();
    let ended = server.run(&["doctor", "--project", "."]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    for text in ["✓ server", "is ready", "✓ version", "uses the data folder"] {
        assert!(ended.out.contains(text), "{text} is not in {}", ended.out);
    }
}

/// A pipe without a writer, and a file without an end.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let project = Project::new();
    let pipe = project.path("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let refused = |args: &[&str]| {
        let says = ["FILE_UNUSABLE", "not a regular file"];
        project.run(args).refused(2, &says);
    };
    refused(&["flows", "validate", "pipe.yaml"]);
    refused(&["flows", "graph", "pipe.yaml"]);
    refused(&["run", "x", "-d", "@pipe.yaml"]);
    refused(&["runs", "import", "pipe.yaml"]);
    refused(&["config", "--config", "pipe.yaml"]);
    refused(&["flows", "validate", "/dev/zero"]);
    std::fs::rename(&pipe, project.path("flows/pipe.yaml")).unwrap();
    refused(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    std::fs::remove_file(project.path("flows/pipe.yaml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.path("flows/zero.json")).unwrap();
    refused(&["serve", "--project", ".", "--listen", "127.0.0.1:0"]);
    let dev = project.start(&["dev", ".", "--listen", "127.0.0.1:0"]);
    dev.ok(&["runs", "ls"]);
}

#[test]
fn a_variable_that_is_no_setting_is_spoken_of() {
    let project = Project::new();
    let said = |args: &[&str]| {
        let mut command = project.command();
        let ended = command.args(args).env("RIVERRUN_BOGUS", "1").output();
        String::from_utf8(ended.unwrap().stderr).unwrap()
    };
    // The last ends at once: nothing there is an address.
    for args in [
        &["config"][..],
        &["doctor"],
        &[
            "serve",
            "--listen",
            "192.0.2.1:1",
            "--allow-unauthenticated",
        ],
    ] {
        let said = said(args);
        assert!(said.contains("RIVERRUN_BOGUS is not a setting"), "{said}");
    }
}
