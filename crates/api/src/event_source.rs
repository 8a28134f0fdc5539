//! The source of a WebSocket subscription: a stream, the channel of a queue, or event types of all
//! streams.

use std::collections::VecDeque;

use riverrun_runtime::{Begin, Delivery, OnKind, Subject};
use riverrun_store::{Listener, QueueUpdate};
use riverrun_types::{ErrorCode, Event, EventId, EventType, Namespace, StreamName};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::{
    app::Api,
    errors::ApiError,
    events::{cursor, stream_named, stream_of},
    kinds,
    sse::shows,
};

/// What somebody wants to subscribe to.
pub(crate) enum Wanted {
    Stream {
        name: String,
        types: Vec<EventType>,
        from: Option<String>,
    },
    Kinds {
        kinds: Vec<String>,
        from: Option<String>,
    },
}

/// What it says.
pub(crate) enum SourceUpdate {
    Event {
        cursor: String,
        event: Box<RawValue>,
    },
    /// It was too slow and goes on from the store.
    Late,
    /// So many batches of a queue's channel are lost, or events of a stream not kept any more.
    Missed(u64),
    Deleted,
}

/// An open subscription.
pub(crate) enum Source {
    Stream {
        name: String,
        types: Vec<EventType>,
        subject: Subject,
    },
    Queue {
        name: String,
        types: Vec<EventType>,
        listener: Listener,
        /// What somebody who comes back saw last: what came since is lost.
        seen: Option<EventId>,
        last: EventId,
        ready: VecDeque<Event>,
    },
    Kinds {
        kinds: Vec<String>,
        events: OnKind,
        namespace: Namespace,
    },
}

impl Source {
    pub async fn open(api: &Api, wanted: Wanted) -> Result<Self, ApiError> {
        match wanted {
            Wanted::Kinds { kinds, from } => {
                let begin = kinds::begin(from.as_deref(), Begin::End)?;
                let events = api.runtime().streams().on_kind(&kinds, begin).await?;
                Ok(Self::Kinds {
                    kinds,
                    events,
                    namespace: api.namespace().clone(),
                })
            }
            Wanted::Stream { name, types, from } => {
                let stream = stream_named(api, &name)?;
                let stream = stream_of(api, &stream.kind, &stream.id).await?;
                let name = api.namespace().name(&stream);
                match &*stream.kind {
                    StreamName::QUEUE => Self::queue(api, name, &stream.id, types, from).await,
                    _ => {
                        let begin = match from.as_deref() {
                            None | Some("start") => Begin::Start,
                            Some("end") => Begin::End,
                            Some(id) => Begin::After(cursor(id)?),
                        };
                        let subject = api
                            .runtime()
                            .streams()
                            .subscribe_subject(&stream, begin)
                            .await?;
                        Ok(Self::Stream {
                            name,
                            types,
                            subject,
                        })
                    }
                }
            }
        }
    }

    /// The channel of a queue has no past: it begins now.
    async fn queue(
        api: &Api,
        name: String,
        queue: &str,
        types: Vec<EventType>,
        from: Option<String>,
    ) -> Result<Self, ApiError> {
        let seen = from.filter(|from| !matches!(from.as_str(), "start" | "end"));
        let seen = seen.as_deref().map(cursor).transpose()?;
        let listener = api.runtime().streams().listen(queue);
        api.runtime().queues().queue(queue).await?;
        Ok(Self::Queue {
            name,
            types,
            last: listener.begin(),
            listener,
            seen,
            ready: VecDeque::new(),
        })
    }

    /// The full name of the stream that is subscribed to.
    pub fn stream(&self) -> Option<&str> {
        match self {
            Self::Stream { name, .. } | Self::Queue { name, .. } => Some(name),
            Self::Kinds { .. } => None,
        }
    }

    pub fn kinds(&self) -> Option<&[String]> {
        match self {
            Self::Kinds { kinds, .. } => Some(kinds),
            Self::Stream { .. } | Self::Queue { .. } => None,
        }
    }

    /// Where to go on after this subscription.
    pub fn cursor(&self) -> Option<String> {
        match self {
            Self::Stream { subject, .. } => subject.cursor().map(|id| id.to_string()),
            Self::Queue { last, .. } => Some(last.to_string()),
            Self::Kinds { events, .. } => Some(events.cursor().to_string()),
        }
    }

    /// Advances the cursor of a subscription that receives no events.
    pub fn look(&mut self) {
        if let Self::Kinds { events, .. } = self {
            events.look();
        }
    }

    /// Forgets what was read ahead and can be read again.
    pub fn shed(&mut self) {
        match self {
            Self::Stream { subject, .. } => subject.shed(),
            Self::Kinds { events, .. } => events.shed(),
            // Nothing of a queue's channel is stored.
            Self::Queue { .. } => {}
        }
    }

    /// The place from which on events are lost to somebody who came back to a queue.
    pub fn missed(&self) -> Option<EventId> {
        match self {
            Self::Queue { seen, .. } => *seen,
            Self::Stream { .. } | Self::Kinds { .. } => None,
        }
    }

    /// What comes next. Cancel safe.
    pub async fn next(&mut self) -> Result<SourceUpdate, ApiError> {
        match self {
            Self::Stream { types, subject, .. } => loop {
                match subject.next().await? {
                    Delivery::Event(event) if shows(types, &event) => {
                        return said(event.id.to_string(), &event);
                    }
                    Delivery::Event(_) => {}
                    Delivery::Late => return Ok(SourceUpdate::Late),
                    Delivery::Missed(count) => return Ok(SourceUpdate::Missed(count)),
                    Delivery::Gone => return Ok(SourceUpdate::Deleted),
                }
            },
            Self::Queue {
                types,
                listener,
                last,
                ready,
                ..
            } => loop {
                while let Some(event) = ready.pop_front() {
                    *last = event.id;
                    if shows(types, &event) {
                        return said(event.id.to_string(), &event);
                    }
                }
                match listener.next().await {
                    QueueUpdate::Batch(batch) => ready.extend(batch.events.iter().cloned()),
                    QueueUpdate::Missed(batches) => return Ok(SourceUpdate::Missed(batches)),
                }
            },
            Self::Kinds {
                events, namespace, ..
            } => match events.next().await? {
                Delivery::Event(logged) => {
                    let shown = kinds::shown(namespace);
                    said(logged.no.to_string(), &shown(&logged))
                }
                Delivery::Late => Ok(SourceUpdate::Late),
                Delivery::Missed(count) => Ok(SourceUpdate::Missed(count)),
                Delivery::Gone => Ok(SourceUpdate::Deleted),
            },
        }
    }
}

fn said(cursor: String, event: &impl Serialize) -> Result<SourceUpdate, ApiError> {
    let event = to_raw_value(event)
        .map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
    Ok(SourceUpdate::Event { cursor, event })
}
