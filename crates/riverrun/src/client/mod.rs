//! Talking to a server over HTTP.

mod follow;
mod jobs;
mod live;
mod pages;
mod socket;
mod sse;
mod starting;

use riverrun_types::{Code, ErrorCode};
use std::time::Duration;

use reqwest::{Method, Response, StatusCode};
use riverrun::Json;
use serde_json::Value;
use url::Url;

use crate::failure::{Exit, Failure, Result};

pub use follow::{AWAY, End, Follow, is_end};
pub use jobs::{Watch, has_ended};
pub use socket::Socket;
pub use sse::Message;
use starting::{Again, Patience};

pub const DEFAULT_URL: &str = "http://127.0.0.1:4600";

/// How long a plain request may take. Longer than the server lets one take, so that its answer
/// comes first.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    http: reqwest::Client,
    base: Url,
    /// What to try when no server answers.
    hint: &'static str,
    patience: Patience,
}

/// What a server answered, as the text it came in.
pub struct Answer {
    pub text: String,
}

impl Answer {
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// One member as its own text.
    pub fn member(&self, key: &str) -> Option<Json> {
        Json::parse_text(self.text.clone()).ok()?.get(key)
    }

    /// The rows of a list, each as its own text.
    pub fn items(&self) -> Vec<Json> {
        self.member("items")
            .and_then(|items| items.items())
            .unwrap_or_default()
    }
}

/// The query of a request.
pub type Query = Vec<(&'static str, String)>;

impl Client {
    /// `wait` is how long to wait for a server on this machine that is starting.
    pub fn new(url: Option<&str>, wait: Duration) -> Result<Self> {
        let url = url.unwrap_or(DEFAULT_URL);
        let base = Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                Failure::usage(
                    ErrorCode::UrlInvalid,
                    format!("{url:?} is not the URL of a server"),
                )
                .next(format!("--url {DEFAULT_URL}"))
            })?;
        let http = reqwest::Client::builder()
            // The server is the one that was named, whatever the environment says of proxies.
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
            .user_agent(concat!("riverrun/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::new(ErrorCode::ClientFailed, error.to_string()))?;
        let hint = "riverrun dev, or --url / RIVERRUN_URL if the server is elsewhere";
        let patience = Patience::new(&base, wait);
        Ok(Self {
            http,
            base,
            hint,
            patience,
        })
    }

    /// The same with another flag in what is to try next.
    pub fn for_worker(mut self) -> Self {
        self.hint = "riverrun serve, or --server / RIVERRUN_URL if the server is elsewhere";
        self
    }

    pub fn url(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    pub async fn get(&self, path: &[&str], query: &Query) -> Result<Answer> {
        self.ask(Method::GET, path, query, None).await
    }

    pub async fn post(&self, path: &[&str], body: Option<String>) -> Result<Answer> {
        self.ask(Method::POST, path, &Vec::new(), body).await
    }

    /// With a header, where there is one to send.
    pub async fn post_with(
        &self,
        path: &[&str],
        body: Option<String>,
        header: Option<(&'static str, String)>,
    ) -> Result<Answer> {
        self.send(Method::POST, path, &Vec::new(), body, header)
            .await
    }

    pub async fn delete(&self, path: &[&str]) -> Result<Answer> {
        self.ask(Method::DELETE, path, &Vec::new(), None).await
    }

    /// A request that no plain one of the above is.
    pub async fn ask(
        &self,
        method: Method,
        path: &[&str],
        query: &Query,
        body: Option<String>,
    ) -> Result<Answer> {
        self.send(method, path, query, body, None).await
    }

    async fn send(
        &self,
        method: Method,
        path: &[&str],
        query: &Query,
        body: Option<String>,
        header: Option<(&'static str, String)>,
    ) -> Result<Answer> {
        let again = match method == Method::GET {
            true => Again::Safe,
            false => Again::Unsent,
        };
        let mut request = self
            .http
            .request(method, self.at(path, query))
            .timeout(PATIENCE);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body);
        }
        let response = self.dispatch(request, again).await?;
        let response = self.accepted(response).await?;
        let text = response
            .text()
            .await
            .map_err(|error| self.unreachable(&error))?;
        Ok(Answer { text })
    }

    /// The address of a path with a query, whatever they are made of.
    fn at(&self, path: &[&str], query: &Query) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }

    async fn accepted(&self, response: Response) -> Result<Response> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        Err(self.refusal(status, &text))
    }

    /// The error that the server sent, if the server is a riverrun.
    fn refusal(&self, status: StatusCode, text: &str) -> Failure {
        let body: Value = serde_json::from_str(text).unwrap_or_default();
        let part = |key: &str| body["error"][key].as_str();
        let Some((code, message)) = part("code").zip(part("message")) else {
            let message = format!("{} answered {status}, but not as riverrun does", self.url());
            return Failure::new(ErrorCode::NotRiverrun, message)
                .exit(Exit::Unreachable)
                .next("riverrun doctor --url <url of the server>");
        };
        server_failure(
            code.into(),
            message,
            exit_of(status),
            &body["error"]["details"],
        )
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let url = self.url();
        if error.is_timeout() && !error.is_connect() {
            return Failure::new(ErrorCode::Timeout, format!("{url} did not answer in time"))
                .exit(Exit::Timeout)
                .next("riverrun doctor");
        }
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        Failure::new(
            ErrorCode::Unreachable,
            format!("no server answers at {url}"),
        )
        .exit(Exit::Unreachable)
        .note(cause.to_string())
        .next(self.hint)
    }

    /// `latest` is the job that was added last.
    pub async fn job_id(&self, id: &str) -> Result<String> {
        if id != "latest" {
            return Ok(id.to_owned());
        }
        let job = self.get(&["api", "jobs", id], &Vec::new()).await?.value();
        Ok(job["id"].as_str().unwrap_or(id).to_owned())
    }

    /// `latest` is the run that was started last.
    pub async fn run_id(&self, id: &str) -> Result<String> {
        if id != "latest" {
            return Ok(id.to_owned());
        }
        let page = self
            .get(&["api", "runs"], &vec![("limit", "1".to_owned())])
            .await?;
        match page.value()["items"][0]["runId"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => Err(
                Failure::usage(ErrorCode::RunNotFound, "there is no run yet")
                    .next("riverrun run <flow>"),
            ),
        }
    }
}

