//! Sends a request and follows its redirects; every hop is checked again.

use riverrun_types::ErrorCode;
use std::{error::Error, sync::Arc, time::Duration};

use reqwest::{
    Client, Method, Response, StatusCode,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION,
        USER_AGENT,
    },
    redirect::Policy,
};
use riverrun_engine::Failure;
use serde_json::json;
use url::Url;

use super::{
    guard::{AllowRule, Forbidden, Guard, GuardedResolver, Route},
    request::Request,
};

const MAX_REDIRECTS: usize = 5;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The headers that may follow a redirect to another origin. Any other may be a secret: keys go
/// by a hundred names.
const HARMLESS: [HeaderName; 5] = [
    ACCEPT,
    ACCEPT_LANGUAGE,
    CONTENT_TYPE,
    USER_AGENT,
    HeaderName::from_static("idempotency-key"),
];

/// The way out. Two clients, because the resolver of a client does not know which port a request is
/// for: hosts that a rule allows by name go through the one whose resolver asks nothing.
pub(super) struct Network {
    guard: Arc<Guard>,
    guarded: Client,
    trusted: Client,
}

impl Network {
    pub fn new(allow: Vec<AllowRule>) -> Result<Self, reqwest::Error> {
        let guard = Arc::new(Guard::new(allow));
        let builder = || {
            Client::builder()
                .no_proxy()
                .redirect(Policy::none())
                .referer(false)
                .connect_timeout(CONNECT_TIMEOUT)
                .user_agent(concat!("riverrun/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Self {
            guarded: builder()
                .dns_resolver(GuardedResolver(guard.clone()))
                .build()?,
            trusted: builder().build()?,
            guard,
        })
    }

    /// The response to a request, with its body still to be read.
    pub async fn send(&self, mut request: Request, follow: bool) -> Result<Response, Failure> {
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(&request).await?;
            let Some(next) = redirect(&request, &response).filter(|_| follow) else {
                return Ok(response);
            };
            request = next?;
        }
        let message = format!("more than {MAX_REDIRECTS} redirects");
        Err(Failure::new(ErrorCode::HttpError, message).permanent())
    }

    async fn send_once(&self, request: &Request) -> Result<Response, Failure> {
        let client = match self.guard.judge(&request.url).map_err(|e| forbidden(&e))? {
            Route::Guarded => &self.guarded,
            Route::Trusted => &self.trusted,
        };
        let mut builder = client
            .request(request.method.clone(), request.url.clone())
            .headers(request.headers.clone());
        if let Some(body) = &request.body {
            builder = builder.body(body.clone());
        }
        builder
            .send()
            .await
            .map_err(|error| broken(&error, &origin(&request.url)))
    }
}

/// The request that a response asks for instead, if it is a redirect.
fn redirect(request: &Request, response: &Response) -> Option<Result<Request, Failure>> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let url = location
        .to_str()
        .ok()
        .and_then(|to| request.url.join(to).ok());
    let Some(url) = url else {
        let message = format!("{status}, but its location cannot be read");
        return Some(Err(Failure::new(ErrorCode::HttpError, message).permanent()));
    };
    let mut next = Request {
        method: request.method.clone(),
        headers: request.headers.clone(),
        body: request.body.clone(),
        url,
    };
    if becomes_get(status, &request.method) {
        next.method = Method::GET;
        next.body = None;
        next.headers.remove(CONTENT_TYPE);
        next.headers.remove(CONTENT_LENGTH);
    }
    if next.url.origin() != request.url.origin() {
        next.headers = harmless(&next.headers);
    }
    Some(Ok(next))
}

/// As browsers do: 303 always, 301 and 302 of a POST.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        303 => method != Method::HEAD,
        301 | 302 => method == Method::POST,
        _ => false,
    }
}

fn harmless(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| HARMLESS.contains(name));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn forbidden(why: &Forbidden) -> Failure {
    Failure::new(ErrorCode::HttpForbidden, why.to_string()).permanent()
}

/// What a broken exchange says. The URL's path and query may hold secrets; its origin may not.
pub(super) fn broken(error: &reqwest::Error, origin: &str) -> Failure {
    let mut causes: Vec<&(dyn Error + 'static)> = Vec::new();
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(why) = error.downcast_ref::<Forbidden>() {
            return forbidden(why);
        }
        causes.push(error);
        cause = error.source();
    }
    if error.is_timeout() {
        return Failure::new(
            ErrorCode::Timeout,
            format!("{origin} did not answer in time"),
        );
    }
    let why = causes
        .last()
        .map_or_else(|| "the request failed".to_owned(), ToString::to_string);
    let what = if error.is_connect() {
        "cannot connect to"
    } else {
        "no answer from"
    };
    let mut failure = Failure::new(ErrorCode::HttpError, format!("{what} {origin}: {why}"))
        .details(json!({"origin": origin}));
    failure.retriable = Some(true);
    failure
}

pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}
