//! Live streams over server-sent events.
//!
//! A reader begins after the last event it saw and gets every later one once, in order: earlier
//! events from the store, new ones from the bus. This module has no queue: the connection pulls
//! events. A reader that is too slow for the bus reads from the store again, and a comment in the
//! stream says so. Live events are encoded once for all readers of a stream. `live` bounds the
//! memory of readers that do not read.

use std::{fmt::Write as _, pin::Pin, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use riverrun_runtime::{Tail, Tailed};
use riverrun_store::{Batch, Direction, EventQuery, Listener, Place, QueueUpdate};
use riverrun_types::{ErrorCode, Event, EventId, EventType, Json, RunId, StreamName, time::NEVER};
use serde::{Deserialize, Deserializer, de::Error as _};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    events::{cursor, exists, stream_named, stream_of, types},
    extract::{Query, RunPath, Segments},
    live::{HeldBytes, LiveReader},
    reply::{Answer, with_type},
    schemas,
    serve::Leave,
};

/// Bytes that a reader is handed at a time while it catches up.
const PIECE: usize = 64 << 10;

/// Where a live stream begins and what it shows.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TailQuery {
    /// Start after this event. `end` sends only new events. Default: all events. The header
    /// `Last-Event-ID` takes precedence.
    from: Option<String>,
    /// The same as `from`.
    last_event_id: Option<String>,
    /// Event types, separated by commas; `log` includes every `log.*`.
    #[serde(default, deserialize_with = "types", alias = "types", alias = "kind")]
    #[param(value_type = Option<String>)]
    r#type: Vec<EventType>,
    /// `until-end` closes the stream after the event that ends the run or the job. Default: `forever`.
    #[serde(default, deserialize_with = "until_end")]
    #[param(value_type = Option<String>)]
    follow: bool,
}

fn until_end<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match String::deserialize(from)?.as_str() {
        "until-end" => Ok(true),
        "forever" => Ok(false),
        _ => Err(D::Error::custom("neither until-end nor forever")),
    }
}

/// Follow a run
///
/// Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
#[utoipa::path(get, path = "/api/runs/{id}/stream", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), TailQuery),
    responses(
        (status = 200, description = "The events as they happen", body = schemas::Event, content_type = "text/event-stream"),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn follow_run(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<TailQuery>,
    headers: HeaderMap,
    leave: Leave,
) -> Answer {
    follow(api, StreamName::flow(&run), query, &headers, leave).await
}

/// Follow a stream by type and id
///
/// Server-sent events: `id` is the id of the event, `event` its type, `data` the event. `job` is the
/// lifecycle of a job with its logs. `queue` is a live channel of the jobs of a queue; it is not
/// stored, so a reader that was disconnected or too slow receives `stream.missed`.
#[utoipa::path(get, path = "/api/events/{type}/{id}/stream", tag = "events",
    params(("type" = String, Path, description = "`flow`, `job`, `queue`, `trigger`, `webhook` …"),
        ("id" = String, Path, description = "The stream's id: a run's for `flow`, a job's for `job`, a queue's name for `queue`"), TailQuery),
    responses(
        (status = 200, description = "The events as they happen", body = schemas::Event, content_type = "text/event-stream"),
        (status = 404, description = "RUN_NOT_FOUND, JOB_NOT_FOUND or QUEUE_NOT_FOUND", body = schemas::Failure)))]
pub(crate) async fn follow_stream(
    State(api): State<Api>,
    Segments((kind, id)): Segments<(String, String)>,
    Query(query): Query<TailQuery>,
    headers: HeaderMap,
    leave: Leave,
) -> Answer {
    let stream = stream_of(&api, &kind, &id).await?;
    follow(api, stream, query, &headers, leave).await
}

/// Follow a stream by its full name
///
/// Server-sent events: `id` is the id of the event, `event` its type, `data` the event.
#[utoipa::path(get, path = "/api/events/{stream}/tail", tag = "events",
    params(("stream" = String, Path, description = "The full name, such as `nq:flow:<runId>` or `nq:global`"), TailQuery),
    responses((status = 200, description = "The events as they happen", body = schemas::Event, content_type = "text/event-stream")))]
pub(crate) async fn follow_named(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Query(query): Query<TailQuery>,
    headers: HeaderMap,
    leave: Leave,
) -> Answer {
    let stream = stream_named(&api, &name)?;
    follow(api, stream, query, &headers, leave).await
}

