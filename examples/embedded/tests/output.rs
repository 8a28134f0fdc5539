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
