//! Runs from elsewhere: a stream that another riverrun wrote, taken in as it is.

use std::sync::Arc;

use riverrun_engine::{Fact, RunState};
use riverrun_store::{Change, Commit, NewJob, NewRun};
use riverrun_types::{Json, Name, RunId, event::read_back};
use serde::Deserialize;

use crate::{
    Error, Result, Runtime, Started,
    clock::now_ms,
    drive::{projection, record},
};

/// A run as an export holds it.
#[derive(Clone, Debug, Deserialize)]
pub struct Exported {
    pub run: ExportedRun,
    /// The whole stream, in its order.
    pub events: Vec<Json>,
}

/// What a run's stream does not say about it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRun {
    pub run_id: String,
    pub flow: String,
    pub version: String,
    pub tenant_id: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    pub metadata: Option<Json>,
    pub idempotency_key: Option<String>,
}

impl Runtime {
    /// Takes a run in under its own id, with its whole past. One that has not ended goes on here:
    /// what was running is tried again.
    pub async fn import(&self, exported: Exported) -> Result<Started> {
        self.refuse_when_stopping()?;
        let Exported { run, events } = exported;
        let id =
            RunId::checked(&run.run_id).map_err(|error| Error::BadRequest(error.to_string()))?;
        // `latest` names the newest run everywhere; a run of that id could not be reached.
        if id.as_str() == "latest" {
            let message = "a run cannot have the id \"latest\"".to_owned();
            return Err(Error::BadRequest(message));
        }
        let mut drafts = Vec::with_capacity(events.len());
        let mut state = RunState::new();
        for (at, event) in events.iter().enumerate() {
            let refuse = |why: &str| Error::BadEvent(format!("event {at} of the stream: {why}"));
            let (place, draft) = read_back(event).map_err(|error| refuse(&error))?;
            if place.seq != at as u64 || draft.ms < state.updated_ms {
                return Err(refuse(
                    "it is not in its place: a stream is imported whole and in order",
                ));
            }
            if state.status.is_ended() {
                return Err(refuse("it comes after the run's end"));
            }
            // What the engine wrote must mean something here, or the state would differ.
            if Fact::try_read(&draft).is_none() {
                return Err(refuse(&format!(
                    "the data does not fit the type {}",
                    draft.kind
                )));
            }
            state.apply(&draft);
            drafts.push(draft);
        }
        if drafts
            .first()
            .is_none_or(|first| first.kind != riverrun_types::EventType::FlowStarted)
        {
            return Err(Error::BadEvent(
                "a run's stream begins with flow.started".to_owned(),
            ));
        }
        if !state.status.is_ended() {
            self.compiled(&run.flow, Some(&run.version)).await?;
        }
        let name = |text: &str| Name::from(text);
        let new = NewRun {
            id: id.clone(),
            flow: name(&run.flow),
            version: name(&run.version),
            created_ms: state.created_ms,
            idempotency_key: run.idempotency_key.as_deref().map(name),
            tenant: run.tenant_id.as_deref().map(name),
            tags: run.tags.iter().map(|tag| name(tag)).collect(),
            metadata: run.metadata,
            parent: None,
            origin: None,
            projection: projection(&state),
            turn: 1,
            events: Arc::from(drafts),
            job: (!state.status.is_ended()).then_some(NewJob::Ready { at_ms: now_ms() }),
            snapshot: None,
        };
        self.create(new, state).await
    }

    /// Commits a run whose events come from elsewhere; whoever claims it goes on with it.
    pub(crate) async fn create(&self, new: NewRun, state: RunState) -> Result<Started> {
        let record = record(&new, &state);
        self.commit(Commit::of(Change::Create(Box::new(new))))
            .await?;
        let state = Arc::new(state);
        self.cache().put(&record.id, state.clone());
        Ok(Started::new(record, state, true))
    }
}
