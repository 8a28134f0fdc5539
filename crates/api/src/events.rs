//! Streams: read in pages, and appended to by clients.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use riverrun_engine::TriggerState;
use riverrun_runtime::{Error, Shown, Work, check_event_bytes, check_queue_name, compute};
use riverrun_store::{Direction, EventQuery, Place, RunRecord};
use riverrun_types::{
    ErrorCode, Event, EventId, EventType, Json, Millis, Name, RunId, StreamName,
    time::{NEVER, iso},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Payload, Query, RunPath, Segments, comma_list, job_id, moment, page_limit, run_id},
    page::{Items, default_limit},
    reply::{Answer, json, ok},
    run_reads::RunListQuery,
    schemas::{self, Appended, StreamSummary},
    start::idempotency_key,
};

/// Which events of a stream.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
    /// Continue after this event: `nextCursor` of the previous page.
    cursor: Option<String>,
    /// The same as `cursor`.
    from: Option<String>,
    /// `asc` (oldest first, the default) or `desc`.
    #[serde(default, deserialize_with = "order", alias = "direction")]
    #[param(value_type = Option<String>)]
    order: Direction,
    /// Event types, separated by commas; `log` includes every `log.*`.
    #[serde(default, deserialize_with = "types", alias = "types", alias = "kind")]
    #[param(value_type = Option<String>, example = "step.completed,log")]
    r#type: Vec<EventType>,
    /// Only events of this step.
    step: Option<String>,
    /// At or after: ISO 8601 or milliseconds.
    #[serde(default, deserialize_with = "moment")]
    #[param(value_type = Option<String>)]
    since: Option<Millis>,
    /// Before: ISO 8601 or milliseconds.
    #[serde(default, deserialize_with = "moment")]
    #[param(value_type = Option<String>)]
    until: Option<Millis>,
}

fn order<'de, D: Deserializer<'de>>(from: D) -> Result<Direction, D::Error> {
    match String::deserialize(from)?.as_str() {
        "asc" | "forward" => Ok(Direction::Forward),
        "desc" | "backward" => Ok(Direction::Backward),
        _ => Err(D::Error::custom("neither asc nor desc")),
    }
}

pub(crate) fn types<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<EventType>, D::Error> {
    let text = String::deserialize(from)?;
    Ok(comma_list(&text).map(EventType::parse).collect())
}

/// An event id that a client gave as its place in a stream.
pub(crate) fn cursor(text: &str) -> Result<EventId, ApiError> {
    text.parse()
        .map_err(|error: riverrun_types::id::InvalidEventId| {
            ApiError::new(ErrorCode::BadCursor, error.to_string())
        })
}

/// A page of a stream; of a run's or a job's only if it exists.
pub(crate) async fn events_page(api: &Api, stream: &StreamName, query: EventsQuery) -> Answer {
    exists(api, stream).await?;
    ok(&page(api, stream, query).await?)
}

async fn page(
    api: &Api,
    stream: &StreamName,
    query: EventsQuery,
) -> Result<Items<Event>, ApiError> {
    let store = api.runtime().base().store();
    let [given, same] = [&query.cursor, &query.from].map(|text| text.as_deref().map(cursor));
    let from = match given.transpose()?.or(same.transpose()?) {
        None => None,
        Some(id) => {
            let seen = store.locate(stream, Place::Event(id)).await?;
            Some(match query.order {
                Direction::Forward => seen,
                Direction::Backward => seen.min(id.seq),
            })
        }
    };
    let mut items = store
        .events(
            stream,
            &EventQuery {
                direction: query.order,
                from,
                // One more shows whether there is a next page.
                limit: query.limit + 1,
                types: query.r#type,
                step: query.step.map(Name::from),
                since_ms: query.since,
                until_ms: query.until,
                max_bytes: EventQuery::PAGE_BYTES,
            },
        )
        .await?;
    // A page of large events ends early; its cursor may then lead to an empty page. The store ends
    // with the event that reaches the limit, which is left to the next page unless it is alone.
    let mut bytes = 0;
    let size = |event: &Event| event.data.as_ref().map_or(0, Json::bytes);
    let sums = items.iter().map(|event| {
        bytes += size(event);
        bytes
    });
    let fitting = sums.filter(|sum| *sum <= EventQuery::PAGE_BYTES).count();
    let more = items.len() > query.limit || bytes >= EventQuery::PAGE_BYTES;
    items.truncate(query.limit.min(fitting.max(1)));
    let last = items.last().filter(|_| more);
    let next_cursor = last.map(|event| event.id.to_string());
    Ok(Items { items, next_cursor })
}

