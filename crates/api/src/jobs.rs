//! Jobs: those of queues, and the internal task of each run, whose id is the run's.

use axum::{extract::State, http::StatusCode, response::IntoResponse};
use indexmap::IndexMap;
use riverrun_engine::{HistoryOutcome, VisitKey, Wait};
use riverrun_runtime::Loaded;
use riverrun_store::{EventQuery, JobRecord, JobState, RunRecord, Steer};
use riverrun_types::{ErrorCode, Millis, Name, RunId, RunStatus, VisitStatus, time::iso};
use serde::{Deserialize, Deserializer, de::Error as _};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{Body, JobPath, Query, RunPath, comma_list, flag_or_none, job_id, page_limit, tags},
    page::{Items, default_limit},
    queues::{self, QueueJobsQuery, ShownJob, now_ms, states},
    reply::{Answer, ok},
    run_history::first_entries,
    run_reads::RunListQuery,
    schemas::{self, Job, JobList},
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JobListQuery {
    /// Statuses, separated by commas: of queue jobs (`waiting`, `delayed`, `active`, `parked`,
    /// `completed`, `failed`, `cancelled`) with `queue`, `tag`, `tags`, `name` or `key`, otherwise of
    /// runs (`pending`, `running`, `waiting`, `completed`, `failed`, `cancelled`, `paused`).
    #[serde(default, deserialize_with = "job_statuses")]
    #[param(value_type = Option<String>)]
    status: Vec<Status>,
    /// Lists the jobs of runs that have not ended; `true` lists only those that were due longer than
    /// a lease ago. A page may then have fewer than `limit` jobs although more follow.
    #[serde(default, deserialize_with = "flag_or_none")]
    #[param(value_type = Option<bool>)]
    stalled: Option<bool>,
    /// Lists the jobs of the runs of this flow that have not ended, or that have a `status`.
    flow: Option<String>,
    /// Only jobs of this queue. `*`, or no queue, lists the jobs of all queues, one queue after the
    /// other.
    queue: Option<String>,
    /// The older name of `status` for queue jobs.
    #[serde(default, deserialize_with = "states")]
    #[param(value_type = Option<String>)]
    state: Vec<JobState>,
    /// Only queue jobs with this tag.
    tag: Option<String>,
    /// Only queue jobs with all of these tags, separated by commas; at most 20.
    #[serde(default, deserialize_with = "tags")]
    #[param(value_type = Option<String>)]
    tags: Vec<String>,
    /// Only queue jobs with this name.
    name: Option<String>,
    /// Only queue jobs with this key.
    key: Option<String>,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    limit: usize,
    /// `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// A word that is the status of a run, of a queue job, or of both.
#[derive(Clone, Copy)]
struct Status {
    run: Option<RunStatus>,
    job: Option<JobState>,
}

fn job_statuses<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Status>, D::Error> {
    let parse = |text: &str| {
        let status = Status {
            run: RunStatus::parse(text),
            job: JobState::ALL.into_iter().find(|job| job.as_str() == text),
        };
        let is_known = status.run.is_some() || status.job.is_some();
        let text: String = text.chars().take(64).collect();
        let error = || D::Error::custom(format!("{text:?} is no status of a run or a queue job"));
        is_known.then_some(status).ok_or_else(error)
    };
    comma_list(&String::deserialize(from)?).map(parse).collect()
}

/// Which jobs a list is of.
enum Listed {
    Runs(Vec<RunStatus>),
    Queues(Vec<JobState>),
}

impl JobListQuery {
    fn listed(&self) -> Result<Listed, ApiError> {
        let refuse = |message: &str| Err(ApiError::new(ErrorCode::Unprocessable, message));
        let texts = [&self.queue, &self.tag, &self.name, &self.key];
        let names_queues = !self.state.is_empty()
            || !self.tags.is_empty()
            || texts.iter().any(|text| text.is_some());
        let names_runs = self.stalled.is_some() || self.flow.is_some();
        if names_queues && names_runs {
            return refuse(
                "stalled and flow select jobs of runs; queue, state, tag, tags, name and key select queue jobs",
            );
        }
        if !self.state.is_empty() && !self.status.is_empty() {
            return refuse("state is the older name of status: give one of them");
        }
        let runs: Option<Vec<RunStatus>> = self.status.iter().map(|status| status.run).collect();
        let jobs: Option<Vec<JobState>> = self.status.iter().map(|status| status.job).collect();
        match (runs, jobs) {
            (Some(runs), _) if names_runs => Ok(Listed::Runs(runs)),
            (Some(runs), _) if !names_queues && !runs.is_empty() => Ok(Listed::Runs(runs)),
            (_, Some(jobs)) if !names_runs && jobs.is_empty() => {
                Ok(Listed::Queues(self.state.clone()))
            }
            (_, Some(jobs)) if !names_runs => Ok(Listed::Queues(jobs)),
            _ if names_queues => refuse("status: not all of them are statuses of queue jobs"),
            _ if names_runs => refuse("status: not all of them are statuses of runs"),
            _ => refuse("status: some are statuses of runs and some of queue jobs"),
        }
    }
}

/// Queues that a page of the jobs of all of them looks at.
const QUEUES: usize = 100;

/// The jobs of a queue, or of all of them, one queue after the other.
async fn of_queues(api: &Api, query: JobListQuery, status: Vec<JobState>) -> Answer {
    let queue = query.queue.filter(|queue| queue != "*");
    let mut cursor = query.cursor;
    let asked = QueueJobsQuery {
        status,
        tag: query.tag,
        tags: query.tags,
        name: query.name,
        key: query.key,
        limit: query.limit,
        cursor: None,
    };
    let mut filter = asked.filter(Name::default());
    if let Some(queue) = queue {
        filter.queue = Name::from(queue);
        filter.cursor = cursor;
        return queues::list(api, &filter).await;
    }
    // A queue's name has no colon.
    let from = match cursor.take() {
        None => None,
        Some(text) => match text.split_once(':') {
            Some((queue, rest)) => Some((Name::from(queue), rest.to_owned())),
            None => return Err(riverrun_store::Error::BadCursor(text).into()),
        },
    };
    let mut items = Vec::new();
    let mut bytes = 0;
    let mut next_cursor = None;
    let all = api.runtime().queues().list().await?;
    let after = |name: &Name| from.as_ref().is_none_or(|(from, _)| name >= from);
    let names = all.into_iter().map(|view| view.record.name).filter(after);
    for (looked, name) in names.enumerate() {
        if items.len() == query.limit || looked == QUEUES || bytes >= EventQuery::PAGE_BYTES {
            next_cursor = Some(format!("{name}:"));
            break;
        }
        let place = from.as_ref().filter(|(from, _)| *from == name);
        let place = place.map(|(_, rest)| rest.clone());
        filter.queue = name;
        filter.cursor = place.filter(|rest| !rest.is_empty());
        filter.limit = query.limit - items.len();
        let page = api.runtime().queues().jobs(&filter).await?;
        bytes += page
            .items
            .iter()
            .map(JobRecord::payload_bytes)
            .sum::<usize>();
        items.extend(page.items);
        if let Some(rest) = page.next {
            next_cursor = Some(format!("{}:{rest}", filter.queue));
            break;
        }
    }
    ok(&Items {
        items: items.iter().map(ShownJob::from).collect(),
        next_cursor,
    })
}

/// List jobs
///
/// Lists queue jobs; with `status` alone, `stalled` or `flow`, the jobs of runs. A filtered page of
/// queue jobs may have fewer than `limit` jobs, or none, although more follow; then it has a
/// `nextCursor`.
#[utoipa::path(get, path = "/api/jobs", tag = "jobs", params(JobListQuery),
    responses((status = 200, description = "A page of jobs", body = schemas::AnyJobList)))]
