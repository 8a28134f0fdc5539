//! Backups of a server that works, folders made of them, and data that is damaged.

use serde_json::Value;

use crate::support::Project;

const DATA: &str = "--data=.riverrun";

/// Starts runs until somebody says that it is enough.
fn busy(project: &Project, url: &str, is_over: &std::sync::atomic::AtomicBool) -> Vec<String> {
    let mut started = Vec::new();
    while !is_over.load(std::sync::atomic::Ordering::Acquire) {
        let ended = project.run(&[
            "run",
            "quick",
            "-d",
            "{\"name\": \"Ada\"}",
            "--url",
            url,
            "-o",
            "json",
        ]);
        let run: Value = serde_json::from_str(&ended.out).unwrap();
        started.push(run["runId"].as_str().unwrap().to_owned());
    }
    started
}

#[test]
fn a_backup_of_a_busy_server_is_restored() {
    let project = Project::with_flows();
    let server = project.serve();
    let before: Vec<String> = (0..5)
        .map(|_| server.json(&["run", "quick", "--wait"]))
        .map(|_| server.json(&["runs", "show", "latest"]))
        .map(|run| run["runId"].as_str().unwrap().to_owned())
        .collect();
    let (is_over, url) = (
        std::sync::atomic::AtomicBool::new(false),
        server.url.clone(),
    );
    std::thread::scope(|scope| {
        let load = scope.spawn(|| busy(&project, &url, &is_over));
        for name in ["one.db", "two.db"] {
            let ended = project.run(&["backup", name, DATA]);
            assert_eq!(ended.code, 0, "{ended:#?}");
        }
        is_over.store(true, std::sync::atomic::Ordering::Release);
        load.join().unwrap();
    });
    // It can be checked while the server goes on.
    let ended = project.run(&["verify", DATA]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(ended.err.contains("a server has the folder"), "{ended:#?}");
    server.kill();
    project
        .run(&["backup", "one.db", DATA])
        .refused(2, &["error[FILE_EXISTS]", "--force"]);
    // The files of the store are not replaced, whatever path leads to them.
    for inside in [
        ".riverrun/riverrun.db",
        "./.riverrun/../.riverrun/mark",
        ".riverrun/new.db",
    ] {
        project
            .run(&["backup", inside, DATA, "--force"])
            .refused(2, &["error[FILE_UNUSABLE]", "inside the data folder"]);
    }
    // A folder that no server has, as a killed one left it.
    let ended = project.run(&["backup", "one.db", DATA, "--force", "--rate", "0"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(project.path("one.db")).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    }
    for name in ["one.db", "two.db"] {
        let ended = project.run(&["verify", "--file", name, "-o", "json"]);
        let report: Value = serde_json::from_str(&ended.out).unwrap();
        assert_eq!(ended.code, 0, "{report:#}");
        assert!(report["runs"].as_u64() >= Some(5), "{report:#}");
    }
    project
        .run(&["restore", "two.db", DATA])
        .refused(2, &["error[FILE_EXISTS]", "is not empty"]);
    let ended = project.run(&["restore", "two.db", "--data", "new/data"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    let restored = project.start(&["serve", "--data", "new/data", "--listen", "127.0.0.1:0"]);
    for run in &before {
        let shown = restored.json(&["runs", "show", run]);
        assert_eq!(shown["status"], "completed");
    }
}

#[test]
fn damage_is_shown_and_a_damaged_backup_is_not_restored() {
    let project = Project::with_flows();
    let server = project.serve();
    server.ok(&["run", "quick", "-d", "{\"name\": \"needle\"}", "--wait"]);
    server.signal("-TERM");
    assert_eq!(server.ended(), 0);
    let ended = project.run(&["doctor", "--deep", DATA, "--listen=127.0.0.1:0"]);
    assert!(ended.out.contains("✓ stored"), "{ended:#?}");
    assert_eq!(project.run(&["backup", "b.db", DATA]).code, 0);
    for file in [".riverrun/riverrun.db", "b.db"] {
        let path = project.path(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(6).position(|window| window == b"needle");
        bytes[at.unwrap()] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let ended = project.run(&["verify", DATA]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.out.contains("checksum"), "{ended:#?}");
    let ended = project.run(&["doctor", "--deep", DATA, "--listen=127.0.0.1:0"]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    assert!(ended.out.contains("✗ stored"), "{ended:#?}");
    let refused = project.run(&["restore", "b.db", "--data", "new"]);
    refused.refused(1, &["error[STORE_CORRUPT]", "nothing was written"]);
    assert!(!project.path("new").exists());
    // The server starts, and says of that run alone that it is damaged.
    let server = project.serve();
    let listed = server.json(&["runs", "ls"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed:#}");
    server.ok(&["run", "quick", "--wait"]);
    server
        .run(&["runs", "events", listed[0]["runId"].as_str().unwrap()])
        .refused(1, &["STORE_CORRUPT"]);
}

#[test]
fn a_server_refuses_files_that_hold_less_than_it_said() {
    let project = Project::with_flows();
    let server = project.serve();
    for _ in 0..3 {
        server.ok(&["run", "quick", "--wait"]);
    }
    server.kill();
    let serve = ["serve", "--project", ".", "--listen", "127.0.0.1:0"];
    let log = project.path(".riverrun/riverrun.db-wal");
    let whole = std::fs::read(&log).unwrap();
    let database = project.path(".riverrun/riverrun.db");
    let aside = project.path("aside.db");
    std::fs::rename(&database, &aside).unwrap();
    project.run(&serve).refused(
        1,
        &[
            "error[STORE_DAMAGED]",
            "riverrun.db is missing",
            "--accept-loss",
        ],
    );
    project
        .run(&["backup", "b.db", DATA])
        .refused(1, &["riverrun.db"]);
    std::fs::rename(&aside, &database).unwrap();
    let mut damaged = whole.clone();
    damaged[5_000] ^= 4;
    std::fs::write(&log, &damaged).unwrap();
    project
        .run(&serve)
        .refused(1, &["error[STORE_DAMAGED]", "acknowledged"]);
    let ended = project.run(&["verify", DATA]);
    assert_eq!(ended.code, 1, "{ended:#?}");
    std::fs::write(&log, &whole).unwrap();
    let server = project.serve();
    assert_eq!(server.json(&["runs", "ls"]).as_array().unwrap().len(), 3);
    server.kill();
    std::fs::write(&log, &damaged).unwrap();
    let ended = project.run(&["verify", DATA, "--accept-loss"]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(project.path(".riverrun/before-loss-1").is_dir());
    project.serve().ok(&["run", "quick", "--wait"]);
}
