//! Loads the files of a project side by side, and reports the outcome of each as soon as it is
//! known, so that a file that takes long, or never finishes loading, does not delay the others.

use std::{sync::Arc, time::Duration};

use riverrun_providers::Runners;
use riverrun_runtime::Process;
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use super::{
    find::{Kind, ProcessFile},
    module::load_module,
};
use crate::failure::Result;

/// Files of one language that are loaded at once.
const AT_ONCE: usize = 16;
/// A file that takes longer gives its place to another, and is waited for all the same.
const LONG: Duration = Duration::from_secs(1);
/// When no file has finished for this long, a caller that does not wait for all files continues.
/// Longer than it takes to find a file that blocks others.
const QUIET: Duration = Duration::from_secs(5);

/// What came of a file.
pub struct Read {
    pub file: ProcessFile,
    pub processes: Result<Vec<Process>>,
}

/// Files that are being loaded. Dropping it gives them up.
#[derive(Default)]
pub struct Loading {
    tasks: JoinSet<Read>,
    runners: Vec<Runners>,
    left: Vec<ProcessFile>,
    done: Vec<Read>,
}

impl Loading {
    pub fn modules(&mut self, runners: &Runners, files: &[&ProcessFile]) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        for file in files {
            let (runners, file, places) = (runners.clone(), (*file).clone(), places.clone());
            self.left.push(file.clone());
            self.tasks.spawn(async move {
                let processes = load(&runners, &file, &places).await;
                Read { file, processes }
            });
        }
        self.runners.push(runners.clone());
    }

    /// What is known without loading anything.
    pub fn known(&mut self, read: Read) {
        self.done.push(read);
    }

    /// What came of the next file; `None` after the last one.
    pub async fn next(&mut self) -> Option<Read> {
        if let Some(read) = self.done.pop() {
            return Some(read);
        }
        loop {
            // A task that was ended by force has nothing to say.
            if let Ok(read) = self.tasks.join_next().await? {
                self.left.retain(|file| file.path != read.file.path);
                return Some(read);
            }
        }
    }

    /// All that is left.
    pub async fn all(&mut self) -> Vec<Read> {
        let mut all = Vec::new();
        while let Some(read) = self.next().await {
            all.push(read);
        }
        sorted(all)
    }

    /// All that comes without a long pause.
    pub async fn prompt(&mut self) -> Vec<Read> {
        // A child that starts is not a module that hangs.
        for runners in std::mem::take(&mut self.runners) {
            runners.ready().await;
        }
        let mut prompt = Vec::new();
        while let Ok(Some(read)) = timeout(QUIET, self.next()).await {
            prompt.push(read);
        }
        sorted(prompt)
    }

    /// Files of which nothing is known yet.
    pub fn left(&self) -> &[ProcessFile] {
        &self.left
    }
}

async fn load(runners: &Runners, file: &ProcessFile, places: &Semaphore) -> Result<Vec<Process>> {
    let place = places.acquire().await;
    let mut loading = std::pin::pin!(load_module(runners, file));
    if let Ok(processes) = timeout(LONG, &mut loading).await {
        return processes;
    }
    drop(place);
    loading.await
}

/// Who of two comes first must not depend on who was faster.
fn sorted(mut read: Vec<Read>) -> Vec<Read> {
    let rank = |kind: Kind| match kind {
        Kind::Node => 0,
        Kind::Python => 1,
        Kind::Executable => 2,
    };
    read.sort_by(|a, b| (rank(a.file.kind), &a.file.path).cmp(&(rank(b.file.kind), &b.file.path)));
    read
}
