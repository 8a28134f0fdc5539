//! Turns the processes that a worker offers into processes of the runtime.

use riverrun_contract::{Process, ProcessConfig, Source};
use riverrun_protocol::{Initialised, NotLoaded, WorkError};
use riverrun_types::{ErrorCode, id::has_dot_segment};
use serde_json::json;

use super::workers::Workers;
use crate::failure;

/// The most processes of one worker.
const MAX_PROCESSES: usize = 1_000;
/// The most characters of a name, an id or a tag, and the most tags.
const MAX_CHARS: usize = 128;
const MAX_TAGS: usize = 64;
/// The most characters about something that a worker could not load.
const MAX_BROKEN_CHARS: usize = 1_024;

/// The processes that the worker offers. A worker with an invalid process is rejected as a whole, so
/// that the error appears where the worker was started.
pub(super) fn offered(workers: &Workers, said: &Initialised) -> Result<Vec<Process>, WorkError> {
    let bad = |what: String| Err(failure::protocol("the worker", what));
    if said.processes.len() > MAX_PROCESSES {
        let count = said.processes.len();
        return bad(format!(
            "it has {count} processes, more than {MAX_PROCESSES}"
        ));
    }
    if let Some(worker) = &said.worker {
        let mut texts = worker
            .tags
            .iter()
            .chain([&worker.name])
            .chain(&worker.instance);
        if worker.tags.len() > MAX_TAGS || texts.any(|text| !is_name(text)) {
            return bad(format!(
                "its name, instance and tags must have 1 to {MAX_CHARS} characters, and at most {MAX_TAGS} tags"
            ));
        }
    }
    let is_brief = |text: &String| text.chars().count() <= MAX_BROKEN_CHARS;
    if said.broken.len() > MAX_PROCESSES || !said.broken.iter().all(is_brief) {
        return bad(format!(
            "what it could not load must be at most {MAX_PROCESSES} texts of up to {MAX_BROKEN_CHARS} characters"
        ));
    }
    let is_short = |file: &NotLoaded| {
        let texts = file.mentions.iter().chain(&file.id);
        let mut lengths = texts.map(|text| text.chars().count());
        file.mentions.len() <= NotLoaded::MAX_MENTIONS
            && is_brief(&file.why)
            && lengths.all(|length| length <= NotLoaded::MAX_MENTION_CHARS)
    };
    if said.broken_files.len() > MAX_PROCESSES || !said.broken_files.iter().all(is_short) {
        return bad(format!(
            "what it could not load must be at most {MAX_PROCESSES} files, each with up to {} mentions",
            NotLoaded::MAX_MENTIONS
        ));
    }
    let mut offers = Vec::new();
    for process in &said.processes {
        let Some(id) = process.id.as_deref().filter(|id| is_name(id)) else {
            return bad(format!(
                "a process has no id of 1 to {MAX_CHARS} characters"
            ));
        };
        if has_dot_segment(id) {
            let message = format!("the id {id:?} of a process has a part that is . or ..");
            return Err(WorkError::new(ErrorCode::ProcessInvalid, message).permanent());
        }
        let name = id.rsplit('/').next().unwrap_or(id);
        let config = ProcessConfig::read(&process.config, name).map_err(|issues| {
            let first = issues
                .first()
                .map(|issue| format!("{}: {}", issue.path, issue.message));
            let first = first.unwrap_or_default();
            let message = format!("the config of {id:?} has issues, first {first}");
            let error = WorkError::new(ErrorCode::ProcessInvalid, message).permanent();
            error.details(&json!({ "issues": issues }))
        })?;
        offers.push(Process {
            id: id.into(),
            config,
            provider: workers.provider(id),
            source: Source {
                language: Some("worker".to_owned()),
                ..Source::default()
            },
        });
    }
    Ok(offers)
}

fn is_name(text: &str) -> bool {
    let length = text.chars().count();
    (1..=MAX_CHARS).contains(&length) && !text.chars().any(char::is_control)
}
