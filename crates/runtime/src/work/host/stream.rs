//! The stream of a job: what is written to it under the lease, and what earlier attempts left in it.

use riverrun_engine::RunState;
use riverrun_protocol::{JournalEntry, WorkError};
use riverrun_store::{Change, Commit, EventQuery, Expect, Receipt};
use riverrun_types::{Draft, Event, EventId, EventType, Json, RunId, StreamName};

use super::{JobHost, params::MemoParams, refused};
use crate::{Runtime, steps::signals, work::attempt::to_job};

/// An event that was appended, and what was said before it.
pub(super) struct Placed {
    pub id: EventId,
    pub said: Vec<Draft>,
}

impl JobHost {
    /// Commits under the lease.
    async fn fenced(
        &self,
        progress: Option<Json>,
        changes: impl IntoIterator<Item = Change>,
    ) -> Result<Receipt, WorkError> {
        let mut note = self.note(None);
        note.progress = progress;
        let mut commit = Commit::of(Change::Note(Box::new(note)));
        commit.changes.extend(changes);
        self.runtime.commit(commit).await.map_err(refused)
    }

    /// Appends an event, and before it what the handler said before.
    pub(super) async fn append(&self, draft: Draft, expect: Expect) -> Result<Placed, WorkError> {
        let said = self.said.take().await;
        let mut events = said.drafts.clone();
        events.push(draft.clone());
        let mut append = to_job(&self.lease.id, events);
        append.expect = expect;
        append.context.tenant_id = self.tenant_id.as_deref().map(Into::into);
        let own = std::slice::from_ref(&draft);
        let told = signals(&append.stream, &append.context, own, draft.ms);
        let changes = [Change::Append(append)].into_iter().chain(told);
        let receipt = match self.fenced(said.progress.clone(), changes).await {
            Ok(receipt) => receipt,
            Err(error) => {
                said.put_back();
                return Err(error);
            }
        };
        let placed = receipt.placed.first();
        let placed =
            placed.ok_or_else(|| WorkError::new("INTERNAL", "the store placed no event"))?;
        Ok(Placed {
            id: placed.id(said.drafts.len(), &draft),
            said: said.drafts,
        })
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
