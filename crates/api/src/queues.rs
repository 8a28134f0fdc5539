//! Queues: add and list jobs; pause, clear and clean queues.

use std::fmt;

use axum::{extract::State, http::StatusCode};
use riverrun_runtime::{
    Drained, Error, JobOptions, JobRequest, KeptOptions, MAX_ITEMS, QueueStats, QueueView,
};
use riverrun_store::{Added, JobFilter, JobRecord, JobState, Wanted};
use riverrun_types::{ErrorCode, Json, Millis, Name, RunId, time::Iso};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, IgnoredAny, SeqAccess, Visitor},
};
use utoipa::IntoParams;

use crate::{
    app::Api,
    dead_letters::DeadLetterFilter,
    errors::ApiError,
    extract::{Body, Query, Segments, comma_list, flag, page_limit, tags},
    page::{Items, default_limit},
    reply::{Answer, json, ok},
    schemas,
};

/// A job as JSON shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ShownJob<'a> {
    id: &'a RunId,
    queue: &'a Name,
    name: &'a Name,
    state: JobState,
    data: &'a Json,
    priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a Name>,
    attempt: u32,
    created_at: Iso,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_at: Option<Iso>,
    /// Of a parked job, since when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Iso>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Iso>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancelling: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<Iso>,
    #[serde(flatten)]
    options: KeptOptions,
}

impl<'a> From<&'a JobRecord> for ShownJob<'a> {
    fn from(job: &'a JobRecord) -> Self {
        Self {
            id: &job.id,
            queue: &job.queue,
            name: job.name.as_ref().unwrap_or(&job.queue),
            state: job.state,
            data: &job.data,
            priority: job.priority,
            key: job.key.as_ref(),
            attempt: job.attempt,
            created_at: Iso(job.created_ms),
            run_at: job
                .at_ms
                .filter(|_| job.state == JobState::Delayed)
                .map(Iso),
            parked_at: job.at_ms.filter(|_| job.state == JobState::Parked).map(Iso),
            started_at: job.started_ms.map(Iso),
            ended_at: job.ended_ms.map(Iso),
            cancelling: job.cancelling,
            progress: job.progress.as_ref(),
            checkpoint: job.checkpoint.as_ref(),
            result: job.result.as_ref(),
            error: job.error.as_ref(),
            owner: job.owner.as_ref(),
            lease_until: job.until_ms.map(Iso),
            options: KeptOptions::read(job.options.as_ref()),
        }
    }
}

/// A queue as JSON shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownQueue<'a> {
    name: &'a Name,
    paused: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<&'a Name>,
    counts: Counts,
    /// How long the oldest waiting job has waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_ms: Option<Millis>,
    stats: &'a QueueStats,
}

#[derive(Serialize)]
struct Counts {
    waiting: u64,
    delayed: u64,
    active: u64,
    parked: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
}

impl<'a> From<&'a QueueView> for ShownQueue<'a> {
    fn from(view: &'a QueueView) -> Self {
        let QueueView {
            record,
            stats,
            process,
        } = view;
        Self {
            name: &record.name,
            paused: record.paused,
            process: process.as_ref(),
            counts: Counts {
                waiting: record.waiting,
                delayed: record.delayed,
                active: record.active,
                parked: record.parked,
                completed: record.completed,
                failed: record.failed,
                cancelled: record.cancelled,
            },
            oldest_ms: record
                .oldest_ms
                .map(|ms| now_ms().saturating_sub(ms).max(0)),
            stats,
        }
    }
}

pub(crate) fn now_ms() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// List queues
///
/// Every queue that has had a job or has a process, with its counts, rates and latencies.
#[utoipa::path(get, path = "/api/queues", tag = "queues",
    responses((status = 200, description = "The queues, by name", body = schemas::QueueList)))]
pub(crate) async fn list_queues(State(api): State<Api>) -> Answer {
    let queues = api.runtime().queues().list().await?;
    ok(&Items::all(queues.iter().map(ShownQueue::from).collect()))
}

/// Read a queue
#[utoipa::path(get, path = "/api/queues/{name}", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    responses(
        (status = 200, description = "The queue", body = schemas::Queue),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn get_queue(State(api): State<Api>, Segments(name): Segments<String>) -> Answer {
    ok(&ShownQueue::from(
        &api.runtime().queues().queue(&name).await?,
    ))
}

/// One job, or several under `jobs`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AddBody {
    name: Option<String>,
    data: Option<Json>,
    #[serde(alias = "opts")]
    options: Option<JobOptions>,
    jobs: Option<Jobs>,
    /// False without a body: an empty request does not add a job.
    #[serde(skip_deserializing, default = "given")]
    is_given: bool,
}

fn given() -> bool {
    true
}

