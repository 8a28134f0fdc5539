//! Waiting for a job of a queue to end. Its stream says what its handler says, and not how it ended:
//! the job itself does.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{AWAY, Answer, Client};
use crate::{
    failure::{Exit, Result},
    output,
};

/// How long to wait before looking again, growing from the first to the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// Looks at a job again and again, each time a little later, across a server that is away.
pub struct Look<'a> {
    client: &'a Client,
    id: &'a str,
    pause: Duration,
    away_since: Option<Instant>,
}

impl<'a> Look<'a> {
    pub fn new(client: &'a Client, id: &'a str) -> Self {
        Self {
            client,
            id,
            pause: PAUSES.0,
            away_since: None,
        }
    }

    /// The job once it has ended.
    pub async fn until_end(&mut self) -> Result<Answer> {
        loop {
            if let Some(answer) = self.once().await? {
                return Ok(answer);
            }
            tokio::time::sleep(self.pause).await;
            self.pause = (self.pause * 3 / 2).min(PAUSES.1);
        }
    }

    async fn once(&mut self) -> Result<Option<Answer>> {
        match self
            .client
            .get(&["api", "jobs", self.id], &Vec::new())
            .await
        {
            Ok(answer) => {
                self.away_since = None;
                Ok(has_ended(&answer.value()).then_some(answer))
            }
            Err(failure) if failure.exit == Exit::Unreachable => {
                if self.away_since.is_none() {
                    output::talk("the server is away; the job goes on when it does");
                }
                let since = *self.away_since.get_or_insert_with(Instant::now);
                match since.elapsed() > AWAY {
                    true => Err(failure),
                    false => Ok(None),
                }
            }
            Err(failure) if failure.code == "JOB_NOT_FOUND" => Err(failure
                .exit(Exit::Failed)
                .note("it was removed before its end was seen")),
            Err(failure) => Err(failure),
        }
    }
}

/// A job of a queue has a state, and the one behind a run its status.
pub fn has_ended(job: &Value) -> bool {
    let state = job["state"].as_str().or(job["status"].as_str());
    matches!(state, Some("completed" | "failed" | "cancelled"))
}
