//! Rejects requests that a web page of another site makes in a user's browser.
//!
//! Such a page must not be able to change anything on a server that trusts its own machine.
//! Browsers send the origin of a request: in `Sec-Fetch-Site` with every request, in `Origin` with
//! most requests that can change something. The route decides whether a request may change
//! something, not the method: a hook starts a run by GET as well, and browsers let any page open a
//! WebSocket. Reading pages is allowed from everywhere, so that links to approvals and to the
//! documentation work.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, Method, header},
};
use riverrun_types::ErrorCode;
use url::Url;

use crate::errors::ApiError;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Rejects a request that changes something and comes from a page of another origin. Pages of the
/// public address are the server's own, whatever a proxy makes of the name.
pub(crate) fn check(request: &Request, public: Option<&str>) -> Result<(), ApiError> {
    if !may_change(request) {
        return Ok(());
    }
    let headers = request.headers();
    let origin = headers.get(header::ORIGIN);
    let origin = origin.map(|origin| origin.to_str().unwrap_or_default());
    let is_own_site = match headers.get(SITE).map(|site| site.as_bytes()) {
        None => true,
        // `none`: somebody typed the address, or opened a bookmark.
        Some(site) => matches!(site, b"same-origin" | b"none"),
    };
    let is_allowed = match origin {
        None => is_own_site,
        Some(origin) if is_public(origin, public) => true,
        Some(origin) => is_own_site && is_own(origin, headers),
    };
    match is_allowed {
        true => Ok(()),
        false => Err(refusal(origin)),
    }
}

/// Whether a request may change something, or opens a connection over which that is possible.
fn may_change(request: &Request) -> bool {
    let only_reads = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    !only_reads
        || request.headers().contains_key(header::UPGRADE)
        || request.uri().path().starts_with(riverrun_triggers::PREFIX)
}

fn is_own(origin: &str, headers: &HeaderMap) -> bool {
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    !host.is_empty()
        && [header::HOST, FORWARDED_HOST]
            .iter()
            .filter_map(|name| headers.get(name)?.to_str().ok())
            .any(|own| own.eq_ignore_ascii_case(host))
}

fn is_public(origin: &str, public: Option<&str>) -> bool {
    let public = public.and_then(|url| Some(Url::parse(url).ok()?.origin()));
    public.is_some_and(|public| {
        public.is_tuple() && public.ascii_serialization().eq_ignore_ascii_case(origin)
    })
}

fn refusal(origin: Option<&str>) -> ApiError {
    let page = match origin {
        Some(origin) => format!("{:?}", origin.chars().take(64).collect::<String>()),
        None => "another site".to_owned(),
    };
    let message = format!("a page of {page} may not change anything here");
    ApiError::new(ErrorCode::ForbiddenOrigin, message)
}
