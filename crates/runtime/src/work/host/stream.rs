//! The stream of a job: what is written to it under the lease, and what earlier attempts left in it.

use riverrun_engine::RunState;
use riverrun_protocol::{JournalEntry, WorkError};
use riverrun_store::{Change, Commit, EventQuery, Expect, Receipt};
use riverrun_types::{Draft, Event, EventId, EventType, RunId, StreamName};

use super::{JobHost, params::MemoParams, refused};
use crate::{Runtime, steps::signals, work::attempt::to_job};

impl JobHost {
    /// Commits under the lease.
    async fn fenced(
        &self,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<Receipt, WorkError> {
        let mut commit = Commit::of(Change::Note(Box::new(self.note(None))));
        commit.changes.extend(changes);
        self.runtime.commit(commit).await.map_err(refused)
    }

    pub(super) async fn append(&self, draft: Draft, expect: Expect) -> Result<EventId, WorkError> {
        let mut append = to_job(&self.lease.id, vec![draft.clone()]);
        append.expect = expect;
        append.context.tenant_id = self.tenant_id.as_deref().map(Into::into);
        let told = signals(&append.stream, &append.context, &append.events, draft.ms);
        let changes = [Change::Append(append)].into_iter().chain(told);
        let receipt = self.fenced(changes).await?;
        let placed = receipt.placed.first();
        placed
            .map(|placed| placed.id(0, &draft))
            .ok_or_else(|| WorkError::new("INTERNAL", "the store placed no event"))
    }

    pub(super) async fn read_stream(&self) -> Result<RunState, WorkError> {
        let mut stream = RunState::new();
        each_event(&self.runtime, &self.lease.id, |event| {
            stream.apply(&event.clone().draft());
        })
        .await?;
        Ok(stream)
    }

    /// The stream has grown by something that is no state: its length is read again when needed.
    pub(super) async fn forget_stream(&self) {
        *self.stream.lock().await = None;
    }
}

/// What earlier attempts of a job recorded of their `ctx.run`s.
pub(in crate::work) async fn journal(
    runtime: &Runtime,
    job: &RunId,
) -> Result<Vec<JournalEntry>, WorkError> {
    let mut journal = Vec::new();
    each_event(runtime, job, |event| {
        if event.kind == EventType::StepMemo
            && let Some(memo) = event
                .data
                .as_ref()
                .and_then(|data| data.read::<MemoParams>().ok())
        {
            journal.push(JournalEntry {
                op: "memo".to_owned(),
                name: memo.name,
                value: memo.value,
                error: memo.error,
            });
        }
    })
    .await?;
    Ok(journal)
}

/// Reads the job's stream from its beginning.
async fn each_event(
    runtime: &Runtime,
    job: &RunId,
    mut look: impl FnMut(&Event),
) -> Result<(), WorkError> {
    const PAGE: usize = 1_000;
    let stream = StreamName::new("job", job.as_str());
    let mut from = 0;
    loop {
        let query = EventQuery::forward(from, PAGE);
        let events = runtime
            .store()
            .events(&stream, &query)
            .await
            .map_err(refused)?;
        for event in &events {
            look(event);
        }
        match events.last() {
            None => return Ok(()),
            Some(last) => from = last.id.seq + 1,
        }
    }
}