/// Rejects the stream of a run or a job that is not there. Other streams begin with their first
/// event.
pub(crate) async fn exists(api: &Api, stream: &StreamName) -> Result<(), ApiError> {
    let store = api.runtime().base().store();
    if stream.is_job() {
        return match store.locate(stream, Place::Time(NEVER)).await? {
            0 => Err(riverrun_store::Error::JobNotFound(RunId::new(&stream.id)).into()),
            _ => Ok(()),
        };
    }
    let Some(run) = stream.run() else {
        return Ok(());
    };
    match store.run(&run).await? {
        Some(_) => Ok(()),
        None => Err(riverrun_store::Error::RunNotFound(run).into()),
    }
}

/// The stream of a type and an id; a flow's and a job's may be `latest`.
pub(crate) async fn stream_of(api: &Api, kind: &str, id: &str) -> Result<StreamName, ApiError> {
    if kind == StreamName::FLOW {
        return Ok(StreamName::flow(&run_id(api, id).await?));
    }
    if kind == StreamName::JOB {
        return Ok(StreamName::job(&job_id(api, id).await?));
    }
    if kind == StreamName::QUEUE {
        check_queue_name(id).map_err(|message| ApiError::new(ErrorCode::BadId, message))?;
        return Ok(StreamName::new(kind, id));
    }
    StreamName::checked(kind, id)
        .map_err(|error| ApiError::new(ErrorCode::BadId, error.to_string()))
}

pub(crate) fn stream_named(api: &Api, name: &str) -> Result<StreamName, ApiError> {
    api.namespace()
        .parse(name)
        .map_err(|error| ApiError::new(ErrorCode::BadId, error.to_string()))
}

/// Read a run's events
#[utoipa::path(get, path = "/api/runs/{id}/events", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), EventsQuery),
    responses(
        (status = 200, description = "A page of events", body = schemas::EventList),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_events(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<EventsQuery>,
) -> Answer {
    events_page(&api, &StreamName::flow(&run), query).await
}

/// Read a stream
#[utoipa::path(get, path = "/api/events/{stream}", tag = "events",
    params(("stream" = String, Path, description = "The full name, such as `nq:flow:<runId>` or `nq:global`"), EventsQuery),
    responses((status = 200, description = "A page of events", body = schemas::EventList)))]
pub(crate) async fn stream_events(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Query(query): Query<EventsQuery>,
) -> Answer {
    events_page(&api, &stream_named(&api, &name)?, query).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct StreamListQuery {
    /// For `flow`: the id of a flow.
    name: Option<String>,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
    /// `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// A run in the list of the streams of runs.
#[derive(Serialize)]
struct RunStream<'a> {
    id: &'a RunId,
    #[serde(flatten)]
    run: Shown<'a>,
}

impl<'a> From<&'a RunRecord> for RunStream<'a> {
    fn from(record: &'a RunRecord) -> Self {
        Self {
            id: &record.id,
            run: Shown::from(record),
        }
    }
}

/// List the streams of a type
///
/// For `flow` the runs, each with its id as `id`.
#[utoipa::path(get, path = "/api/events/{type}/list", tag = "events",
    params(("type" = String, Path, description = "`flow`, `trigger`, `webhook` …"), StreamListQuery),
    responses((status = 200, description = "A page of streams, newest first", body = Vec<StreamSummary>)))]
pub(crate) async fn list_streams(
    State(api): State<Api>,
    Segments(kind): Segments<String>,
    Query(query): Query<StreamListQuery>,
) -> Answer {
    if kind == StreamName::FLOW {
        let runs = RunListQuery {
            flow: query.name,
            limit: query.limit,
            cursor: query.cursor,
            ..RunListQuery::default()
        };
        let page = api.runtime().runs().list(&runs.filter()?).await?;
        return ok(&Items {
            items: page.items.iter().map(RunStream::from).collect(),
            next_cursor: page.next,
        });
    }
    stream_of(&api, &kind, &kind).await?;
    let page = api
        .runtime()
        .base()
        .store()
        .list_streams(&kind, query.limit, query.cursor.as_deref())
        .await?;
    let summary = |info: riverrun_store::StreamInfo| StreamSummary {
        stream: api.namespace().name(&StreamName::new(&kind, &info.id)),
        id: info.id.to_string(),
        r#type: kind.clone(),
        events: info.len,
        created_at: iso(info.created_ms),
        updated_at: iso(info.updated_ms),
    };
    let named = |info: &riverrun_store::StreamInfo| {
        query.name.as_deref().is_none_or(|name| *info.id == *name)
    };
    ok(&Items {
        items: page.items.into_iter().filter(named).map(summary).collect(),
        next_cursor: page.next,
    })
}

