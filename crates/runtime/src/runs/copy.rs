//! Runs made from runs: rerun from the beginning, fork from an event.

use std::sync::Arc;

use riverrun_engine::{Input, RunState, decide};
use riverrun_store::{EventQuery, NewRun, NewRunTask, Origin, Place};
use riverrun_types::{Draft, EventId, Json, RunId, StreamName};

use super::{
    Runs,
    drive::projection,
    start::{StartRequest, Started},
};
use crate::base::{Error, Result};

impl Runs {
    /// Starts the same flow again with the same input, or another one.
    pub async fn rerun(&self, run: &RunId, input: Option<Json>, latest: bool) -> Result<Started> {
        let loaded = self.load(run).await?;
        let record = &loaded.record;
        let mut request = StartRequest::new(
            record.flow.to_string(),
            input.unwrap_or_else(|| loaded.state.input.clone()),
        );
        request.version = (!latest).then(|| record.version.to_string());
        request.tenant = record.tenant.as_ref().map(ToString::to_string);
        request.tags = record.tags.iter().map(ToString::to_string).collect();
        request.metadata = record.metadata.clone();
        request.origin = Some(Origin {
            run: run.clone(),
            event: None,
        });
        self.start(request).await
    }

    /// A new run that shares the past of another up to and including an event, and continues on its
    /// own. Without an event: up to now.
    pub async fn fork(&self, run: &RunId, at: Option<EventId>) -> Result<Started> {
        self.base().refuse_when_stopping()?;
        let source = self.load(run).await?;
        let stream = StreamName::flow(run);
        let len = match at {
            Some(event) => {
                self.base()
                    .store()
                    .locate(&stream, Place::Event(event))
                    .await?
            }
            None => source.record.len,
        };
        if len == 0 {
            let message = format!(
                "run {run} has no event at or before {}",
                at.map(|id| id.to_string()).unwrap_or_default()
            );
            return Err(Error::Unprocessable(message));
        }
        let version = source.record.version.clone();
        let flow = self
            .flows()
            .compiled(&source.record.flow, Some(&version))
            .await?;
        let Prefix {
            mut drafts,
            mut state,
            last,
            last_open,
        } = self.prefix(&stream, len).await?;
        if state.status.is_ended() {
            return Err(Error::ForkAtEnd {
                run: run.clone(),
                last: last_open,
            });
        }
        let id = RunId::fresh();
        let now = self.base().now_ms();
        let decision = decide(&flow.plan, &mut state, &id, Input::Forked, now);
        let tenant = source.record.tenant.as_ref();
        let orders = self.orders(&id, &flow.plan, tenant, &decision, None, now);
        drafts.extend(decision.events);
        let new = NewRun {
            id: id.clone(),
            flow: source.record.flow.clone(),
            version,
            created_ms: now,
            idempotency_key: None,
            tenant: source.record.tenant.clone(),
            tags: source.record.tags.clone(),
            metadata: source.record.metadata.clone(),
            parent: None,
            origin: Some(Origin {
                run: run.clone(),
                event: Some(last),
            }),
            correlation: source.record.correlation.clone(),
            projection: projection(&state),
            turn: 1,
            events: Arc::from(drafts),
            // A copy that ends late may have no step left to run.
            task: (!state.status.is_ended()).then_some(NewRunTask::Ready { at_ms: now }),
            snapshot: None,
        };
        self.create(new, state, orders).await
    }

    /// The first `len` events of a stream and what they reduce to.
    async fn prefix(&self, stream: &StreamName, len: u64) -> Result<Prefix> {
        let mut drafts = Vec::new();
        let mut state = RunState::new();
        let (mut last, mut last_open) = (EventId { ms: 0, seq: 0 }, None);
        while (drafts.len() as u64) < len {
            let from = drafts.len() as u64;
            let limit = usize::try_from((len - from).min(1_000)).unwrap_or(1_000);
            let events = self
                .base()
                .store()
                .events(stream, &EventQuery::forward(from, limit))
                .await?;
            let Some(newest) = events.last() else { break };
            last = newest.id;
            for event in &events {
                let draft = event.draft();
                state.apply(&draft);
                drafts.push(draft);
                if !state.status.is_ended() && !state.visits.is_empty() {
                    last_open = Some(event.id);
                }
            }
        }
        Ok(Prefix {
            drafts,
            state,
            last,
            last_open,
        })
    }
}

/// The beginning of a run's stream.
struct Prefix {
    drafts: Vec<Draft>,
    state: RunState,
    last: EventId,
    /// The last event after which a step could still run.
    last_open: Option<EventId>,
}