/// Jobs of one request. Those beyond the limit are counted and not kept.
struct Jobs {
    requests: Vec<JobRequest>,
    count: usize,
}

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(JobsVisitor)
    }
}

struct JobsVisitor;

impl<'de> Visitor<'de> for JobsVisitor {
    type Value = Jobs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Jobs, A::Error> {
        let mut requests = Vec::new();
        while requests.len() < MAX_ITEMS
            && let Some(request) = list.next_element()?
        {
            requests.push(request);
        }
        let mut count = requests.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Jobs { requests, count })
    }
}

impl AddBody {
    fn requests(self) -> Result<Vec<JobRequest>, ApiError> {
        let Self {
            name,
            data,
            options,
            jobs,
            is_given,
        } = self;
        match jobs {
            _ if !is_given => {
                let message = "there is no body: send {} for a job without data";
                Err(ApiError::new(ErrorCode::BadRequest, message))
            }
            Some(_) if name.is_some() || data.is_some() || options.is_some() => {
                let message =
                    "jobs: give each of them its own name, data and options, and none beside them";
                Err(ApiError::new(ErrorCode::Unprocessable, message))
            }
            Some(Jobs { requests, count }) => {
                Error::check_count("jobs", count)?;
                Ok(requests)
            }
            None => Ok(vec![JobRequest {
                name,
                data,
                options: options.unwrap_or_default(),
            }]),
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AddQuery {
    /// Create the queue if no process takes its jobs yet.
    #[serde(default, deserialize_with = "flag")]
    #[param(value_type = Option<bool>)]
    create: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AddedJob<'a> {
    job_id: &'a RunId,
    created: bool,
}

/// Add jobs to a queue
///
/// One job, or several under `jobs`: all of them or none. They are on disk before the answer is sent.
#[utoipa::path(post, path = "/api/queues/{name}/jobs", tag = "queues",
    params(("name" = String, Path, description = "The queue's name"), AddQuery),
    request_body(content = schemas::AddJobs),
    responses(
        (status = 201, description = "Added; or `created: false` for a job that existed before", body = schemas::AddedJobs),
        (status = 200, description = "All of them existed before", body = schemas::AddedJobs),
        (status = 404, description = "QUEUE_NOT_FOUND: no process takes its jobs and it never had one; `?create=true` creates it", body = schemas::Failure),
        (status = 409, description = "JOB_ID_TAKEN: a job of another queue has the id", body = schemas::Failure),
        (status = 422, description = "INPUT_INVALID: details.issues lists every issue", body = schemas::Failure)))]
pub(crate) async fn add_jobs(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Query(query): Query<AddQuery>,
    Body(body): Body<AddBody>,
) -> Answer {
    let requests = body.requests()?;
    let added = api
        .runtime()
        .queues()
        .enqueue(&name, requests, query.create)
        .await?;
    let status = match added.iter().any(|added| added.created) {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    let jobs = added.iter().map(|Added { id, created }| AddedJob {
        job_id: id,
        created: *created,
    });
    #[derive(Serialize)]
    struct Answered<'a> {
        jobs: Vec<AddedJob<'a>>,
    }
    json(
        status,
        &Answered {
            jobs: jobs.collect(),
        },
    )
}

/// Which jobs of a queue.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct QueueJobsQuery {
    /// Statuses, separated by commas. Default: all.
    #[serde(default, deserialize_with = "states", alias = "state")]
    #[param(value_type = Option<String>)]
    pub(crate) status: Vec<JobState>,
    /// Only jobs with this tag. A page of some jobs only may hold fewer than `limit`, even none,
    /// although more follow: `nextCursor` says so.
    pub(crate) tag: Option<String>,
    /// Only jobs with all of these tags, separated by commas; at most 20.
    #[serde(default, deserialize_with = "tags")]
    #[param(value_type = Option<String>)]
    pub(crate) tags: Vec<String>,
    /// Only jobs with this name.
    pub(crate) name: Option<String>,
    /// Only jobs with this key.
    pub(crate) key: Option<String>,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    pub(crate) limit: usize,
    /// `nextCursor` of the previous page.
    pub(crate) cursor: Option<String>,
}

impl QueueJobsQuery {
    pub(crate) fn filter(self, queue: Name) -> JobFilter {
        JobFilter {
            queue,
            states: self.status,
            wanted: Wanted {
                tags: self.tag.into_iter().chain(self.tags).collect(),
                name: self.name,
                key: self.key,
                ..Wanted::default()
            },
            limit: self.limit,
            cursor: self.cursor,
        }
    }
}

pub(crate) fn states<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<JobState>, D::Error> {
    let parse = |text: &str| {
        JobState::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| {
                let known = JobState::ALL.map(JobState::as_str).join(", ");
                D::Error::custom(format!("{text:?} is not one of {known}"))
            })
    };
    comma_list(&String::deserialize(from)?).map(parse).collect()
}

