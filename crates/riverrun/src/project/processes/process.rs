//! A process for the runtime: its source and its config.

use std::{path::Path, sync::Arc};

use riverrun::Json;
use riverrun_runtime::{Process, ProcessConfig, Provider, Source};
use riverrun_types::{ErrorCode, id::has_dot_segment};

use super::find::{Kind, ProcessFile};
use crate::failure::{Failure, Result};

pub(super) fn process(
    id: String,
    raw: Json,
    provider: Arc<dyn Provider>,
    source: Source,
    path: &Path,
) -> Result<Process> {
    if has_dot_segment(&id) {
        let message = format!(
            "{}: the id {id:?} of a process has a part that is . or ..",
            path.display()
        );
        return Err(Failure::new(ErrorCode::ProcessInvalid, message));
    }
    let config = ProcessConfig::read(&raw, queue_name(&id)).map_err(|issues| {
        let count = issues.len();
        let message = format!(
            "the config of {} has {count} issue{}",
            path.display(),
            if count == 1 { "" } else { "s" }
        );
        issues.iter().fold(
            Failure::new(ErrorCode::ProcessInvalid, message),
            |failure, issue| failure.note(format!("{}: {}", issue.path, issue.message)),
        )
    })?;
    Ok(Process {
        id: id.into(),
        config,
        provider,
        source,
    })
}

pub(super) fn source(file: &ProcessFile, export: Option<String>) -> Source {
    let language = match file.kind {
        Kind::Python => "python",
        Kind::Executable => "executable",
        Kind::Node => match file.path.extension().and_then(|ending| ending.to_str()) {
            Some("ts" | "mts" | "cts") => "typescript",
            _ => "javascript",
        },
    };
    Source {
        file: Some(file.path.to_string_lossy().into_owned()),
        export,
        revision: Some(1),
        language: Some(language.to_owned()),
    }
}

/// The queue of a process that names none: the last part of its id.
pub(super) fn queue_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
