//! Dead letters: list, redrive and purge failed jobs.

use std::num::NonZeroU32;

use axum::{extract::State, http::StatusCode};
use riverrun_runtime::Redrive;
use riverrun_store::{JobFilter, JobState, Wanted};
use riverrun_types::{ErrorCode, Millis, Name, time};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use crate::{
    app::Api,
    extract::{Body, Query, Segments, page_limit},
    page::default_limit,
    queues::{CleanBody, list, remove},
    reply::{Answer, json},
    schemas,
};

/// A filter for jobs. A job must match all members.
#[derive(Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeadLetterFilter {
    /// The code of the error of the job.
    code: Option<String>,
    name: Option<String>,
    key: Option<String>,
    tag: Option<String>,
    /// Ended at or before this time, as ISO 8601 or milliseconds.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = Option<String>)]
    before: Option<Millis>,
    /// Ended at or after this time.
    #[serde(deserialize_with = "time::moment")]
    #[schema(value_type = Option<String>)]
    after: Option<Millis>,
}

impl DeadLetterFilter {
    pub(crate) fn wanted(self) -> Wanted {
        Wanted {
            code: self.code,
            name: self.name,
            key: self.key,
            tags: self.tag.into_iter().collect(),
            before_ms: self.before,
            after_ms: self.after,
        }
    }
}

/// A filter for dead letters. A job must match all parameters.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DeadLettersQuery {
    /// Only jobs whose error has this code.
    code: Option<String>,
    /// Only jobs with this name.
    name: Option<String>,
    /// Only jobs with this key.
    key: Option<String>,
    /// Only jobs with this tag.
    tag: Option<String>,
    /// Only jobs that failed at or before this time, as ISO 8601 or milliseconds.
    #[serde(default, deserialize_with = "time::moment")]
    #[param(value_type = Option<String>)]
    before: Option<Millis>,
    /// Only jobs that failed at or after this time.
    #[serde(default, deserialize_with = "time::moment")]
    #[param(value_type = Option<String>)]
    after: Option<Millis>,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
    /// `nextCursor` of the previous page.
    cursor: Option<String>,
}

impl DeadLettersQuery {
    fn filter(self, queue: Name) -> JobFilter {
        JobFilter {
            queue,
            states: vec![JobState::Failed],
            wanted: Wanted {
                code: self.code,
                name: self.name,
                key: self.key,
                tags: self.tag.into_iter().collect(),
                before_ms: self.before,
                after_ms: self.after,
            },
            limit: self.limit,
            cursor: self.cursor,
        }
    }
}

/// List the dead letters of a queue
///
/// Jobs that have failed for good, newest first. A page of some of them only may hold fewer than
/// `limit`, even none, although more follow: `nextCursor` says so.
#[utoipa::path(get, path = "/api/queues/{name}/dlq", tag = "queues",
    params(("name" = String, Path, description = "The queue's name"), DeadLettersQuery),
    responses(
        (status = 200, description = "A page of jobs", body = schemas::QueueJobList),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn dead_letters(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Query(query): Query<DeadLettersQuery>,
) -> Answer {
    list(&api, &query.filter(Name::from(name))).await
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RedriveBody {
    /// The most jobs to queue, the newest first. Default: all.
    limit: Option<u64>,
    /// The most jobs to start per second.
    #[schema(value_type = Option<u32>, minimum = 1)]
    per_second: Option<NonZeroU32>,
    /// Only jobs that match it.
    filter: Option<DeadLetterFilter>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Redriven {
    redriven: u64,
    goes_on: bool,
}

/// Redrive dead letters
///
/// Queues the jobs that have failed by now again, each once, starting with their first attempt. If
/// there are many, the answer counts the first ones and the others follow in the background.
#[utoipa::path(post, path = "/api/queues/{name}/dlq/redrive", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    request_body(content = Option<RedriveBody>),
    responses(
        (status = 200, description = "How many were queued", body = schemas::Redriven),
        (status = 202, description = "How many were queued already; the others follow", body = schemas::Redriven),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::RedriveActive, body = schemas::Failure)))]
pub(crate) async fn redrive(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Body(body): Body<RedriveBody>,
) -> Answer {
    let redrive = Redrive {
        most: body.limit,
        per_second: body.per_second,
        wanted: body.filter.unwrap_or_default().wanted(),
        ..Redrive::default()
    };
    let done = api.runtime().queues().redrive(&name, redrive).await?;
    let status = match done.goes_on {
        true => StatusCode::ACCEPTED,
        false => StatusCode::OK,
    };
    json(
        status,
        &Redriven {
            redriven: done.redriven,
            goes_on: done.goes_on,
        },
    )
}

/// Remove dead letters
#[utoipa::path(post, path = "/api/queues/{name}/dlq/purge", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    request_body(content = Option<CleanBody>),
    responses(
        (status = 200, description = "How many were removed", body = schemas::Removed),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn purge(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Body(mut body): Body<CleanBody>,
) -> Answer {
    body.check()?;
    body.status = JobState::Failed;
    remove(&api, &name, body).await
}
