//! Reads bodies up to a size: JSON, or YAML for definitions.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use futures::StreamExt;
use riverrun_engine::{Issue, too_many_steps};
use riverrun_runtime::{Error, Format, NotRead, Work, compute, read_definition};
use riverrun_types::{
    ErrorCode, Json,
    json::{
        is_repeated_member,
        strict::{self, Strict},
    },
    words::plain,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, error::Category, json};

use super::room::{FREE_BYTES, hold};
use crate::{app::Api, errors::ApiError};

/// How long a client may take to send its body.
const UPLOAD: Duration = Duration::from_secs(25);

/// A JSON object as body. Without a body it is the default; blanks are a body, and no JSON.
pub(crate) struct Body<T>(pub T);

impl<T: DeserializeOwned + Default + Send + 'static> FromRequest<Api> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let format = format(request.headers())?;
        let bytes = bytes(request, api).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        json_only(format)?;
        off_the_async_threads(bytes, |bytes| read_object(bytes).map(Self)).await
    }
}

/// Reads a JSON object, also where the type would take something else.
pub(crate) fn read_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if bytes.trim_ascii_start().starts_with(b"{") {
        return read(bytes);
    }
    read::<serde::de::IgnoredAny>(bytes)?;
    let message = "the body must be a JSON object, as in {}";
    Err(ApiError::new(ErrorCode::BadRequest, message))
}

/// A JSON body of any kind, kept as text.
pub(crate) struct Payload(pub Json);

impl FromRequest<Api> for Payload {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        json_only(format(request.headers())?)?;
        let bytes = bytes(request, api).await?;
        off_the_async_threads(bytes, |bytes| read(bytes).map(Self)).await
    }
}

/// A body of any kind, as it came.
pub(crate) struct Raw(pub Bytes);

impl FromRequest<Api> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        bytes(request, api).await.map(Self)
    }
}

/// A definition, in JSON or YAML.
pub(crate) struct Definition(pub Value);

impl FromRequest<Api> for Definition {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let read = read_definition_of(request, api, usize::MAX).await?;
        let definition = read.map_err(|issue| Error::FlowInvalid(vec![issue]))?;
        Ok(Self(definition))
    }
}

/// A flow's definition, in JSON or YAML. One that has too many steps is not read to its end: then
/// there is the issue that says so.
pub(crate) struct FlowDefinition(pub Result<Value, Issue>);

impl FromRequest<Api> for FlowDefinition {
    type Rejection = ApiError;

    async fn from_request(request: Request, api: &Api) -> Result<Self, ApiError> {
        let max_steps = api.runtime().base().options().max_flow_steps;
        let read = read_definition_of(request, api, max_steps).await;
        read.map(Self)
    }
}

async fn read_definition_of(
    request: Request,
    api: &Api,
    max_steps: usize,
) -> Result<Result<Value, Issue>, ApiError> {
    let format = format(request.headers())?;
    let bytes = bytes(request, api).await?;
    compute(Work::on_text(bytes.len()), || {
        read_flow(&bytes, format, max_steps)
    })
}

fn read_flow(
    bytes: &[u8],
    format: Format,
    max_steps: usize,
) -> Result<Result<Value, Issue>, ApiError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ApiError::new(ErrorCode::BadDefinition, "the definition is not UTF-8 text"))?;
    match read_definition(text, format, max_steps) {
        Ok(definition) => Ok(Ok(definition)),
        Err(NotRead::TooManySteps) => Ok(Err(too_many_steps(max_steps))),
        Err(NotRead::Json(error)) => Err(refusal::<Value>(bytes, &error)),
        Err(NotRead::Other(error)) => Err(error.into()),
    }
}

/// Bodies up to this size are read where they arrive, which takes less than handing them over.
const READ_HERE_BYTES: usize = 256 << 10;

/// Reads a body; a large one on a thread that may be busy for a while.
async fn off_the_async_threads<T: Send + 'static>(
    bytes: Bytes,
    read: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if bytes.len() <= READ_HERE_BYTES {
        return read(&bytes);
    }
    match tokio::task::spawn_blocking(move || read(&bytes)).await {
        Ok(read) => read,
        Err(_) => Err(ApiError::new(
            ErrorCode::Internal,
            "the body could not be read",
        )),
    }
}

/// Reads JSON, and says where and which field when it does not fit.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    strict::from_slice(bytes).map_err(|error| refusal::<T>(bytes, &error))
}