/// List the jobs of a queue
///
/// One state after the other: waiting and delayed ones in the order in which they will begin,
/// ended ones newest first.
#[utoipa::path(get, path = "/api/queues/{name}/jobs", tag = "queues",
    params(("name" = String, Path, description = "The queue's name"), QueueJobsQuery),
    responses(
        (status = 200, description = "A page of jobs", body = schemas::QueueJobList),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn queue_jobs(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Query(query): Query<QueueJobsQuery>,
) -> Answer {
    list(&api, &query.filter(Name::from(name))).await
}

pub(crate) async fn list(api: &Api, filter: &JobFilter) -> Answer {
    let page = api.runtime().queues().jobs(filter).await?;
    ok(&Items {
        items: page.items.iter().map(ShownJob::from).collect(),
        next_cursor: page.next,
    })
}

/// Pause a queue
///
/// No job of it begins until it is resumed; those that run are let finish.
#[utoipa::path(post, path = "/api/queues/{name}/pause", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    responses(
        (status = 200, description = "The queue", body = schemas::Queue),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn pause_queue(
    State(api): State<Api>,
    Segments(name): Segments<String>,
) -> Answer {
    let view = api.runtime().queues().pause(&name, true).await?;
    ok(&ShownQueue::from(&view))
}

/// Resume a queue
#[utoipa::path(post, path = "/api/queues/{name}/resume", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    responses(
        (status = 200, description = "The queue", body = schemas::Queue),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn resume_queue(
    State(api): State<Api>,
    Segments(name): Segments<String>,
) -> Answer {
    let view = api.runtime().queues().pause(&name, false).await?;
    ok(&ShownQueue::from(&view))
}

#[derive(Serialize)]
struct Removed {
    removed: u64,
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ClearBody {
    /// Also removes jobs that wait for their time.
    delayed: bool,
}

/// Remove all waiting jobs
///
/// Jobs of steps are kept, because their runs wait for them. The specifications' name `drain` is
/// accepted in the path as well.
#[utoipa::path(post, path = "/api/queues/{name}/clear", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    request_body(content = Option<ClearBody>),
    responses(
        (status = 200, description = "How many were removed, and how many still wait", body = schemas::Drained),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn clear_queue(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Body(body): Body<ClearBody>,
) -> Answer {
    let Drained { removed, left } = api.runtime().queues().drain(&name, body.delayed).await?;
    ok(&schemas::Drained { removed, left })
}

#[derive(Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CleanBody {
    /// `completed` (the default), `failed` or `cancelled`.
    #[serde(alias = "state")]
    #[schema(value_type = String)]
    pub(crate) status: JobState,
    /// Only jobs that ended at least this long ago.
    older_than_ms: u64,
    /// The most jobs to remove.
    limit: Option<u64>,
    /// Only jobs that match it, the newest first. Without it the oldest are removed first.
    filter: Option<DeadLetterFilter>,
}

impl CleanBody {
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        if self.status.is_ended() {
            return Ok(());
        }
        let message = "status: must be completed, failed or cancelled; clear removes waiting jobs";
        Err(ApiError::new(ErrorCode::BadRequest, message))
    }
}

impl Default for CleanBody {
    fn default() -> Self {
        Self {
            status: JobState::Completed,
            older_than_ms: 0,
            limit: None,
            filter: None,
        }
    }
}

/// Remove ended jobs
#[utoipa::path(post, path = "/api/queues/{name}/clean", tag = "queues",
    params(("name" = String, Path, description = "The queue's name")),
    request_body(content = Option<CleanBody>),
    responses(
        (status = 200, description = "How many were removed", body = schemas::Removed),
        (status = 404, description = ErrorCode::QueueNotFound, body = schemas::Failure)))]
pub(crate) async fn clean_queue(
    State(api): State<Api>,
    Segments(name): Segments<String>,
    Body(body): Body<CleanBody>,
) -> Answer {
    body.check()?;
    remove(&api, &name, body).await
}

pub(crate) async fn remove(api: &Api, name: &str, body: CleanBody) -> Answer {
    let older = i64::try_from(body.older_than_ms).unwrap_or(i64::MAX);
    let before = now_ms().saturating_sub(older);
    api.runtime().queues().queue(name).await?;
    let (state, limit) = (body.status, body.limit);
    let mut wanted = body.filter.unwrap_or_default().wanted();
    let removed = if wanted.is_any() {
        api.runtime()
            .queues()
            .purge(name, state, before, limit)
            .await?
    } else {
        wanted.before_ms = Some(wanted.before_ms.map_or(before, |ms| ms.min(before)));
        let removed = api
            .runtime()
            .queues()
            .purge_wanted(name, state, wanted, limit);
        removed.await?
    };
    ok(&Removed { removed })
}
