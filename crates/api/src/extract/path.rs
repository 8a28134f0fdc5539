//! Ids in paths.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use riverrun_store::RunFilter;
use riverrun_types::RunId;
use serde::de::DeserializeOwned;

use crate::{app::Api, errors::ApiError};

/// The parameters of a path, decoded.
pub(crate) struct Segments<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Api> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, api).await {
            Ok(Path(segments)) => Ok(Self(segments)),
            Err(rejection) => Err(ApiError::new("BAD_REQUEST", rejection.body_text())),
        }
    }
}

/// The run that a path names; `latest` is the newest one.
pub(crate) struct RunPath(pub RunId);

impl FromRequestParts<Api> for RunPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Segments(id) = Segments::<String>::from_request_parts(parts, api).await?;
        run_id(api, &id).await.map(Self)
    }
}

/// Checks an id of a run, and finds out which one `latest` is.
pub(crate) async fn run_id(api: &Api, text: &str) -> Result<RunId, ApiError> {
    if text != "latest" {
        return RunId::checked(text).map_err(|error| ApiError::new("BAD_ID", error.to_string()));
    }
    let newest = RunFilter {
        limit: 1,
        ..RunFilter::default()
    };
    let newest = api.runtime().list(&newest).await?.items.pop();
    newest
        .map(|record| record.id)
        .ok_or_else(|| ApiError::new("RUN_NOT_FOUND", "there is no run yet"))
}

/// A flow, with the version if the path names one: `id` or `id@version`.
pub(crate) struct FlowPath {
    pub id: String,
    pub version: Option<String>,
}

impl FromRequestParts<Api> for FlowPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Segments(mut id) = Segments::<String>::from_request_parts(parts, api).await?;
        let version = id.find('@').map(|at| {
            let version = id[at + 1..].to_owned();
            id.truncate(at);
            version
        });
        Ok(Self { id, version })
    }
}
