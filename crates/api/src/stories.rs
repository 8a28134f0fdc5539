//! Stories: all events with one correlation id, across the streams of runs, jobs and triggers.

use axum::extract::State;
use riverrun_store::{InStory, StoryQuery};
use riverrun_types::{ErrorCode, Name, event::InStream, label};

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Query, Segments},
    page::{Items, PageQuery},
    reply::{Answer, ok},
    schemas,
};

/// Read a story
///
/// All events with one correlation id, ordered by time: those of the run, job or call with that id,
/// of runs and jobs that were given it, of their sub-flows, and of other streams such as triggers.
/// Each event has its `stream` and, if known, its cause (`causationId`).
#[utoipa::path(get, path = "/api/stories/{correlationId}", tag = "events",
    params(("correlationId" = String, Path, description = "A correlation id: a run's, a job's or any other"), PageQuery),
    responses(
        (status = 200, description = "A page of events", body = schemas::EventList),
        (status = 404, description = ErrorCode::StoryNotFound, body = schemas::Failure)))]
pub(crate) async fn get_story(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Query(query): Query<PageQuery>,
) -> Answer {
    if !label::is_valid(&id) {
        let message = format!("correlationId: not {}", label::RULE);
        return Err(ApiError::new(ErrorCode::BadId, message));
    }
    let is_first = query.cursor.is_none();
    let wanted = StoryQuery {
        correlation: Name::from(id.as_str()),
        limit: query.limit,
        cursor: query.cursor,
    };
    let page = api.runtime().base().store().story(&wanted).await?;
    if page.items.is_empty() && is_first {
        let message = format!("nothing has the correlation id {id:?}");
        return Err(ApiError::new(ErrorCode::StoryNotFound, message));
    }
    ok(&Items {
        items: page.items.iter().map(|item| shown(&api, item)).collect(),
        next_cursor: page.next,
    })
}

fn shown<'a>(api: &Api, item: &'a InStory) -> InStream<'a> {
    InStream {
        event: &item.event,
        stream: api.namespace().name(&item.stream),
        cursor: None,
    }
}
