//! Events of some types over all streams: read in pages, or followed live.

use std::{convert::Infallible, fmt::Write as _, pin::Pin};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, header},
    response::Response,
};
use bytes::Bytes;
use riverrun_runtime::{Begin, Delivery, OnKind};
use riverrun_store::{EventQuery, Kinds, LogQuery, Logged};
use riverrun_types::{ErrorCode, Namespace, event::InStream};
use serde::{Deserialize, Deserializer, Serialize};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Query, comma_list, page_limit},
    live::{HeldBytes, LiveReader},
    page::default_limit,
    reply::{Answer, ok},
    schemas,
    serve::Leave,
    sse::{field, last_event_id, opening, response},
};

/// Which events of all streams.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct KindsQuery {
    /// Event types, separated by commas: `order.paid`, or a family: `order` includes every
    /// `order.*`.
    #[serde(deserialize_with = "kinds", alias = "types", alias = "kind")]
    #[param(value_type = String, example = "order.paid,flow.failed")]
    r#type: Vec<String>,
    /// Start after this cursor, or at `start` or `end`. Default: `start` for a page, `end` for a live
    /// stream. The header `Last-Event-ID` takes precedence.
    from: Option<String>,
    /// `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
}

fn kinds<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(from)?;
    Ok(comma_list(&text).map(str::to_owned).collect())
}

/// Where a reader of kinds wants to begin.
pub(crate) fn begin(text: Option<&str>, default: Begin<u64>) -> Result<Begin<u64>, ApiError> {
    match text {
        None => Ok(default),
        Some("start") => Ok(Begin::Start),
        Some("end") => Ok(Begin::End),
        Some(text) => match text.parse() {
            Ok(no) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Begin::After(no)),
            _ => {
                let shown: String = text.chars().take(64).collect();
                let message = format!("{shown:?} is no cursor of events of many streams");
                Err(ApiError::new(ErrorCode::BadCursor, message))
            }
        },
    }
}

/// Read or follow events by type
///
/// All events of these types, across runs and streams, in the order in which they were stored. Each
/// event has its `stream` and its `cursor`. With `Accept: text/event-stream` they are sent live: `id`
/// is the cursor, `event` the type, `data` the event.
#[utoipa::path(get, path = "/api/events", tag = "events",
    params(KindsQuery),
    responses(
        (status = 200, description = "A page of events, or the events as they happen", body = schemas::EventsOfKind),
        (status = 400, description = "BAD_KIND or BAD_CURSOR", body = schemas::Failure)))]
pub(crate) async fn events_of_kind(
    State(api): State<Api>,
    Query(query): Query<KindsQuery>,
    headers: HeaderMap,
    leave: Leave,
) -> Answer {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/event-stream")) {
        let from = last_event_id(&headers).or(query.from.as_deref());
        let begin = begin(from, Begin::End)?;
        let events = api
            .runtime()
            .streams()
            .on_kind(&query.r#type, begin)
            .await?;
        return Ok(live(&api, events, leave));
    }
    let from = begin(query.from.as_deref(), Begin::Start)?;
    let after = match begin(query.cursor.as_deref(), from)? {
        Begin::Start => 0,
        Begin::After(no) => no,
        Begin::End => api.runtime().base().store().log_end().await?,
    };
    let wanted = LogQuery {
        after,
        kinds: Kinds::new(&query.r#type),
        limit: query.limit,
        max_bytes: EventQuery::PAGE_BYTES,
    };
    let page = api.runtime().streams().events_of_kind(&wanted).await?;
    let cursor = page.next.to_string();
    ok(&KindsPage {
        items: page.events.iter().map(shown(api.namespace())).collect(),
        next_cursor: (!page.is_end).then(|| cursor.clone()),
        cursor,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KindsPage<'a> {
    items: Vec<InStream<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Where to go on later, whether there was more or not.
    cursor: String,
}

/// An event with the name of its stream.
pub(crate) fn shown(namespace: &Namespace) -> impl Fn(&Logged) -> InStream<'_> {
    |logged| InStream {
        event: &logged.event,
        stream: namespace.name(&logged.stream),
        cursor: Some(logged.no.to_string()),
    }
}

fn live(api: &Api, events: OnKind, leave: Leave) -> Response {
    let heartbeat = api.options().heartbeat;
    let mut beat = tokio::time::interval_at(Instant::now() + heartbeat, heartbeat);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let opening = opening(Some(events.cursor()));
    let ending = api.clone();
    let reader = Reader {
        namespace: api.namespace().clone(),
        events,
        closing: Box::pin(async move { ending.closing().await }),
        beat,
        counted: api.live().join(leave.0),
        page: None,
        is_over: false,
    };
    let opening = futures::stream::once(async { Ok::<_, Infallible>(Bytes::from(opening)) });
    let events = futures::stream::unfold(reader, |mut reader| async move {
        let piece = reader.next().await?;
        Some((Ok(piece), reader))
    });
    use futures::StreamExt;
    response(Body::from_stream(opening.chain(events)))
}

struct Reader {
    namespace: Namespace,
    events: OnKind,
    closing: Pin<Box<dyn Future<Output = ()> + Send>>,
    beat: Interval,
    /// What it holds is counted.
    counted: LiveReader,
    /// Counts what was read ahead.
    page: Option<HeldBytes>,
    is_over: bool,
}

impl Reader {
    /// The next bytes to send; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let delivery = tokio::select! {
            biased;
            delivery = self.events.next() => delivery,
            // With the cursor: who reads rare events need not look through all others again.
            _ = self.beat.tick() => {
                self.events.look();
                return Some(format!(": alive\nid: {}\n\n", self.events.cursor()).into());
            }
            () = &mut self.closing => return None,
            () = self.counted.end().cancelled() => return None,
        };
        self.page = match (self.events.is_ahead(), self.page.take()) {
            (true, None) => Some(self.counted.hold(self.events.ahead_bytes())),
            (true, page) => page,
            (false, _) => None,
        };
        let mut text = String::new();
        match delivery {
            Ok(Delivery::Event(logged)) => self.encode(&mut text, &logged),
            Ok(Delivery::Late) => text.push_str(": late, read from the store\n\n"),
            // Of one stream alone.
            Ok(Delivery::Missed(_)) => {}
            Ok(Delivery::Gone) => return None,
            Err(error) => {
                self.is_over = true;
                let error = ApiError::from(error).json();
                field(&mut text, "event", "stream.failed");
                field(&mut text, "data", &error.to_string());
                text.push('\n');
            }
        }
        Some(self.counted.bytes(text))
    }

    fn encode(&self, text: &mut String, logged: &Logged) {
        let shown = shown(&self.namespace);
        let Ok(json) = serde_json::to_string(&shown(logged)) else {
            return;
        };
        let _ = writeln!(text, "id: {}", logged.no);
        field(text, "event", logged.event.kind.as_str());
        field(text, "data", &json);
        text.push('\n');
    }
}
