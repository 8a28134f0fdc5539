//! `http`: a request to another service.
//!
//! Requests leave only for public addresses ([`guard`]), whatever the URL, the name service or a
//! redirect says, and never through a proxy of the environment.

mod address;
mod answer;
mod exchange;
mod guard;
mod location;
mod request;
mod status;
#[cfg(test)]
mod tests;

use riverrun_types::ErrorCode;
use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_contract::{Action, Call, Effects, Handler};
use riverrun_engine::{Failure, Outcome, SchemaIssue};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::{self, Issues};
pub use guard::{AllowRule, InvalidAllowRule};

use exchange::Network;
use request::{RequestConfig, RequestTemplate};
use status::Statuses;

/// What the server's owner decides about the `http` handler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HttpOptions {
    /// Exceptions from "public addresses only": networks, addresses, hosts, `host:port`.
    /// Default none.
    pub allow: Vec<AllowRule>,
}

pub(crate) struct Http {
    /// Fails only if TLS cannot be set up on this machine, which every step then says.
    network: Result<Arc<Network>, String>,
}

impl Http {
    pub fn new(options: HttpOptions) -> Self {
        let network = Network::new(options.allow).map(Arc::new);
        Self {
            network: network.map_err(|error| format!("no HTTP client on this machine: {error}")),
        }
    }
}

const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const DEFAULT_RESPONSE_BYTES: usize = 1 << 20;
const DEFAULT_RETRIABLE: [u16; 7] = [408, 425, 429, 500, 502, 503, 504];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config {
    #[serde(flatten)]
    request: RequestConfig,
    timeout_ms: Option<u64>,
    follow_redirects: Option<bool>,
    #[serde(alias = "retryableStatus")]
    retriable_status: Option<Vec<Value>>,
    expect_status: Option<Vec<Value>>,
    max_response_bytes: Option<usize>,
}

impl Handler for Http {
    fn kind(&self) -> &str {
        "http"
    }

    fn about(&self) -> &str {
        "Sends an HTTP request and gives the response."
    }

    fn effects(&self) -> Effects {
        Effects::Some
    }

