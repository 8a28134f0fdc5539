//! The id and the queue of each process. Two processes with the same one are an error.

use riverrun_types::ErrorCode;
use std::{collections::HashMap, path::PathBuf, sync::Arc};

use riverrun::Json;
use riverrun_runtime::{Process, RunMode};

use riverrun_types::QueueLimits;

use crate::failure::Failure;

/// Who has what.
#[derive(Default)]
pub struct Claims {
    ids: HashMap<String, PathBuf>,
    queues: HashMap<String, Owner>,
}

#[derive(Clone)]
struct Owner {
    id: String,
    file: PathBuf,
    is_step: bool,
    limits: Limits,
}

/// The settings of a queue as a whole: all processes that take its jobs must have the same.
#[derive(Clone, Copy, PartialEq)]
struct Limits {
    concurrency: u32,
    all: QueueLimits,
}

impl Claims {
    /// Of processes that are taken in already.
    pub fn of<'a>(known: impl Iterator<Item = &'a Arc<Process>>) -> Self {
        let mut claims = Self::default();
        for process in known {
            // They stand already: who of two was first does not matter here.
            let _ = claims.claim(process);
        }
        claims
    }

    /// Takes note of a process, or says who is in its way.
    pub fn claim(&mut self, process: &Process) -> Result<(), Failure> {
        let owner = Owner {
            id: process.id.to_string(),
            file: PathBuf::from(process.source.file.as_deref().unwrap_or_default()),
            is_step: is_step(&process.config.raw),
            limits: Limits {
                concurrency: process.config.concurrency,
                all: process.config.limits,
            },
        };
        if let Some(other) = self.ids.get(&owner.id) {
            return Err(conflict(
                &owner,
                other,
                &format!("the process {:?}", owner.id),
            ));
        }
        if process.config.run_mode != RunMode::Call {
            let queue = process.config.queue.to_string();
            // Steps of flows may share a queue: their jobs know their step.
            match self.queues.get(&queue) {
                Some(other) if !(other.is_step && owner.is_step) => {
                    let what = format!("the process that takes the jobs of queue {queue:?}");
                    let failure = conflict(&owner, &other.file, &what);
                    return Err(match other.file == owner.file {
                        true => failure.note(format!("{} and {} do", other.id, owner.id)),
                        false => failure,
                    });
                }
                Some(other) if other.limits != owner.limits => {
                    return Err(different_limits(&owner, other, &queue));
                }
                _ => self.queues.insert(queue, owner.clone()),
            };
        }
        self.ids.insert(owner.id, owner.file);
        Ok(())
    }
}

/// The queue would go by the limits of whichever was loaded last.
fn different_limits(owner: &Owner, other: &Owner, queue: &str) -> Failure {
    let message = format!(
        "{} and {} take the jobs of queue {queue:?}, with different limits for it",
        other.file.display(),
        owner.file.display()
    );
    Failure::new(ErrorCode::ProcessConflict, message)
        .note(format!(
            "concurrency, keyConcurrency, rateLimit and batch apply to the whole queue; {} is \
             not registered",
            owner.id
        ))
        .next("the same limits in both, or a queue of its own for one of them")
}

fn conflict(owner: &Owner, other: &std::path::Path, what: &str) -> Failure {
    let message = format!(
        "{} and {} are both {what}",
        other.display(),
        owner.file.display()
    );
    Failure::new(ErrorCode::ProcessConflict, message)
        .note(format!("{} is not registered", owner.id))
        .next("another name for one of the files, or another queue in its config")
}

fn is_step(config: &Json) -> bool {
    let config = config.value();
    let says = |key: &str| !config[key].is_null();
    ["flow", "step", "subscriptions", "await"]
        .into_iter()
        .any(says)
        || config["runMode"] == "flow"
}
