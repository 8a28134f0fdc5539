//! `riverrun runs events`.

use std::time::Duration;

use clap::Args;

use crate::{
    cli::{
        Global,
        run::{Ids, Watch},
    },
    config::parse_duration,
    failure::{Exit, Result},
    output::{self, EventLine},
};

#[derive(Args, Debug)]
pub struct Events {
    /// The run's id, or latest.
    id: String,
    /// Go on as events come, until the run has ended.
    #[arg(short, long, conflicts_with_all = ["kind", "step", "since", "until", "after", "limit", "newest_first"])]
    follow: bool,
    /// How long to follow; the run itself goes on.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", requires = "follow")]
    timeout: Option<Duration>,
    /// Only these types, separated by commas; log takes every log.*.
    #[arg(long = "type", value_name = "TYPES")]
    kind: Option<String>,
    /// Only events of this step.
    #[arg(long)]
    step: Option<String>,
    /// Only at or after this time: ISO 8601 or milliseconds.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only after this event.
    #[arg(long, value_name = "EVENT")]
    after: Option<String>,
    /// Newest first.
    #[arg(long)]
    newest_first: bool,
    /// Events at most; all without it.
    #[arg(long)]
    limit: Option<usize>,
}

impl Events {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let run = client.run_id(&self.id).await?;
        if self.follow {
            let watch = Watch {
                client: &client,
                run: &run,
                events: true,
                ids: Ids::Shown,
                format: global.output,
            };
            // Only a wait for its own run's outcome fails with it; here the events were asked for.
            return watch.events_only(self.timeout).await;
        }
        let fields = [
            ("type", self.kind),
            ("step", self.step),
            ("since", self.since),
            ("until", self.until),
            ("from", self.after),
            ("order", self.newest_first.then(|| "desc".to_owned())),
        ];
        let query = fields
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
            .collect();
        let limit = self.limit.unwrap_or(usize::MAX);
        let events = client
            .rows(&["api", "runs", &run, "events"], &query, limit)
            .await?;
        let line = EventLine::for_stdout().with_ids();
        output::list(global.output, &events, || {
            events
                .iter()
                .for_each(|event| output::data(&line.show_all(&event.value())));
        });
        Ok(Exit::Ok)
    }
}
