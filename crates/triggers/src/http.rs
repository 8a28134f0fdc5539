//! Requests that start runs.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use riverrun_engine::Schema;
use riverrun_runtime::{Started, schema_issues};
use riverrun_types::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Error, Result, Trigger, Triggers,
    fire::{Shot, Story},
    read::{self, Given, land},
    route::{Pattern, RouteMatch},
    signature::{self, Signature},
    trigger::{Rule, schema},
};

/// What the paths of all http triggers begin with.
pub const PREFIX: &str = "/hooks";

/// Headers that say who somebody is: no expression sees them, no run keeps them.
const SECRET_HEADERS: [&str; 4] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
];

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default = "post")]
    method: String,
    path: String,
    #[serde(alias = "schema", alias = "inputSchema")]
    body_schema: Option<Value>,
    #[serde(default)]
    respond: Respond,
    timeout_ms: Option<u64>,
    max_body_bytes: Option<usize>,
    signature: Option<signature::Config>,
}

fn post() -> String {
    "POST".to_owned()
}

/// When a request is answered, and with what.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Respond {
    /// Once the run is on disk, with its id.
    #[default]
    Run,
    /// Once the run has ended, with the run.
    Result,
}

/// What an http trigger takes.
pub(crate) struct HttpRule {
    pub method: &'static str,
    pub pattern: Pattern,
    body_schema: Option<Schema>,
    wait: Option<Duration>,
    max_body_bytes: usize,
    signature: Option<Signature>,
}

impl HttpRule {
    /// `environment` looks up a variable.
    pub fn new(config: Config, environment: impl Fn(&str) -> Option<String>) -> Result<Self> {
        const MAX_BODY_BYTES: usize = 16 << 20;
        let method = method(&config.method)?;
        let max_body_bytes = config.max_body_bytes.unwrap_or(1 << 20);
        if max_body_bytes > MAX_BODY_BYTES {
            let message = format!("it must be at most {MAX_BODY_BYTES}");
            return Err(Error::invalid("config.maxBodyBytes", message));
        }
        let timeout_ms = config.timeout_ms.unwrap_or(30_000);
        if !(1..=300_000).contains(&timeout_ms) {
            return Err(Error::invalid("config.timeoutMs", "it must be 1 to 300000"));
        }
        let signature = config.signature;
        let signature = signature.map(|config| Signature::new(config, environment));
        Ok(Self {
            method,
            pattern: Pattern::parse(&config.path)?,
            body_schema: schema("config.bodySchema", config.body_schema.as_ref())?,
            wait: match config.respond {
                Respond::Run => None,
                Respond::Result => Some(Duration::from_millis(timeout_ms)),
            },
            max_body_bytes,
            signature: signature.transpose()?,
        })
    }
}

fn method(given: &str) -> Result<&'static str> {
    let method = given.to_ascii_uppercase();
    let known = METHODS.into_iter().find(|known| *known == method);
    known.ok_or_else(|| {
        let message = format!("it must be one of {}", METHODS.join(", "));
        Error::invalid("config.method", message)
    })
}

/// Where the requests of a trigger go, though the rest of its config may mean nothing.
pub(crate) fn place(config: &Map<String, Value>) -> Option<(&'static str, Pattern)> {
    let given = config.get("method").map_or(Some("POST"), Value::as_str)?;
    let path = config.get("path")?.as_str()?;
    Some((method(given).ok()?, Pattern::parse(path).ok()?))
}

/// A request as it came, but for its body.
#[derive(Clone, Debug, Default)]
pub struct HookRequest {
    pub method: String,
    /// Without [`PREFIX`], as it stands in the request.
    pub path: String,
    pub query: Option<String>,
    /// With names in lower case.
    pub headers: Vec<(String, String)>,
    pub request_id: Option<String>,
}

/// A trigger that takes a request.
pub struct Hook {
    trigger: Arc<Trigger>,
    parameters: Vec<String>,
    request: HookRequest,
}

/// A run that a request has started.
pub struct Hooked {
    pub started: Started,
    /// How long its end is to be waited for.
    pub wait: Option<Duration>,
}

/// What expressions see of a request, and a flow where nothing is mapped.
#[derive(Serialize)]
struct Parsed<'a> {
    method: &'a str,
    path: String,
    params: Map<String, Value>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    body: &'a Json,
}

impl Triggers {
    /// The trigger that takes a request, before its body is read.
    pub fn hook(&self, request: HookRequest) -> Result<Hook> {
        let (method, path) = (&request.method, &request.path);
        let cut = |text: &str| text.chars().take(128).collect::<String>();
        let no_route = || Error::NoRoute {
            method: cut(method),
            path: cut(&format!("{PREFIX}{path}")),
        };
        match self.known().routes.find(method, path) {
            RouteMatch::Nothing => Err(no_route()),
            RouteMatch::OtherMethods(allowed) => Err(Error::WrongMethod {
                method: cut(method),
                path: cut(&format!("{PREFIX}{path}")),
                allowed: allowed.join(", "),
            }),
            RouteMatch::Trigger { id, parameters } => {
                let is_text = |text: &String| percent_decode_str(text).decode_utf8().is_ok();
                if !parameters.iter().all(is_text) {
                    let message = "a parameter of the path is not UTF-8 text";
                    return Err(riverrun_runtime::Error::BadRequest(message.to_owned()).into());
                }
                let trigger = self.get(&id)?;
                if !trigger.enabled {
                    return Err(Error::Disabled(id));
                }
                Ok(Hook {
                    trigger,
                    parameters,
                    request,
                })
            }
        }
    }
}

impl Hook {
    /// Bytes that the body may have.
    pub fn max_body_bytes(&self) -> usize {
        self.rule().map_or(0, |rule| rule.max_body_bytes)
    }

