//! Loads modules: many side by side in one child, and a module alone if it blocks or kills its
//! child.
//!
//! When a child blocks or dies, the faulty module is unknown. So each of its modules is loaded
//! again in a child of its own: only the faulty one fails there.

use riverrun_types::ErrorCode;
use std::time::Duration;

use riverrun_contract::Cancellation;
use riverrun_protocol::{Load, Loaded, LoadedProcess, WorkError};
use tokio::time::{Instant, timeout_at};

use super::{
    RunnerOptions,
    child::Child,
    pool::{Pool, Runners},
};
use crate::failure;

/// Modules that are loaded in children of their own at once.
pub(super) const ALONE: usize = 8;

/// A module that was loaded.
#[derive(Clone, Debug)]
pub struct LoadedModule {
    pub processes: Vec<LoadedProcess>,
    /// The runners that execute them. A module that takes long to load has runners of its own, so
    /// that no other module waits for it.
    pub runners: Runners,
}

/// What came of loading a module beside others.
enum Ended {
    With(Result<Vec<LoadedProcess>, WorkError>),
    /// Another child has to try.
    Replaced,
    /// The child does nothing any more, or is dead: this module, or another, is to blame.
    Suspect,
}

impl Runners {
    /// Loads a module and says which processes it has.
    pub async fn load(&self, file: &str, revision: u64) -> Result<LoadedModule, WorkError> {
        for _ in 0..=self.pool.size() + 1 {
            let child = self.pool.pick(&Cancellation::default()).await?;
            match self.pool.load(&child, file, revision).await {
                Ended::With(loaded) => {
                    return loaded.map(|processes| LoadedModule {
                        processes,
                        runners: self.clone(),
                    });
                }
                Ended::Replaced => {}
                Ended::Suspect => break,
            }
        }
        self.load_alone(file, revision).await
    }

    /// Returns when a child is there, or none will be soon.
    pub async fn ready(&self) {
        let _ = self.pool.pick(&Cancellation::default()).await;
    }

    async fn load_alone(&self, file: &str, revision: u64) -> Result<LoadedModule, WorkError> {
        let _place = self.pool.alone.acquire().await;
        let options = RunnerOptions {
            size: 1,
            ..(*self.pool.options).clone()
        };
        let own = Self::new(self.language(), options);
        let child = own.pool.pick(&Cancellation::default()).await?;
        let begun = Instant::now();
        let patience = self.pool.options.load;
        let load = ask(&child, file, revision);
        let Ok(loaded) = tokio::time::timeout(patience, load).await else {
            return Err(late(file, patience));
        };
        let is_slow = begun.elapsed() >= self.pool.options.doubt;
        Ok(LoadedModule {
            processes: loaded?,
            runners: if is_slow { own } else { self.clone() },
        })
    }
}

impl Pool {
    async fn load(&self, child: &Child, file: &str, revision: u64) -> Ended {
        let mut asked = std::pin::pin!(ask(child, file, revision));
        let deadline = Instant::now() + self.options.load;
        let loaded = loop {
            let doubt = deadline.min(Instant::now() + self.options.doubt);
            if let Ok(loaded) = timeout_at(doubt, &mut asked).await {
                break loaded;
            }
            if !child.is_alive(self.options.probe).await {
                child.retire();
                return Ended::Suspect;
            }
            // It waits for something and does not block the child.
            if Instant::now() >= deadline {
                return Ended::With(Err(late(file, self.options.load)));
            }
        };
        match &loaded {
            Err(error) if error.code == "RELOAD" => {
                child.retire();
                Ended::Replaced
            }
            // It is not to blame.
            Err(_) if child.was_replaced() => Ended::Replaced,
            Err(_) if child.has_died() => Ended::Suspect,
            _ => Ended::With(loaded),
        }
    }
}

async fn ask(child: &Child, file: &str, revision: u64) -> Result<Vec<LoadedProcess>, WorkError> {
    let load = Load {
        file: file.to_owned(),
        revision,
    };
    let answer = child.link.request("load", &load).await?;
    let loaded: Loaded = answer
        .read()
        .map_err(|error| failure::protocol(&child.link.name, format!("load: {error}")))?;
    Ok(loaded.processes)
}

fn late(file: &str, patience: Duration) -> WorkError {
    let ms = patience.as_millis();
    WorkError::new(
        ErrorCode::RunnerHung,
        format!("{file} did not load within {ms} ms"),
    )
}
