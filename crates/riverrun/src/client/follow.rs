//! Reading a run's events live until it has ended, across broken connections.

use riverrun_types::ErrorCode;
use std::time::Duration;

use riverrun::EventType;
use tokio::time::Instant;

use super::Client;
use crate::{
    failure::{Exit, Failure, Result},
    output, signals,
};

/// How long a server may be away before we give up.
pub const AWAY: Duration = Duration::from_secs(60);

/// How following came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run has ended.
    Ended,
    /// The time that was given is over.
    TimedOut,
    /// Ctrl-C.
    Interrupted,
}

/// What to follow.
pub struct Follow<'a> {
    pub run: &'a str,
    /// Show only what comes after this event.
    pub after: Option<String>,
    pub timeout: Option<Duration>,
}

impl Client {
    /// Hands over each event's JSON text, in order and once.
    pub async fn follow(&self, what: Follow<'_>, on_event: impl FnMut(&str)) -> Result<End> {
        let deadline = what.timeout.map(|time| Instant::now() + time);
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            end = self.read_to_end(what.run, what.after, on_event) => end.map(|()| End::Ended),
            () = late => Ok(End::TimedOut),
            () = signals::interrupted() => Ok(End::Interrupted),
        }
    }

    async fn read_to_end(
        &self,
        run: &str,
        mut after: Option<String>,
        mut on_event: impl FnMut(&str),
    ) -> Result<()> {
        let mut away_since: Option<Instant> = None;
        let mut connected = false;
        loop {
            match self.read(run, &mut after, &mut on_event).await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    connected = true;
                    away_since = None;
                }
                // Refused for good, or never there at all.
                Err(failure) if failure.exit != Exit::Unreachable || !connected => {
                    return Err(failure);
                }
                Err(failure) => {
                    let since = *away_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > AWAY {
                        return Err(failure.note("the run continues when its server is back"));
                    }
                }
            }
            if away_since.is_none() {
                output::talk("the connection broke; going on where it was left");
                away_since = Some(Instant::now());
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }

    /// One connection. True when the run has ended.
    async fn read(
        &self,
        run: &str,
        after: &mut Option<String>,
        on_event: &mut impl FnMut(&str),
    ) -> Result<bool> {
        let path = ["api", "events", "flow", run, "stream"];
        let until_end = vec![("follow", "until-end".to_owned())];
        let mut live = self.listen(&path, &until_end, after.as_deref()).await?;
        while let Some(message) = live.next().await {
            let kind = EventType::parse(message.event.as_deref().unwrap_or_default());
            if message.id.is_some() && message.id != *after {
                after.clone_from(&message.id);
                on_event(&message.data);
            }
            if is_end(&kind) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub fn is_end(kind: &EventType) -> bool {
    kind.is_end() && kind.family() == "flow"
}

impl End {
    /// What to say of a run that was left alone before its end.
    pub fn left(self, run: &str) -> Option<Failure> {
        match self {
            Self::Ended => None,
            Self::TimedOut => Some(
                Failure::new(
                    ErrorCode::Timeout,
                    format!("run {run} has not ended in the time given"),
                )
                .exit(Exit::Timeout)
                .note("the run continues")
                .next(format!("riverrun runs events {run} --follow")),
            ),
            Self::Interrupted => {
                output::talk(&format!(
                    "no longer following run {run}; it continues\n  try: riverrun runs events {run} --follow\n       riverrun runs cancel {run}"
                ));
                None
            }
        }
    }
}
