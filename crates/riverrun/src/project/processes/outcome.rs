//! The outcome of loading a project's processes.

use std::path::PathBuf;

use crate::{
    failure::Failure,
    output::{self, paint, paint::paint},
};

/// What came of looking.
#[derive(Default)]
pub struct Outcome {
    /// Ids of processes that are new or changed, each with its queue if it has one.
    pub loaded: Vec<(String, Option<String>)>,
    pub removed: Vec<String>,
    /// Files that are no process and have changed, each with how many files were loaded anew.
    pub anew: Vec<(PathBuf, usize)>,
    pub failures: Vec<Failure>,
    /// What may be a mistake.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Prints the warnings on stderr.
    pub fn warn(&self) {
        for warning in &self.warnings {
            output::talk(&format!("{} {warning}", paint(paint::WARN, "warning:")));
        }
    }
}
