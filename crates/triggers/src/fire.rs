//! Fires a trigger: the run starts, and the trigger's stream records it, in one commit.

use riverrun_runtime::{StartRequest, Started};
use riverrun_store::{Append, Change, Commit, Expect, Fired, Firing, Take};
use riverrun_types::{
    Draft, EventType, Json, Millis, RunId, StreamName, event::EventContext, time::iso,
};
use serde_json::{Map, Value, json};

use crate::{Kind, Result, Trigger, Triggers, history::KEEP};

/// What fires a trigger, and with what.
pub(crate) struct Shot<'a> {
    pub trigger: &'a Trigger,
    /// Where it came from, in a word: a route, `cron`, a kind of event, a person's word.
    pub source: &'a str,
    pub received_ms: Millis,
    pub request_id: Option<&'a str>,
    pub key: Option<String>,
    /// The due time of a schedule that this is for.
    pub due_ms: Option<Millis>,
    pub take: Option<Take>,
    pub story: Story,
}

/// What a run that is started belongs to, and what brought it about.
#[derive(Default)]
pub(crate) struct Story {
    pub correlation: Option<String>,
    pub causation: Option<String>,
    /// How many events started a run on the way to it.
    pub depth: u32,
}

impl Triggers {
    /// Starts a run with an input, or notes why there is none.
    pub(crate) async fn shoot(&self, shot: Shot<'_>, input: Result<Json>) -> Result<Started> {
        let started = match input {
            Ok(input) => self.start(&shot, input).await,
            Err(error) => Err(error),
        };
        match started {
            Ok(started) if !started.created && self.is_redelivered(&shot, &started.run).await? => {
                Ok(started)
            }
            // Somebody makes up for a due time once more: that is no use of the trigger.
            Ok(started) if !started.created && shot.is_made_up_for() => Ok(started),
            Ok(started) if !started.created => {
                // The run is an earlier one, so nothing was committed with it.
                let events = shot.fired(&started.run, false);
                let changes = shot.changes(Fired::Run(started.run.clone()), events);
                self.runtime().base().commit(all(changes)).await?;
                Ok(started)
            }
            // The request to make up for it gets the error, and may be repeated: nothing is counted
            // twice.
            Err(error) if !error.is_passing() && !shot.is_made_up_for() => {
                let failure = json!({"code": error.code(), "message": error.to_string()});
                let changes = shot.changes(Fired::Failed(Json::of(&failure)), shot.failed(failure));
                self.runtime().base().commit(all(changes)).await?;
                Err(error)
            }
            answer => answer,
        }
    }

    /// Whether an event is delivered again because the server ended before it removed the signal:
    /// its run is there, and so is the record of it.
    async fn is_redelivered(&self, shot: &Shot<'_>, run: &RunId) -> Result<bool> {
        if shot.trigger.kind() != Kind::Event {
            return Ok(false);
        }
        let record = self.runtime().base().store().run(run).await?;
        let metadata = record.and_then(|record| record.metadata);
        let origin = metadata.map_or(Value::Null, |metadata| metadata.value()["trigger"].clone());
        Ok(origin["id"] == *shot.trigger.id && origin["requestId"].as_str() == shot.request_id)
    }

    async fn start(&self, shot: &Shot<'_>, input: Json) -> Result<Started> {
        let definition = &shot.trigger.definition;
        let run = RunId::fresh();
        let mut request = StartRequest::new(definition.flow.as_str(), input);
        request.version = definition.flow_version.clone();
        request.run_id = Some(run.clone());
        request.idempotency_key = shot.key.clone();
        request.tenant = definition.tenant_id.clone();
        request.tags = definition.tags.clone();
        request.metadata = Some(shot.metadata());
        request.correlation_id = shot.story.correlation.clone();
        request.causation_id = shot.story.causation.clone();
        request.chain = shot.story.depth;
        request.by_trigger = true;
        request.also = shot.changes(Fired::Run(run.clone()), shot.fired(&run, true));
        Ok(self.runtime().runs().start(request).await?)
    }
}

