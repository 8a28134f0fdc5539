//! Definitions of flows: registered, validated, read, drawn.

use axum::{extract::State, http::StatusCode};
use riverrun_engine::{FlowDiagram, errors};
use riverrun_runtime::{FlowEntry, FlowSummary, Work, compute};
use riverrun_types::{ErrorCode, Json, time::iso};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::{
    app::Api,
    errors::ApiError,
    extract::{FlowDefinition, FlowPath, Query},
    page::Items,
    reply::{Answer, json, ok, with_type},
    run_reads::{RunListQuery, list_answer, narrow},
    schemas,
};

/// List flows
///
/// The newest version of every flow.
#[utoipa::path(get, path = "/api/flows", tag = "flows",
    responses((status = 200, description = "The flows, by id", body = schemas::FlowList)))]
pub(crate) async fn list_flows(State(api): State<Api>) -> Answer {
    let flows = api.runtime().flows().latest();
    ok(&Items::all(flows.iter().map(summary).collect()))
}

/// Register a flow
///
/// A definition never changes under its id and version. Registering the same definition again has
/// no effect; another definition under the same version is rejected.
#[utoipa::path(post, path = "/api/flows", tag = "flows",
    request_body(description = "The definition, in JSON or YAML", content(
        (Value = "application/json"), (Value = "application/yaml"))),
    responses(
        (status = 201, description = "Registered", body = schemas::RegisteredFlow),
        (status = 200, description = "The same definition was registered before", body = schemas::RegisteredFlow),
        (status = 409, description = "FLOW_EXISTS: another definition has this version", body = schemas::Failure),
        (status = 422, description = "FLOW_INVALID: details.issues lists every issue", body = schemas::Failure)))]
pub(crate) async fn register_flow(
    State(api): State<Api>,
    FlowDefinition(definition): FlowDefinition,
) -> Answer {
    let definition =
        definition.map_err(|issue| riverrun_runtime::Error::FlowInvalid(vec![issue]))?;
    let registered = api.runtime().flows().register(&definition).await?;
    let status = match registered.created {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    json(
        status,
        &json!({
            "id": registered.id,
            "version": registered.version,
            "created": registered.created,
            "issues": registered.issues,
        }),
    )
}

/// Validate a definition
///
/// Returns all issues, each with its path and rule. Nothing is registered.
#[utoipa::path(post, path = "/api/flows/validate", tag = "flows",
    request_body(description = "The definition, in JSON or YAML", content(
        (Value = "application/json"), (Value = "application/yaml"))),
    responses((status = 200, description = "Whether it is valid, and its issues", body = schemas::Validation)))]
pub(crate) async fn validate_flow(
    State(api): State<Api>,
    FlowDefinition(definition): FlowDefinition,
) -> Answer {
    let issues = match definition {
        Ok(definition) => api.runtime().flows().validate(&definition),
        Err(issue) => vec![issue],
    };
    ok(&json!({"valid": !errors(&issues), "issues": issues}))
}

/// Which version of a flow.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VersionQuery {
    /// Default: the newest. The path may name it too: `id@version`.
    version: Option<String>,
}

/// Read a flow
#[utoipa::path(get, path = "/api/flows/{id}", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"), VersionQuery),
    responses(
        (status = 200, description = "The version", body = schemas::FlowDetail),
        (status = 404, description = ErrorCode::FlowNotFound, body = schemas::Failure)))]
pub(crate) async fn get_flow(
    State(api): State<Api>,
    path: FlowPath,
    Query(query): Query<VersionQuery>,
) -> Answer {
    ok(&Detail::of(&find(&api, path, query.version)?))
}

/// List the versions of a flow
#[utoipa::path(get, path = "/api/flows/{id}/versions", tag = "flows",
    params(("id" = String, Path, description = "The flow's id")),
    responses(
        (status = 200, description = "The versions, newest first", body = schemas::FlowList),
        (status = 404, description = ErrorCode::FlowNotFound, body = schemas::Failure)))]
pub(crate) async fn flow_versions(State(api): State<Api>, path: FlowPath) -> Answer {
    let versions = api.runtime().flows().versions(&path.id);
    if versions.is_empty() {
        return Err(missing(&path.id, None));
    }
    ok(&Items::all(versions.iter().map(summary).collect()))
}

/// List the runs of a flow
///
/// The same as `/api/runs?flow=`.
#[utoipa::path(get, path = "/api/flows/{id}/runs", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"), RunListQuery),
    responses((status = 200, description = "A page of runs", body = schemas::RunList)))]
pub(crate) async fn flow_runs(
    State(api): State<Api>,
    path: FlowPath,
    Query(mut query): Query<RunListQuery>,
) -> Answer {
    narrow("flow", &mut query.flow, path.id)?;
    query.version = path.version.or(query.version);
    list_answer(&api, query).await
}

/// The version to draw, and the format.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DiagramQuery {
    /// Default: the newest.
    version: Option<String>,
    /// `json` (the default), `mermaid` or `text`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    format: DiagramFormat,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DiagramFormat {
    #[default]
    Json,
    Mermaid,
    Text,
}

/// Draw a flow
#[utoipa::path(get, path = "/api/flows/{id}/diagram", tag = "flows",
    params(("id" = String, Path, description = "The flow's id, or `id@version`"), DiagramQuery),
    responses(
        (status = 200, description = "Nodes and edges", body = schemas::FlowDiagram),
        (status = 404, description = ErrorCode::FlowNotFound, body = schemas::Failure)))]
pub(crate) async fn flow_diagram(
    State(api): State<Api>,
    path: FlowPath,
    Query(query): Query<DiagramQuery>,
) -> Answer {
    let flow = find(&api, path, query.version)?;
    let work = Work::on_text(flow.definition.bytes());
    compute(work, || {
        let diagram = FlowDiagram::of(&flow.definition.value(), api.runtime().flows().handlers());
        match query.format {
            DiagramFormat::Json => ok(&diagram),
            DiagramFormat::Mermaid => text(diagram.mermaid()),
            DiagramFormat::Text => text(diagram.text()),
        }
    })
}

fn text(text: String) -> Answer {
    let kind = "text/plain; charset=utf-8";
    Ok(with_type(StatusCode::OK, kind, text + "\n"))
}

fn find(api: &Api, path: FlowPath, version: Option<String>) -> Result<FlowEntry, ApiError> {
    let version = path.version.or(version);
    api.runtime()
        .flows()
        .get(&path.id, version.as_deref())
        .ok_or_else(|| missing(&path.id, version))
}

fn missing(id: &str, version: Option<String>) -> ApiError {
    let cut = |text: &str| text.chars().take(128).collect();
    riverrun_runtime::Error::FlowNotFound {
        id: cut(id),
        version: version.as_deref().map(cut),
    }
    .into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail<'a> {
    id: &'a str,
    version: &'a str,
    created_at: String,
    definition: &'a Json,
}

impl<'a> Detail<'a> {
    fn of(flow: &'a FlowEntry) -> Self {
        Self {
            id: &flow.id,
            version: &flow.version,
            created_at: iso(flow.created_ms),
            definition: &flow.definition,
        }
    }
}

fn summary(flow: &FlowEntry) -> Value {
    let mut shown = json!({
        "id": flow.id,
        "version": flow.version,
        "createdAt": iso(flow.created_ms),
    });
    let FlowSummary {
        name,
        description,
        tags,
        steps,
    } = flow.summary();
    for (key, value) in [("name", name), ("description", description), ("tags", tags)] {
        if let Some(value) = value {
            shown[key] = value.clone();
        }
    }
    shown["steps"] = json!(steps);
    shown
}
