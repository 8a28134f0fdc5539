//! `riverrun dev`: a server for the folder that you are writing in.

use riverrun_types::ErrorCode;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use riverrun::{Json, Riverrun, RunFilter, RunId, RunStatus, StartRequest, Synced, Tailed};
use serde_json::{Value, json};
use tokio::sync::{Mutex, mpsc::Receiver};

use super::{
    Global,
    serve::ready,
    server_flags::{ServerFlags, project_folder},
};
use crate::{
    config::Settings,
    failure::{Exit, Failure, Result},
    logs,
    output::{self, EventLine, Format, paint, paint::paint},
    project::{self, Loading, Processes, Registered, SyncedTrigger, processes::Outcome},
    server::Server,
    signals,
};

#[derive(Args, Debug)]
pub struct Dev {
    /// The folder of the project, with flows/**, processes/**, triggers/** and riverrun.toml.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Do not start the flow that [dev] in riverrun.toml names.
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    flags: ServerFlags,
}

impl Dev {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let folder = project_folder(&self.folder)?;
        let settings = self.flags.load(Some((folder.clone(), "the folder")))?;
        logs::init(&settings.config);
        logs::log_warnings(&settings);
        // Before the first look, so that what is saved while it looks is seen too.
        let changes = watch(&folder, &settings.config.data)?;
        let server = Server::open(&settings).await?;
        let flows = match project::register_dev(&server.river, &folder).await {
            Ok(flows) => flows,
            Err(failures) => {
                tell(&failures);
                Vec::new()
            }
        };
        let mut flows = flows;
        let mut warnings = Vec::new();
        let mut late = Loading::default();
        if let Some(processes) = &server.processes {
            processes.lock().await.show_work();
            let outcome;
            (outcome, late) = processes.lock().await.look_promptly(&[]).await;
            tell_processes(&outcome);
            let composed = project::register_composed(&server.river, true).await;
            tell_failures(&composed.failures);
            flows.extend(composed.registered);
            warnings = composed.warnings;
        }
        tell_triggers(project::sync_triggers(&server.river, &folder).await);
        project::warn_anew(&server.river, &mut flows);
        ready(&server, &settings, &flows);
        warn(&flows);
        warnings.iter().for_each(|warning| warn_of(warning));
        suggest(&server, &settings, &flows);
        let reloading = Reloading {
            river: server.river.clone(),
            processes: server.processes.clone(),
            folder,
        };
        tokio::spawn(reloading.run(changes, late));
        if let (Some(flow), false) = (&settings.config.dev.run, self.no_run) {
            let example = Example {
                river: server.river.clone(),
                flow: flow.clone(),
                input: settings
                    .config
                    .dev
                    .input
                    .clone()
                    .unwrap_or_else(|| json!({})),
                output: global.output,
            };
            tokio::spawn(example.run());
        }
        let stop = signals::asked_to_stop(settings.config.grace.0);
        server.serve(stop).await?;
        Ok(Exit::Ok)
    }
}

fn tell_failures(failures: &[Failure]) {
    for failure in failures {
        output::talk(&failure.to_string());
    }
}

fn tell(failures: &[Failure]) {
    tell_failures(failures);
    output::talk("  nothing was registered; correct the file and save it again");
}

/// Commands to try, with a flow that is there and the address where the server is.
fn suggest(server: &Server, settings: &Settings, flows: &[Registered]) {
    let url = match server.url == crate::client::DEFAULT_URL {
        true => String::new(),
        false => format!(" --url {}", server.url),
    };
    let named = settings.config.dev.run.as_deref();
    let Some(flow) = named.or(flows.first().map(|flow| flow.id.as_str())) else {
        return;
    };
    output::talk("  try, in a second terminal:");
    for command in [
        format!("riverrun run {flow} --follow{url}"),
        format!("riverrun runs ls{url}"),
        format!("riverrun flows graph {flow}{url}"),
    ] {
        output::talk(&format!("    {}", paint(paint::NAME, command)));
    }
}

fn watch(folder: &Path, data: &Path) -> Result<Receiver<Vec<PathBuf>>> {
    // What is reported is absolute; compare like with like.
    let project = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    project::watch(&project, &real(data)).map_err(|error| {
        Failure::new(
            ErrorCode::WatchFailed,
            format!("cannot watch {}: {error}", folder.display()),
        )
        .next("riverrun serve --project <folder>, which does not watch")
    })
}

/// The real path of a folder that need not be there yet.
fn real(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) if !absolute.exists() => real(parent).join(name),
        _ => absolute.canonicalize().unwrap_or(absolute),
    }
}

/// Says what may be meant otherwise in flows.
fn warn<'a>(flows: impl IntoIterator<Item = &'a Registered>) {
    for warning in flows.into_iter().flat_map(Registered::named_warnings) {
        warn_of(&warning);
    }
}

fn warn_of(warning: &str) {
    output::talk(&format!("{} {warning}", paint(paint::WARN, "warning:")));
}

/// Takes in what has changed, and what took long to load.
struct Reloading {
    river: Riverrun,
    processes: Option<Arc<Mutex<Processes>>>,
    folder: PathBuf,
}

impl Reloading {
    async fn run(self, mut changes: Receiver<Vec<PathBuf>>, mut late: Loading) {
        loop {
            tokio::select! {
                changed = changes.recv() => match changed {
                    Some(changed) => late = self.reload(&changed).await,
                    None => return,
                },
                Some(read) = late.next() => {
                    if let Some(processes) = &self.processes {
                        tell_processes(&processes.lock().await.late(read));
                        self.compose().await;
                    }
                }
            }
        }
    }

