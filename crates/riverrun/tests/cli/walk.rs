//! The walk in README, as a newcomer would type it.

use std::process::{Command, Stdio};

use crate::support::{Ended, Project};

/// A command of the walk and the lines that README shows for it.
struct Typed {
    command: String,
    shown: Vec<String>,
}

fn walk() -> Vec<Typed> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (_, rest) = readme
        .split_once("```console\n")
        .expect("README has a walk");
    let (walk, _) = rest.split_once("```").unwrap();
    let mut typed: Vec<Typed> = Vec::new();
    for line in walk.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => typed.push(Typed {
                command: command.to_owned(),
                shown: Vec::new(),
            }),
            None => typed.last_mut().unwrap().shown.push(line.to_owned()),
        }
    }
    typed
}

fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_walk_in_readme_goes_as_it_says() {
    let project = Project::new();
    let typed = walk();
    let mut script = String::from("set -m\n");
    for (at, step) in typed.iter().enumerate() {
        let file = project.path(&format!("out.{at}"));
        let file = file.to_str().unwrap();
        match step.command.strip_suffix('&') {
            // Pasted as a block: nobody waits until the server has said that it listens.
            Some(server) => script += &format!("{server} > {file} 2>&1 &\n"),
            None => script += &format!("{} > {file} || exit 1\n", step.command),
        }
    }
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_riverrun"));
    let path = std::env::var("PATH").unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    // The walk names its folders as seen from the repository's root.
    std::os::unix::fs::symlink(root().join("examples"), project.path("examples")).unwrap();
    let output = Command::new("bash")
        .arg("-c")
        .arg(&script)
        .current_dir(project.folder.path())
        .env(
            "PATH",
            format!("{}:{path}", binary.parent().unwrap().display()),
        )
        .env("RIVERRUN_LISTEN", format!("127.0.0.1:{port}"))
        .env("RIVERRUN_URL", format!("http://127.0.0.1:{port}"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let ended = Ended::of(output);
    assert_eq!(ended.code, 0, "{ended:#?}\n{script}");
    for (at, step) in typed.iter().enumerate() {
        let printed = std::fs::read_to_string(project.path(&format!("out.{at}"))).unwrap();
        let mut lines = printed.lines();
        for shown in &step.shown {
            assert!(
                lines.any(|line| has_words(line, shown)),
                "{:?} does not print {shown:?} where README says so, but\n{printed}",
                step.command
            );
        }
    }
}

/// Whether the words of `shown` come in their order in `line`.
fn has_words(line: &str, shown: &str) -> bool {
    let mut rest = line;
    shown.split_whitespace().all(|word| match rest.find(word) {
        Some(at) => {
            rest = &rest[at + word.len()..];
            true
        }
        None => false,
    })
}
