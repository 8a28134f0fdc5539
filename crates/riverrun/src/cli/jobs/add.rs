//! `riverrun jobs add`.

use riverrun_types::ErrorCode;
use std::time::Duration;

use clap::Args;
use reqwest::Method;
use riverrun::Json;
use serde::Serialize;

use super::wait::Wait;
use crate::{
    cli::{
        Global,
        run::{read_input, read_text},
    },
    config::parse_duration,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

#[derive(Args, Debug)]
pub struct Add {
    /// The name of the queue.
    queue: String,
    /// The data of the job: JSON, @file, or - for stdin.
    #[arg(short, long, value_name = "JSON|@FILE|-")]
    data: Option<String>,
    /// Add many jobs, all or none: the data is an array, or one JSON value per line, each for one job.
    /// Read from stdin without -d.
    #[arg(long)]
    bulk: bool,
    /// The name of the job, for its handler. Default: the name of the queue.
    #[arg(long)]
    name: Option<String>,
    /// Higher starts first. Default 0.
    #[arg(long, allow_negative_numbers = true)]
    priority: Option<i32>,
    /// Start after this delay.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    delay: Option<Duration>,
    /// Start not before this time: ISO 8601, or milliseconds since 1970.
    #[arg(long, value_name = "MOMENT", conflicts_with = "delay")]
    run_at: Option<String>,
    /// The number of attempts, including the first. Default: as the process says.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    attempts: Option<u32>,
    /// The key of the job. Keys take turns, and the jobs of a key share its concurrency.
    #[arg(long)]
    key: Option<String>,
    /// A second job with the same key returns the first one.
    #[arg(long, value_name = "KEY", conflicts_with = "bulk")]
    idempotency_key: Option<String>,
    /// The id of the job; the same id again returns the same job.
    #[arg(long, conflicts_with = "bulk")]
    id: Option<String>,
    /// A tag of the job; may be repeated.
    #[arg(long)]
    tag: Vec<String>,
    /// The tenant of the job.
    #[arg(long)]
    tenant: Option<String>,
    /// Create the queue if no process takes its jobs yet.
    #[arg(long)]
    create: bool,
    /// Wait until the job ends and print its result.
    #[arg(long)]
    wait: bool,
    /// How long to wait. The job continues afterwards.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", requires = "wait")]
    timeout: Option<Duration>,
}

/// What the server is asked for.
#[derive(Serialize)]
struct Body<'a> {
    jobs: Vec<Job<'a>>,
}

#[derive(Serialize)]
struct Job<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Json>,
    options: Options<'a>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_at: Option<Moment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    tags: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    tenant_id: Option<&'a str>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Moment<'a> {
    Ms(i64),
    Iso(&'a str),
}

impl<'a> Moment<'a> {
    fn of(text: &'a str) -> Self {
        text.parse().map_or(Self::Iso(text), Self::Ms)
    }
}

impl Add {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let query = match self.create {
            true => vec![("create", "true".to_owned())],
            false => Vec::new(),
        };
        let path = ["api", "queues", &self.queue, "jobs"];
        let answer = client
            .ask(Method::POST, &path, &query, Some(self.body()?))
            .await
            .map_err(|failure| self.refused(failure))?;
        let added = answer.value();
        let mut ids = Vec::new();
        for job in added["jobs"].as_array().into_iter().flatten() {
            let id = job["jobId"].as_str().unwrap_or_default();
            if job["created"] == false {
                output::talk(&format!("job {id} was added before"));
            }
            ids.push(id);
        }
        if self.wait {
            let wait = Wait {
                client: &client,
                queue: &self.queue,
                is_bulk: self.bulk,
                format: global.output,
            };
            return wait.for_all(&ids, self.timeout).await;
        }
        match global.output {
            Format::Table => {
                ids.iter().for_each(|id| output::data(id));
                if let [id] = ids[..] {
                    output::talk(&format!("  try: riverrun jobs show {id}"));
                }
            }
            format => output::json_text(format, &answer.text),
        }
        Ok(Exit::Ok)
    }

    fn body(&self) -> Result<String> {
        let data = match (&self.data, self.bulk) {
            (given, true) => many(given.as_deref().unwrap_or("-"))?
                .into_iter()
                .map(Some)
                .collect(),
            (Some(given), false) => vec![Some(read_input(given)?)],
            (None, false) => vec![None],
        };
        let options = Options {
            job_id: self.id.as_deref(),
            priority: self.priority,
            delay_ms: self
                .delay
                .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            run_at: self.run_at.as_deref().map(Moment::of),
            attempts: self.attempts,
            key: self.key.as_deref(),
            idempotency_key: self.idempotency_key.as_deref(),
            tags: &self.tag,
            tenant_id: self.tenant.as_deref(),
        };
        let jobs = data.into_iter().map(|data| Job {
            name: self.name.as_deref(),
            data,
            options: options.clone(),
        });
        let body = Body {
            jobs: jobs.collect(),
        };
        Ok(serde_json::to_string(&body).unwrap_or_default())
    }

    fn refused(&self, failure: Failure) -> Failure {
        match failure.code.known() {
            Some(ErrorCode::QueueNotFound) => failure
                .note("jobs for work that is still to be written are taken with --create")
                .next(format!("riverrun jobs add {} --create", self.queue)),
            _ => failure,
        }
    }
}

/// The data of many jobs: the items of an array, or a JSON value on each line.
fn many(given: &str) -> Result<Vec<Json>> {
    let text = read_text(given)?;
    let refuse = |at: String, error: &dyn std::fmt::Display| {
        Failure::usage(
            ErrorCode::InputNotJson,
            format!("{at} is not JSON: {error}"),
        )
        .next("an array, or one JSON value on each line")
    };
    if let Ok(whole) = Json::parse_text(text.trim().to_owned())
        && let Some(items) = whole.items()
    {
        return Ok(items);
    }
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let jobs: Vec<Json> = lines
        .map(|(at, line)| {
            Json::parse_text(line.trim().to_owned())
                .map_err(|error| refuse(format!("line {} of the data", at + 1), &error))
        })
        .collect::<Result<_>>()?;
    if jobs.is_empty() {
        return Err(
            Failure::usage(ErrorCode::InputNotJson, "there is no job in the data")
                .next("an array, or one JSON value on each line"),
        );
    }
    Ok(jobs)
}
