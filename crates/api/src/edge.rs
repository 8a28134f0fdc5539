//! The layer around every request: its id, its span, the checks of its host and origin, its time
//! limit, the rest of a body that the handler did not read, the memory of large answers, and an
//! answer in the one error shape even after a panic.

use std::{
    any::Any,
    panic::AssertUnwindSafe,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::FutureExt;
use riverrun_runtime::{SMALL, has_costly_schema};
use riverrun_types::{ErrorCode, RunId};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

use crate::{
    app::Api,
    callbacks,
    compression::{Accepted, compress},
    cross_site,
    errors::ApiError,
    headers,
    read_on::read_on,
    serve::Leave,
    unread,
};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// No browser guesses that an answer is something else than it says.
const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// The id of a request, for its handler.
#[derive(Clone)]
pub(crate) struct RequestId(pub String);

pub(crate) async fn around(State(api): State<Api>, mut request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let known = RequestId(id.to_str().unwrap_or_default().to_owned());
    request.extensions_mut().insert(known);
    let request = read_on(request, api.options().max_body_bytes);
    let span = tracing::debug_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        method = %request.method(),
        path = request.uri().path(),
    );
    let began = Instant::now();
    let mut response = {
        // Pinned here: to move a future of this size costs more than most requests have to spare.
        let answered = std::pin::pin!(answer(&api, &id, request, next));
        answered.instrument(span.clone()).await
    };
    span.in_scope(|| {
        let (status, elapsed) = (response.status().as_u16(), began.elapsed());
        tracing::debug!(status, ?elapsed, "answered");
    });
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    response
}

async fn answer(api: &Api, id: &HeaderValue, request: Request, next: Next) -> Response {
    let is_for_person = request.uri().path().starts_with(callbacks::PAGES);
    let refusal = |error: ApiError| match is_for_person {
        true => callbacks::failed(&error),
        false => error.into_response(),
    };
    let hosts = &api.options().hosts;
    let public = api.runtime().base().options().public_url.as_deref();
    let checked = headers::check(&request).and_then(|()| hosts.check(&request));
    if let Err(refused) = checked.and_then(|()| cross_site::check(&request, public)) {
        return refusal(refused);
    }
    let mut limit = api.options().request_timeout;
    let uri = request.uri();
    // What may wait for the end of a run.
    if uri.query().is_some_and(|query| query.contains("wait="))
        || uri.path().starts_with(riverrun_triggers::PREFIX)
    {
        limit += api.options().max_wait;
    }
    let guarded = std::pin::pin!(AssertUnwindSafe(respond(api, request, next)).catch_unwind());
    match tokio::time::timeout(limit, guarded).await {
        Ok(Ok(response)) => response,
        Ok(Err(panic)) => refusal(broken_down(id, &*panic)),
        Err(_) => {
            let message = format!("no answer within {} s", limit.as_secs());
            refusal(ApiError::new(ErrorCode::RequestTimeout, message))
        }
    }
}

/// The answer of a route, compressed and counted if it is large.
async fn respond(api: &Api, request: Request, next: Next) -> Response {
    let accepted = Accepted::of(request.headers());
    let leave = request.extensions().get::<Leave>().cloned();
    let response = run(request, next).await;
    compress(accepted, unread::count(api, leave, response)).await
}

/// Requests that may be long to compute and are handled at once. Each of them may need a thread.
static COMPUTING: Semaphore = Semaphore::const_new(256);

/// Handles a request. One that may have to compute something large does so in a task of its own: the
/// time limit of the request holds meanwhile, also where the computation cannot be interrupted.
async fn run(request: Request, next: Next) -> Response {
    if !may_compute(&request) {
        return next.run(request).await;
    }
    let waits = request
        .uri()
        .query()
        .is_some_and(|query| query.contains("wait="));
    let handled = async move {
        // Kept until the computation has ended, even if the client has left. A request that waits
        // for the end of a run does not compute and takes no place.
        let _place = match waits {
            true => None,
            false => COMPUTING.acquire().await.ok(),
        };
        next.run(request).await
    };
    let task = AbortOnDropHandle::new(tokio::spawn(handled.in_current_span()));
    match task.await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => ApiError::new(ErrorCode::ShuttingDown, "the server is shutting down")
                .into_response(),
        },
    }
}

/// Whether a request has a large body, one that is a definition, or one that a costly schema may be
/// for.
fn may_compute(request: &Request) -> bool {
    if request.method().is_safe() {
        return false;
    }
    let path = request.uri().path();
    let defines = [
        "/flows",
        "/flows/",
        "/flow",
        "/validate",
        "/triggers",
        "/schedules",
    ];
    let size = axum::body::HttpBody::size_hint(request.body()).upper();
    has_costly_schema()
        || size.is_none_or(|bytes| bytes > SMALL as u64)
        || defines.iter().any(|end| path.ends_with(end))
}

fn broken_down(id: &HeaderValue, panic: &(dyn Any + Send)) -> ApiError {
    let panic = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("of an unknown kind");
    tracing::error!(panic, "a request made the server panic");
    let id = id.to_str().unwrap_or_default();
    ApiError::new(
        ErrorCode::Internal,
        "the server made a mistake; nothing else is affected",
    )
    .details(json!({ "requestId": id }))
}

/// The id that the client gave, or a new one: unique in this process and unlikely in any other.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    static PREFIX: OnceLock<String> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let usable = |id: &&HeaderValue| {
        (1..=128).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
    };
    if let Some(given) = headers.get(REQUEST_ID).filter(usable) {
        return given.clone();
    }
    let prefix = PREFIX.get_or_init(|| {
        let fresh = RunId::fresh().to_string().replace('-', "");
        fresh[fresh.len() - 12..].to_owned()
    });
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    HeaderValue::from_str(&format!("{prefix}-{count:x}"))
        .unwrap_or(HeaderValue::from_static("unknown"))
}

pub(crate) async fn not_found(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(128).collect();
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is no route {method} {path}"),
    )
}

pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(128).collect();
    let message = format!("{path} has no method {method}: the header Allow names those it has");
    ApiError::new(ErrorCode::MethodNotAllowed, message)
}