pub(crate) async fn list_jobs(State(api): State<Api>, Query(query): Query<JobListQuery>) -> Answer {
    let status = match query.listed()? {
        Listed::Queues(status) => return of_queues(&api, query, status).await,
        Listed::Runs(status) => status,
    };
    let open = || {
        RunStatus::ALL
            .iter()
            .copied()
            .filter(|status| !status.is_ended())
    };
    let status = match status.is_empty() {
        true => open().collect(),
        false => status,
    };
    let filter = RunListQuery {
        status,
        flow: query.flow,
        limit: query.limit,
        cursor: query.cursor,
        ..RunListQuery::default()
    };
    let is_stalled = query.stalled == Some(true);
    let page = api.runtime().runs().list(&filter.filter()?).await?;
    let jobs = page.items.iter().map(|record| job(&api, record));
    ok(&JobList {
        items: jobs.filter(|job| !is_stalled || job.stalled).collect(),
        next_cursor: page.next,
    })
}

/// Read a job
///
/// A job of a queue, or the one that drives a run, whose id is the run's.
#[utoipa::path(get, path = "/api/jobs/{id}", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    responses(
        (status = 200, description = "The job", body = schemas::QueueJob),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure)))]
pub(crate) async fn get_job(State(api): State<Api>, JobPath(id): JobPath) -> Answer {
    if let Some(found) = api.runtime().base().store().job(&id).await? {
        return ok(&ShownJob::from(&found));
    }
    match api.runtime().base().store().run(&id).await? {
        Some(record) => ok(&job(&api, &record)),
        None => Err(riverrun_store::Error::JobNotFound(id).into()),
    }
}

