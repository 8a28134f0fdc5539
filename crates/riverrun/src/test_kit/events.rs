//! Events around the run: those that the test gives, and all that were emitted.

use std::collections::BTreeSet;

use riverrun_protocol::WorkError;
use riverrun_runtime::Error;
use riverrun_store::{Kinds, LogQuery};
use riverrun_types::{Event, EventType, Json, RunId, StreamName};
use serde_json::{Value, json};

use super::{refused::refused, request::Given, walk::Walk};

/// Events that are read at a time.
const PAGE: usize = 1_000;

impl Walk {
    /// Whether something in the run waits for the event, or is entered or undone by it.
    pub(super) fn is_wanted(&self, given: &Given) -> bool {
        let kind = given.kind();
        self.report.awaited().any(|awaited| awaited == kind)
            || (self.flow.subscribes.contains(kind) && !self.report.state.compensating)
            || self.undoes(kind)
    }

    fn undoes(&self, kind: &str) -> bool {
        let mut steps = self.flow.undone_by.iter().filter(|(on, _)| on == kind);
        steps.any(|(_, step)| self.report.can_undo(step))
    }

    /// Events that enter or undo a step go to the stream of the run, all others to `global`.
    pub(super) async fn emit(&self, given: Given) -> Result<(), WorkError> {
        let kind = given.kind();
        let undoes = |(on, _): &(String, String)| on == kind;
        let is_of_run =
            self.flow.subscribes.contains(kind) || self.flow.undone_by.iter().any(undoes);
        let mut event = given.event;
        let of = event
            .as_object_mut()
            .and_then(|event| event.remove("runId"));
        let stream = match of.as_ref().and_then(Value::as_str) {
            Some("global") => StreamName::global(),
            Some(run) => StreamName::flow(&RunId::new(run)),
            None if is_of_run => StreamName::flow(&self.run),
            None => StreamName::global(),
        };
        let runtime = self.river.runtime();
        let appended = runtime.events().append(&stream, &[Json::of(&event)]).await;
        appended.map(drop).map_err(refused)
    }

    /// All emitted events in order, and those that no step consumed.
    pub(super) async fn emitted(&self) -> Result<(Vec<Value>, Vec<Value>), WorkError> {
        let (mut events, mut unclaimed) = (Vec::new(), Vec::new());
        let mut last: Option<&Event> = None;
        let own = StreamName::flow(&self.run);
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let all = self.log().await?;
        for (stream, event) in &all {
            if *stream != own {
                continue;
            }
            match &event.kind {
                // What entered a step is the last event before that was emitted into the run.
                EventType::StepEntered | EventType::StepJoined => {
                    if let Some(entering) = last {
                        taken.insert(place(&own, entering));
                    }
                }
                EventType::StepResumed => {
                    let value = event.data.as_ref().and_then(|data| data.get("value"));
                    let value = value.map_or(Value::Null, |value| value.value());
                    if let (Some(id), Some(run)) = (value["id"].as_str(), value["runId"].as_str()) {
                        taken.insert(format!("{run} {id}"));
                    }
                }
                _ if is_emitted(event) => last = Some(event),
                _ => {}
            }
        }
        for (stream, event) in &all {
            let is_shown = *stream == StreamName::global() || stream.run().is_some();
            if !is_shown || !is_emitted(event) {
                continue;
            }
            let mut shown = json!(event);
            shown["kind"] = shown["type"].clone();
            if !taken.contains(&place(stream, event)) {
                unclaimed.push(shown.clone());
            }
            events.push(shown);
        }
        Ok((events, unclaimed))
    }

    /// Every event of every stream.
    async fn log(&self) -> Result<Vec<(StreamName, Event)>, WorkError> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let query = LogQuery {
                after,
                kinds: Kinds::default(),
                limit: PAGE,
                max_bytes: usize::MAX,
            };
            let page = self.river.runtime().base().store().log(&query).await;
            let page = page.map_err(|error| refused(Error::from(error)))?;
            after = page.next;
            all.extend(page.events.into_iter().map(|one| (one.stream, one.event)));
            if page.is_end {
                return Ok(all);
            }
        }
    }
}

fn place(stream: &StreamName, event: &Event) -> String {
    format!("{} {}", stream.id, event.id)
}

/// Whether somebody emitted the event: riverrun itself writes the others.
fn is_emitted(event: &Event) -> bool {
    matches!(event.kind, EventType::Other(_) | EventType::Emit)
}
