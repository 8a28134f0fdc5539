//! What steps that are executables note while they run.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Line {
    key: String,
    step: String,
    attempt: u64,
}

/// The attempts that ran, of each step of each wish.
pub type Notes = HashMap<(String, String), HashSet<u64>>;

/// No attempt is run twice: what was lost is tried again under the next number.
pub fn read(path: &Path) -> Result<Notes, String> {
    let mut notes = Notes::new();
    // Nothing has run if nothing was noted.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    for line in text.lines() {
        let noted = serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        let Line { key, step, attempt } = noted;
        if !notes.entry((key, step)).or_default().insert(attempt) {
            return Err(format!("promise 2: an attempt ran twice: {line}"));
        }
    }
    Ok(notes)
}
