//! Processes that exist and cannot be run, because their file does not load. They are remembered,
//! so that requests for one get the reason.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use riverrun_protocol::{NotLoaded, WorkError};
use riverrun_types::{ErrorCode, Name};

use super::Processes;
use crate::base::Error;

#[derive(Clone, Debug)]
pub struct BrokenProcess {
    pub id: Name,
    /// The queue from which it would take jobs, if known.
    pub queue: Name,
    pub file: Option<String>,
    /// For people.
    pub language: Option<String>,
    /// Why it cannot be run.
    pub error: WorkError,
    /// The texts in quotes in its file, as far as they may be names of flows, events or steps.
    pub mentions: Vec<String>,
}

#[derive(Default)]
pub(super) struct Broken(RwLock<BTreeMap<Name, BrokenProcess>>);

impl Processes {
    /// Why a process cannot be run. By its id, which may be one of several exports of the file.
    pub(crate) fn why_broken(&self, id: &str) -> Option<WorkError> {
        let broken = self.broken.0.read();
        let file = id.rsplit_once('.').map(|(file, _)| file);
        let found = broken.get(id).or_else(|| broken.get(file?));
        found.map(|broken| broken.error.clone())
    }

    /// Why the process of a queue cannot be run.
    pub(crate) fn why_queue_broken(&self, queue: &str) -> Option<WorkError> {
        let broken = self.broken.0.read();
        let found = broken.values().find(|broken| &*broken.queue == queue);
        found.map(|broken| broken.error.clone())
    }

    /// Explains a missing flow by the files that name it and do not load.
    pub(crate) fn perhaps_not_made(&self, error: Error) -> Error {
        let Error::FlowNotFound { id, version: None } = error else {
            return error;
        };
        let broken = self.broken.0.read();
        let files = broken.values().map(BrokenProcess::not_loaded);
        let why: Vec<String> = files
            .filter(|file| file.names_flow(&id))
            .map(|file| file.why)
            .collect();
        match why.is_empty() {
            true => Error::FlowNotFound { id, version: None },
            false => Error::FlowNotMade {
                id,
                why: first_of(&why),
            },
        }
    }

    /// Registers a process that cannot be run. An earlier version that can goes on.
    pub fn put_broken(&self, process: BrokenProcess) {
        let mut broken = self.broken.0.write();
        broken.insert(process.id.clone(), process);
    }

    /// It was fixed or removed.
    pub fn forget_broken(&self, id: &str) {
        self.broken.0.write().remove(id);
    }

    /// The processes that cannot be run, by id.
    pub fn broken(&self) -> Vec<BrokenProcess> {
        self.broken.0.read().values().cloned().collect()
    }

    /// The files of this instance that do not load.
    pub fn not_loaded(&self) -> Vec<NotLoaded> {
        let broken = self.broken.0.read();
        broken.values().map(BrokenProcess::not_loaded).collect()
    }
}

/// The error, or the first of several.
fn first_of(why: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = why.iter().take(SHOWN).map(String::as_str).collect();
    let more = match why.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    shown.join(", and ") + &more
}

/// Why a flow is not formed of processes while some of its own do not load. Without their steps it
/// would be a different one, and newer than the complete one.
pub(crate) fn stays_whole(flow: &str, why: &[String]) -> String {
    let why = first_of(why);
    format!("flow {flow:?} stays as it was registered: {why}")
}

impl BrokenProcess {
    /// A short form: its error has the details.
    pub fn why(&self) -> String {
        let file = self.file.as_deref().unwrap_or(&self.id);
        match self.error.code.known() {
            Some(ErrorCode::ModuleLoading) => format!("{file} is still being loaded"),
            _ => format!("{file} does not load ({})", self.error.code),
        }
    }
}

impl BrokenProcess {
    /// The description for the composition of flows.
    pub fn not_loaded(&self) -> NotLoaded {
        NotLoaded {
            id: Some(self.id.to_string()),
            why: self.why(),
            mentions: self.mentions.clone(),
        }
    }
}
