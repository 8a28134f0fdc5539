//! `riverrun jobs logs`.

use clap::Args;

use crate::{
    cli::Global,
    client::{Client, Query, Watch},
    failure::{Exit, Result},
    output::{self, EventLine, Format, paint, paint::paint},
    signals,
};

#[derive(Args, Debug)]
pub struct Logs {
    /// The id of the job, or latest.
    id: String,
    /// Print new lines live until the job ends.
    #[arg(short, long, conflicts_with_all = ["kind", "limit"])]
    follow: bool,
    /// Only events of these types, separated by commas; log includes every log.*.
    #[arg(long = "type", value_name = "TYPES")]
    kind: Option<String>,
    /// The most lines to print. Default: all.
    #[arg(long)]
    limit: Option<usize>,
}

impl Logs {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let id = client.job_id(&self.id).await?;
        let job = client.get(&["api", "jobs", &id], &Vec::new()).await?;
        if let Some(run) = job.value()["runId"].as_str() {
            let next = format!("try: riverrun runs events {run}");
            output::talk(&format!(
                "the job drives run {run}, which says it all\n  {next}"
            ));
            return Ok(Exit::Ok);
        }
        if self.follow {
            return follow(&client, &id, global.output).await;
        }
        let view = client
            .get(&["api", "events", "job", &id], &Vec::new())
            .await?;
        let name = view.value()["stream"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let query: Query = self.kind.into_iter().map(|kind| ("type", kind)).collect();
        let limit = self.limit.unwrap_or(usize::MAX);
        let events = client
            .rows(&["api", "events", &name], &query, limit)
            .await?;
        let line = EventLine::for_stdout();
        output::list(global.output, &events, || {
            if events.is_empty() {
                let job = job.value();
                let state = job["state"].as_str().unwrap_or_default();
                return output::talk(&format!("nothing of that; the job is {state}"));
            }
            events
                .iter()
                .for_each(|event| output::data(&line.show_all(&event.value())));
        });
        Ok(Exit::Ok)
    }
}

async fn follow(client: &Client, id: &str, format: Format) -> Result<Exit> {
    let line = EventLine::for_stdout();
    let mut watch = Watch::new(client, id);
    let shown = watch.events(|message| match format {
        Format::Table => {
            let event = serde_json::from_str(&message.data).unwrap_or_default();
            output::data(&line.show_all(&event));
        }
        _ => output::json_text(Format::Jsonl, &message.data),
    });
    let job = tokio::select! {
        job = shown => job?.value(),
        () = signals::interrupted() => return Ok(Exit::Ok),
    };
    let state = job["state"].as_str().unwrap_or_default();
    output::talk(&format!("{id} {}", paint(paint::status(state), state)));
    Ok(Exit::Ok)
}
