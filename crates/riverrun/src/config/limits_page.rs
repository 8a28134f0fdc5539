//! Checks that `docs/limits.md` is true: its defaults are compared with those of the configuration,
//! of flows, and of constants.

use std::path::Path;

use serde_json::{Value, json};

use super::Config;

/// A row of the page: what is limited, its default, its key.
struct Row {
    limit: String,
    default: String,
    key: String,
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows() -> Vec<Row> {
    let page = std::fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| "));
    let rows = rows.filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [limit, default, key, _] = cells.as_slice() else {
            panic!("a row has four cells: {line}");
        };
        (*limit != "limit" && !limit.starts_with("---")).then(|| Row {
            limit: (*limit).to_owned(),
            default: (*default).to_owned(),
            key: (*key).to_owned(),
        })
    });
    rows.collect()
}

/// `16 MiB`, `30 s`, `7 d` or `1,000` as bytes, milliseconds or a number.
fn read(text: &str) -> Option<f64> {
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    let digits: String = text
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    let number: f64 = digits.parse().ok()?;
    let unit = words.find(|word| word.chars().all(char::is_alphabetic));
    Some(match unit {
        Some("KiB") => number * 1024.0,
        Some("MiB") => number * 1024.0 * 1024.0,
        Some("GiB") => number * 1024.0 * 1024.0 * 1024.0,
        Some("s") => number * 1_000.0,
        Some("min" | "minute" | "minutes") => number * 60_000.0,
        Some("d") => number * 86_400_000.0,
        _ => number,
    })
}

/// The value of a key with dots, as a number.
fn at(value: &Value, key: &str) -> Option<f64> {
    let found = key.split('.').try_fold(value, |at, part| at.get(part))?;
    match found {
        Value::String(text) => riverrun_types::time::duration_ms(text),
        number => number.as_f64(),
    }
}

#[test]
fn documented_defaults_of_keys_are_those_of_the_configuration() {
    let config = serde_json::to_value(Config::default()).unwrap();
    let flow = json!({ "limits": riverrun_types::Limits::default(),
        "awaits": riverrun_types::Limits::default().max_awaits });
    let mut checked = 0;
    for Row {
        limit,
        default,
        key,
    } in rows()
    {
        let expected = match key.strip_prefix("flow `") {
            Some(key) => match key.trim_end_matches('`') {
                "limits.maxAwaits" => at(&flow, "awaits"),
                key => at(&flow, key),
            },
            None => match key.strip_prefix('`').and_then(|key| key.strip_suffix('`')) {
                Some(key) => at(&config, key),
                None => continue,
            },
        };
        let expected = expected.unwrap_or_else(|| panic!("{limit}: there is no key {key}"));
        // Some depend on others: `twice the state's`.
        if let Some(default) = read(&default) {
            assert_eq!(default, expected, "{limit}: the default of {key}");
            checked += 1;
        }
    }
    assert!(checked >= 20, "{checked}");
    // And the other way round: what the server's configuration limits is on the page.
    let page = std::fs::read_to_string(root().join("docs/limits.md")).unwrap();
    for section in ["limits", "expr", "retention"] {
        for key in config[section].as_object().unwrap().keys() {
            let key = format!("`{section}.{key}`");
            assert!(page.contains(&key), "docs/limits.md lacks {key}");
        }
    }
}