async fn steered(api: &Api, id: &RunId, steer: Steer) -> Answer {
    api.runtime().queues().steer(id, steer).await?;
    ok(&ShownJob::from(&api.runtime().queues().job(id).await?))
}

/// Try a job again
///
/// One that has ended waits again, from its first attempt on.
#[utoipa::path(post, path = "/api/jobs/{id}/retry", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    responses(
        (status = 200, description = "The job", body = schemas::QueueJob),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::JobState, body = schemas::Failure)))]
pub(crate) async fn retry_job(State(api): State<Api>, JobPath(id): JobPath) -> Answer {
    steered(&api, &id, Steer::Retry { at_ms: 0 }).await
}

/// Cancel a job
///
/// One that waits ends at once; one that runs is asked to stop, and stopped. That of a step ends
/// with its run.
#[utoipa::path(post, path = "/api/jobs/{id}/cancel", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    request_body(content = Option<schemas::ReasonBody>),
    responses(
        (status = 200, description = "The job", body = schemas::QueueJob),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = "JOB_STATE, or JOB_OF_RUN: cancel the run", body = schemas::Failure)))]
pub(crate) async fn cancel_job(
    State(api): State<Api>,
    JobPath(id): JobPath,
    Body(body): Body<schemas::ReasonBody>,
) -> Answer {
    let reason = body.reason;
    steered(&api, &id, Steer::Cancel { reason }).await
}

/// Let a delayed job begin
#[utoipa::path(post, path = "/api/jobs/{id}/promote", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    responses(
        (status = 200, description = "The job", body = schemas::QueueJob),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::JobState, body = schemas::Failure)))]
pub(crate) async fn promote_job(State(api): State<Api>, JobPath(id): JobPath) -> Answer {
    steered(&api, &id, Steer::Promote).await
}

#[derive(Default, Deserialize, utoipa::ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeJobBody {
    /// Higher starts first.
    priority: Option<i32>,
    /// Begin not before this long from now.
    delay_ms: Option<u64>,
}

/// Change a job that has not begun
#[utoipa::path(patch, path = "/api/jobs/{id}", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    request_body(content = ChangeJobBody),
    responses(
        (status = 200, description = "The job", body = schemas::QueueJob),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = ErrorCode::JobState, body = schemas::Failure)))]
pub(crate) async fn change_job(
    State(api): State<Api>,
    JobPath(id): JobPath,
    Body(body): Body<ChangeJobBody>,
) -> Answer {
    let changed = api
        .runtime()
        .queues()
        .change_job(&id, body.priority, body.delay_ms);
    changed.await?;
    ok(&ShownJob::from(&api.runtime().queues().job(&id).await?))
}

/// Remove a job
///
/// One that runs has to be cancelled first.
#[utoipa::path(delete, path = "/api/jobs/{id}", tag = "jobs",
    params(("id" = String, Path, description = "The job's id, or `latest`")),
    responses(
        (status = 204, description = "Removed"),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = "JOB_STATE, or JOB_OF_RUN: cancel the run", body = schemas::Failure)))]
pub(crate) async fn remove_job(State(api): State<Api>, JobPath(id): JobPath) -> Answer {
    api.runtime().queues().steer(&id, Steer::Remove).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemoveQuery {
    /// The job's id, or `latest`.
    id: String,
}

/// Remove a job whose id cannot be part of a path
///
/// The same as DELETE /api/jobs/{id}, for jobs that an earlier version stored under the id `.` or `..`.
#[utoipa::path(delete, path = "/api/jobs", tag = "jobs", params(RemoveQuery),
    responses(
        (status = 204, description = "Removed"),
        (status = 404, description = ErrorCode::JobNotFound, body = schemas::Failure),
        (status = 409, description = "JOB_STATE, or JOB_OF_RUN: cancel the run", body = schemas::Failure)))]
