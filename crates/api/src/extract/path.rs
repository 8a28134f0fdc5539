//! Ids in paths.

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use riverrun_store::{RunFilter, RunRecord};
use riverrun_types::{ErrorCode, Name, RunId};
use serde::de::DeserializeOwned;

use crate::{app::Api, errors::ApiError};

/// The parameters of a path, decoded.
pub(crate) struct Segments<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Api> for Segments<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, api).await {
            Ok(Path(segments)) => Ok(Self(segments)),
            Err(rejection) => Err(ApiError::new(ErrorCode::BadRequest, rejection.body_text())),
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

/// The job that a path names; `latest` is the one that was added last.
pub(crate) struct JobPath(pub RunId);

impl FromRequestParts<Api> for JobPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Segments(id) = Segments::<String>::from_request_parts(parts, api).await?;
        job_id(api, &id).await.map(Self)
    }
}

/// Checks an id of a job, and finds out which one `latest` is.
pub(crate) async fn job_id(api: &Api, text: &str) -> Result<RunId, ApiError> {
    if text != "latest" {
        return RunId::checked(text)
            .map_err(|error| ApiError::new(ErrorCode::BadId, error.to_string()));
    }
    let newest = api.runtime().base().store().newest_job().await?;
    newest.ok_or_else(|| ApiError::new(ErrorCode::JobNotFound, "there is no job yet"))
}

/// The id of a run below its flow; `latest` is the newest run of that flow.
pub(crate) struct FlowRunPath(pub RunId);

impl FromRequestParts<Api> for FlowRunPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Segments((flow, id)) =
            Segments::<(String, String)>::from_request_parts(parts, api).await?;
        let flow = FlowPath::from(flow);
        let missing = || {
            let message = format!("flow {:?} has no run {id:?}", flow.id);
            ApiError::new(ErrorCode::RunNotFound, message)
        };
        let record = if id == "latest" {
            let newest = RunFilter {
                flow: Some(Name::from(flow.id.as_str())),
                version: flow.version.as_deref().map(Name::from),
                limit: 1,
                ..RunFilter::default()
            };
            api.runtime().runs().list(&newest).await?.items.pop()
        } else {
            let run = run_id(api, &id).await?;
            api.runtime().base().store().run(&run).await?
        };
        match record {
            Some(record) if flow.is_of(&record) => Ok(Self(record.id)),
            _ => Err(missing()),
        }
    }
}

/// Checks an id of a run, and finds out which one `latest` is.
pub(crate) async fn run_id(api: &Api, text: &str) -> Result<RunId, ApiError> {
    if text != "latest" {
        return RunId::checked(text)
            .map_err(|error| ApiError::new(ErrorCode::BadId, error.to_string()));
    }
    let newest = RunFilter {
        limit: 1,
        ..RunFilter::default()
    };
    let newest = api.runtime().runs().list(&newest).await?.items.pop();
    newest
        .map(|record| record.id)
        .ok_or_else(|| ApiError::new(ErrorCode::RunNotFound, "there is no run yet"))
}

/// A flow, with the version if the path names one: `id` or `id@version`.
pub(crate) struct FlowPath {
    pub id: String,
    pub version: Option<String>,
}

impl FromRequestParts<Api> for FlowPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ApiError> {
        let Segments(id) = Segments::<String>::from_request_parts(parts, api).await?;
        Ok(Self::from(id))
    }
}

impl From<String> for FlowPath {
    fn from(mut id: String) -> Self {
        let version = id.find('@').map(|at| {
            let version = id[at + 1..].to_owned();
            id.truncate(at);
            version
        });
        Self { id, version }
    }
}

impl FlowPath {
    fn is_of(&self, record: &RunRecord) -> bool {
        let version = self.version.as_deref();
        *record.flow == *self.id && version.is_none_or(|version| *record.version == *version)
    }
}
