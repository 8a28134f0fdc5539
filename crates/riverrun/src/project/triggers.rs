//! The triggers of a project: the server has those that its files keep, no more and no fewer.

use std::path::Path;

use riverrun::{Riverrun, Synced};

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
        .map_err(|error| Failure::new("NO_THREADS", error.to_string()))?
}

/// Brings the server's triggers to what the files say. A file that cannot be read changes nothing;
/// one that is refused changes nothing but itself.
pub async fn sync_triggers(
    river: &Riverrun,
    project: &Path,
) -> std::result::Result<Vec<SyncedTrigger>, Vec<Failure>> {
    let files = read_triggers(project).await;
    sync(river, files.map_err(|failure| vec![failure])?).await
}

/// The same with files that were read before.
pub async fn sync(
    river: &Riverrun,
    files: Vec<FlowFile>,
) -> std::result::Result<Vec<SyncedTrigger>, Vec<Failure>> {
    let definitions = files.iter().map(|file| file.definition.clone()).collect();
    let told = river.triggers().sync_project(definitions).await;
    let (mut synced, mut failures) = (Vec::new(), Vec::new());
    for (at, (id, outcome)) in told.into_iter().enumerate() {
        match outcome {
            Ok(done) => synced.push(SyncedTrigger { id, synced: done }),
            Err(error) => {
                let failure = Failure::from(riverrun::Error::from(error));
                // Those that are to go come after those that have files.
                failures.push(match files.get(at) {
                    Some(file) => of_file(&file.path, failure),
                    None => failure,
                });
            }
        }
    }
    match failures.is_empty() {
        true => Ok(synced),
        false => Err(failures),
    }
}

/// What a server would refuse of these files.
pub fn check_triggers(river: &Riverrun, files: &[FlowFile]) -> Vec<Failure> {
    let definitions = files.iter().map(|file| file.definition.clone()).collect();
    let checked = river.triggers().check_project(definitions);
    let refused = files
        .iter()
        .zip(checked)
        .filter_map(|(file, (_, checked))| {
            let error = riverrun::Error::from(checked.err()?);
            Some(of_file(&file.path, Failure::from(error)))
        });
    refused.collect()
}

/// A failure with the file that it is about.
pub fn of_file(path: &Path, failure: Failure) -> Failure {
    Failure {
        message: format!("{}: {}", path.display(), failure.message),
        ..failure
    }
}
