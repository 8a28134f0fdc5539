//! Runs the example as a reader would.

use std::process::Command;

#[test]
fn it_greets_the_world_and_keeps_the_run() {
    let folder = std::env::temp_dir().join(format!("riverrun-embedded-{}", std::process::id()));
    for _ in 0..2 {
        let output = Command::new(env!("CARGO_BIN_EXE_riverrun-example-embedded"))
            .arg(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("Hello, World!"));
        assert!(text.contains("flow.completed"), "{text}");
    }
    assert!(folder.join("riverrun.db").exists());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_handler_in_readme_is_the_one_of_the_example() {
    let readme = include_str!("../README.md");
    let (_, rest) = readme.split_once("```rust\n").unwrap();
    let (handler, _) = rest.split_once("```").unwrap();
    let main = include_str!("../src/main.rs");
    for line in handler.lines() {
        assert!(main.contains(line.trim()), "{line}");
    }
}
