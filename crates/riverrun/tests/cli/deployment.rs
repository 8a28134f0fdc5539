//! The unit files of `docs/guides/deployment.md`: their commands and flags exist, and systemd gives
//! the server longer to stop than the server takes.

use std::{fs, path::Path};

use crate::support::Project;

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join("docs/guides/deployment.md")).unwrap()
}

/// The values of a setting of the units, in their order.
fn values<'a>(page: &'a str, setting: &str) -> Vec<&'a str> {
    let settings = page.lines().filter_map(|line| line.split_once('='));
    let named = settings.filter(|(name, _)| *name == setting);
    named.map(|(_, value)| value).collect()
}

#[test]
fn the_commands_of_the_units_exist() {
    let page = page();
    let project = Project::new();
    let starts = values(&page, "ExecStart").into_iter();
    let ours: Vec<&str> = starts
        .filter_map(|command| command.strip_prefix("/usr/local/bin/riverrun "))
        .collect();
    assert_eq!(ours.len(), 3, "{ours:?}");
    for command in ours {
        // Arguments before `--help` are checked; the command is not executed.
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let ended = project.run(&arguments);
        assert_eq!(ended.code, 0, "{command}: {ended:#?}");
    }
}

#[test]
fn systemd_waits_longer_than_the_server_takes_to_stop() {
    let page = page();
    let grace = page.lines().find_map(|line| line.strip_prefix("grace = "));
    let grace = grace.unwrap().trim_matches(['"', 's']);
    let grace: u64 = grace.parse().unwrap();
    let [patience] = values(&page, "TimeoutStopSec")[..] else {
        panic!("the unit has one TimeoutStopSec");
    };
    assert!(patience.parse::<u64>().unwrap() > grace + 30, "{patience}");
}
