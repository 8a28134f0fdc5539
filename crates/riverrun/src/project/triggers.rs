//! The triggers of a project: the server has exactly those of its files.

use riverrun_types::ErrorCode;
use std::path::Path;

use riverrun::{Riverrun, Synced};
use serde_json::Value;

use super::{FlowFile, definition_files, read};
use crate::failure::{Failure, Result};

/// A trigger that came, changed or went with a file.
#[derive(Clone, Debug, PartialEq)]
pub struct SyncedTrigger {
    pub id: String,
    pub synced: Synced,
}

/// The files under `<project>/triggers`, read. The first that cannot be read is the answer.
pub async fn read_triggers(project: &Path) -> Result<Vec<FlowFile>> {
    let project = project.to_owned();
    let reading = tokio::task::spawn_blocking(move || -> Result<Vec<FlowFile>> {
        let files = definition_files(&project, "triggers")?;
        files.iter().map(|path| read("the trigger", path)).collect()
    });
    reading
        .await
        .map_err(|error| Failure::new(ErrorCode::NoThreads, error.to_string()))?
}

/// Brings the server's triggers to what the files say. A file that cannot be read changes nothing;
/// one that is refused changes nothing but itself.
pub async fn sync_triggers(
    river: &Riverrun,
    project: &Path,
) -> std::result::Result<Vec<SyncedTrigger>, Vec<Failure>> {
    let files = read_triggers(project).await;
    let files = files.map_err(|failure| vec![failure])?;
    sync(river, files.iter().map(Placed::from).collect()).await
}

/// The definition of a trigger, and where it stands, for messages.
pub struct Placed {
    pub place: String,
    pub definition: Value,
}

impl From<&FlowFile> for Placed {
    fn from(file: &FlowFile) -> Self {
        Self {
            place: file.path.display().to_string(),
            definition: file.definition.clone(),
        }
    }
}

/// The same with definitions that were read before.
pub async fn sync(
    river: &Riverrun,
    placed: Vec<Placed>,
) -> std::result::Result<Vec<SyncedTrigger>, Vec<Failure>> {
    let definitions = placed.iter().map(|it| it.definition.clone()).collect();
    let outcomes = river.triggers().sync_project(definitions).await;
    let (mut synced, mut failures) = (Vec::new(), Vec::new());
    for (at, (id, outcome)) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(done) => synced.push(SyncedTrigger { id, synced: done }),
            Err(error) => failures.push(refusal(&placed, at, error.into())),
        }
    }
    match failures.is_empty() {
        true => Ok(synced),
        false => Err(failures),
    }
}

/// Why the one at a place was refused. Those that are to go come after those that have files.
fn refusal(placed: &[Placed], at: usize, error: riverrun::Error) -> Failure {
    let Some(Placed { place, .. }) = placed.get(at) else {
        return error.into();
    };
    let failure = match twice(placed, at) {
        Some(message) if error.code() == ErrorCode::TriggerExists => {
            Failure::new(ErrorCode::TriggerExists, message)
        }
        _ => error.into(),
    };
    at_place(place, failure)
}

/// Where else the id of a trigger is given.
fn twice(placed: &[Placed], at: usize) -> Option<String> {
    let id = &placed[at].definition["id"];
    let others = placed.iter().enumerate();
    let mut others = others.filter(|(other, it)| *other != at && it.definition["id"] == *id);
    let (_, Placed { place, .. }) = others.next()?;
    Some(format!(
        "{place} has a trigger {id} too: give each an id of its own"
    ))
}

/// What a server would refuse of these files.
pub fn check_triggers(river: &Riverrun, files: &[FlowFile]) -> Vec<Failure> {
    let placed: Vec<Placed> = files.iter().map(Placed::from).collect();
    let definitions = placed.iter().map(|it| it.definition.clone()).collect();
    let checked = river.triggers().check_project(definitions);
    let checked = checked.into_iter().enumerate();
    let refused = checked.filter_map(|(at, (_, checked))| {
        let error = checked.err()?;
        Some(refusal(&placed, at, error.into()))
    });
    refused.collect()
}

/// A failure with the file that it is about.
pub fn of_file(path: &Path, failure: Failure) -> Failure {
    at_place(&path.display().to_string(), failure)
}

fn at_place(place: &str, failure: Failure) -> Failure {
    Failure {
        message: format!("{place}: {}", failure.message),
        ..failure
    }
}