    fn rule(&self) -> Option<&HttpRule> {
        match &self.trigger.rule {
            Rule::Http(rule) => Some(rule),
            _ => None,
        }
    }

    /// Starts the run that the request is for.
    pub async fn take(&self, triggers: &Triggers, body: Bytes) -> Result<Hooked> {
        let Some(rule) = self.rule() else {
            return Err(Error::Disabled(self.trigger.id.clone()));
        };
        let received_ms = triggers.runtime().base().now_ms();
        if let Some(signature) = &rule.signature {
            // Checked before anything is stored: an unsigned request causes no write.
            let checked = signature.check(|name| self.header(name), &body, received_ms);
            checked.inspect_err(|error| {
                tracing::warn!(trigger = %self.trigger.id, %error, "rejected a request");
            })?;
        }
        let source = format!("{} {PREFIX}{}", rule.method, self.pattern_text());
        let mut shot = Shot {
            trigger: &self.trigger,
            source: &source,
            received_ms,
            request_id: self.request.request_id.as_deref(),
            key: None,
            due_ms: None,
            take: None,
            story: Story::default(),
        };
        let input = match self.body(&body) {
            Ok(body) => self.input(triggers, rule, &body).await,
            Err(error) => Err(error),
        };
        let input = input.map(|(input, key)| {
            shot.key = key;
            input
        });
        let started = triggers.shoot(shot, input).await?;
        Ok(Hooked {
            started,
            wait: rule.wait,
        })
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.request.headers.iter();
        let found = headers.find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn pattern_text(&self) -> &str {
        let path = self.trigger.definition.config.get("path");
        path.and_then(Value::as_str).unwrap_or_default()
    }

    /// The body by what it says it is: JSON as its own text, a form as an object, a text as one.
    fn body(&self, bytes: &[u8]) -> Result<Json> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Json::null());
        }
        let given = self.header("content-type").unwrap_or("application/json");
        let essence = given.split(';').next().unwrap_or_default().trim();
        let essence = essence.to_ascii_lowercase();
        let text = || {
            let text = std::str::from_utf8(bytes);
            text.map_err(|_| Error::BadJson("it is not UTF-8 text".to_owned()))
        };
        if essence == "application/json" || essence == "text/json" || essence.ends_with("+json") {
            let text = text()?.to_owned();
            return Json::parse_text(text).map_err(|error| Error::BadJson(error.to_string()));
        }
        if essence == "application/x-www-form-urlencoded" {
            return Ok(Json::of(&pairs(bytes)));
        }
        if essence.starts_with("text/") {
            return Ok(Json::of(text()?));
        }
        Err(Error::MediaType(given.chars().take(64).collect()))
    }

    /// The input of the run, and its idempotency key.
    async fn input(
        &self,
        triggers: &Triggers,
        rule: &HttpRule,
        body: &Json,
    ) -> Result<(Json, Option<String>)> {
        if let Some(schema) = &rule.body_schema {
            let issues = schema_issues(schema, body);
            if !issues.is_empty() {
                return Err(Error::Body(issues));
            }
        }
        let request = Json::of(&self.parsed(rule, body));
        let given = Given {
            name: "request",
            what: &request,
            trigger: &self.trigger.about,
        };
        let expressions = &self.trigger.expressions;
        let runtime = triggers.runtime();
        let key = match &expressions.idempotency_key {
            Some(expr) => given.eval(runtime, "idempotencyKey", expr).await?,
            None => None,
        };
        let key = key.filter(|key| !key.is_null());
        let key = key.map(|key| read::key(&self.trigger.id, &key.as_text()));
        let value = match &expressions.input_map {
            Some(expr) => {
                let mapped = given.eval(runtime, "inputMap", expr).await?;
                mapped.unwrap_or_else(Json::null)
            }
            None if expressions.context_key.is_some() => body.clone(),
            None => request.clone(),
        };
        Ok((land(value, expressions.context_key.as_ref()), key))
    }

    fn parsed<'a>(&'a self, rule: &HttpRule, body: &'a Json) -> Parsed<'a> {
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let params = rule.pattern.parameters().zip(&self.parameters);
        let params = params.map(|(name, text)| (name.to_owned(), Value::from(decode(text))));
        let is_secret = |name: &str| {
            let signature = rule.signature.as_ref();
            SECRET_HEADERS.contains(&name) || signature.is_some_and(|it| it.header == name)
        };
        let headers = self.request.headers.iter();
        let headers = headers.filter(|(name, _)| !is_secret(name));
        let query = self.request.query.as_deref().unwrap_or_default();
        Parsed {
            method: rule.method,
            path: format!("{PREFIX}{}", self.request.path),
            params: params.collect(),
            query: pairs(query.as_bytes()),
            headers: headers
                .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
                .collect(),
            body,
        }
    }
}

/// Names and values of a query or a form. One that is there several times is a list.
pub fn pairs(text: &[u8]) -> Map<String, Value> {
    let mut pairs = Map::new();
    for (name, value) in url::form_urlencoded::parse(text) {
        let value = Value::from(value.into_owned());
        match pairs.get_mut(&*name) {
            None => {
                pairs.insert(name.into_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::from(vec![first.take(), value]),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_that_is_there_twice_is_a_list() {
        let read = |text: &str| Value::Object(pairs(text.as_bytes()));
        assert_eq!(read(""), json!({}));
        assert_eq!(
            read("a=1&b=x%20y&c"),
            json!({"a": "1", "b": "x y", "c": ""})
        );
        assert_eq!(read("a=1&a=2&a=3"), json!({"a": ["1", "2", "3"]}));
    }
}