async fn follow(
    api: Api,
    stream: StreamName,
    query: TailQuery,
    headers: &HeaderMap,
    leave: Leave,
) -> Answer {
    if &*stream.kind == StreamName::QUEUE {
        return follow_queue(api, &stream.id, query, headers, leave).await;
    }
    // The beginning is determined first: a reader that begins at the end must not begin after an
    // end that `until` finds later.
    let begin = begin(&api, &stream, &query, headers).await?;
    let until = until(&api, &stream, query.follow).await?;
    if matches!(until, Until::Position(len) if begin.position >= len) {
        return Ok(response(Body::empty()));
    }
    let opening = opening(begin.after);
    let family = stream.kind.clone();
    let reader = Wanted {
        source: Source::Stream(api.runtime().streams().tail(stream, begin.position)),
        types: query.r#type,
        until,
        family,
    };
    Ok(live(api, reader, opening, leave))
}

/// The channel of a queue has no past: it begins now. A reader that comes back is informed.
async fn follow_queue(
    api: Api,
    queue: &str,
    query: TailQuery,
    headers: &HeaderMap,
    leave: Leave,
) -> Answer {
    let given = place(&query, headers).filter(|place| !matches!(*place, "start" | "end"));
    let seen = given.map(cursor).transpose()?;
    let listener = api.runtime().streams().listen(queue);
    api.runtime().queues().queue(queue).await?;
    let mut opening = opening(Some(listener.begin()));
    if let Some(seen) = seen {
        missed(&mut opening, &serde_json::json!({ "after": seen }));
    }
    let reader = Wanted {
        source: Source::Queue(listener),
        types: query.r#type,
        until: Until::Stopped,
        family: Arc::from(StreamName::QUEUE),
    };
    Ok(live(api, reader, opening, leave))
}

/// What every live stream begins with. The id is for a reader that loses the connection before the
/// first event.
pub(crate) fn opening(after: Option<impl std::fmt::Display>) -> String {
    let mut opening = ": riverrun\nretry: 1000\n".to_owned();
    if let Some(id) = after {
        let _ = writeln!(opening, "id: {id}");
    }
    opening.push('\n');
    opening
}

/// Says that events are lost to this reader.
fn missed(text: &mut String, what: &serde_json::Value) {
    field(text, "event", "stream.missed");
    field(text, "data", &what.to_string());
    text.push('\n');
}

fn live(api: Api, wanted: Wanted, opening: String, leave: Leave) -> Response {
    let counted = api.live().join(leave.0);
    let heartbeat = api.options().heartbeat;
    let mut beat = tokio::time::interval_at(Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let Wanted {
        source,
        types,
        until,
        family,
    } = wanted;
    let reader = Reader {
        source,
        closing: Box::pin(async move { api.closing().await }),
        beat,
        types,
        until,
        family,
        counted,
        unsent: Vec::new().into_iter(),
        page: None,
        is_live: false,
        is_done: false,
    };
    let opening =
        futures::stream::once(async { Ok::<_, std::convert::Infallible>(Bytes::from(opening)) });
    let events = futures::stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((Ok(piece), reader))
    });
    use futures::StreamExt;
    response(Body::from_stream(opening.chain(events)))
}

/// When the stream closes; refused if it is that of a run or a job that is not there.
async fn until(api: &Api, stream: &StreamName, follow: bool) -> Result<Until, ApiError> {
    let store = api.runtime().base().store();
    let (len, is_ended) = if let Some(run) = stream.run() {
        let record = store.run(&run).await?;
        let record = record.ok_or(riverrun_store::Error::RunNotFound(run))?;
        (record.len, record.status.is_ended())
    } else if stream.is_job() {
        exists(api, stream).await?;
        // The length first: an end that comes between the two lies behind it, and is seen.
        let len = store.locate(stream, Place::Time(NEVER)).await?;
        let job = store.job(&RunId::new(&stream.id)).await?;
        match job.is_none_or(|job| job.state.is_ended()) {
            true => (store.locate(stream, Place::Time(NEVER)).await?, true),
            false => (len, false),
        }
    } else {
        return Ok(Until::Stopped);
    };
    Ok(match (follow, is_ended) {
        (false, _) => Until::Stopped,
        (true, true) => Until::Position(len),
        // A run ends once; a job that had ended before may have begun anew.
        (true, false) if stream.is_job() => Until::Ends { from: len },
        (true, false) => Until::Ends { from: 0 },
    })
}

/// Where a reader begins.
struct Begin {
    position: u64,
    /// The event before it, if the reader does not know it.
    after: Option<EventId>,
}

