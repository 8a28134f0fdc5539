//! What handlers say they did inside of `ctx.run`, and what they got acknowledged as recorded.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    run: String,
    name: String,
    what: String,
}

/// How often each effect of each run happened.
pub type Effects = HashMap<(String, String), usize>;

/// What was recorded is not done again: that line would stand after the other.
pub fn read(path: &Path) -> Result<Effects, String> {
    let mut effects = Effects::new();
    // Nothing was done if nothing was noted.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut recorded: HashSet<(String, String)> = HashSet::new();
    for line in text.lines() {
        let Line { run, name, what } =
            serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        let key = (run, name);
        if what == "recorded" {
            recorded.insert(key);
            continue;
        }
        if recorded.contains(&key) {
            return Err(format!(
                "promise 2: {} of run {} was recorded, and is done again",
                key.1, key.0
            ));
        }
        *effects.entry(key).or_default() += 1;
    }
    Ok(effects)
}
