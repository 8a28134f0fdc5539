//! The stream of a job or a call: its new events, and the records of earlier attempts.

use riverrun_engine::{Fact, RunState};
use riverrun_protocol::{JournalEntry, WorkError};
use riverrun_store::{Change, EventQuery, Expect};
use riverrun_types::{Draft, ErrorCode, Event, EventId, EventType, Name, RunId, StreamName};

use super::{JobHost, gathered::GatheredBatch, params::MemoParams, refused};
use crate::{base::Base, streams::SignalSource};

/// An event that was appended, and the frames before it.
pub(super) struct Placed {
    pub id: EventId,
    pub said: Vec<Draft>,
}

impl JobHost {
    /// Appends an event, and before it the handler's earlier frames.
    pub(super) async fn append(&self, draft: Draft, expect: Expect) -> Result<Placed, WorkError> {
        let mut said = self.said.take().await;
        self.append_after(&mut said, draft, expect).await
    }

    /// Appends an event after the frames, which are kept if the append is rejected.
    pub(super) async fn append_after(
        &self,
        said: &mut GatheredBatch<'_>,
        draft: Draft,
        expect: Expect,
    ) -> Result<Placed, WorkError> {
        if !self.home.is_kept() {
            let placed = self.append_elsewhere(draft, expect).await?;
            said.stored();
            return Ok(placed);
        }
        let mut events = said.drafts.clone();
        events.push(draft.clone());
        let mut append = self.home.append(events);
        append.expect = expect;
        append.context.tenant_id = self.tenant_id.as_deref().map(Into::into);
        let own = std::slice::from_ref(&draft);
        let source = SignalSource {
            stream: &append.stream,
            context: &append.context,
            correlation: None,
            chain: self.chain,
        };
        let signals = source.signals(own, said.drafts.len(), draft.ms, |_| false);
        let now = self.queues.base().now_ms();
        let commit = self.home.fenced(said.progress.clone(), now).await;
        let mut commit = commit.and(Change::Append(append));
        commit.changes.extend(signals);
        let receipt = self.queues.base().commit(commit).await.map_err(refused)?;
        let placed = receipt.placed.first();
        let placed = placed
            .ok_or_else(|| WorkError::new(ErrorCode::Internal, "the store placed no event"))?;
        let said = said.stored();
        Ok(Placed {
            id: placed.id(said.len(), &draft),
            said,
        })
    }

    /// The events that an unrecorded call emits are stored all the same: others act on them, and
    /// must be able to read the cause. They go to the shared stream.
    async fn append_elsewhere(
        &self,
        mut draft: Draft,
        expect: Expect,
    ) -> Result<Placed, WorkError> {
        let seq = match expect {
            Expect::Len(len) => len,
            _ => 0,
        };
        let mut id = EventId { ms: draft.ms, seq };
        if matches!(Fact::read(&draft), Fact::Emitted { .. }) {
            draft.causation_id = Some(Name::from(self.home.id().as_str()));
            draft.tenant_id = self.tenant_id.as_deref().map(Name::from);
            let appended = self.queues.streams().append_to_all(draft, self.chain).await;
            id = appended.map_err(refused)?.unwrap_or(id);
        }
        let said = Vec::new();
        Ok(Placed { id, said })
    }

    pub(super) async fn read_stream(&self) -> Result<RunState, WorkError> {
        let mut stream = RunState::new();
        if !self.home.is_kept() {
            return Ok(stream);
        }
        each_event(self.queues.base(), &self.home.stream(), |event| {
            stream.apply(&event.clone().draft());
        })
        .await?;
        Ok(stream)
    }

    /// The stream has grown by an event that is no state: its length is read again when needed.
    pub(super) async fn forget_stream(&self) {
        // If the call is not stored, its state is in memory only.
        if self.home.is_kept() {
            *self.stream.lock().await = None;
        }
    }
}

/// The records of the `ctx.run`s of a job's earlier attempts. A redriven job goes on from there;
/// one that had completed begins anew.
pub(in crate::queues) async fn journal(
    base: &Base,
    job: &RunId,
) -> Result<Vec<JournalEntry>, WorkError> {
    let mut journal = Vec::new();
    let stream = StreamName::new("job", job.as_str());
    each_event(base, &stream, |event| {
        if event.kind == EventType::JobCompleted {
            journal.clear();
        }
        if event.kind == EventType::StepMemo
            && let Some(memo) = event
                .data
                .as_ref()
                .and_then(|data| data.read::<MemoParams>().ok())
        {
            journal.push(JournalEntry {
                op: "memo".to_owned(),
                name: memo.name,
                nth: memo.nth,
                value: memo.value,
                error: memo.error,
                emits: Vec::new(),
            });
        }
    })
    .await?;
    Ok(journal)
}

/// Reads a stream from its beginning.
async fn each_event(
    base: &Base,
    stream: &StreamName,
    mut look: impl FnMut(&Event),
) -> Result<(), WorkError> {
    const PAGE: usize = 1_000;
    let mut from = 0;
    loop {
        let query = EventQuery::forward(from, PAGE);
        let events = base.store().events(stream, &query).await.map_err(refused)?;
        for event in &events {
            look(event);
        }
        match events.last() {
            None => return Ok(()),
            Some(last) => from = last.id.seq + 1,
        }
    }
}