/// What a reader that comes back saw last.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get("last-event-id")?;
    Some(id.to_str().unwrap_or("?")).filter(|id| !id.is_empty())
}

/// The place that a reader asked for.
fn place<'a>(query: &'a TailQuery, headers: &'a HeaderMap) -> Option<&'a str> {
    last_event_id(headers)
        .or(query.last_event_id.as_deref())
        .or(query.from.as_deref())
}

async fn begin(
    api: &Api,
    stream: &StreamName,
    query: &TailQuery,
    headers: &HeaderMap,
) -> Result<Begin, ApiError> {
    let store = api.runtime().base().store();
    let at = |position| Begin {
        position,
        after: None,
    };
    Ok(match place(query, headers) {
        None | Some("start") => at(0),
        Some("end") => {
            let query = EventQuery {
                direction: Direction::Backward,
                from: None,
                ..EventQuery::forward(0, 1)
            };
            let last = store.events(stream, &query).await?.pop();
            let last = last.map(|event| event.id);
            Begin {
                position: last.map_or(0, |id| id.seq + 1),
                // Before all others, if there is none yet.
                after: last.or(Some(EventId { ms: 0, seq: 0 })),
            }
        }
        Some(id) => {
            let after = cursor(id)?;
            at(api
                .runtime()
                .streams()
                .position_after(stream, after)
                .await?)
        }
    })
}

pub(crate) fn response(body: Body) -> Response {
    let mut response = with_type(StatusCode::OK, "text/event-stream", body);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// When a live stream closes.
#[derive(Clone, Copy)]
enum Until {
    Stopped,
    /// When the run or job has ended, at or after this position.
    Ends {
        from: u64,
    },
    /// When this many events of the stream were seen.
    Position(u64),
}

/// Where the events come from.
enum Source {
    Stream(Tail),
    Queue(Listener),
}

impl Source {
    /// Cancel safe.
    async fn next(&mut self) -> riverrun_runtime::Result<Tailed> {
        match self {
            Self::Stream(tail) => tail.next().await,
            Self::Queue(listener) => Ok(match listener.next().await {
                QueueUpdate::Batch(batch) => Tailed::Live(batch),
                // So many batches: it was too slow for a live channel.
                QueueUpdate::Missed(count) => Tailed::Missed(count),
            }),
        }
    }
}

/// What a reader follows, and which of it.
struct Wanted {
    source: Source,
    types: Vec<EventType>,
    until: Until,
    /// Of the types that say what became of what is followed.
    family: Arc<str>,
}

struct Reader {
    source: Source,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
    beat: Interval,
    types: Vec<EventType>,
    until: Until,
    /// Of the types that say what became of what is followed.
    family: Arc<str>,
    /// What it holds is counted.
    counted: LiveReader,
    /// Read from the store, and not handed out yet.
    unsent: std::vec::IntoIter<Event>,
    /// Counts what was read until all of it was handed out.
    page: Option<HeldBytes>,
    is_live: bool,
    is_done: bool,
}

impl Reader {
    /// The next bytes to send; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.piece() {
                return Some(piece);
            }
            if self.is_done {
                return None;
            }
            let came = tokio::select! {
                biased;
                came = self.source.next() => came,
                _ = self.beat.tick() => return Some(Bytes::from_static(b": alive\n\n")),
                () = &mut self.closing => return None,
                () = self.counted.end().cancelled() => return None,
            };
            match came {
                Ok(Tailed::Live(batch)) => {
                    self.is_live = true;
                    self.is_done = self.ends_with(&batch.events);
                    if self.types.is_empty() {
                        return Some(Bytes::from_owner(Shared {
                            text: batch.wire(|events| encode(events)),
                            _batch: batch,
                        }));
                    }
                    let text = encode(batch.events.iter().filter(|event| self.shows(event)));
                    if !text.is_empty() {
                        return Some(self.counted.bytes(text));
                    }
                }
                Ok(Tailed::Read(events)) => {
                    self.is_done = self.ends_with(&events);
                    self.page = Some(self.counted.hold(events.iter().map(size).sum()));
                    self.unsent = events.into_iter();
                    if std::mem::take(&mut self.is_live) {
                        return Some(Bytes::from_static(b": late, read from the store\n\n"));
                    }
                }
                Ok(Tailed::Missed(count)) => {
                    let mut text = String::new();
                    missed(&mut text, &serde_json::json!({ "missed": count }));
                    return Some(text.into());
                }
                Ok(Tailed::Gone) => {
                    self.is_done = true;
                    return Some(Bytes::from_static(b"event: stream.deleted\ndata: {}\n\n"));
                }
                Err(error) => {
                    self.is_done = true;
                    let error = ApiError::from(error).json();
                    let mut text = String::new();
                    field(&mut text, "event", "stream.failed");
                    field(&mut text, "data", &error.to_string());
                    text.push('\n');
                    return Some(text.into());
                }
            }
        }
    }

    /// Part of what was read from the store, so that a large page is not encoded at once.
    fn piece(&mut self) -> Option<Bytes> {
        let mut text = String::new();
        while text.len() < PIECE {
            let Some(event) = self.unsent.next() else {
                self.page = None;
                break;
            };
            if self.shows(&event) {
                encode_event(&mut text, &event);
            }
        }
        (!text.is_empty()).then(|| self.counted.bytes(text))
    }

    fn shows(&self, event: &Event) -> bool {
        shows(&self.types, event)
    }

    fn ends_with(&self, events: &[Event]) -> bool {
        match self.until {
            Until::Stopped => false,
            Until::Ends { from } => events.iter().any(|event| {
                event.id.seq >= from && event.kind.is_end() && event.kind.family() == &*self.family
            }),
            Until::Position(len) => events.last().is_some_and(|last| last.id.seq + 1 >= len),
        }
    }
}

