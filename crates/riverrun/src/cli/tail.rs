//! `riverrun tail`: follows a stream, the channel of a queue, or events of some types.

use riverrun_types::ErrorCode;
use std::time::Duration;

use clap::Args;
use riverrun::EventType;
use serde_json::Value;
use tokio::time::Instant;

use super::Global;
use crate::{
    client::{AWAY, Client, Message, Query, has_ended},
    failure::{Exit, Failure, Result},
    output::{self, EventLine, Format, paint, paint::paint},
    signals,
};

/// How long to wait before a broken connection is made again.
const AGAIN: Duration = Duration::from_millis(300);

#[derive(Args, Debug)]
pub struct Tail {
    /// What to follow: queue/<name>, job/<id>, flow/<run id>, or any other type/id.
    /// Without it, --type selects events of every run and stream.
    #[arg(required_unless_present = "types")]
    stream: Option<String>,
    /// Only events of these types, separated by commas: order.paid, or order for every order.*.
    #[arg(long = "type", alias = "kind", value_name = "TYPES")]
    types: Option<String>,
    /// Also print earlier events. The channel of a queue stores none.
    #[arg(long, conflicts_with = "after")]
    from_start: bool,
    /// Start after this event id; without a stream, after this cursor.
    #[arg(long, value_name = "EVENT")]
    after: Option<String>,
}

impl Tail {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let mut query = Query::new();
        query.extend(self.types.map(|types| ("type", types)));
        let what = match self.stream {
            None => What::Kinds,
            Some(stream) => {
                query.push(("follow", "until-end".to_owned()));
                stream_named(&client, &stream).await?
            }
        };
        let from = if self.from_start { "start" } else { "end" };
        query.push(("from", from.to_owned()));
        let mut follow = Follow {
            client: &client,
            what,
            query,
            line: EventLine::for_stdout(),
            format: global.output,
            after: self.after,
        };
        tokio::select! {
            end = follow.run() => end,
            () = signals::interrupted() => Ok(Exit::Ok),
        }
    }
}

/// What is followed.
enum What {
    Stream {
        kind: String,
        id: String,
    },
    /// Events of all streams.
    Kinds,
}

async fn stream_named(client: &Client, text: &str) -> Result<What> {
    let Some((kind, id)) = text.split_once('/').filter(|(_, id)| !id.is_empty()) else {
        let message = format!("{text:?} does not say what to follow");
        return Err(Failure::usage(ErrorCode::BadId, message).next("riverrun tail queue/<name>"));
    };
    let id = match kind {
        "job" => client.job_id(id).await?,
        "flow" => client.run_id(id).await?,
        _ => id.to_owned(),
    };
    let kind = kind.to_owned();
    Ok(What::Stream { kind, id })
}

impl What {
    /// Whether it is one stream of this type.
    fn is_of(&self, wanted: &str) -> bool {
        matches!(self, Self::Stream { kind, .. } if kind == wanted)
    }
}

struct Follow<'a> {
    client: &'a Client,
    what: What,
    query: Query,
    line: EventLine,
    format: Format,
    /// The event that was seen last.
    after: Option<String>,
}

impl Follow<'_> {
    /// Until what is followed has ended; a queue never does.
    async fn run(&mut self) -> Result<Exit> {
        let mut connected = false;
        let mut away_since: Option<Instant> = None;
        loop {
            let opened = Instant::now();
            match self.listen().await {
                Ok(true) => return Ok(Exit::Ok),
                Ok(false) => {
                    (connected, away_since) = (true, None);
                    if self.has_ended().await {
                        return Ok(Exit::Ok);
                    }
                    output::talk("the connection broke; going on where it was left");
                }
                Err(failure) if failure.exit != Exit::Unreachable || !connected => {
                    return Err(failure);
                }
                Err(failure) => {
                    let since = *away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > AWAY {
                        return Err(failure);
                    }
                }
            }
            tokio::time::sleep_until(opened + AGAIN).await;
        }
    }

    /// One connection. True when the stream is over.
    async fn listen(&mut self) -> Result<bool> {
        let path = match &self.what {
            What::Stream { kind, id } => vec!["api", "events", kind, id, "stream"],
            What::Kinds => vec!["api", "events"],
        };
        let mut live = self
            .client
            .listen(&path, &self.query, self.after.as_deref())
            .await?;
        // What ended before may have begun anew: it is over when the server closes after an end.
        let mut is_over = false;
        while let Some(message) = live.next().await {
            match message.event.as_deref().unwrap_or_default() {
                "stream.missed" => {
                    output::talk(&format!("some events were missed {}", message.data))
                }
                "stream.deleted" => {
                    output::talk("the stream was deleted");
                    return Ok(true);
                }
                event => {
                    let event = EventType::parse(event);
                    is_over = event.is_end() && self.what.is_of(event.family());
                    self.show(&message);
                }
            }
        }
        self.after = live.last_id().map(str::to_owned).or(self.after.take());
        Ok(is_over)
    }

    /// One that ended before it was followed has nothing more to say.
    async fn has_ended(&self) -> bool {
        let path = match &self.what {
            What::Stream { kind, id } if kind == "job" => ["api", "jobs", id],
            What::Stream { kind, id } if kind == "flow" => ["api", "runs", id],
            _ => return false,
        };
        let answer = self.client.get(&path, &Vec::new()).await;
        answer.is_ok_and(|answer| has_ended(&answer.value()))
    }

    fn show(&self, message: &Message) {
        if self.format != Format::Table {
            return output::json_text(Format::Jsonl, &message.data);
        }
        let event: Value = serde_json::from_str(&message.data).unwrap_or_default();
        let line = self.line.show(&event);
        let whose = match &self.what {
            What::Kinds => &event["stream"],
            what if what.is_of("queue") => &event["runId"],
            What::Stream { .. } => return output::data(&line),
        };
        let whose = output::visible(whose.as_str().unwrap_or_default());
        output::data(&format!("{}  {line}", paint(paint::NAME, whose)));
    }
}
