//! A process: code of a user, its settings, and the provider that executes it.

mod config;

use std::{sync::Arc, time::Duration};

use riverrun_protocol::{Invoke, JobInput};
use riverrun_types::Name;

use crate::Provider;

pub use config::*;

/// A process ready to be invoked.
pub struct Process {
    pub id: Name,
    pub config: ProcessConfig,
    pub provider: Arc<dyn Provider>,
    /// Where its code is, for runners.
    pub source: Source,
}

impl Process {
    /// A call of its handler. Each kind of work adds what only it has.
    pub fn invoke(&self, kind: &str, job: JobInput, timeout: Duration) -> Invoke {
        Invoke {
            process: self.id.to_string(),
            file: self.source.file.clone(),
            export: self.source.export.clone(),
            revision: self.source.revision,
            kind: kind.to_owned(),
            job,
            timeout_ms: u64::try_from(timeout.as_millis()).ok(),
            ..Invoke::default()
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    pub file: Option<String>,
    pub export: Option<String>,
    pub revision: Option<u64>,
    /// `typescript`, `python`, `executable`, `rust`, `worker`, for people.
    pub language: Option<String>,
}
