//! Triggers: create, read, change and fire them.

use axum::{Extension, extract::State, http::StatusCode};
use riverrun_runtime::Started;
use riverrun_triggers::{Backfill, Backfilled, Kind, Made, ManualFire, Put};
use riverrun_types::{ErrorCode, Millis, RunId, time::Iso};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::IntoParams;

use crate::{
    app::Api,
    edge::RequestId,
    errors::ApiError,
    extract::{Body, Definition, Query, Segments, page_limit},
    page::{Items, PageQuery, default_limit},
    reply::{Answer, json, ok},
    schemas::{self, BackfillBody, FireBody},
    start::WaitQuery,
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct TriggerListQuery {
    /// `http`, `schedule`, `event` or `manual`.
    #[param(value_type = Option<String>)]
    r#type: Option<Kind>,
    /// Rows a page: 1 to 1,000, default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<usize>)]
    limit: usize,
    cursor: Option<String>,
}

/// List triggers
///
/// By id.
#[utoipa::path(get, path = "/api/triggers", tag = "triggers", params(TriggerListQuery),
    responses((status = 200, description = "A page of triggers", body = schemas::TriggerList)))]
pub(crate) async fn list_triggers(
    State(api): State<Api>,
    Query(query): Query<TriggerListQuery>,
) -> Answer {
    let cursor = query.cursor.as_deref();
    let page = api
        .triggers()
        .list(query.r#type, query.limit, cursor)
        .await?;
    ok(&Items {
        items: page.items,
        next_cursor: page.next,
    })
}

/// List schedules
///
/// The triggers of type `schedule`, with their next due times.
#[utoipa::path(get, path = "/api/schedules", tag = "triggers", params(PageQuery),
    responses((status = 200, description = "A page of schedules", body = schemas::TriggerList)))]
pub(crate) async fn list_schedules(
    State(api): State<Api>,
    Query(query): Query<PageQuery>,
) -> Answer {
    let cursor = query.cursor.as_deref();
    let page = api
        .triggers()
        .list(Some(Kind::Schedule), query.limit, cursor);
    let page = page.await?;
    ok(&Items {
        items: page.items,
        next_cursor: page.next,
    })
}

/// Create a trigger
///
/// An enabled trigger starts runs of its flow at once.
#[utoipa::path(post, path = "/api/triggers", tag = "triggers",
    request_body(description = "The trigger, in JSON or YAML", content(
        (schemas::NewTrigger = "application/json"), (schemas::NewTrigger = "application/yaml"))),
    responses(
        (status = 201, description = "Created", body = schemas::Trigger),
        (status = 404, description = ErrorCode::FlowNotFound, body = schemas::Failure),
        (status = 409, description = "TRIGGER_EXISTS or TRIGGER_ROUTE_TAKEN", body = schemas::Failure),
        (status = 422, description = "TRIGGER_INVALID, CRON_INVALID or TIME_ZONE_UNKNOWN", body = schemas::Failure)))]
pub(crate) async fn create_trigger(
    State(api): State<Api>,
    Definition(definition): Definition,
) -> Answer {
    let Put { trigger, .. } = api.triggers().create(definition).await?;
    json(StatusCode::CREATED, &trigger)
}

/// Read a trigger
#[utoipa::path(get, path = "/api/triggers/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    responses(
        (status = 200, description = "The trigger, its next due times and its counts", body = schemas::Trigger),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn get_trigger(State(api): State<Api>, Segments(id): Segments<String>) -> Answer {
    ok(&api.triggers().show(&id).await?)
}

/// Change a trigger
///
/// Given members replace the existing ones, those of `config` one by one; null removes a member.
/// Every change is a new version. With `version` the change is rejected unless the trigger has that
/// version.
#[utoipa::path(patch, path = "/api/triggers/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    request_body(content((schemas::ChangedTrigger = "application/json"), (schemas::ChangedTrigger = "application/yaml"))),
    responses(
        (status = 200, description = "The changed trigger", body = schemas::Trigger),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure),
        (status = 409, description = "TRIGGER_MOVED or TRIGGER_ROUTE_TAKEN", body = schemas::Failure)))]
pub(crate) async fn change_trigger(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Definition(changes): Definition,
) -> Answer {
    ok(&api.triggers().patch(&id, changes).await?.trigger)
}

/// Remove a trigger
///
/// Its runs continue.
#[utoipa::path(delete, path = "/api/triggers/{id}", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    responses(
        (status = 200, description = "Removed", body = schemas::RemovedTrigger),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn remove_trigger(
    State(api): State<Api>,
    Segments(id): Segments<String>,
) -> Answer {
    api.triggers().remove(&id).await?;
    ok(&json!({"id": id, "removed": true}))
}

/// Enable a trigger
///
/// A schedule continues with its next due time. Due times in the meantime do not count as missed.
#[utoipa::path(post, path = "/api/triggers/{id}/enable", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    responses(
        (status = 200, description = "The changed trigger", body = schemas::Trigger),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn enable_trigger(
    State(api): State<Api>,
    Segments(id): Segments<String>,
) -> Answer {
    ok(&api.triggers().enable(&id, true).await?.trigger)
}

/// Disable a trigger
///
/// It starts no runs until it is enabled.
#[utoipa::path(post, path = "/api/triggers/{id}/disable", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    responses(
        (status = 200, description = "The changed trigger", body = schemas::Trigger),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn disable_trigger(
    State(api): State<Api>,
    Segments(id): Segments<String>,
) -> Answer {
    ok(&api.triggers().enable(&id, false).await?.trigger)
}

