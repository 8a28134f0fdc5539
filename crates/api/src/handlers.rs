//! The step types of this server, and the schema of definitions.

use axum::extract::State;
use riverrun_engine::flow_schema;
use riverrun_runtime::{Effects, Handler};
use riverrun_types::ErrorCode;

use crate::{
    app::Api,
    errors::ApiError,
    extract::Segments,
    reply::{Answer, ok},
    schemas::{self, HandlerInfo, HandlerList},
};

/// List handlers
#[utoipa::path(get, path = "/api/handlers", tag = "handlers",
    responses((status = 200, description = "The handlers, without their schemas", body = HandlerList)))]
pub(crate) async fn list_handlers(State(api): State<Api>) -> Answer {
    let handlers = api.runtime().flows().handlers().iter();
    ok(&HandlerList {
        items: handlers.map(|handler| info(&**handler, false)).collect(),
    })
}

/// Read a handler
#[utoipa::path(get, path = "/api/handlers/{kind}", tag = "handlers",
    params(("kind" = String, Path, description = "The `type` of the step")),
    responses(
        (status = 200, description = "The handler", body = HandlerInfo),
        (status = 404, description = ErrorCode::HandlerNotFound, body = schemas::Failure)))]
pub(crate) async fn get_handler(
    State(api): State<Api>,
    Segments(kind): Segments<String>,
) -> Answer {
    let missing = || {
        let kind: String = kind.chars().take(64).collect();
        ApiError::new(
            ErrorCode::HandlerNotFound,
            format!("there is no handler {kind:?}"),
        )
    };
    let handler = api
        .runtime()
        .flows()
        .handlers()
        .get(&kind)
        .ok_or_else(missing)?;
    ok(&info(&**handler, true))
}

/// Read the schema of definitions
///
/// JSON Schema of a flow, for editors.
#[utoipa::path(get, path = "/api/schemas/flow", tag = "flows",
    responses((status = 200, description = "The schema", body = Value)))]
pub(crate) async fn get_flow_schema() -> Answer {
    ok(flow_schema())
}

fn info(handler: &dyn Handler, with_schema: bool) -> HandlerInfo {
    HandlerInfo {
        r#type: handler.kind().to_owned(),
        about: handler.about().to_owned(),
        effects: match handler.effects() {
            Effects::None => "none",
            Effects::Some => "some",
        },
        schema: with_schema.then(|| handler.schema()),
    }
}
