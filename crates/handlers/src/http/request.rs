//! Makes the request from a config and the values of a visit.

use bytes::Bytes;
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use riverrun_contract::Call;
use riverrun_engine::{Failure, Template, View};
use riverrun_types::{ErrorCode, json::push_text};
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::{
    guard::check_form,
    location::{self, Location},
};
use crate::{config::Issues, scope};

/// Headers that belong to the connection or to the client, not to a step.
const RESERVED: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestConfig {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    query: Map<String, Value>,
    body_type: Option<BodyType>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BodyType {
    Json,
    Text,
}

pub(super) struct RequestTemplate {
    method: Method,
    url: Location,
    headers: Vec<(HeaderName, Template)>,
    query: Vec<(String, Template)>,
    body: Option<Template>,
    body_type: Option<BodyType>,
}

/// A request ready to be sent, more than once if it is redirected.
pub(super) struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Bytes>,
}

impl RequestTemplate {
    pub fn prepare(
        config: RequestConfig,
        body: Option<Value>,
        issues: &mut Issues,
    ) -> Option<Self> {
        let url = prepare_url(&config.url, issues);
        let method = config.method.as_deref().unwrap_or("GET");
        let method = Method::from_bytes(method.as_bytes());
        let mut headers = Vec::new();
        for (name, value) in &config.headers {
            let at = format!("headers.{name}");
            let template = issues.template(&at, value);
            let name = prepare_header(&at, name, issues);
            headers.extend(name.zip(template));
        }
        let mut query = Vec::new();
        for (name, value) in config.query {
            let template = issues.template(&format!("query.{name}"), &value);
            query.extend(template.map(|template| (name, template)));
        }
        let body = body.map(|body| issues.template("body", &body));
        Some(Self {
            method: method.ok()?,
            url: url?,
            headers,
            query,
            body: body.flatten(),
            body_type: config.body_type,
        })
    }

    pub fn resolve(&self, call: &Call<'_>) -> Result<Request, Failure> {
        let members = scope::members(call);
        let view = call.view.clone().inside(&members);
        let url = self.url.resolve(&view, call.max_value_bytes);
        let mut url = url.map_err(input_error)?;
        self.add_query(&mut url, &view, call)?;
        let mut headers = self.headers(&view, call)?;
        let body = self.body(&view, &mut headers, call)?;
        if !headers.contains_key(&IDEMPOTENCY_KEY) {
            let key = format!("{}__{}#{}", call.run, call.step, call.visit);
            // Ids and step names are plain, so this holds; if not, a key is better missing.
            if let Ok(key) = HeaderValue::from_str(&key) {
                headers.insert(IDEMPOTENCY_KEY, key);
            }
        }
        Ok(Request {
            method: self.method.clone(),
            url,
            headers,
            body,
        })
    }

    fn add_query(&self, url: &mut Url, view: &View<'_>, call: &Call<'_>) -> Result<(), Failure> {
        let limit = call.max_value_bytes;
        for (name, template) in &self.query {
            let Some(value) = call.resolve(template, view)? else {
                continue;
            };
            let values = value.raw_items().unwrap_or_else(|| vec![value.raw()]);
            for value in values.into_iter().filter(|value| value.get() != "null") {
                let mut text = String::new();
                let room = limit.saturating_sub(url.as_str().len() + name.len() + 2);
                if !push_text(value, &mut text, room) {
                    return Err(input_error(location::too_long(limit)));
                }
                url.query_pairs_mut().append_pair(name, &text);
            }
        }
        Ok(())
    }

    fn headers(&self, view: &View<'_>, call: &Call<'_>) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        let mut left = call.max_value_bytes;
        for (name, template) in &self.headers {
            let value = call.resolve(template, view)?;
            let Some(value) = value.filter(|value| !value.is_null()) else {
                continue;
            };
            let mut text = String::new();
            if !push_text(value.raw(), &mut text, left) {
                let limit = call.max_value_bytes;
                let message = format!("the headers would have more than {limit} bytes");
                return Err(input_error(message));
            }
            left -= text.len();
            let mut value = HeaderValue::from_str(&text).map_err(|_| {
                input_error(format!(
                    "the value of the header {name} has a line break or control character"
                ))
            })?;
            value.set_sensitive(true);
            headers.append(name.clone(), value);
        }
        Ok(headers)
    }

    fn body(
        &self,
        view: &View<'_>,
        headers: &mut HeaderMap,
        call: &Call<'_>,
    ) -> Result<Option<Bytes>, Failure> {
        let Some(template) = &self.body else {
            return Ok(None);
        };
        let Some(value) = call.resolve(template, view)? else {
            return Ok(None);
        };
        let is_text = match self.body_type {
            Some(body_type) => body_type == BodyType::Text,
            None => value.as_str().starts_with('"'),
        };
        let (body, content_type) = if is_text {
            (value.as_text().into_owned(), "text/plain; charset=utf-8")
        } else {
            (value.as_str().to_owned(), "application/json")
        };
        headers
            .entry(CONTENT_TYPE)
            .or_insert(HeaderValue::from_static(content_type));
        Ok(Some(Bytes::from(body)))
    }
}

fn input_error(message: String) -> Failure {
    Failure::new(ErrorCode::InputError, message).permanent()
}

fn prepare_url(text: &str, issues: &mut Issues) -> Option<Location> {
    issues.template("url", &Value::from(text))?;
    let url = Location::parse(text);
    if let Some(fixed) = url.fixed() {
        let checked =
            location::read(fixed).and_then(|url| check_form(&url).map_err(|e| e.to_string()));
        if let Err(message) = checked {
            issues.add("url", "url", message);
            return None;
        }
    }
    Some(url)
}

fn prepare_header(at: &str, name: &str, issues: &mut Issues) -> Option<HeaderName> {
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
        issues.add(at, "header", format!("{name:?} is not a header's name"));
        return None;
    };
    if RESERVED.contains(&name.as_str()) {
        let message = format!("the header {name} is set by the client and cannot be given");
        issues.add(at, "header", message);
        return None;
    }
    Some(name)
}