impl Shot<'_> {
    /// Where a run came from.
    fn metadata(&self) -> Json {
        let mut origin = json!({
            "id": &*self.trigger.id,
            "type": self.trigger.kind().as_str(),
            "version": self.trigger.version,
            "source": self.source,
            "receivedAt": self.received_ms,
        });
        if let Some(id) = self.request_id {
            origin["requestId"] = json!(id);
        }
        if let Some(due_ms) = self.due_ms {
            origin["dueAt"] = json!(iso(due_ms));
        }
        if self.story.depth > 0 {
            origin["depth"] = json!(self.story.depth);
        }
        let mut metadata: Map<String, Value> =
            self.trigger.definition.metadata.clone().unwrap_or_default();
        metadata.insert("trigger".to_owned(), origin);
        Json::of(&metadata)
    }

    /// A due time of the past, which is not the schedule's own turn.
    fn is_made_up_for(&self) -> bool {
        self.due_ms.is_some() && self.take.is_none()
    }

    fn said(&self, mut data: Value) -> Value {
        data["source"] = json!(self.source);
        data["version"] = json!(self.trigger.version);
        if let Some(id) = self.request_id {
            data["requestId"] = json!(id);
        }
        if let Some(due_ms) = self.due_ms {
            data["dueAt"] = json!(iso(due_ms));
        }
        data
    }

    fn fired(&self, run: &RunId, created: bool) -> Draft {
        let data = self
            .said(json!({"runId": run, "flow": self.trigger.definition.flow, "created": created}));
        let mut draft = Draft::new(self.received_ms, EventType::TriggerFired).data(data);
        draft.correlation_id = Some(run.as_str().into());
        draft
    }

    fn failed(&self, error: Value) -> Draft {
        let data = self.said(json!({ "error": error }));
        let mut draft = Draft::new(self.received_ms, EventType::TriggerFailed).data(data);
        // There is no run, but what would have started it may belong to a story.
        draft.correlation_id = self.story.correlation.as_deref().map(Into::into);
        draft
    }

    fn changes(&self, outcome: Fired, event: Draft) -> Vec<Change> {
        let missed = self.take.filter(|take| take.missed > 0);
        let missed = missed.map(|take| missed_event(self.trigger, &take, event.ms));
        let firing = Firing {
            trigger: self.trigger.id.clone(),
            now_ms: event.ms,
            outcome,
            due: self.take,
        };
        let mut changes = vec![Change::Fired(Box::new(firing))];
        changes.extend(tell(&self.trigger.id, missed.into_iter().chain([event])));
        changes
    }
}

/// Due times went by for which nothing is started.
pub(crate) fn missed_event(trigger: &Trigger, take: &Take, now_ms: Millis) -> Draft {
    let data = json!({
        "missed": take.missed,
        "dueAt": iso(take.from_ms),
        "version": trigger.version,
    });
    Draft::new(now_ms, EventType::TriggerTimeout).data(data)
}

/// Events for the stream of a trigger, which keeps the last ones.
pub(crate) fn tell(trigger: &str, events: impl IntoIterator<Item = Draft>) -> [Change; 2] {
    let stream = stream(trigger);
    let append = Append {
        context: EventContext {
            run_id: stream.id.clone(),
            flow_name: stream.kind.clone(),
            tenant_id: None,
        },
        stream: stream.clone(),
        expect: Expect::Any,
        events: events.into_iter().collect(),
    };
    [Change::Append(append), Change::Trim { stream, keep: KEEP }]
}

pub(crate) fn stream(trigger: &str) -> StreamName {
    StreamName::new("trigger", trigger)
}

pub(crate) fn all(changes: Vec<Change>) -> Commit {
    Commit {
        changes,
        ..Commit::default()
    }
}