    async fn reload(&self, changed: &[PathBuf]) -> Loading {
        reload(&self.river, &self.folder).await;
        let Some(processes) = &self.processes else {
            self.sync_triggers().await;
            return Loading::default();
        };
        let (outcome, late) = processes.lock().await.look_promptly(changed).await;
        tell_processes(&outcome);
        self.compose().await;
        late
    }

    /// The flows that processes make together, and the triggers that may start them.
    async fn compose(&self) {
        let composed = project::register_composed(&self.river, true).await;
        tell_failures(&composed.failures);
        tell_flows(&self.river, &composed.registered);
        composed
            .warnings
            .iter()
            .for_each(|warning| warn_of(warning));
        self.sync_triggers().await;
    }

    async fn sync_triggers(&self) {
        tell_triggers(project::sync_triggers(&self.river, &self.folder).await);
    }
}

/// What was loaded and what could not be. What runs goes on as it was.
fn tell_processes(outcome: &Outcome) {
    outcome.warn();
    for failure in &outcome.failures {
        output::talk(&failure.to_string());
    }
    for (id, queue) in &outcome.loaded {
        let place = match queue {
            Some(queue) => format!("takes jobs of {queue}"),
            None => "can be called".to_owned(),
        };
        output::talk(&format!("loaded {}, which {place}", paint(paint::NAME, id)));
    }
    for (path, count) in outcome.anew.iter().filter(|(_, count)| *count > 0) {
        output::talk(&format!(
            "loaded {count} process file{} anew: {} has changed",
            if *count == 1 { "" } else { "s" },
            path.display()
        ));
    }
    for id in &outcome.removed {
        output::talk(&format!("removed {}", paint(paint::NAME, id)));
    }
}

/// Which triggers came, changed or went, and which could not.
fn tell_triggers(synced: std::result::Result<Vec<SyncedTrigger>, Vec<Failure>>) {
    match synced {
        Err(failures) => {
            for failure in &failures {
                output::talk(&failure.to_string());
            }
            output::talk("  the trigger is unchanged; correct the file and save it again");
        }
        Ok(triggers) => {
            for SyncedTrigger { id, synced } in &triggers {
                let news = match synced {
                    Synced::Same => continue,
                    Synced::Changed => "set trigger",
                    Synced::Removed => "removed trigger",
                };
                output::talk(&format!("{news} {}", paint(paint::NAME, id)));
            }
        }
    }
}

async fn reload(river: &Riverrun, folder: &Path) {
    match project::register_dev(river, folder).await {
        Err(failures) => tell(&failures),
        Ok(flows) => tell_flows(river, &flows),
    }
}

fn tell_flows(river: &Riverrun, flows: &[Registered]) {
    for flow in flows.iter().filter(|flow| flow.created) {
        output::talk(&format!("reloaded {}", paint(paint::NAME, flow)));
        warn([flow]);
        let newest = river.runtime().flows().get(&flow.id, None);
        if let Some(newest) = newest.filter(|newest| *newest.version != *flow.version) {
            output::talk(&format!(
                "  but {}@{} is newer, and is what starts",
                flow.id, newest.version
            ));
        }
    }
}

/// The flow that is run once the server is up.
struct Example {
    river: Riverrun,
    flow: String,
    input: Value,
    output: Format,
}

impl Example {
    async fn run(self) {
        if let Err(failure) = self.go().await {
            output::talk(&failure.to_string());
        }
    }

    async fn go(&self) -> Result<()> {
        let run = match self.under_way().await? {
            Some(run) => run,
            None => {
                let request = StartRequest::new(self.flow.as_str(), self.input.clone());
                let run = self.river.start_with(request).await?.run;
                output::talk(&format!("started {} as run {run}", self.flow));
                run
            }
        };
        self.follow(&run).await
    }

    /// A run of the flow that the last stop, or a crash, left on its way.
    async fn under_way(&self) -> Result<Option<RunId>> {
        let filter = RunFilter {
            flow: Some(self.flow.as_str().into()),
            status: vec![RunStatus::Pending, RunStatus::Running, RunStatus::Waiting],
            limit: 100,
            ..RunFilter::default()
        };
        let found = self.river.runtime().runs().list(&filter).await?.items;
        let ids: Vec<String> = found.iter().map(|run| run.id.to_string()).collect();
        match ids.len() {
            0 => return Ok(None),
            1 => output::talk(&format!("1 unfinished run continues: {}", ids[0])),
            count => output::talk(&format!(
                "{count} unfinished runs continue: {}",
                ids.join(", ")
            )),
        }
        Ok(found.into_iter().next().map(|run| run.id))
    }

    async fn follow(&self, run: &RunId) -> Result<()> {
        let mut tail = self.river.follow(run);
        let line = EventLine::for_stdout();
        loop {
            let batch;
            let read;
            let events = match tail.next().await? {
                Tailed::Read(events) => {
                    read = events;
                    read.as_slice()
                }
                Tailed::Live(live) => {
                    batch = live;
                    batch.events.as_slice()
                }
                Tailed::Missed(_) => continue,
                Tailed::Gone => return Ok(()),
            };
            for event in events {
                match self.output {
                    Format::Table => output::data(&line.show(&Json::of(event).value())),
                    _ => output::json(Format::Jsonl, event),
                }
                if crate::client::is_end(&event.kind) {
                    return self.ended(run).await;
                }
            }
        }
    }

    async fn ended(&self, run: &RunId) -> Result<()> {
        let ended = self.river.get(run).await?;
        let status = ended.status.as_str();
        output::talk(&format!(
            "{} {}; the server keeps running (Ctrl-C stops it)\n  try: riverrun runs show {run}",
            self.flow,
            paint(paint::status(status), status),
        ));
        Ok(())
    }
}
