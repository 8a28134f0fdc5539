//! `riverrun flows validate`.

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use clap::Args;
use riverrun::{Issue, Severity};
use riverrun_runtime::Handlers;
use serde_json::json;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint, paint::paint},
    project::{self, ProjectNames},
};

#[derive(Args, Debug)]
pub struct Validate {
    /// JSON or YAML files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// The handlers that every server has.
pub fn built_in() -> Handlers {
    Handlers::new(riverrun_handlers::all(riverrun::HandlerOptions::default()))
}

impl Validate {
    pub fn run(self, global: &Global) -> Result<Exit> {
        let mut sound = true;
        let mut found = Vec::new();
        for path in &self.files {
            let issues = check(path)?;
            let valid = !issues.iter().any(|issue| issue.severity == Severity::Error);
            sound &= valid;
            found.push((path, valid, issues));
        }
        let shown: Vec<_> = found
            .iter()
            .map(|(path, valid, issues)| json!({"file": path, "valid": valid, "issues": issues}))
            .collect();
        match global.output {
            Format::Json => output::json(Format::Json, &shown),
            Format::Jsonl => shown
                .iter()
                .for_each(|file| output::json(Format::Jsonl, file)),
            Format::Table => found
                .iter()
                .for_each(|(path, valid, issues)| tell(path, *valid, issues)),
        }
        Ok(if sound { Exit::Ok } else { Exit::Failed })
    }
}

/// A file that is no JSON or YAML at all has one issue: that.
fn check(path: &Path) -> Result<Vec<Issue>> {
    match project::read("the flow", path) {
        Ok(file) => {
            let names = ProjectNames::around(path, built_in());
            Ok(riverrun_engine::validate(&file.definition, &names))
        }
        Err(failure) if failure.code == ErrorCode::BadDefinition => Ok(vec![Issue {
            path: String::new(),
            rule: "syntax".to_owned(),
            message: failure.message,
            severity: Severity::Error,
        }]),
        Err(failure) => Err(failure),
    }
}

fn tell(path: &Path, valid: bool, issues: &[Issue]) {
    let mark = match valid {
        true => paint(paint::GOOD, "✓"),
        false => paint(paint::BAD, "✗"),
    };
    output::data(&format!("{mark} {}", path.display()));
    for issue in issues {
        output::data(&format!("  {}", project::show_issue(issue)));
    }
}