/// Whether somebody who wants these types, or all if there are none, wants the event.
pub(crate) fn shows(types: &[EventType], event: &Event) -> bool {
    let is_of =
        |wanted: &EventType| *wanted == event.kind || wanted.as_str() == event.kind.family();
    types.is_empty() || types.iter().any(is_of)
}

/// Text that all readers of a stream share. The bus counts the batch for as long as one of them has
/// not sent it.
struct Shared {
    text: Arc<str>,
    _batch: Arc<Batch>,
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// About the memory that an event takes.
fn size(event: &Event) -> usize {
    std::mem::size_of::<Event>() + event.data.as_ref().map_or(0, Json::bytes)
}

fn encode<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut text = String::new();
    for event in events {
        encode_event(&mut text, event);
    }
    text
}

fn encode_event(text: &mut String, event: &Event) {
    let Ok(json) = serde_json::to_string(event) else {
        return;
    };
    let _ = writeln!(text, "id: {}", event.id);
    field(text, "event", event.kind.as_str());
    // A payload keeps the line breaks between its tokens; inside strings JSON has none.
    field(text, "data", &json);
    text.push('\n');
}

/// One field on one line, whatever it holds: a line break would begin a field of its own.
pub(crate) fn field(text: &mut String, name: &str, value: &str) {
    text.push_str(name);
    text.push_str(": ");
    match value.contains(['\n', '\r']) {
        true => text.push_str(&value.replace(['\n', '\r'], " ")),
        false => text.push_str(value),
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use riverrun_types::{Draft, Name, event::EventContext};

    use super::*;

    #[test]
    fn no_type_of_an_event_begins_a_field_of_its_own() {
        let context = EventContext {
            run_id: Name::from("r"),
            flow_name: Name::from("f"),
            tenant_id: None,
        };
        for kind in ["x\ndata: {}\n\nevent: flow.completed", "x\r\rid: 9-9"] {
            let mut text = String::new();
            encode_event(
                &mut text,
                &Draft::new(5, EventType::parse(kind)).at(7, 5, &context),
            );
            let fields: Vec<&str> = text
                .split(['\n', '\r'])
                .map(|line| line.split(':').next().unwrap_or_default())
                .collect();
            assert_eq!(fields, ["id", "event", "data", "", ""], "{text}");
        }
    }

    #[test]
    fn an_event_takes_one_line_of_data() {
        let context = EventContext {
            run_id: Name::from("r"),
            flow_name: Name::from("f"),
            tenant_id: None,
        };
        let mut draft = Draft::new(5, EventType::Emit);
        draft.data = Some(Json::parse_text("{\n  \"a\":\r\n \"x\\ny\"}".to_owned()).unwrap());
        let mut text = String::new();
        encode_event(&mut text, &draft.at(7, 5, &context));
        assert_eq!(
            text,
            "id: 5-7\nevent: emit\ndata: {\"id\":\"5-7\",\"ts\":\"1970-01-01T00:00:00.005Z\",\
             \"type\":\"emit\",\"runId\":\"r\",\"flowName\":\"f\",\"data\":{   \"a\":   \"x\\ny\"}}\n\n"
        );
    }
}