/// Fire a trigger manually
///
/// Starts a run with the given input, for triggers of every type. `?wait=` works as for starting a run.
#[utoipa::path(post, path = "/api/triggers/{id}/fire", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id"), WaitQuery),
    request_body(content = Option<FireBody>),
    responses(
        (status = 201, description = "Started", body = schemas::StartedRun),
        (status = 200, description = "An earlier request with the same key had started it; or, with `?wait=`, the run has ended (the answer is then the run)", body = schemas::StartedRun),
        (status = 202, description = "With `?wait=`: the run, which has not ended yet", body = schemas::Run),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::TriggerDisabled, body = schemas::Failure),
        (status = 500, description = ErrorCode::TriggerBroken, body = schemas::Failure)))]
pub(crate) async fn fire_trigger(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Extension(request_id): Extension<RequestId>,
    Query(query): Query<WaitQuery>,
    Body(body): Body<FireBody>,
) -> Answer {
    query.check(&api)?;
    let started = fire(&api, &id, request_id, body).await?;
    query.answer(&api, started).await
}

/// What somebody who fires a trigger by hand wants is done.
pub(crate) async fn fire(
    api: &Api,
    id: &str,
    request_id: RequestId,
    body: FireBody,
) -> Result<Started, ApiError> {
    let fire = ManualFire {
        input: body.input,
        idempotency_key: body.idempotency_key,
        source: body.source,
        request_id: Some(request_id.0),
    };
    Ok(api.triggers().fire(id, fire).await?)
}

/// List the events of a trigger
///
/// The last 1,000 events, the latest first: registered, fired, failed, missed, removed.
#[utoipa::path(get, path = "/api/triggers/{id}/history", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id"), PageQuery),
    responses(
        (status = 200, description = "A page of events", body = schemas::EventList),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn trigger_history(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Query(query): Query<PageQuery>,
) -> Answer {
    let cursor = query.cursor.as_deref();
    let page = api.triggers().history(&id, query.limit, cursor).await?;
    ok(&Items {
        items: page.items,
        next_cursor: page.next,
    })
}

/// Count the events of a trigger
#[utoipa::path(get, path = "/api/triggers/{id}/stats", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    responses(
        (status = 200, description = "Counts over all its versions, and the next due time", body = schemas::TriggerStats),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure)))]
pub(crate) async fn trigger_stats(
    State(api): State<Api>,
    Segments(id): Segments<String>,
) -> Answer {
    ok(&api.triggers().stats(&id).await?)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownBackfill {
    items: Vec<ShownDue>,
    created: usize,
    failed: usize,
    /// What the first of those failed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_error: Option<ShownCause>,
    /// The `from` of the next request; absent if nothing is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_from: Option<Iso>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownDue {
    due_at: Iso,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    created: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ShownCause>,
}

#[derive(Clone, Serialize)]
struct ShownCause {
    code: ErrorCode,
    message: String,
}

impl From<Backfilled> for ShownDue {
    fn from(done: Backfilled) -> Self {
        let (run_id, created, error) = match done.made {
            Made::Started(run) => (Some(run), true, None),
            Made::WasThere(run) => (Some(run), false, None),
            Made::Failed { code, message } => (None, false, Some(ShownCause { code, message })),
        };
        Self {
            due_at: Iso(done.due_ms),
            run_id,
            created,
            error,
        }
    }
}

/// Start the missing runs of a range of due times
///
/// Starts a run for each due time without one, from `from` (inclusive) to `to` (exclusive). At most
/// 1,000 at a time; `nextFrom` is where to continue. A due time whose run cannot be started has an
/// `error`, and the others are started. Due times older than the shortest retention of ended runs are
/// rejected without `forgotten`, because their runs may have been deleted.
#[utoipa::path(post, path = "/api/schedules/{id}/backfill", tag = "triggers",
    params(("id" = String, Path, description = "The trigger's id")),
    request_body(content = BackfillBody),
    responses(
        (status = 200, description = "The due times and their runs", body = schemas::Backfilled),
        (status = 404, description = ErrorCode::TriggerNotFound, body = schemas::Failure),
        (status = 409, description = "TRIGGER_NO_SCHEDULE, TRIGGER_DISABLED or DUE_TIME_FORGOTTEN", body = schemas::Failure)))]
pub(crate) async fn backfill_schedule(
    State(api): State<Api>,
    Segments(id): Segments<String>,
    Body(body): Body<BackfillBody>,
) -> Answer {
    let limit = body.limit.unwrap_or(100);
    if !(1..=Backfill::MAX_TIMES).contains(&limit) {
        let message = format!("limit: {limit} is not from 1 to {}", Backfill::MAX_TIMES);
        return Err(
            ApiError::new(ErrorCode::BadRequest, message).details(json!({ "field": "limit" }))
        );
    }
    let wanted = Backfill {
        from_ms: moment("from", body.from)?,
        until_ms: moment("to", body.to)?,
        limit,
        forgotten: body.forgotten.unwrap_or(false),
    };
    let (done, next) = api.triggers().backfill(&id, wanted).await?;
    let items: Vec<ShownDue> = done.into_iter().map(ShownDue::from).collect();
    let mut errors = items.iter().filter_map(|item| item.error.as_ref());
    ok(&ShownBackfill {
        created: items.iter().filter(|item| item.created).count(),
        failed: errors.clone().count(),
        first_error: errors.next().cloned(),
        items,
        next_from: next.map(Iso),
    })
}

fn moment(field: &str, given: Option<Millis>) -> Result<Millis, ApiError> {
    given.ok_or_else(|| {
        let message = format!(
            "{field}: is missing; give ISO 8601 (2026-01-31T12:00:00Z) or milliseconds since 1970"
        );
        ApiError::new(ErrorCode::BadRequest, message).details(json!({ "field": field }))
    })
}
