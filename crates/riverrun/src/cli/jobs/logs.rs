//! `riverrun jobs logs`.

use std::time::Duration;

use clap::Args;
use riverrun::EventId;
use tokio::time::Instant;

use crate::{
    cli::Global,
    client::{Client, Look, Message, Query},
    failure::{Exit, Result},
    output::{self, EventLine, Format, paint, paint::paint},
    signals,
};

/// How long to wait before a broken connection is made again.
const AGAIN: Duration = Duration::from_millis(300);

#[derive(Args, Debug)]
pub struct Logs {
    /// The job's id.
    id: String,
    /// Go on as it says more, until the job has ended.
    #[arg(short, long, conflicts_with_all = ["kind", "limit"])]
    follow: bool,
    /// Only these types, separated by commas; log takes every log.*.
    #[arg(long = "type", value_name = "TYPES")]
    kind: Option<String>,
    /// Lines at most; all without it.
    #[arg(long)]
    limit: Option<usize>,
}

impl Logs {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let job = client.get(&["api", "jobs", &self.id], &Vec::new()).await?;
        if self.follow {
            let follow = Follow {
                client: &client,
                id: &self.id,
                line: EventLine::for_stdout(),
                format: global.output,
                after: None,
            };
            return follow.run().await;
        }
        let events = match stream(&client, &self.id).await? {
            None => Vec::new(),
            Some((name, _)) => {
                let query: Query = self.kind.into_iter().map(|kind| ("type", kind)).collect();
                let limit = self.limit.unwrap_or(usize::MAX);
                client
                    .rows(&["api", "events", &name], &query, limit)
                    .await?
            }
        };
        let line = EventLine::for_stdout();
        output::list(global.output, &events, || {
            if events.is_empty() {
                let job = job.value();
                let state = job["state"].as_str().or(job["status"].as_str());
                let state = state.unwrap_or_default();
                return output::talk(&format!("no logs; the job is {state}"));
            }
            events
                .iter()
                .for_each(|event| output::data(&line.show(&event.value())));
        });
        Ok(Exit::Ok)
    }
}

/// The full name of a job's stream and how many events it has; it begins with the first one.
async fn stream(client: &Client, id: &str) -> Result<Option<(String, u64)>> {
    match client.get(&["api", "events", "job", id], &Vec::new()).await {
        Ok(answer) => {
            let stream = answer.value();
            let name = stream["stream"].as_str().unwrap_or_default().to_owned();
            Ok(Some((name, stream["events"].as_u64().unwrap_or_default())))
        }
        Err(failure) if failure.code == "STREAM_NOT_FOUND" => Ok(None),
        Err(failure) => Err(failure),
    }
}

struct Follow<'a> {
    client: &'a Client,
    id: &'a str,
    line: EventLine,
    format: Format,
    /// The event that was shown last.
    after: Option<String>,
}

impl Follow<'_> {
    async fn run(mut self) -> Result<Exit> {
        tokio::select! {
            end = self.until_end() => end,
            () = signals::interrupted() => Ok(Exit::Ok),
        }
    }

    async fn until_end(&mut self) -> Result<Exit> {
        let (client, id) = (self.client, self.id);
        let mut look = Look::new(client, id);
        let job = {
            let mut ended = std::pin::pin!(look.until_end());
            tokio::select! {
                job = &mut ended => job?,
                never = self.listen(u64::MAX) => return never,
            }
        };
        // What it said last is stored with its end.
        if let Some((_, events)) = stream(client, id).await? {
            self.listen(events).await?;
        }
        let job = job.value();
        let state = job["state"].as_str().unwrap_or_default();
        output::talk(&format!("{id} {}", paint(paint::status(state), state)));
        Ok(Exit::Ok)
    }

    /// Shows events until so many were seen, across broken connections.
    async fn listen(&mut self, events: u64) -> Result<Exit> {
        let path = ["api", "events", "job", self.id, "stream"];
        while self.seen() < events {
            let opened = Instant::now();
            if let Ok(mut live) = self
                .client
                .listen(&path, &Vec::new(), self.after.as_deref())
                .await
            {
                while let Some(message) = live.next().await {
                    self.show(&message);
                    if self.seen() >= events {
                        break;
                    }
                }
            }
            // The look at the job says when the server is away for too long.
            if self.seen() < events {
                tokio::time::sleep_until(opened + AGAIN).await;
            }
        }
        Ok(Exit::Ok)
    }

    fn seen(&self) -> u64 {
        let id: Option<EventId> = self.after.as_deref().and_then(|id| id.parse().ok());
        id.map_or(0, |id| id.seq + 1)
    }

    fn show(&mut self, message: &Message) {
        if message.id.is_none() || message.id == self.after {
            return;
        }
        self.after.clone_from(&message.id);
        match self.format {
            Format::Table => {
                let event = serde_json::from_str(&message.data).unwrap_or_default();
                output::data(&self.line.show(&event));
            }
            _ => output::json_text(Format::Jsonl, &message.data),
        }
    }
}
