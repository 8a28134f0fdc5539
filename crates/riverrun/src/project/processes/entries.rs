//! Processes in a registry file: a server starts from it without reading the files.

use std::{path::PathBuf, sync::Arc};

use riverrun::Json;
use riverrun_runtime::Process;
use serde::{Deserialize, Serialize};

use super::{
    Processes,
    find::{Kind, ProcessFile},
    process::{process, source},
};
use crate::failure::Result;

/// A process as a registry file keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: String,
    /// Relative to the project's folder.
    pub file: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    pub kind: Kind,
    pub config: Json,
}

impl Processes {
    /// Takes in what a registry file says, without looking at the files: each is loaded when it is
    /// first needed.
    pub fn boot(&mut self, entries: &[Entry]) -> Result<()> {
        for entry in entries {
            let path = self.project.join(&entry.file);
            let file = ProcessFile {
                id: entry.id.clone(),
                path: path.clone(),
                kind: entry.kind,
            };
            let provider = match entry.kind.language() {
                None => self.external(&path),
                Some(language) => {
                    let fresh = self.new_runners(language);
                    let runners = self.runners.entry(language).or_insert(fresh);
                    runners.provider(&path.to_string_lossy(), entry.export.as_deref(), 1)
                }
            };
            let source = source(&file, entry.export.clone());
            let raw = entry.config.clone();
            let process = process(entry.id.clone(), raw, provider, source, &path)?;
            self.register.put(process);
        }
        for runners in self.runners.values() {
            runners.warm();
        }
        Ok(())
    }

    /// Everything that is loaded, for a registry file.
    pub fn entries(&self) -> Vec<Entry> {
        let processes = self.register.known();
        let entry = |process: &Arc<Process>| {
            let file = PathBuf::from(process.source.file.as_deref()?);
            let loaded = self.loaded.get(&file)?;
            Some(Entry {
                id: process.id.to_string(),
                file: file.strip_prefix(&self.project).unwrap_or(&file).to_owned(),
                export: process.source.export.clone(),
                kind: loaded.kind,
                config: process.config.raw.clone(),
            })
        };
        processes.iter().filter_map(entry).collect()
    }
}
