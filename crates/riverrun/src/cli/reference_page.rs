//! `docs/reference/cli.md` has a row for every command, with all of its flags.

use std::path::Path;

use clap::{Command, CommandFactory};

use super::Cli;

const PAGE: &str = "docs/reference/cli.md";

/// Flags that the page describes once, for all commands that have them. `--data` is written `-d`.
const COMMON: [&str; 14] = [
    "url",
    "output",
    "connect-timeout",
    "help",
    "version",
    "config",
    "listen",
    "public-url",
    "data",
    "store",
    "log",
    "log-format",
    "allow-unauthenticated",
    "set",
];

/// The commands that do something by themselves, with their whole names.
fn leaves<'a>(name: &str, command: &'a Command, found: &mut Vec<(String, &'a Command)>) {
    let inner = command.get_subcommands();
    let inner: Vec<&Command> = inner.filter(|inner| !inner.is_hide_set()).collect();
    if inner.is_empty() {
        found.push((name.to_owned(), command));
    }
    for command in inner.iter().filter(|command| command.get_name() != "help") {
        leaves(&format!("{name} {}", command.get_name()), command, found);
    }
}

#[test]
fn the_page_has_every_command_with_its_flags() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
    let command = Cli::command();
    let mut commands = Vec::new();
    leaves("riverrun", &command, &mut commands);
    assert!(commands.len() > 50, "{}", commands.len());
    let mut missing = Vec::new();
    for (name, command) in commands {
        let starts = [format!("| `{name}`"), format!("| `{name} ")];
        let mut rows = page.lines();
        let row = rows.find(|row| starts.iter().any(|start| row.starts_with(start)));
        let Some(row) = row else {
            missing.push(name);
            continue;
        };
        let flags = command.get_arguments().filter(|flag| !flag.is_hide_set());
        let flags = flags.filter_map(|flag| flag.get_long());
        let own = flags.filter(|flag| !COMMON.contains(flag));
        let unsaid = own.filter(|flag| {
            let flag = format!("`--{flag}");
            let is_flag = |(at, _): (usize, &str)| {
                let after = row[at + flag.len()..].chars().next();
                after.is_some_and(|c| c != '-' && !c.is_alphanumeric())
            };
            !row.match_indices(&flag).any(is_flag)
        });
        missing.extend(unsaid.map(|flag| format!("{name} --{flag}")));
    }
    assert!(missing.is_empty(), "{PAGE} lacks {missing:#?}");
}
