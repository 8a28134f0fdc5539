//! Waiting for a job of a queue to end. Its stream says when; the job itself says how.

use riverrun_types::ErrorCode;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{AWAY, Answer, Client, Message, Query};
use crate::{
    failure::{Exit, Failure, Result},
    output,
};

/// How long to wait before a broken connection is made again.
const AGAIN: Duration = Duration::from_millis(300);

/// Follows a job to its end, across a server that is away.
pub struct Watch<'a> {
    client: &'a Client,
    id: &'a str,
    /// The event that was seen last.
    after: Option<String>,
    away_since: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub fn new(client: &'a Client, id: &'a str) -> Self {
        Self {
            client,
            id,
            after: None,
            away_since: None,
        }
    }

    /// The job once it has ended.
    pub async fn until_end(&mut self) -> Result<Answer> {
        if let Some(answer) = self.ended().await? {
            return Ok(answer);
        }
        let ends = "job.completed,job.failed,job.cancelled".to_owned();
        let query = vec![("from", "end".to_owned()), ("type", ends)];
        self.follow(query, |_| {}).await
    }

    /// Hands over each event of the job, in order and once; the job once it has ended.
    pub async fn events(&mut self, on_event: impl FnMut(&Message)) -> Result<Answer> {
        self.follow(Vec::new(), on_event).await
    }

    async fn follow(
        &mut self,
        mut query: Query,
        mut on_event: impl FnMut(&Message),
    ) -> Result<Answer> {
        query.push(("follow", "until-end".to_owned()));
        loop {
            let opened = Instant::now();
            if let Err(failure) = self.listen(&query, &mut on_event).await {
                self.away(failure)?;
            }
            if let Some(answer) = self.ended().await? {
                return Ok(answer);
            }
            tokio::time::sleep_until(opened + AGAIN).await;
        }
    }

    /// One connection.
    async fn listen(&mut self, query: &Query, on_event: &mut impl FnMut(&Message)) -> Result<()> {
        let path = ["api", "events", "job", self.id, "stream"];
        let mut live = self
            .client
            .listen(&path, query, self.after.as_deref())
            .await?;
        self.away_since = None;
        while let Some(message) = live.next().await {
            if message.id.is_some() && message.id != self.after {
                self.after.clone_from(&message.id);
                on_event(&message);
            }
        }
        if let Some(id) = live.last_id() {
            self.after = Some(id.to_owned());
        }
        Ok(())
    }

    async fn ended(&mut self) -> Result<Option<Answer>> {
        let path = ["api", "jobs", self.id];
        match self.client.get(&path, &Vec::new()).await {
            Ok(answer) => {
                self.away_since = None;
                Ok(has_ended(&answer.value()).then_some(answer))
            }
            Err(failure) => self.away(failure).map(|()| None),
        }
    }

    /// A server may be away for a while; anything else ends the wait.
    fn away(&mut self, failure: Failure) -> Result<()> {
        if failure.code == ErrorCode::JobNotFound {
            return Err(failure
                .exit(Exit::Failed)
                .note("it was removed before its end was seen"));
        }
        if failure.exit != Exit::Unreachable {
            return Err(failure);
        }
        if self.away_since.is_none() {
            output::talk("the server does not answer; the job continues when it is back");
        }
        let since = *self.away_since.get_or_insert_with(Instant::now);
        match since.elapsed() > AWAY {
            true => Err(failure),
            false => Ok(()),
        }
    }
}

/// A job of a queue has a state, and the one behind a run its status.
pub fn has_ended(job: &Value) -> bool {
    let state = job["state"].as_str().or(job["status"].as_str());
    matches!(state, Some("completed" | "failed" | "cancelled"))
}
