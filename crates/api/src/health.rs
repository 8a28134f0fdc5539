//! Liveness, readiness and version of the server.

use riverrun_types::ErrorCode;
use std::time::Duration;

use axum::extract::State;

use crate::{
    app::Api,
    errors::ApiError,
    reply::{Answer, ok},
    schemas::{self, Expressions, Health, Ready, Version},
};

/// How long the store may take to prove that it can be written.
const CHECK: Duration = Duration::from_secs(5);

/// Check that the process answers
#[utoipa::path(get, path = "/healthz", tag = "server",
    responses((status = 200, description = "The process answers", body = Health)))]
pub(crate) async fn healthz() -> Answer {
    ok(&Health { status: "ok" })
}

/// Check that the server is ready
///
/// Writes to the store, checks the free disk space, and evaluates an expression if the last ones
/// failed.
#[utoipa::path(get, path = "/readyz", tag = "server",
    responses(
        (status = 200, description = "Ready for work", body = Ready),
        (status = 503, description = "Not ready; the code is the reason", body = schemas::Failure),
        (status = 507, description = ErrorCode::DiskFull, body = schemas::Failure)))]
pub(crate) async fn readyz(State(api): State<Api>) -> Answer {
    if api.runtime().base().is_stopping() {
        return Err(riverrun_runtime::Error::ShuttingDown.into());
    }
    match tokio::time::timeout(CHECK, api.runtime().base().store().check()).await {
        Ok(checked) => checked?,
        Err(_) => {
            let message = format!("the store did not answer within {} s", CHECK.as_secs());
            return Err(ApiError::new(ErrorCode::StoreUnavailable, message));
        }
    }
    let sandbox = &api.runtime().flows().services().sandbox;
    match tokio::time::timeout(CHECK, sandbox.check()).await {
        Ok(checked) => checked.map_err(|error| ApiError::new(error.code(), error.to_string()))?,
        Err(_) => {
            let message = format!("no expression was evaluated within {} s", CHECK.as_secs());
            return Err(ApiError::new(ErrorCode::ExprUnavailable, message));
        }
    }
    let counts = sandbox.stats();
    ok(&Ready {
        status: "ok",
        expressions: Expressions {
            processes: counts.processes,
            started: counts.started,
            killed: counts.killed,
            crashed: counts.crashed,
            unavailable: counts.unavailable,
        },
    })
}

/// Read the version
#[utoipa::path(get, path = "/api/version", tag = "server",
    responses((status = 200, description = "Name, version and store", body = Version)))]
pub(crate) async fn version(State(api): State<Api>) -> Answer {
    ok(&Version {
        name: "riverrun",
        version: env!("CARGO_PKG_VERSION"),
        store: api.runtime().base().store().describe().await?,
    })
}
