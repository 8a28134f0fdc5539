//! A project: a folder with `flows/**`, `processes/**`, `triggers/**` and perhaps a
//! `riverrun.toml`.

mod names;
pub mod processes;
mod register;
mod triggers;
mod watch;

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use riverrun::Issue;
use riverrun_runtime::{Format, parse_definition};
use serde_json::Value;

use crate::{
    config::Limits,
    failure::{Failure, Result},
    files,
};

pub use names::{ProjectNames, expect_processes};
pub use processes::{Loading, Processes};
pub use register::{
    ComposedFlows, Registered, register, register_composed, register_dev, register_whole, warn_anew,
};
pub use triggers::{
    Placed, SyncedTrigger, check_triggers, of_file, read_triggers, sync, sync_triggers,
};
pub use watch::watch;

/// A definition in a file.
#[derive(Clone, Debug)]
pub struct FlowFile {
    pub path: PathBuf,
    pub definition: Value,
}

/// The files under `<project>/flows`, by name. A folder that is not there has none.
pub fn flow_files(project: &Path) -> Result<Vec<PathBuf>> {
    definition_files(project, "flows")
}

/// The files in JSON or YAML under a folder of the project, by name.
fn definition_files(project: &Path, below: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![project.join(below)];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::file("the folder", &folder, &error)),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            match entry.file_type() {
                _ if hidden => {}
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(_) if format_of(&path).is_some() => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

pub fn format_of(path: &Path) -> Option<Format> {
    Format::of_extension(path.extension()?.to_str()?)
}

/// Every flow of a project, or why it cannot be read.
pub type Read = Vec<(PathBuf, Result<FlowFile>)>;

/// Reads the flows of a project on a thread of its own: a slow disk must not hold up the server.
pub async fn read_all(project: &Path) -> Result<Read> {
    let project = project.to_owned();
    let read = tokio::task::spawn_blocking(move || -> Result<Read> {
        let read = |path: PathBuf| {
            let file = read("the flow", &path);
            (path, file)
        };
        Ok(flow_files(&project)?.into_iter().map(read).collect())
    });
    read.await
        .map_err(|error| Failure::new(ErrorCode::NoThreads, error.to_string()))?
}

/// Reads one file, `what` it should be, as large as the API takes a definition by default. What has no telling ending
/// is read as YAML, of which JSON is a part.
pub fn read(what: &str, path: &Path) -> Result<FlowFile> {
    let text = files::read_text(what, path, Limits::default().body_bytes)?;
    let format = format_of(path).unwrap_or(Format::Yaml);
    let definition = parse_definition(&text, format)
        .map_err(|error| Failure::new(error.code(), format!("{}: {error}", path.display())))?;
    Ok(FlowFile {
        path: path.to_owned(),
        definition,
    })
}

/// A flow that is not one, with everything that is wrong with it.
pub fn invalid(path: &Path, issues: &[Issue]) -> Failure {
    let count = issues.len();
    let message = format!(
        "{} has {count} issue{}",
        path.display(),
        if count == 1 { "" } else { "s" }
    );
    issues.iter().fold(
        Failure::new(ErrorCode::FlowInvalid, message),
        |failure, issue| failure.note(show_issue(issue)),
    )
}

/// `steps.a.type: there is no handler "x" (handler)`.
pub fn show_issue(issue: &Issue) -> String {
    let path = if issue.path.is_empty() {
        "(flow)"
    } else {
        &issue.path
    };
    let severity = match issue.severity {
        riverrun::Severity::Error => "",
        riverrun::Severity::Warning => "warning: ",
    };
    format!("{severity}{path}: {} ({})", issue.message, issue.rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_are_found_in_every_folder_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        assert!(flow_files(folder.path()).unwrap().is_empty());
        let flows = folder.path().join("flows");
        std::fs::create_dir_all(flows.join("deep/er")).unwrap();
        for name in [
            "b.yaml",
            "a.json",
            "deep/er/c.yml",
            "notes.md",
            ".hidden.yaml",
            "deep/x.yaml~",
        ] {
            std::fs::write(flows.join(name), "id: x").unwrap();
        }
        let found: Vec<String> = flow_files(folder.path())
            .unwrap()
            .iter()
            .map(|path| path.strip_prefix(&flows).unwrap().display().to_string())
            .collect();
        assert_eq!(found, ["a.json", "b.yaml", "deep/er/c.yml"]);
    }
}
