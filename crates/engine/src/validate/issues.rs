//! The issues of one definition, bounded in number and length.

use super::{Issue, MAX_ISSUES, Severity};

/// Characters of a message and of a path. Both may quote the definition.
const MAX_MESSAGE: usize = 500;
const MAX_PATH: usize = 500;

#[derive(Default)]
pub(super) struct Issues {
    found: Vec<Issue>,
    /// How many of them are warnings.
    warnings: usize,
    is_more: bool,
}

impl Issues {
    /// Adds an issue. In a full list an error replaces the last warning, so that a definition with
    /// an error always has one in the list.
    pub fn add(&mut self, mut issue: Issue) {
        let is_warning = issue.severity == Severity::Warning;
        if self.found.len() >= MAX_ISSUES {
            self.is_more = true;
            if is_warning || self.warnings == 0 {
                return;
            }
            let is_warning = |issue: &Issue| issue.severity == Severity::Warning;
            if let Some(last) = self.found.iter().rposition(is_warning) {
                self.found.remove(last);
                self.warnings -= 1;
            }
        }
        shorten(&mut issue.message, MAX_MESSAGE);
        shorten(&mut issue.path, MAX_PATH);
        self.warnings += usize::from(is_warning);
        self.found.push(issue);
    }

    /// Whether the list is full.
    pub fn is_full(&self) -> bool {
        self.found.len() >= MAX_ISSUES && self.warnings == 0
    }

    /// All of them, with one that reports the omitted ones.
    pub fn all(mut self) -> Vec<Issue> {
        if self.is_more || self.is_full() {
            self.found.push(Issue {
                path: String::new(),
                rule: "maxIssues".to_owned(),
                message: format!("only {MAX_ISSUES} issues are listed: there may be more"),
                severity: Severity::Warning,
            });
        }
        self.found
    }
}

fn shorten(text: &mut String, most: usize) {
    if let Some((at, _)) = text.char_indices().nth(most) {
        text.truncate(at);
        text.push('…');
    }
}
