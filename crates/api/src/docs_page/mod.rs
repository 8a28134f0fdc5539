//! Pages for people: the server, its routes, its error codes. They are rendered from the OpenAPI
//! document and the table of errors, and load nothing from other hosts.

mod markup;
mod reference;

use riverrun_types::ErrorCode;
use std::sync::OnceLock;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};

use crate::{
    app::Api,
    errors::ApiError,
    extract::Segments,
    html::escape,
    reply::{Answer, html, with_type},
    schemas,
};
use markup::{page, prose};

/// The OpenAPI document
#[utoipa::path(get, path = "/api/openapi.json", tag = "server",
    responses((status = 200, description = "OpenAPI 3.1", body = Value)))]
pub(crate) async fn openapi_json(State(api): State<Api>) -> Response {
    with_type(StatusCode::OK, "application/json", api.document())
}

/// This documentation
#[utoipa::path(get, path = "/api/docs", tag = "server",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub(crate) async fn docs(State(api): State<Api>) -> Response {
    static PAGE: OnceLock<String> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let document = serde_json::from_slice(&api.document()).unwrap_or_default();
        reference::render(&document)
    });
    html(page.clone())
}

/// All error codes
#[utoipa::path(get, path = "/api/docs/errors", tag = "server",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub(crate) async fn error_index() -> Response {
    let row = |code: &ErrorCode| {
        let seen = code.seen().word();
        format!(
            "<tr><td><a href=\"/api/docs/errors/{0}\"><code>{0}</code></a></td><td>{seen}</td><td>{1}</td></tr>",
            code,
            prose(code.what())
        )
    };
    let mut codes = ErrorCode::ALL.to_vec();
    codes.sort_unstable_by_key(|code| code.as_str());
    let rows: String = codes.iter().map(row).collect();
    let body = format!(
        "<h1>Errors</h1><p>Every failure is <code>{{\"error\": {{code, message, details?, docs?}}}}</code>. \
         Codes are stable. The errors of runs and the command line use the same ones.</p>\
         <table><tr><th>code</th><th>seen</th><th>what happened</th></tr>{rows}</table>"
    );
    html(page("Errors", &body))
}

/// An error code
#[utoipa::path(get, path = "/api/docs/errors/{code}", tag = "server",
    params(("code" = String, Path, description = "A code, such as `RUN_NOT_FOUND`")),
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = 404, description = ErrorCode::NotFound, body = schemas::Failure)))]
pub(crate) async fn error_page(Segments(code): Segments<String>) -> Answer {
    let Some(code) = ErrorCode::parse(&code) else {
        let code: String = code.chars().take(64).collect();
        let message = format!("there is no error code {code:?}: /api/docs/errors lists them");
        return Err(ApiError::new(ErrorCode::NotFound, message));
    };
    let (seen, disposition) = (code.seen().sentence(), code.disposition().sentence());
    let body = format!(
        "<p><a href=\"/api/docs/errors\">Errors</a></p><h1><code>{code}</code></h1>\
         <h2>What happened</h2><p>{}</p><h2>Why</h2><p>{}</p><h2>What to do</h2><p>{}</p>\
         <p class=\"quiet\">{seen} {disposition}</p>",
        prose(code.what()),
        prose(code.why()),
        prose(code.fix())
    );
    Ok(html(page(code.as_str(), &body)))
}

/// What this is
#[utoipa::path(get, path = "/", tag = "server",
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub(crate) async fn index(State(api): State<Api>, headers: HeaderMap) -> Response {
    let version = env!("CARGO_PKG_VERSION");
    let command = escape(&command(&api, &headers));
    let body = format!(
        "<h1>riverrun <span class=\"quiet\">{version}</span></h1>\
         <p>One server for durable flows, jobs and calls. Every run is one river of events: watch it \
         live, read its state at any moment, resume it after a crash, fork it from any point.</p>\
         <ul>\
         <li><a href=\"/api/docs\">The API</a>, as a page, and as <a href=\"/api/openapi.json\">OpenAPI</a></li>\
         <li><a href=\"/api/flows\">Flows</a> that are registered</li>\
         <li><a href=\"/api/runs\">Runs</a>, newest first; <a href=\"/api/runs/latest\">the newest one</a></li>\
         <li><a href=\"/api/handlers\">Handlers</a>: the kinds of steps there are</li>\
         <li><a href=\"/api/docs/errors\">Errors</a>, and what to do about each</li>\
         <li><a href=\"/healthz\">Alive</a>? <a href=\"/readyz\">Ready</a>?</li>\
         </ul>\
         <pre>{command}</pre>"
    );
    html(page("riverrun", &body))
}

/// A command that works as it stands: it starts a flow that this server has, at the address under
/// which the page was opened.
fn command(api: &Api, headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let public = api.runtime().base().options().public_url.as_deref();
    let address = match (host, public) {
        (Some(host), _) => host.to_owned(),
        (None, Some(public)) => public.trim_end_matches('/').to_owned(),
        (None, None) => "localhost:4600".to_owned(),
    };
    match api.runtime().flows().latest().first() {
        Some(flow) => format!(
            "curl -X POST '{address}/api/flows/{}/start?wait=5000'",
            flow.id
        ),
        None => format!(
            "curl -X POST {address}/api/flows -H 'content-type: application/yaml' --data-binary @flow.yaml"
        ),
    }
}