/// How much of a stream is shown with it.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ViewQuery {
    /// Events a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
    /// Continue after this event: `nextCursor` of the previous page.
    cursor: Option<String>,
}

impl From<ViewQuery> for EventsQuery {
    fn from(query: ViewQuery) -> Self {
        Self {
            limit: query.limit,
            cursor: query.cursor,
            from: None,
            order: Direction::Forward,
            r#type: Vec::new(),
            step: None,
            since: None,
            until: None,
        }
    }
}

/// Read a stream by type and id
///
/// For `flow` the run; for other types the first and the last event and a page of events; for
/// `trigger` also the `state` that they reduce to. The stream of a job has its lifecycle (`job.added`,
/// `job.active`, `job.completed` …) and its logs, progress and partial results, in order.
#[utoipa::path(get, path = "/api/events/{type}/{id}", tag = "events",
    params(("type" = String, Path, description = "`flow`, `trigger`, `webhook` …"),
        ("id" = String, Path, description = "The stream's id; a run's for `flow`, a job's for `job`"), ViewQuery),
    responses(
        (status = 200, description = "The run, or the stream", body = schemas::StreamView),
        (status = 404, description = "RUN_NOT_FOUND, JOB_NOT_FOUND or STREAM_NOT_FOUND", body = schemas::Failure)))]
pub(crate) async fn get_stream(
    State(api): State<Api>,
    Segments((kind, id)): Segments<(String, String)>,
    Query(query): Query<ViewQuery>,
) -> Answer {
    let stream = stream_of(&api, &kind, &id).await?;
    if let Some(text) = &query.cursor {
        cursor(text)?;
    }
    if let Some(run) = stream.run() {
        return ok(&api.runtime().runs().run(&run).await?);
    }
    if stream.is_job() {
        exists(&api, &stream).await?;
    }
    let end = |direction| EventQuery {
        direction,
        from: None,
        ..EventQuery::forward(0, 1)
    };
    let store = api.runtime().base().store();
    let first = store.events(&stream, &end(Direction::Forward)).await?.pop();
    let last = store
        .events(&stream, &end(Direction::Backward))
        .await?
        .pop();
    let (Some(first), Some(last)) = (first, last) else {
        let name = api.namespace().name(&stream);
        let message = match &*stream.kind {
            StreamName::QUEUE => format!("nothing of {name} is stored: follow it live, at /stream"),
            _ => format!("there is no stream {name}: it begins with its first event"),
        };
        return Err(ApiError::new(ErrorCode::StreamNotFound, message));
    };
    let state = match &*stream.kind {
        "trigger" => Some(api.runtime().streams().trigger_state(&stream).await?),
        _ => None,
    };
    ok(&StreamView {
        state,
        id: &stream.id,
        r#type: &stream.kind,
        stream: api.namespace().name(&stream),
        events: last.id.seq + 1,
        first,
        last,
        page: page(&api, &stream, query.into()).await?,
    })
}

#[derive(Serialize)]
struct StreamView<'a> {
    id: &'a str,
    r#type: &'a str,
    stream: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<TriggerState>,
    events: u64,
    first: Event,
    last: Event,
    #[serde(flatten)]
    page: Items<Event>,
}

