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
    /// The id of the run, or latest.
    id: String,
    /// Print new events live until the run ends.
    #[arg(short, long, conflicts_with_all = ["kind", "step", "since", "until", "after", "limit", "newest_first"])]
    follow: bool,
    /// How long to follow. The run continues afterwards.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", requires = "follow")]
    timeout: Option<Duration>,
    /// Only events of these types, separated by commas; log includes every log.*.
    #[arg(long = "type", value_name = "TYPES")]
    kind: Option<String>,
    /// Only events of this step.
    #[arg(long)]
    step: Option<String>,
    /// Only events at or after this time: ISO 8601 or milliseconds.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only events before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only events after this event id.
    #[arg(long, value_name = "EVENT")]
    after: Option<String>,
    /// Print the newest event first.
    #[arg(long)]
    newest_first: bool,
    /// The most events to print. Default: all.
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
