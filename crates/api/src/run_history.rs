//! The history of a run: its ended attempts, in pages.

use std::collections::HashMap;

use axum::extract::State;
use riverrun_engine::{HistoryCursor, HistoryEntry, HistoryPage};
use riverrun_store::{EventQuery, RunRecord};
use riverrun_types::{ErrorCode, RunId, StreamName};
use serde::Serialize;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Query, RunPath},
    page::{Items, PageQuery},
    reply::{Answer, ok},
    schemas,
};

/// Events read at a time.
const EVENTS: usize = 1_000;

/// Read a run's history
///
/// One entry for each ended attempt of a step, in the order in which they ended.
#[utoipa::path(get, path = "/api/runs/{id}/history", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), PageQuery),
    responses(
        (status = 200, description = "A page of attempts", body = schemas::HistoryList),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_history(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<PageQuery>,
) -> Answer {
    let missing = || riverrun_store::Error::RunNotFound(run.clone());
    let record = api.runtime().base().store().run(&run).await?;
    let record = record.ok_or_else(missing)?;
    let cursor = query.cursor.as_deref().map_or(Ok(Default::default()), read);
    let (entries, next) = page(&api, &run, HistoryPage::new(cursor?, query.limit)).await?;
    let handlers = handlers(&api, &record);
    let attempt = |entry: HistoryEntry| Attempt {
        handler_type: handlers.get(&*entry.step_id).cloned(),
        entry,
    };
    ok(&Items {
        items: entries.into_iter().map(attempt).collect(),
        next_cursor: next.map(|next| next.to_string()),
    })
}

fn read(cursor: &str) -> Result<HistoryCursor, ApiError> {
    let refuse = |()| riverrun_store::Error::BadCursor(cursor.chars().take(64).collect());
    Ok(cursor.parse().map_err(refuse)?)
}

/// The first attempts of a run that have ended, and the types of its steps' handlers.
pub(crate) async fn first_entries(
    api: &Api,
    record: &RunRecord,
    most: usize,
) -> Result<(Vec<HistoryEntry>, HashMap<String, String>), ApiError> {
    let first = HistoryPage::new(HistoryCursor::default(), most);
    let (entries, _) = page(api, &record.id, first).await?;
    Ok((entries, handlers(api, record)))
}

async fn page(
    api: &Api,
    run: &RunId,
    mut page: HistoryPage,
) -> Result<(Vec<HistoryEntry>, Option<HistoryCursor>), ApiError> {
    let stream = StreamName::flow(run);
    loop {
        let query = EventQuery::forward(page.position(), EVENTS);
        let events = api.runtime().base().store().events(&stream, &query).await?;
        let is_full = events
            .iter()
            .try_for_each(|event| page.apply(&event.draft()))
            .is_break();
        if events.is_empty() || is_full {
            return Ok(page.finish());
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Attempt {
    #[serde(flatten)]
    entry: HistoryEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    handler_type: Option<String>,
}

/// The handlers of the run's steps, as far as its definition is still there.
fn handlers(api: &Api, record: &RunRecord) -> HashMap<String, String> {
    let flow = api
        .runtime()
        .flows()
        .get(&record.flow, Some(&record.version));
    flow.and_then(|flow| flow.definition.get("steps")?.members())
        .into_iter()
        .flatten()
        .filter_map(|(step, definition)| {
            Some((step, definition.get("type")?.as_text().into_owned()))
        })
        .collect()
}