    fn schema(&self) -> Value {
        let statuses = json!({
            "anyOf": [
                {"type": "integer", "minimum": 100, "maximum": 599},
                {"type": "string", "pattern": "^[1-5]xx$"}
            ]
        });
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "http",
            "description": "The output is {status, headers, body}; body is JSON if the response says so, else text, null if empty. `${path}` in url, headers, query and body is looked up in the step's input (as `input` if that is no object) and, where the input has no such key, in the state. Fails with HTTP_ERROR (\"404 Not Found\", details {status, headers, body}), TIMEOUT, HTTP_FORBIDDEN (the address is not public and not allowed), RESPONSE_TOO_LARGE or INPUT_ERROR. A header Idempotency-Key, the same over all attempts of a visit, is sent unless you give one.",
            "type": "object",
            "additionalProperties": false,
            "required": ["url"],
            "properties": {
                "url": {
                    "description": "http or https. A `${path}` in the path or the query is percent-encoded; one that finds nothing is an error. A url that is exactly one `${path}`, or begins with one, takes that value as it is. No user name or password: use headers.",
                    "type": "string",
                    "minLength": 1
                },
                "method": {
                    "description": "The request method.",
                    "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
                    "default": "GET"
                },
                "headers": {
                    "description": "Request headers. One whose `${path}` finds nothing is left out.",
                    "type": "object",
                    "additionalProperties": {"type": ["string", "number", "boolean"]}
                },
                "query": {
                    "description": "Parameters added to the url's query. A list gives one parameter per item; null and what is missing are left out.",
                    "type": "object"
                },
                "body": {
                    "description": "The request body: any JSON with `${path}`. A string is sent as it is, as text; everything else as JSON. None when absent or where a `${path}` that is all of it finds nothing."
                },
                "bodyType": {
                    "description": "json sends also a string as JSON, text sends everything as text. Sets the content-type unless headers do.",
                    "enum": ["json", "text"]
                },
                "timeoutMs": {
                    "description": "How long all of it may take, redirects and the response's body included. The step fails with TIMEOUT after that.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 3_600_000,
                    "default": DEFAULT_TIMEOUT_MS
                },
                "followRedirects": {
                    "description": "Whether to follow redirects, at most 5. Headers other than accept, accept-language, content-type, user-agent and idempotency-key do not follow to another origin.",
                    "type": "boolean",
                    "default": true
                },
                "expectStatus": {
                    "description": "The statuses that are a success, each a number or a class such as 2xx.",
                    "type": "array",
                    "minItems": 1,
                    "items": statuses,
                    "default": ["2xx"]
                },
                "retriableStatus": {
                    "description": "The statuses that the step's retry policy may retry, each a number or a class such as 5xx. Retry-After is respected up to a day.",
                    "type": "array",
                    "items": statuses,
                    "default": DEFAULT_RETRIABLE
                },
                "retryableStatus": {
                    "description": "The older name of retriableStatus.",
                    "deprecated": true,
                    "type": "array",
                    "items": statuses
                },
                "maxResponseBytes": {
                    "description": "A longer response fails with RESPONSE_TOO_LARGE. Mind the flow's maxValueBytes too.",
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 64 << 20,
                    "default": DEFAULT_RESPONSE_BYTES
                }
            },
            "examples": [
                {"url": "https://api.example.com/users/${userId}"},
                {
                    "url": "https://api.example.com/orders",
                    "method": "POST",
                    "headers": {"authorization": "Bearer ${token}"},
                    "query": {"dryRun": true, "tag": ["a", "${tag}"]},
                    "body": {"id": "${order.id}", "note": "for ${customer.name}"},
                    "timeoutMs": 5000,
                    "expectStatus": [201, 409],
                    "retriableStatus": ["5xx", 429]
                }
            ]
        })
    }

    fn prepare(&self, config: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        let body = config.get("body").cloned();
        let config: Config = config::read(config)?;
        let mut issues = Issues::default();
        let network = match &self.network {
            Ok(network) => Some(network.clone()),
            Err(message) => {
                issues.add("", "http", message.clone());
                None
            }
        };
        let request = RequestTemplate::prepare(config.request, body, &mut issues);
        let expected = match &config.expect_status {
            Some(statuses) => Statuses::read(statuses),
            None => Statuses::success(),
        };
        let retriable = match &config.retriable_status {
            Some(statuses) => Statuses::read(statuses),
            None => Statuses::of(&DEFAULT_RETRIABLE),
        };
        let build = || {
            Some(HttpAction {
                network: network?,
                request: request?,
                timeout_ms: config.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS),
                follow: config.follow_redirects.unwrap_or(true),
                limit: config.max_response_bytes.unwrap_or(DEFAULT_RESPONSE_BYTES),
                expected,
                retriable,
            })
        };
        issues.finish(build())
    }
}

struct HttpAction {
    network: Arc<Network>,
    request: RequestTemplate,
    timeout_ms: u64,
    follow: bool,
    limit: usize,
    expected: Statuses,
    retriable: Statuses,
}

impl HttpAction {
    async fn exchange(&self, call: &Call<'_>) -> Result<Outcome, Failure> {
        let request = self.request.resolve(call)?;
        let answered = self.network.send(request, self.follow).await?;
        let is_expected = self.expected.contains(answered.status());
        let answer = answer::read(answered, is_expected, self.limit).await?;
        if is_expected {
            return answer.success();
        }
        let now_ms = call.now_ms;
        Err(answer.failure(self.retriable.contains(answer.status), now_ms))
    }
}

#[async_trait]
impl Action for HttpAction {
    /// A little more than the request's own timeout, which says more when it strikes.
    fn limit(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.timeout_ms) + Duration::from_secs(1))
    }

    async fn run(&self, call: &Call<'_>) -> Outcome {
        let limit = Duration::from_millis(self.timeout_ms);
        let exchange = Box::pin(self.exchange(call));
        match tokio::time::timeout(limit, exchange).await {
            Ok(result) => result.unwrap_or_else(Outcome::Failure),
            Err(_) => {
                let message = format!("no answer within {} ms", self.timeout_ms);
                Outcome::Failure(Failure::new(ErrorCode::Timeout, message))
            }
        }
    }
}