pub(crate) async fn remove_job_by_id(
    State(api): State<Api>,
    Query(query): Query<RemoveQuery>,
) -> Answer {
    let id = job_id(&api, &query.id).await?;
    api.runtime().queues().steer(&id, Steer::Remove).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// List a run's jobs
#[utoipa::path(get, path = "/api/runs/{id}/jobs", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    responses(
        (status = 200, description = "Its jobs", body = JobList),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_jobs(State(api): State<Api>, RunPath(run): RunPath) -> Answer {
    jobs_of(&api, &run).await
}

pub(crate) async fn jobs_of(api: &Api, run: &RunId) -> Answer {
    let loaded = api.runtime().runs().load(run).await?;
    let mut items = vec![job(api, &loaded.record)];
    items.extend(step_jobs(api, &loaded).await?);
    ok(&JobList {
        items,
        next_cursor: None,
    })
}

/// Attempts and visits that a run's list of jobs looks at.
const LOOKED_AT: usize = 1_000;

/// The jobs of visits that processes run: those that have ended, by the run's history, then those
/// that have not.
async fn step_jobs(api: &Api, loaded: &Loaded) -> Result<Vec<Job>, ApiError> {
    let Loaded { record, state } = loaded;
    if state.queued.is_empty() {
        return Ok(Vec::new());
    }
    let processes = api.runtime().steps().processes_of(record).await?;
    let of = |key: &VisitKey| {
        let process = processes.get(&key.step).map(ToString::to_string);
        Job {
            id: api.runtime().steps().job_of_visit(&record.id, key),
            step_id: Some(key.step.to_string()),
            visit: Some(key.visit),
            process,
            stalled: false,
            due_at: None,
            ..job(api, record)
        }
    };
    let (entries, _) = first_entries(api, record, LOOKED_AT).await?;
    let mut ended: IndexMap<VisitKey, Job> = IndexMap::new();
    for entry in entries {
        let key = VisitKey {
            step: entry.step_id.clone(),
            visit: entry.visit,
        };
        if !state.queued.contains(&key.step) || state.visit(&key).is_some() {
            continue;
        }
        let shown = ended.entry(key.clone()).or_insert_with(|| Job {
            created_at: iso(entry.started_at),
            ..of(&key)
        });
        shown.attempt = Some(entry.attempt);
        shown.status = match entry.outcome {
            HistoryOutcome::Success | HistoryOutcome::Wait => RunStatus::Completed,
            HistoryOutcome::Failure => RunStatus::Failed,
            HistoryOutcome::Cancelled => RunStatus::Cancelled,
        };
        shown.updated_at = iso(entry.completed_at);
        shown.ended_at = Some(iso(entry.completed_at));
    }
    let open = state.visits.iter().take(LOOKED_AT);
    let open = open.filter_map(|visit| {
        let Some(Wait::Job { until_ms }) = &visit.wait else {
            return None;
        };
        Some(Job {
            attempt: Some(visit.attempt),
            status: match visit.status {
                VisitStatus::Running => RunStatus::Running,
                VisitStatus::Retrying | VisitStatus::Waiting => RunStatus::Waiting,
                _ => RunStatus::Pending,
            },
            due_at: until_ms.map(iso),
            created_at: iso(visit.since_ms),
            updated_at: iso(visit.since_ms),
            ended_at: None,
            ..of(&visit.key)
        })
    });
    Ok(ended.into_values().chain(open).collect())
}

fn job(api: &Api, record: &RunRecord) -> Job {
    let lease_ms = api.runtime().base().options().lease.as_millis();
    let overdue = |due: Millis| {
        let late = now_ms().saturating_sub(due.max(record.updated_ms));
        u128::try_from(late).is_ok_and(|late| late > lease_ms)
    };
    Job {
        id: record.id.clone(),
        run_id: record.id.clone(),
        flow: record.flow.to_string(),
        version: record.version.to_string(),
        status: record.status,
        stalled: record.status != RunStatus::Running && record.wake_ms.is_some_and(overdue),
        due_at: record.wake_ms.map(iso),
        created_at: iso(record.created_ms),
        updated_at: iso(record.updated_ms),
        ended_at: record.ended_ms.map(iso),
        tenant_id: record.tenant.as_ref().map(|tenant| tenant.to_string()),
        step_id: None,
        visit: None,
        process: None,
        attempt: None,
    }
}
