//! `docs/reference/configuration.md` lists every key of the configuration with its default and its
//! flag, and no key that does not exist.

use std::{collections::BTreeMap, path::Path};

use clap::CommandFactory;
use serde_json::Value;

use super::{
    Config,
    keys::{keys, leaves},
};

const PAGE: &str = "docs/reference/configuration.md";

/// A row of the page.
struct Row {
    default: String,
    off: String,
    flag: String,
    effect: String,
}

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(PAGE)).unwrap()
}

/// The rows of the tables that have the columns of a setting, by key.
fn rows() -> BTreeMap<String, Row> {
    let mut rows = BTreeMap::new();
    for line in page().lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [key, _, default, off, flag, effect] = cells.as_slice() else {
            continue;
        };
        let Some(key) = key.strip_prefix('`').and_then(|key| key.strip_suffix('`')) else {
            continue;
        };
        let plain = |cell: &str| cell.trim_matches('`').to_owned();
        let row = Row {
            default: plain(default),
            off: plain(off),
            flag: plain(flag),
            effect: plain(effect),
        };
        let before = rows.insert(key.to_owned(), row);
        assert!(before.is_none(), "{PAGE} has {key} twice");
    }
    rows
}

fn defaults() -> BTreeMap<String, String> {
    let config = serde_json::to_value(Config::default()).unwrap();
    let text = |value: Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let leaves = leaves(&config, &keys()).into_iter();
    leaves.map(|(key, value)| (key, text(value))).collect()
}

#[test]
fn the_page_lists_every_key_with_its_default() {
    let (rows, defaults) = (rows(), defaults());
    for (key, default) in &defaults {
        let row = rows.get(key);
        let row = row.unwrap_or_else(|| panic!("{PAGE} lacks {key}: add a row for it"));
        assert_eq!(&row.default, default, "{PAGE}: the default of {key}");
        assert!(!row.effect.is_empty(), "{PAGE}: the effect of {key}");
    }
    for key in rows.keys() {
        assert!(defaults.contains_key(key), "{PAGE}: there is no key {key}");
    }
}

#[test]
fn a_value_that_turns_a_key_off_is_accepted() {
    for (key, row) in rows() {
        if row.off == "-" || row.off.starts_with("--") {
            continue;
        }
        let flags = super::Flags {
            values: vec![(key.clone(), row.off.clone(), "--set".to_owned())],
            ..Default::default()
        };
        let loaded = super::load(&flags, []);
        assert!(loaded.is_ok(), "{key} = {}: {:?}", row.off, loaded.err());
    }
}

/// A key has the flag that the page names for it, and `--set` where it has none of its own.
#[test]
fn the_page_names_the_flags_of_the_server() {
    let command = crate::cli::Cli::command();
    let serve = command.find_subcommand("serve").unwrap();
    let flags: Vec<&str> = serve
        .get_arguments()
        .filter_map(|arg| arg.get_long())
        .collect();
    for (key, row) in rows() {
        let own = key.replace('_', "-");
        let expected = match flags.contains(&own.as_str()) {
            true => own.as_str(),
            false => "set",
        };
        assert_eq!(
            row.flag,
            format!("--{expected}"),
            "{PAGE}: the flag of {key}"
        );
    }
}
