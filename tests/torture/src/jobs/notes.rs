//! What handlers say they did: one line for each step of each attempt.

use std::{collections::HashMap, path::PathBuf};

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// The handler was called.
    Began,
    /// A write to the state was acknowledged.
    Wrote,
    /// All is done; the result is what comes next.
    Ended,
}

#[derive(Deserialize)]
struct Line {
    job: String,
    attempt: u32,
    what: What,
}

/// By job: which attempt did what, and how often.
pub type Notes = HashMap<String, Did>;
pub type Did = HashMap<(u32, What), usize>;

pub fn read(paths: &[PathBuf]) -> Result<Notes, String> {
    let mut text = String::new();
    for path in paths {
        // Nothing was begun if nothing was noted.
        text.push_str(&std::fs::read_to_string(path).unwrap_or_default());
    }
    let mut notes = Notes::new();
    for line in text.lines() {
        let Line { job, attempt, what } =
            serde_json::from_str(line).map_err(|error| format!("{line:?}: {error}"))?;
        let own = notes.entry(job).or_default();
        *own.entry((attempt, what)).or_default() += 1;
    }
    Ok(notes)
}
