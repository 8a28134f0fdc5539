//! Reading a run: from the cache with the newer events, or from its latest snapshot.

use std::sync::Arc;

use riverrun_engine::RunState;
use riverrun_store::{EventQuery, RunRecord};
use riverrun_types::{Json, RunId, StreamName, event::EventContext};

use super::{Runs, cache::CachedRun, drive::SNAPSHOT_EVERY};
use crate::base::{Error, Result};

/// Events read at a time.
const PAGE: usize = 1_000;

/// How often a run is read again because another one has taken its id.
const TRIES: usize = 5;

/// A run in its stored state.
#[derive(Clone)]
pub struct Loaded {
    pub record: RunRecord,
    pub state: Arc<RunState>,
}

impl Loaded {
    pub(crate) fn context(&self) -> EventContext {
        EventContext {
            run_id: self.record.id.as_str().into(),
            flow_name: self.record.flow.clone(),
            tenant_id: self.record.tenant.clone(),
        }
    }

    pub(crate) fn known(&self) -> CachedRun {
        CachedRun {
            state: self.state.clone(),
            context: self.context(),
            version: self.record.version.clone(),
            record: Some(Arc::new(self.record.clone())),
        }
    }
}

impl Runs {
    /// A run with its state, exactly as long as its record says.
    pub async fn load(&self, run: &RunId) -> Result<Loaded> {
        let mut looked_at = None;
        for _ in 0..TRIES {
            let era = self.cache().era(run);
            // The cache first: it holds committed states, so the record is never behind it, and
            // only the events since then are missing.
            let cached = self.cache().get(run).map(|known| known.state);
            let record = self.base().store().run(run).await?;
            let record = record.ok_or_else(|| riverrun_store::Error::RunNotFound(run.clone()))?;
            match self.state_of(&record, cached).await {
                Ok(state) if is_of(&state, &record) || looked_at == Some(record.created_ms) => {
                    let loaded = Loaded { record, state };
                    self.cache().put_since(era, run, loaded.known());
                    return Ok(loaded);
                }
                // The run was deleted and the id reused: then its record is another, too.
                Ok(_) => looked_at = Some(record.created_ms),
                Err(error) if self.cache().era(run) == era => return Err(error),
                Err(_) => {}
            }
        }
        Err(Error::Busy)
    }

    async fn state_of(
        &self,
        record: &RunRecord,
        cached: Option<Arc<RunState>>,
    ) -> Result<Arc<RunState>> {
        match cached.filter(|cached| cached.len <= record.len && is_of(cached, record)) {
            Some(cached) if cached.len == record.len => Ok(cached),
            Some(cached) => {
                let state = (*cached).clone();
                self.reduce(&record.id, state, record.len).await
            }
            None => self.reduce_from_snapshot(&record.id, record.len).await,
        }
    }

    /// The state after the first `len` events.
    pub(crate) async fn reduce_from_snapshot(
        &self,
        run: &RunId,
        len: u64,
    ) -> Result<Arc<RunState>> {
        // A stream this short has no snapshot.
        if len < SNAPSHOT_EVERY {
            return self.reduce(run, RunState::default(), len).await;
        }
        let snapshot = self.base().store().snapshot(run, len).await?;
        // A snapshot that cannot be parsed was written by another version: the stream is
        // authoritative.
        let state = snapshot.and_then(|snapshot| {
            let state = read_snapshot(&snapshot.body)?;
            let is_its = state.len == snapshot.len;
            if !is_its {
                tracing::error!(%run, len = snapshot.len, "a snapshot is of another length; it is passed over");
            }
            is_its.then_some(state)
        });
        self.reduce(run, state.unwrap_or_default(), len).await
    }

    async fn reduce(&self, run: &RunId, mut state: RunState, len: u64) -> Result<Arc<RunState>> {
        let stream = StreamName::flow(run);
        while state.len < len {
            let left = usize::try_from(len - state.len).unwrap_or(PAGE);
            let query = EventQuery::forward(state.len, left.min(PAGE));
            let events = self.base().store().events(&stream, &query).await?;
            if events.is_empty() {
                // Deleted since its record was read, or damaged.
                if self.base().store().run(run).await?.is_none() {
                    return Err(riverrun_store::Error::RunNotFound(run.clone()).into());
                }
                let message = format!("the stream of run {run} ends before event {}", state.len);
                return Err(riverrun_store::Error::Corrupt(message).into());
            }
            for event in events {
                state.apply(&event.draft());
            }
        }
        Ok(Arc::new(state))
    }
}

/// Whether a state is the recorded run's, not that of an earlier run of the same id. A fork begins
/// with events that are older than itself; its id is its own.
fn is_of(state: &RunState, record: &RunRecord) -> bool {
    let is_fork = record.origin.as_ref().is_some_and(|of| of.event.is_some());
    is_fork || state.created_ms == record.created_ms
}

fn read_snapshot(body: &Json) -> Option<RunState> {
    body.read().ok()
}