/// Append events
///
/// One event or a list of events: all or none. Types that only the server writes, such as `flow.*` and
/// `step.*`, are rejected.
#[utoipa::path(post, path = "/api/events/{type}/{id}", tag = "events",
    params(("type" = String, Path, description = "`flow`, `trigger`, `webhook` …"),
        ("id" = String, Path, description = "The stream's id; a run's for `flow`"),
        ("idempotency-key" = Option<String>, Header, description = "A second request with the same key for the same stream stores nothing and returns the first events")),
    request_body(content = schemas::NewEvents, description = "An event, or a list of events"),
    responses(
        (status = 200, description = "The events that were stored before under this key", body = Appended),
        (status = 201, description = "Stored", body = Appended),
        (status = 403, description = ErrorCode::ReservedType, body = schemas::Failure),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn append_events(
    State(api): State<Api>,
    Segments((kind, id)): Segments<(String, String)>,
    headers: HeaderMap,
    Payload(body): Payload,
) -> Answer {
    let stream = stream_of(&api, &kind, &id).await?;
    let key = idempotency_key(None, &headers)?;
    let events = compute(Work::on_text(body.bytes()), || events_in(body))?;
    append(&api, &stream, &events, key).await
}

/// The events of a body: a list of them, or one.
fn events_in(body: Json) -> Result<Vec<Json>, ApiError> {
    let Some(count) = body.count_items() else {
        return Ok(vec![body]);
    };
    Error::check_count("events", count)?;
    Ok(body.items().unwrap_or_default())
}

/// Where an event that is emitted goes.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Destination {
    run_id: Option<String>,
    stream: Option<String>,
    idempotency_key: Option<String>,
    /// As v0.3 has it: the run, or the trigger, that the event belongs to.
    subject: Option<String>,
    /// As v0.3 has it: the run.
    flow: Option<String>,
    /// As v0.3 has it: the trigger.
    trigger: Option<String>,
}

impl Destination {
    async fn stream(self, api: &Api) -> Result<StreamName, ApiError> {
        let mut streams = Vec::new();
        if let Some(stream) = self.stream {
            streams.push(stream_named(api, &stream)?);
        }
        if let Some(run) = self.run_id {
            streams.push(stream_of(api, StreamName::FLOW, &run).await?);
        }
        // What belongs to a trigger may name the run that waits for it, too.
        let (kind, ids) = match self.trigger {
            Some(trigger) => (StreamName::TRIGGER, [Some(trigger), self.subject]),
            None => (StreamName::FLOW, [self.flow, self.subject]),
        };
        for id in ids.into_iter().flatten() {
            streams.push(stream_of(api, kind, &id).await?);
        }
        let Some(first) = streams.pop() else {
            return Ok(StreamName::global());
        };
        match streams.iter().all(|other| *other == first) {
            true => Ok(first),
            false => Err(ApiError::new(
                ErrorCode::Unprocessable,
                "stream: give one of stream and runId (or flow and subject), or several for the same run",
            )),
        }
    }
}

/// Emit an event
///
/// Into a run, a stream, or `nq:global`. With an idempotency key the event is stored once: a second
/// request with the same key for the same stream returns the first event. Keys are kept as long as
/// emitted events: 7 days, or `retention.emitted`.
#[utoipa::path(post, path = "/api/events", tag = "events",
    params(("idempotency-key" = Option<String>, Header, description = "The same as idempotencyKey in the body")),
    request_body(content = schemas::EmittedEvent),
    responses(
        (status = 200, description = "The event that was stored before under this key", body = Appended),
        (status = 201, description = "Stored", body = Appended),
        (status = 403, description = ErrorCode::ReservedType, body = schemas::Failure),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn emit_event(
    State(api): State<Api>,
    headers: HeaderMap,
    Payload(body): Payload,
) -> Answer {
    check_event_bytes(&body)?;
    let to: Destination = match body.is_object() {
        true => compute(Work::on_text(body.bytes()), || {
            crate::extract::read(body.as_str().as_bytes())
        })?,
        false => Destination::default(),
    };
    let key = idempotency_key(to.idempotency_key.clone(), &headers)?;
    let stream = to.stream(&api).await?;
    append(&api, &stream, &[body], key).await
}

async fn append(api: &Api, stream: &StreamName, events: &[Json], key: Option<String>) -> Answer {
    let (status, ids) = match key {
        None => {
            let ids = api.runtime().events().append(stream, events).await?;
            (StatusCode::CREATED, ids)
        }
        Some(key) => {
            let appended = api
                .runtime()
                .events()
                .append_once(stream, events, &key)
                .await?;
            let status = match appended.is_repeated {
                true => StatusCode::OK,
                false => StatusCode::CREATED,
            };
            (status, appended.ids)
        }
    };
    let stream = api.namespace().name(stream);
    json(status, &Appended { stream, ids })
}