/// How a command ends whose request was answered with this status.
pub fn exit_of(status: StatusCode) -> Exit {
    match status {
        StatusCode::SERVICE_UNAVAILABLE => Exit::Unreachable,
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => Exit::Timeout,
        status if status.is_client_error() => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// A failure that a server returned, and what to do about it here.
pub fn server_failure(code: Code, message: &str, exit: Exit, details: &Value) -> Failure {
    let mut failure = Failure::new(code, message).exit(exit);
    for issue in issues(details) {
        failure = failure.note(issue);
    }
    match failure.code.known() {
        Some(ErrorCode::FlowNotFound) => failure.next("riverrun flows ls"),
        Some(ErrorCode::RunNotFound) => failure.next("riverrun runs ls"),
        Some(ErrorCode::QueueNotFound) => failure.next("riverrun queues ls"),
        Some(ErrorCode::JobNotFound) => failure.next("riverrun jobs ls <queue>"),
        Some(ErrorCode::ProcessNotFound) => failure.next("riverrun processes ls"),
        Some(ErrorCode::WorkerNotFound | ErrorCode::NoWorker) => {
            failure.next("riverrun workers ls")
        }
        Some(ErrorCode::TriggerNotFound) => failure.next("riverrun triggers ls"),
        Some(ErrorCode::TriggerNoSchedule) => failure.next("riverrun schedules ls"),
        Some(ErrorCode::DueTimeForgotten) => failure
            .next("--from with a later time")
            .next("--forgotten, if they are to run even if they have"),
        Some(ErrorCode::TriggerDisabled) => failure.next("riverrun triggers enable <id>"),
        Some(ErrorCode::TriggerBroken) => failure.next("riverrun triggers show <id>"),
        Some(ErrorCode::TriggerExists) => failure.next("riverrun triggers rm <id>, and again"),
        Some(ErrorCode::AwaitNotFound) => failure
            .next("riverrun runs why <run>, which prints the id of the callback")
            .next("riverrun triggers ls"),
        Some(ErrorCode::JobOfRun) => failure.next("riverrun runs cancel <run>"),
        Some(ErrorCode::RunNotEnded) => failure.next("riverrun runs cancel <id>"),
        _ => failure,
    }
}

/// Issues in the details of an error, one line each.
fn issues(details: &Value) -> Vec<String> {
    let list = details.get("issues").unwrap_or(details);
    let line = |issue: &Value| {
        let message = issue["message"].as_str()?;
        let path = issue["path"].as_str().unwrap_or_default();
        Some(match path {
            "" => message.to_owned(),
            path => format!("{path}: {message}"),
        })
    };
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(line)
        .collect()
}
