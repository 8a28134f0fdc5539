//! Reading runs: their current state, a past one, and their end.

use std::{sync::Arc, time::Duration};

use riverrun_engine::{Failure, RunState};
use riverrun_store::{Page, Place, Projection, RunFilter, RunRecord};
use riverrun_types::{EventId, Millis, RunId, StreamName};

use super::{Runs, cache::CachedRun, drive::projection, load::Loaded};
use crate::base::Result;

/// How long a task that waits for a run relies on this server's cache.
const BRIEF: Duration = Duration::from_millis(100);

/// A point in a run's stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At {
    Now,
    Event(EventId),
    Time(Millis),
}

/// A run as it is returned to clients.
#[derive(Clone)]
pub struct RunView {
    pub loaded: Loaded,
}

impl Runs {
    pub async fn run(&self, run: &RunId) -> Result<RunView> {
        Ok(RunView {
            loaded: self.load(run).await?,
        })
    }

    pub async fn list(&self, filter: &RunFilter) -> Result<Page<RunRecord>> {
        Ok(self.base().store().list_runs(filter).await?)
    }

    /// The run's state at a moment, and how many events led to it.
    pub async fn state_at(&self, run: &RunId, at: At) -> Result<Arc<RunState>> {
        let loaded = self.load(run).await?;
        let place = match at {
            At::Now => return Ok(loaded.state),
            At::Event(event) => Place::Event(event),
            At::Time(ms) => Place::Time(ms),
        };
        let len = self
            .base()
            .store()
            .locate(&StreamName::flow(run), place)
            .await?;
        if len >= loaded.state.len {
            return Ok(loaded.state);
        }
        self.reduce_from_snapshot(run, len).await
    }

    /// Waits until the run has ended, at most `timeout`; then returns the run in its current state.
    pub async fn wait(&self, run: &RunId, timeout: Duration) -> Result<RunView> {
        let deadline = tokio::time::Instant::now() + timeout;
        let mut ending = self.base().hub().ending(run);
        // A run that this server has just seen active may end before it is read again.
        let known = self.cache().get(run);
        let mut trusts = known.is_some_and(|known| !known.state.status.is_ended());
        loop {
            if !trusts {
                let view = self.run(run).await?;
                if view.loaded.state.status.is_ended() {
                    return Ok(view);
                }
            }
            let brief = trusts.then(|| tokio::time::Instant::now() + BRIEF);
            let until = brief.map_or(deadline, |brief| brief.min(deadline));
            let has_ended = tokio::time::timeout_at(until, ending.come()).await.is_ok();
            if has_ended {
                if let Some(view) = self.known_end(run) {
                    return Ok(view);
                }
                // It may have been deleted, and its id reused.
                ending = self.base().hub().ending(run);
            } else if until == deadline {
                return self.run(run).await;
            }
            trusts = false;
        }
    }
}

impl Runs {
    /// A run that was just reported as ended, if this server has it cached: it does not change any
    /// more, so the turn of the cached record is still valid.
    fn known_end(&self, run: &RunId) -> Option<RunView> {
        let CachedRun { state, record, .. } = self.cache().get(run)?;
        let record = record.filter(|_| state.status.is_ended())?;
        let Projection {
            status,
            wake_ms,
            ended_ms,
            error,
        } = projection(&state);
        let record = RunRecord {
            status,
            wake_ms,
            ended_ms,
            error,
            updated_ms: state.updated_ms,
            len: state.len,
            ..(*record).clone()
        };
        Some(RunView {
            loaded: Loaded { record, state },
        })
    }
}

impl RunView {
    /// The error of a run that did not complete.
    pub fn failure(&self) -> Option<&Failure> {
        self.loaded.state.error.as_ref()
    }

    pub fn state(&self) -> &RunState {
        &self.loaded.state
    }
}
