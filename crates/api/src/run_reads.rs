//! Reading runs: lists, one run, its state at any moment, its children.

use axum::extract::State;
use riverrun_runtime::{At, Shown};
use riverrun_store::RunFilter;
use riverrun_types::{ErrorCode, Millis, Name, RunId, RunStatus, State as RunData, time::iso};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{
        FlowRunPath, Moment, Query, RunPath, comma_list, moment, moment_at, page_limit, tags,
    },
    page::{Items, default_limit},
    reply::{Answer, ok},
    schemas,
};

/// The filters of a list of runs. A run must match all of them.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RunListQuery {
    /// Statuses, separated by commas.
    #[serde(default, deserialize_with = "statuses")]
    #[param(value_type = Option<String>, example = "running,waiting")]
    pub status: Vec<RunStatus>,
    /// The id of a flow.
    pub flow: Option<String>,
    /// A version of the flow.
    pub version: Option<String>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs with all of these tags, separated by commas; at most 20.
    #[serde(default, deserialize_with = "tags")]
    #[param(value_type = Option<String>, example = "red,large")]
    pub tags: Vec<String>,
    pub tenant: Option<String>,
    /// The id of the parent run.
    pub parent: Option<String>,
    /// The start of the run id.
    pub prefix: Option<String>,
    /// Created at or after: ISO 8601 or milliseconds.
    #[serde(default, deserialize_with = "moment")]
    #[param(value_type = Option<String>)]
    pub since: Option<Millis>,
    /// Created before: ISO 8601 or milliseconds.
    #[serde(default, deserialize_with = "moment")]
    #[param(value_type = Option<String>)]
    pub until: Option<Millis>,
    /// `desc` (newest first, the default) or `asc`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    pub order: Order,
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    pub limit: usize,
    /// `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    #[default]
    Desc,
    Asc,
}

impl RunListQuery {
    pub fn filter(self) -> Result<RunFilter, ApiError> {
        let name = |text: Option<String>| text.map(Name::from);
        let parent = self.parent.as_deref().map(RunId::checked).transpose();
        Ok(RunFilter {
            status: self.status,
            flow: name(self.flow),
            version: name(self.version),
            tags: self
                .tag
                .into_iter()
                .chain(self.tags)
                .map(Name::from)
                .collect(),
            tenant: name(self.tenant),
            parent: parent
                .map_err(|error| ApiError::new(ErrorCode::BadQuery, format!("parent: {error}")))?,
            id_prefix: self.prefix,
            since_ms: self.since,
            until_ms: self.until,
            oldest_first: self.order == Order::Asc,
            limit: self.limit,
            cursor: self.cursor,
        })
    }
}

pub(crate) fn statuses<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RunStatus>, D::Error> {
    let text = String::deserialize(from)?;
    let status = |text: &str| {
        RunStatus::parse(text).ok_or_else(|| {
            let known: Vec<&str> = RunStatus::ALL
                .iter()
                .map(|status| status.as_str())
                .collect();
            let text: String = text.chars().take(64).collect();
            D::Error::custom(format!(
                "{text:?} is no status: there are {}",
                known.join(", ")
            ))
        })
    };
    comma_list(&text).map(status).collect()
}

/// Sets a parameter that the path gives already; the query may only say the same.
pub(crate) fn narrow(
    name: &str,
    parameter: &mut Option<String>,
    given: String,
) -> Result<(), ApiError> {
    if parameter.as_ref().is_some_and(|other| *other != given) {
        let message = format!("{name}: the path says something else");
        let details = serde_json::json!({ "parameter": name });
        return Err(ApiError::new(ErrorCode::BadQuery, message).details(details));
    }
    *parameter = Some(given);
    Ok(())
}

pub(crate) async fn list_answer(api: &Api, query: RunListQuery) -> Answer {
    let page = api.runtime().runs().list(&query.filter()?).await?;
    ok(&Items {
        items: page.items.iter().map(Shown::from).collect(),
        next_cursor: page.next,
    })
}

/// List runs
#[utoipa::path(get, path = "/api/runs", tag = "runs", params(RunListQuery),
    responses((status = 200, description = "A page of runs", body = schemas::RunList)))]