#[cold]
fn refusal<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> ApiError {
    let place = json!({"line": error.line(), "column": error.column()});
    if error.classify() != Category::Data {
        return ApiError::new(ErrorCode::BadJson, format!("the body is not JSON: {error}"))
            .details(place);
    }
    if is_repeated_member(error) {
        let message = plain(&error.to_string());
        return ApiError::new(ErrorCode::DuplicateMember, message).details(place);
    }
    if let Err(error) = std::str::from_utf8(bytes).map_or(Ok(()), riverrun_types::json::readable) {
        let refused = ApiError::new(
            ErrorCode::BadJson,
            format!("the body cannot be read: {error}"),
        );
        return match error.line() {
            0 => refused,
            line => refused.details(json!({"line": line, "column": error.column()})),
        };
    }
    // Only now is it worth knowing the field.
    let mut again = serde_json::Deserializer::from_slice(bytes);
    let field = match serde_path_to_error::deserialize::<_, T>(Strict::new(&mut again)) {
        Err(error) => error.path().to_string(),
        Ok(_) => ".".to_owned(),
    };
    let mut details = place;
    if field == "." || field == "?" {
        return ApiError::new(
            ErrorCode::BadRequest,
            format!("the body does not fit: {}", plain(&error.to_string())),
        )
        .details(details);
    }
    details["field"] = json!(field);
    let message = match plain(&error.to_string()) {
        // The cause names it already.
        cause if cause.contains(&format!("`{field}`")) => cause,
        cause => format!("{field}: {cause}"),
    };
    ApiError::new(ErrorCode::BadRequest, message).details(details)
}

/// The format that the body claims to have; JSON where it claims nothing.
fn format(headers: &HeaderMap) -> Result<Format, ApiError> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(Format::Json);
    };
    let given = given.to_str().unwrap_or("?");
    let essence = given.split(';').next().unwrap_or_default().trim();
    let is = |name: &str| essence.eq_ignore_ascii_case(name);
    if is("application/json") || is("text/json") || ends_with(essence, "+json") {
        Ok(Format::Json)
    } else if is("application/yaml") || is("application/x-yaml") || is("text/yaml") {
        Ok(Format::Yaml)
    } else {
        let given: String = given.chars().take(64).collect();
        let message = format!("the content type {given:?} is not supported: send application/json");
        Err(ApiError::new(ErrorCode::UnsupportedMediaType, message))
    }
}

fn ends_with(text: &str, end: &str) -> bool {
    text.len() >= end.len()
        && text.is_char_boundary(text.len() - end.len())
        && text[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

fn json_only(format: Format) -> Result<(), ApiError> {
    match format {
        Format::Json => Ok(()),
        Format::Yaml => Err(ApiError::new(
            ErrorCode::UnsupportedMediaType,
            "only definitions of flows may be YAML: send content-type application/json",
        )),
    }
}

async fn bytes(request: Request, api: &Api) -> Result<Bytes, ApiError> {
    bytes_up_to(request, api, api.options().max_body_bytes).await
}

/// A body of any kind.
pub(crate) async fn bytes_up_to(
    request: Request,
    api: &Api,
    limit: usize,
) -> Result<Bytes, ApiError> {
    let claimed = request.headers().get(header::CONTENT_LENGTH);
    let claimed = claimed.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if claimed.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let body = request.into_body();
    let read = async {
        match claimed {
            Some(length) if length <= FREE_BYTES => axum::body::to_bytes(body, limit)
                .await
                .map_err(|error| unread(&error, limit)),
            _ => large(body, claimed, api, limit).await,
        }
    };
    match tokio::time::timeout(UPLOAD, read).await {
        Ok(read) => read,
        Err(_) => Err(ApiError::new(
            ErrorCode::BodyTimeout,
            format!(
                "the body did not arrive within {} s, or bodies of other requests left no room for it",
                UPLOAD.as_secs()
            ),
        )),
    }
}

/// A body that may be large: it is read once all of it has room.
async fn large(
    body: axum::body::Body,
    claimed: Option<usize>,
    api: &Api,
    limit: usize,
) -> Result<Bytes, ApiError> {
    let mut chunks = body.into_data_stream();
    let (mut bytes, mut room) = (Vec::new(), None);
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| unread(&error, limit))?;
        let length = bytes.len() + chunk.len();
        if length > limit {
            return Err(too_large(limit));
        }
        if room.is_none() && length > FREE_BYTES {
            room = api.body_room().reserve(claimed.unwrap_or(limit)).await;
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(hold(bytes, room))
}

fn unread(error: &axum::Error, limit: usize) -> ApiError {
    if is_over_limit(error) {
        return too_large(limit);
    }
    let message = format!("the body could not be read: {error}");
    ApiError::new(ErrorCode::BadRequest, message)
}

fn too_large(limit: usize) -> ApiError {
    let message = format!("the body has more than {limit} bytes");
    ApiError::new(ErrorCode::TooLarge, message).details(json!({ "limit": limit }))
}

fn is_over_limit(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        cause = error.source();
    }
    false
}