/// Constants by what the page says of them, in lower case: words in capitals are codes of errors.
const FIXED: [(&str, &str, &str); 29] = [
    (
        "Issues that validation lists",
        "engine/src/validate/mod.rs",
        "max_issues",
    ),
    (
        "Characters of an issue's message or path",
        "engine/src/validate/issues.rs",
        "max_message",
    ),
    (
        "Values and member names of a definition, also of a trigger",
        "runtime/src/flows/definition/bounded.rs",
        "max_values",
    ),
    (
        "bytes of payloads in a page of events or of a queue's jobs",
        "store/src/query.rs",
        "page_bytes",
    ),
    (
        "Edges of a diagram",
        "engine/src/diagram/read.rs",
        "max_edges",
    ),
    (
        "Bytes of a compiled pattern of `matches`",
        "handlers/src/branch.rs",
        "max_regex_bytes",
    ),
    (
        "Triggers of a server",
        "triggers/src/change.rs",
        "max_triggers",
    ),
    (
        "Bytes of a trigger's definition",
        "triggers/src/definition.rs",
        "max_bytes",
    ),
    ("Parts of a dot path", "types/src/path.rs", "max_parts"),
    (
        "Bytes of the data of an event from outside or of `ctx.emit`, and of what stands around the data",
        "runtime/src/streams/append.rs",
        "max_event_bytes",
    ),
    (
        "Bytes of the metadata of a run or a job",
        "runtime/src/base/metadata.rs",
        "max_bytes",
    ),
    (
        "events of one append; jobs of one request",
        "runtime/src/base/mod.rs",
        "max_items",
    ),
    (
        "Levels of a value in a run",
        "types/src/json/mod.rs",
        "max_value_depth",
    ),
    ("Levels of any JSON", "types/src/json/mod.rs", "max_depth"),
    (
        "Bytes of a `log` message",
        "handlers/src/log.rs",
        "max_message_bytes",
    ),
    (
        "Bytes of a text that is a duration or a time in `delay`",
        "handlers/src/delay.rs",
        "max_time_bytes",
    ),
    (
        "Characters of a failure's message",
        "engine/src/decide/check.rs",
        "max_message",
    ),
    (
        "Characters of a failure's stack",
        "engine/src/decide/check.rs",
        "max_stack",
    ),
    (
        "source of an expression",
        "expr/src/expr.rs",
        "max_source_bytes",
    ),
    (
        "rows a page (`?limit=`)",
        "api/src/extract/query.rs",
        "max_page",
    ),
    (
        "Attempts in `Execution.history`",
        "api/src/executions.rs",
        "history",
    ),
    (
        "Characters of a label: tags, tenants, keys, correlation and causation ids",
        "types/src/label.rs",
        "max_chars",
    ),
    (
        "Redirects that an `http` step follows",
        "handlers/src/http/exchange.rs",
        "max_redirects",
    ),
    (
        "subscriptions of a WebSocket",
        "api/src/event_socket.rs",
        "max_subscriptions",
    ),
    (
        "calls under way over a WebSocket",
        "api/src/call_socket.rs",
        "max_calls",
    ),
    (
        "Visits under way in a run",
        "engine/src/decide/wait.rs",
        "max_visits",
    ),
    (
        "Forks inside forks",
        "engine/src/decide/wait.rs",
        "max_forks",
    ),
    (
        "Events in a commit of a run",
        "runtime/src/runs/drive/advance.rs",
        "max_events",
    ),
    (
        "Bytes of the events in a commit of a run",
        "runtime/src/runs/drive/advance.rs",
        "max_event_bytes",
    ),
];

#[test]
fn documented_limits_that_are_fixed_are_those_of_the_code() {
    let rows = rows();
    for (limit, file, name) in FIXED {
        let row = rows.iter().find(|row| row.limit == limit);
        let row = row.unwrap_or_else(|| panic!("docs/limits.md lacks {limit:?}"));
        let name = name.to_uppercase();
        let source = std::fs::read_to_string(root().join("crates").join(file)).unwrap();
        let constant = source
            .lines()
            .find_map(|line| line.trim().split_once(&format!("const {name}: ")))
            .unwrap_or_else(|| panic!("{file} has no {name}"));
        let value = constant.1.split_once("= ").unwrap().1.trim_end_matches(';');
        let number = |text: &str| text.trim().replace('_', "").parse::<f64>().unwrap();
        let value = match value.split_once("<<") {
            Some((left, right)) => number(left) * number(right).exp2(),
            None => number(value),
        };
        assert_eq!(read(&row.default), Some(value), "{limit}: {name} in {file}");
    }
}
