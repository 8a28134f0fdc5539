//! Compressed answers.

use std::{convert::Infallible, future::ready};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Request, header},
    response::Response,
};
use tower::{Layer, ServiceExt, service_fn};
use tower_http::compression::{
    CompressionLayer, CompressionLevel,
    predicate::{NotForContentType, Predicate, SizeAbove},
};

/// Smaller answers are sent as they are.
const LEAST_BYTES: u64 = 1_024;

/// The encodings that a client accepts: its headers `Accept-Encoding`.
pub(crate) struct Accepted(Vec<HeaderValue>);

impl Accepted {
    pub fn of(headers: &HeaderMap) -> Self {
        let given = headers.get_all(header::ACCEPT_ENCODING);
        Self(given.iter().cloned().collect())
    }
}

/// Compresses a large answer if the client accepts that. Live streams and small answers are not worth
/// it, and pass without cost.
pub(crate) async fn compress(accepted: Accepted, answer: Response) -> Response {
    let streams = NotForContentType::const_new("text/event-stream");
    let is_worth_it = SizeAbove::new(LEAST_BYTES).and(streams);
    if !is_worth_it.should_compress(&answer) {
        return answer;
    }
    let mut request = Request::new(());
    for encodings in accepted.0 {
        request
            .headers_mut()
            .append(header::ACCEPT_ENCODING, encodings);
    }
    let mut answer = Some(answer);
    let answered = service_fn(move |_: Request<()>| {
        ready(Ok::<_, Infallible>(answer.take().unwrap_or_default()))
    });
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(is_worth_it)
        .layer(answered);
    match compression.oneshot(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(never) => match never {},
    }
}