pub(crate) async fn list_runs(State(api): State<Api>, Query(query): Query<RunListQuery>) -> Answer {
    list_answer(&api, query).await
}

/// Read a run
#[utoipa::path(get, path = "/api/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`")),
    responses(
        (status = 200, description = "The run with its state", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn get_run(State(api): State<Api>, RunPath(run): RunPath) -> Answer {
    ok(&api.runtime().runs().run(&run).await?)
}

/// Read a run of a flow
///
/// The same as `/api/runs/{id}`, for a run of this flow.
#[utoipa::path(get, path = "/api/flows/{id}/runs/{run}", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"),
        ("run" = String, Path, description = "The run's id, or `latest`")),
    responses(
        (status = 200, description = "The run with its state", body = schemas::Run),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn get_flow_run(state: State<Api>, FlowRunPath(run): FlowRunPath) -> Answer {
    get_run(state, RunPath(run)).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AtQuery {
    /// The id of the last event to include, or a time (ISO 8601 or milliseconds). Default: now.
    #[serde(default, deserialize_with = "moment_at")]
    #[param(value_type = Option<String>)]
    at: Option<Moment>,
}

/// Read a run's state
///
/// The current state, or the state at an earlier event or time.
#[utoipa::path(get, path = "/api/runs/{id}/state", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), AtQuery),
    responses(
        (status = 200, description = "The state", body = schemas::StateAt),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_state(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<AtQuery>,
) -> Answer {
    let at = match query.at {
        None => At::Now,
        Some(Moment::Event(event)) => At::Event(event),
        Some(Moment::Time(ms)) => At::Time(ms),
    };
    let state = api.runtime().runs().state_at(&run, at).await?;
    ok(&StateView {
        run_id: &run,
        at: (state.len > 0).then(|| iso(state.updated_ms)),
        events: state.len,
        status: state.status,
        state: &state.state,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StateView<'a> {
    run_id: &'a RunId,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    events: u64,
    status: RunStatus,
    state: &'a RunData,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AwaitsQuery {
    /// Include the secrets of signed callbacks. Default `false`.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    secrets: bool,
}

/// Read what a run waits for
///
/// The awaits of a run in the form that an import needs: the events that it waits for, and its open
/// and closed callbacks. `GET /api/runs/{id}/why` has the same for people.
#[utoipa::path(get, path = "/api/runs/{id}/awaits", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), AwaitsQuery),
    responses(
        (status = 200, description = "Open awaits, fired awaits that the run has not processed yet, and closed callbacks", body = schemas::RunAwaits),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_awaits(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(query): Query<AwaitsQuery>,
) -> Answer {
    ok(&Items {
        items: api.runtime().runs().awaits(&run, query.secrets).await?,
        next_cursor: None,
    })
}

/// Explain why a run waits
///
/// The reasons why a run does not continue, with ids and times: one for each active visit, the most
/// important first. The id may be that of a job.
#[utoipa::path(get, path = "/api/runs/{id}/why", tag = "runs",
    params(("id" = String, Path, description = "The run's or the job's id, or `latest`")),
    responses(
        (status = 200, description = "The reasons", body = schemas::Why),
        (status = 404, description = ErrorCode::RunNotFound, body = schemas::Failure)))]
pub(crate) async fn run_why(State(api): State<Api>, RunPath(run): RunPath) -> Answer {
    ok(&api.runtime().reasons().why(&run).await?)
}

/// List a run's children
///
/// The runs that its steps started. The same as `/api/runs?parent=`.
#[utoipa::path(get, path = "/api/runs/{id}/children", tag = "runs",
    params(("id" = String, Path, description = "The run's id, or `latest`"), RunListQuery),
    responses((status = 200, description = "A page of runs", body = schemas::RunList)))]
pub(crate) async fn run_children(
    State(api): State<Api>,
    RunPath(run): RunPath,
    Query(mut query): Query<RunListQuery>,
) -> Answer {
    narrow("parent", &mut query.parent, run.to_string())?;
    list_answer(&api, query).await
}
