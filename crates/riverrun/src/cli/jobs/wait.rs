//! Waits for jobs, and exits as they ended.

use riverrun_types::{Code, ErrorCode};
use std::time::Duration;

use riverrun::Json;
use serde_json::Value;

use crate::{
    client::{Answer, Client, Watch},
    failure::{Exit, Failure, Result},
    output::{self, Format},
    signals,
};

pub struct Wait<'a> {
    pub client: &'a Client,
    pub queue: &'a str,
    /// The results come one per line, and failures do not end the wait.
    pub is_bulk: bool,
    pub format: Format,
}

impl Wait<'_> {
    /// Prints the jobs' results in the order in which they were added.
    pub async fn for_all(&self, ids: &[&str], timeout: Option<Duration>) -> Result<Exit> {
        self.warn().await?;
        let late = async {
            match timeout {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        let named = match ids {
            [id] => format!("job {id}"),
            ids => format!("{} jobs", ids.len()),
        };
        tokio::select! {
            end = self.each(ids) => end,
            () = late => {
                let message = format!("{named} did not end in the time given");
                Err(Failure::new(ErrorCode::Timeout, message)
                    .exit(Exit::Timeout)
                    .note("what was added stays, and runs when its turn comes")
                    .next(format!("riverrun jobs ls {}", self.queue)))
            }
            () = signals::interrupted() => {
                output::talk(&format!(
                    "left {named} alone; try: riverrun jobs ls {}",
                    self.queue
                ));
                Ok(Exit::Ok)
            }
        }
    }

    /// Says why the wait may be long.
    async fn warn(&self) -> Result<()> {
        let path = ["api", "queues", self.queue];
        let queue = self.client.get(&path, &Vec::new()).await?.value();
        if queue["paused"] == true {
            output::talk(&format!(
                "queue {:?} is paused: nothing of it begins\n  try: riverrun queues resume {}",
                self.queue, self.queue
            ));
        } else if queue["process"].is_null() {
            output::talk(&format!(
                "no process takes jobs of queue {:?} yet",
                self.queue
            ));
        }
        Ok(())
    }

    async fn each(&self, ids: &[&str]) -> Result<Exit> {
        let mut ended = Vec::new();
        let mut failures = Vec::new();
        for id in ids {
            let answer = Watch::new(self.client, id).until_end().await?;
            let failure = failure(id, &answer.value());
            match self.format {
                Format::Table if self.is_bulk || failure.is_none() => self.result(&answer),
                Format::Table => {}
                Format::Json if self.is_bulk => ended.extend(Json::parse_text(answer.text).ok()),
                format => output::json_text(format, &answer.text),
            }
            failures.extend(failure);
        }
        if self.format == Format::Json && self.is_bulk {
            output::json(Format::Json, &ended);
        }
        match (failures.pop(), self.is_bulk) {
            (None, _) => Ok(Exit::Ok),
            (Some(failure), false) => Err(failure),
            (Some(last), true) => {
                failures.push(last);
                for failure in &failures {
                    output::talk(&failure.to_string());
                }
                let message = format!("{} of {} jobs did not complete", failures.len(), ids.len());
                Err(Failure::new(ErrorCode::JobFailed, message))
            }
        }
    }

    fn result(&self, answer: &Answer) {
        let result = answer.member("result").unwrap_or_else(Json::null);
        let format = match self.is_bulk {
            true => Format::Jsonl,
            false => Format::Json,
        };
        output::json_text(format, result.as_str());
    }
}

/// Why a job that has ended is none that completed.
fn failure(id: &str, job: &Value) -> Option<Failure> {
    let error = |key: &str| job["error"][key].as_str();
    let (code, message) = match job["state"].as_str().unwrap_or_default() {
        "completed" => return None,
        "cancelled" => (
            ErrorCode::JobCancelled.into(),
            error("message").unwrap_or("it was cancelled"),
        ),
        _ => (
            error("code").map_or(ErrorCode::JobFailed.into(), Code::from),
            error("message").unwrap_or("it failed"),
        ),
    };
    let state = job["state"].as_str().unwrap_or_default();
    let failure = Failure::new(code.to_owned(), format!("job {id} {state}: {message}"));
    Some(failure.next(format!("riverrun jobs logs {id}")))
}
