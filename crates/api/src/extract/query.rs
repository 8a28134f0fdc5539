//! Query parameters: a struct documents and reads them; unknown ones are rejected.

use axum::{extract::FromRequestParts, http::request::Parts};
use riverrun_types::{ErrorCode, EventId, Millis, time, words};
use serde::{Deserialize, Deserializer, de::DeserializeOwned, de::Error as _};

use crate::{app::Api, errors::ApiError};

/// Rows a page where the request says nothing, and at most.
pub(crate) const PAGE: usize = 50;
pub(crate) const MAX_PAGE: usize = 1_000;

pub(crate) struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Api> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let pairs = serde_urlencoded::Deserializer::new(url::form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(pairs).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner().to_string();
        // A parameter that is unknown or there twice is named by the cause.
        let named = cause
            .split('`')
            .nth(1)
            .filter(|_| cause.contains(" field `"));
        let name = named.map_or(path, str::to_owned);
        let reason = words::plain(&cause);
        let message = match named {
            Some(_) => reason,
            None => format!("{name}: {reason}"),
        };
        let details = serde_json::json!({ "parameter": name });
        ApiError::new(ErrorCode::BadQuery, message).details(details)
    })
}

/// How many rows: 1 to 1,000.
pub(crate) fn page_limit<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let text = String::deserialize(from)?;
    match text.parse() {
        Ok(limit @ 1..=MAX_PAGE) => Ok(limit),
        _ => Err(D::Error::custom(format!(
            "{:?} is not a whole number from 1 to {MAX_PAGE}",
            cut(&text)
        ))),
    }
}

/// A time, as ISO 8601 or milliseconds.
pub(crate) fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Millis>, D::Error> {
    let text = String::deserialize(from)?;
    let refuse = || {
        D::Error::custom(format!(
            "{:?} is not a time: give ISO 8601 (2026-01-31T12:00:00Z) or milliseconds since 1970",
            cut(&text)
        ))
    };
    time::parse(&text).map(Some).ok_or_else(refuse)
}

/// An event id or a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Moment {
    Event(EventId),
    Time(Millis),
}

pub(crate) fn moment_at<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Moment>, D::Error> {
    let text = String::deserialize(from)?;
    if let Ok(event) = text.parse() {
        return Ok(Some(Moment::Event(event)));
    }
    let refuse = || {
        D::Error::custom(format!(
            "{:?} is neither an event id (1761754554858-0) nor a time (ISO 8601 or milliseconds)",
            cut(&text)
        ))
    };
    let time = time::parse(&text).ok_or_else(refuse)?;
    Ok(Some(Moment::Time(time)))
}

/// `true`, `1` or nothing after the name; `false` or `0`.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let text = String::deserialize(from)?;
    match text.as_str() {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(D::Error::custom(format!(
            "{:?} is neither true nor false",
            cut(&text)
        ))),
    }
}

/// A flag that may be left out.
pub(crate) fn flag_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    flag(from).map(Some)
}

/// The most tags that one list may ask for: each is one more look for every row.
const MAX_TAGS: usize = 20;

/// Tags in a list with commas.
pub(crate) fn tags<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let text = String::deserialize(from)?;
    let tags: Vec<String> = comma_list(&text).map(str::to_owned).collect();
    match tags.len() > MAX_TAGS {
        true => Err(D::Error::custom(format!("at most {MAX_TAGS} tags"))),
        false => Ok(tags),
    }
}

/// The non-empty parts of a list with commas.
pub(crate) fn comma_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(64).map_or(text.len(), |(at, _)| at);
    &text[..end]
}
