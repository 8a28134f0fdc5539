//! What steps that are executables note while they run.

use std::{collections::HashMap, path::Path};

use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    key: String,
    step: String,
    attempt: u64,
}

/// How often each attempt ran, of each step of each wish.
pub type Notes = HashMap<(String, String), HashMap<u64, usize>>;

pub fn read(path: &Path) -> Result<Notes, String> {
    let mut notes = Notes::new();
    // Nothing has run if nothing was noted.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let noted = serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        let Line { key, step, attempt } = noted;
        let attempts = notes.entry((key, step)).or_default();
        *attempts.entry(attempt).or_default() += 1;
    }
    Ok(notes)
}
