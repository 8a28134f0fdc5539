//! `riverrun serve`.

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use riverrun::Riverrun;
use tokio::sync::Mutex;

use super::{
    build,
    server_flags::{ServerFlags, project_folder},
};
use crate::{
    config::{LogFormat, Settings},
    failure::{Exit, Failure, Result},
    logs, output,
    output::{paint, paint::paint},
    project::{self, ComposedFlows, Loading, Processes, Registered, processes::Outcome},
    server::Server,
    signals,
};

#[derive(Args, Debug)]
pub struct Serve {
    /// The folder of the project, with flows/**, processes/** and triggers/**.
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Load this registry file, written by riverrun build, instead of a folder.
    #[arg(long, value_name = "FILE", conflicts_with = "project")]
    registry: Option<PathBuf>,
    #[command(flatten)]
    flags: ServerFlags,
}

impl Serve {
    pub async fn run(self) -> Result<Exit> {
        let of_registry = self.registry.as_deref().map(build::project_of);
        let project = self.project.as_deref().or(of_registry.as_deref());
        let project = project.map(project_folder).transpose()?;
        let settings = self
            .flags
            .load(project.map(|folder| (folder, "--project")))?;
        logs::init(&settings.config);
        logs::log_warnings(&settings);
        let server = Server::open(&settings).await?;
        let flows = match &settings.config.project {
            _ if self.registry.is_some() => {
                build::flows(self.registry.as_deref(), &server.river).await
            }
            Some(folder) => project::register(&server.river, folder).await,
            None => Ok(Vec::new()),
        };
        let flows = match flows {
            Ok(flows) => flows,
            Err(failure) => {
                server.river.shutdown().await?;
                return Err(failure);
            }
        };
        let mut late = Loading::default();
        match (&self.registry, &server.processes) {
            (Some(registry), Some(processes)) => {
                build::boot(registry, &mut *processes.lock().await)?;
            }
            (None, Some(processes)) => {
                let outcome;
                (outcome, late) = processes.lock().await.look_promptly(&[]).await;
                log(&outcome);
            }
            _ => {}
        }
        // A version of a flow never changes: it is made of all its steps, or not yet. Files that are
        // still loading hold back their own flows, as those do that cannot be loaded.
        let is_whole = late.left().is_empty();
        let composed = match &server.processes {
            Some(_) => project::register_whole(&server.river).await,
            None => ComposedFlows::default(),
        };
        let mut flows: Vec<Registered> = flows.into_iter().chain(composed.registered).collect();
        log_failures(&composed.failures);
        if is_whole && let Some(failure) = self.sync_triggers(&server, &settings).await {
            server.river.shutdown().await?;
            return Err(failure);
        }
        project::warn_anew(&server.river, &mut flows);
        ready(&server, &settings, &flows);
        let warnings = flows.iter().flat_map(Registered::named_warnings);
        for warning in warnings.chain(composed.warnings) {
            tracing::warn!("{warning}");
        }
        if let (false, Some(processes)) = (is_whole, &server.processes) {
            let (river, processes) = (server.river.clone(), processes.clone());
            let folder = settings.config.project.clone();
            tokio::spawn(take_in_late(late, river, processes, folder));
        }
        let stop = signals::asked_to_stop(settings.config.grace.0);
        server.serve(stop).await?;
        Ok(Exit::Ok)
    }
}

/// Registers the files that took long to load, then the flows that processes define, then triggers.
async fn take_in_late(
    mut late: Loading,
    river: Riverrun,
    processes: Arc<Mutex<Processes>>,
    folder: Option<PathBuf>,
) {
    while let Some(read) = late.next().await {
        log(&processes.lock().await.late(read));
    }
    let composed = project::register_whole(&river).await;
    log_failures(&composed.failures);
    for flow in &composed.registered {
        tracing::info!("registered {flow}");
    }
    let of_flows = composed.registered.iter();
    for warning in of_flows
        .flat_map(Registered::named_warnings)
        .chain(composed.warnings)
    {
        tracing::warn!("{warning}");
    }
    if let Some(folder) = folder {
        let synced = project::sync_triggers(&river, &folder).await;
        log_failures(&synced.err().unwrap_or_default());
    }
}

/// Logs the warnings and failures of loading.
fn log(outcome: &Outcome) {
    for warning in &outcome.warnings {
        tracing::warn!("{warning}");
    }
    log_failures(&outcome.failures);
}

/// Logs each failure; a file that does not load does not affect the others.
fn log_failures(failures: &[Failure]) {
    for failure in failures {
        tracing::error!(code = %failure.code, "{}", failure.text());
    }
}

impl Serve {
    /// Updates the triggers to those of the project or the registry. The first invalid trigger stops
    /// the server, as an invalid flow does. If a process is broken, a trigger may lack a flow that
    /// comes later, so failures are only logged.
    async fn sync_triggers(&self, server: &Server, settings: &Settings) -> Option<Failure> {
        let synced = match (&self.registry, &settings.config.project) {
            (Some(registry), _) => build::sync_triggers(registry, &server.river).await,
            (None, Some(folder)) => project::sync_triggers(&server.river, folder).await,
            (None, None) => return None,
        };
        let refused = synced.err()?;
        match server.river.runtime().processes().broken().is_empty() {
            true => refused.into_iter().next(),
            false => {
                log_failures(&refused);
                None
            }
        }
    }
}

/// Prints the address and what was loaded, in the format of the log.
pub fn ready(server: &Server, settings: &Settings, flows: &[Registered]) {
    let names: Vec<String> = flows.iter().map(ToString::to_string).collect();
    let known = server.river.runtime().flows().latest().len();
    let version = env!("CARGO_PKG_VERSION");
    if settings.config.log_format == LogFormat::Json {
        tracing::info!(url = server.url, data = server.data, flows = ?names, known, version, "listening");
        return;
    }
    let row = |title: &str, text: &str| output::talk(&format!("  {title:<6} {text}"));
    output::talk(&format!(
        "riverrun {version} is listening on {}",
        paint(paint::BOLD, &server.url)
    ));
    row("data", &server.data);
    row(
        "flows",
        &match (names.len(), known) {
            (0, 0) => "none yet".to_owned(),
            (0, known) => format!("{known} registered"),
            _ => output::shorten(&names.join(", "), 400),
        },
    );
    let processes = server.river.runtime().processes().all();
    if !processes.is_empty() {
        let names: Vec<&str> = processes.iter().map(|process| &*process.id).collect();
        row("work", &output::shorten(&names.join(", "), 400));
    }
    let triggers = server.river.triggers().ids();
    if !triggers.is_empty() {
        row("starts", &output::shorten(&triggers.join(", "), 400));
    }
    row("docs", &format!("{}/api/docs", server.url));
}
