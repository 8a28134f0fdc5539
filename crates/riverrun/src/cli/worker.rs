//! `riverrun worker`: a project's processes, run for a server elsewhere.

use riverrun_types::ErrorCode;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::Args;
use riverrun_protocol::NotLoaded;
use riverrun_providers::worker::{Worker as Session, WorkerOptions};
use riverrun_runtime::{BrokenProcess, Process};

use super::{
    Global,
    server_flags::{WorkerFlags, project_folder},
};
use crate::{
    client::Client,
    config::parse_duration,
    failure::{Exit, Failure, Result},
    logs,
    project::{Processes, processes::Register},
    signals, worker,
};

/// How long the work of a worker that leaves may take at most: the server gives it less.
const LEAVE: Duration = Duration::from_secs(3_600);

#[derive(Args, Debug)]
pub struct Worker {
    /// The URL of the server, like --url. Default http://127.0.0.1:4600.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The folder of the project whose processes/** to run.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    project: PathBuf,
    /// The name of the worker in lists. Default: the host name and the process id.
    #[arg(long)]
    name: Option<String>,
    /// A tag shown in lists; may be repeated.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The most jobs and calls to run at once.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    concurrency: u32,
    /// How long to wait for a server that is not running yet.
    #[arg(long, value_parser = parse_duration, value_name = "TIME", default_value = "5s")]
    wait: Duration,
    #[command(flatten)]
    flags: WorkerFlags,
}

impl Worker {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let folder = project_folder(&self.project)?;
        // It waits by itself, and longer for a server that was there.
        let server = self.server.as_deref().or(global.url.as_deref());
        let client = Client::new(server, Duration::ZERO)?.for_worker();
        let flags = super::server_flags::ServerFlags::from(self.flags);
        let settings = flags.load(Some((folder.clone(), "--project")))?;
        logs::init(&settings.config);
        logs::log_warnings(&settings);
        let found = LocalProcesses::default();
        let mut options = settings.config.process_settings();
        // There is no data folder to keep SDKs in.
        let sdk_folder = riverrun_providers::RunnerOptions::default().sdk_folder;
        options.node.sdk_folder.clone_from(&sdk_folder);
        options.python.sdk_folder = sdk_folder;
        let mut processes = Processes::new(found.clone(), &folder, options);
        let outcome = processes.look().await;
        for warning in &outcome.warnings {
            tracing::warn!("{warning}");
        }
        let failures = outcome.failures;
        // One that does not load harms no other.
        for failure in &failures {
            tracing::error!(code = %failure.code, "{}", failure.text());
        }
        let known = found.known();
        if known.is_empty() {
            processes.end().await;
            let message = format!("{} has no process that can be run", folder.display());
            return Err(Failure::usage(ErrorCode::NoProcesses, message)
                .next("a file under processes/, as docs/guides/processes.md shows"));
        }
        let session = Session::new(
            WorkerOptions {
                name: self.name.unwrap_or_else(default_name),
                tags: self.tags,
                concurrency: self.concurrency,
                broken: found.broken(),
            },
            known,
        );
        let stop = signals::asked_to_stop(LEAVE);
        tokio::spawn({
            let session = session.clone();
            async move {
                stop.await;
                session.leave();
            }
        });
        let ended = worker::serve(&client, &session, self.wait).await;
        processes.end().await;
        ended.map(|()| Exit::Ok)
    }
}

#[cfg(unix)]
fn default_name() -> String {
    let system = rustix::system::uname();
    format!(
        "{}-{}",
        system.nodename().to_string_lossy(),
        std::process::id()
    )
}

#[cfg(not(unix))]
fn default_name() -> String {
    format!("worker-{}", std::process::id())
}

/// What was found in the project.
#[derive(Clone, Default)]
pub struct LocalProcesses(Arc<Mutex<Project>>);

/// By id.
#[derive(Default)]
struct Project {
    processes: BTreeMap<String, Arc<Process>>,
    broken: BTreeMap<String, BrokenProcess>,
}

impl LocalProcesses {
    pub fn count(&self) -> usize {
        self.with(|found| found.processes.len())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Project) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What does not load.
    fn broken(&self) -> Vec<NotLoaded> {
        self.with(|found| {
            found
                .broken
                .values()
                .map(BrokenProcess::not_loaded)
                .collect()
        })
    }
}

impl Register for LocalProcesses {
    fn put(&self, process: Process) {
        self.with(|found| {
            found
                .processes
                .insert(process.id.to_string(), Arc::new(process))
        });
    }

    fn remove(&self, id: &str) {
        self.with(|found| found.processes.remove(id));
    }

    fn known(&self) -> Vec<Arc<Process>> {
        self.with(|found| found.processes.values().cloned().collect())
    }

    fn put_broken(&self, process: BrokenProcess) {
        self.with(|found| found.broken.insert(process.id.to_string(), process));
    }

    fn forget_broken(&self, id: &str) {
        self.with(|found| found.broken.remove(id));
    }
}
