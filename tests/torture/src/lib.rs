//! The kill harness: it starts the real server, loads it with flows, awaits and jobs, kills it, one of
//! its runners or a worker elsewhere with SIGKILL at random moments, starts it again, and in the end checks the first
//! four promises on every run and every job:
//!
//! 1. what was acknowledged is there,
//! 2. every outcome is recorded once, and every effect happened at least once,
//! 3. every stream is in one order without a gap, for readers that reconnect too,
//! 4. replaying a stream gives the state that the server shows,
//!
//! that every run and every job ends, that attempts are counted truthfully, that what was fired is
//! never lost and never counts twice, that schedules leave nothing out and start nothing twice, that
//! no await, timer or job is left when all has ended, and that a killed server leaves nothing behind
//! that still works.
#![allow(clippy::print_stdout, reason = "the harness reports while it runs")]

mod awaits;
mod code;
mod flows;
mod jobs;
mod kill;
mod release;
mod runs;
mod server;
mod streams;
mod tree;

use std::{
    fmt, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::task::JoinSet;

use awaits::Awaits;
use code::Code;
use flows::Flows;
use jobs::Jobs;
use kill::Victim;
use release::Releases;
pub use server::Server;
use server::Setting;

/// How to torture.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's program.
    pub binary: PathBuf,
    pub kills: usize,
    /// Clients of each kind of load at the same time.
    pub clients: usize,
    /// The longest that the server lives between two kills.
    pub longest: Duration,
    /// Decides what is killed when, and what is asked for. Printed, so that a failure can be
    /// repeated, as far as a race can.
    pub seed: u64,
    /// One kind of load instead of all.
    pub only: Option<Only>,
}

/// A kind of load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    Flows,
    Jobs,
    Awaits,
    Code,
}

/// The command that repeats it.
impl fmt::Display for Options {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "cargo run -p riverrun-torture -- --binary {} --kills {} --clients {} --longest-ms {} --seed {}",
            self.binary.display(),
            self.kills,
            self.clients,
            self.longest.as_millis(),
            self.seed
        )?;
        match self.only {
            None => Ok(()),
            Some(Only::Flows) => write!(to, " --only flows"),
            Some(Only::Jobs) => write!(to, " --only jobs"),
            Some(Only::Awaits) => write!(to, " --only awaits"),
            Some(Only::Code) => write!(to, " --only code"),
        }
    }
}

/// Runs the whole ordeal; the error says which promise was broken, by what, and how to repeat it.
pub async fn torture(options: Options) -> Result<String, String> {
    println!("seed {}: {} kills", options.seed, options.kills);
    let repeat = options.to_string();
    let done = run(options).await;
    done.map_err(|broken| format!("{broken}\nrepeat with: {repeat}"))
}

async fn run(options: Options) -> Result<String, String> {
    let mut dice = StdRng::seed_from_u64(options.seed);
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let has = |load: Only| options.only.is_none_or(|only| only == load);
    let project = folder.path().join("project");
    let mut processes = Vec::new();
    if has(Only::Jobs) {
        processes.extend(jobs::PROCESSES);
    }
    if has(Only::Awaits) {
        processes.extend(awaits::PROCESSES);
    }
    write_project(&project, &processes)?;
    if has(Only::Code) {
        Code::write(&project)?;
    }
    let has_processes = !processes.is_empty() || has(Only::Code);
    let setting = Setting {
        binary: options.binary.clone(),
        data: folder.path().join("data"),
        project: has_processes.then(|| project.clone()),
    };
    let (clients, seed) = (options.clients, options.seed);
    let mut server = Server::start(&setting, None).await?;
    let flows = match has(Only::Flows) {
        true => Some(Flows::begin(&server, clients).await?),
        false => None,
    };
    let awaits = match has(Only::Awaits) {
        true => Some(Awaits::begin(&server, &project, clients, seed).await?),
        false => None,
    };
    let mut jobs = match has(Only::Jobs) {
        true => Some(Jobs::begin(&server, &setting.binary, &project, clients, seed).await?),
        false => None,
    };

    let releases = Releases::begin(server.url());
    let mut code = match has(Only::Code) {
        true => Some(Code::begin(&server, &setting.binary, &project, clients, seed).await?),
        false => None,
    };

    let mut orphans = JoinSet::new();
    for kill in 1..=options.kills {
        let life = dice.random_range(30..options.longest.as_millis() as u64);
        tokio::time::sleep(Duration::from_millis(life)).await;
        let victim = match has_processes {
            true => Victim::any(&mut dice),
            false => Victim::Server,
        };
        let begun = std::time::Instant::now();
        if let Some(code) = &mut code {
            code.change(&mut dice)?;
            if victim == Victim::Worker {
                orphans.spawn(tree::all_gone(code.kill_worker(&mut dice).await?));
            }
        }
        let left = match (victim, &mut jobs) {
            (Victim::Worker, Some(jobs)) => jobs.kill_worker(&mut dice).await?,
            (Victim::Worker, None) if code.is_some() => Vec::new(),
            _ => {
                let (next, left) = kill::kill(server, &setting, victim, &mut dice).await?;
                server = next;
                left
            }
        };
        orphans.spawn(tree::all_gone(left));
        println!(
            "kill {kill}/{}: {victim:?} after {life} ms, ready again after {} ms; acknowledged {} runs, {} that wait, {} jobs, {} of code",
            options.kills,
            begun.elapsed().as_millis(),
            flows.as_ref().map_or(0, Flows::acknowledged),
            awaits.as_ref().map_or(0, Awaits::acknowledged),
            jobs.as_ref().map_or(0, Jobs::acknowledged),
            code.as_ref().map_or(0, Code::acknowledged),
        );
    }

    let mut summary = Vec::new();
    if let Some(code) = &mut code {
        // Fitting code is loaded by a server that starts, and lets go on what was parked.
        orphans.spawn(tree::all_gone(code.settle().await?));
        let (next, left) = kill::kill(server, &setting, Victim::Server, &mut dice).await?;
        server = next;
        orphans.spawn(tree::all_gone(left));
    }
    // First, since schedules start runs until they are stopped.
    if let Some(awaits) = awaits {
        summary.push(awaits.reckon(&server).await?);
    }
    if let Some(flows) = flows {
        summary.push(flows.reckon(&server).await?);
    }
    if let Some(code) = code {
        let (checked, left) = code.reckon(&server).await?;
        summary.push(checked);
        orphans.spawn(tree::all_gone(left));
    }
    if let Some(jobs) = jobs {
        let (checked, left) = jobs.reckon(&server).await?;
        summary.push(checked);
        orphans.spawn(tree::all_gone(left));
    }
    summary.push(format!(
        "{} units were parked and released",
        releases.count()
    ));
    drop(releases);
    server.stop().await?;
    awaits::nothing_is_left(&setting.data).await?;
    let mut longest = Duration::ZERO;
    while let Some(gone) = orphans.join_next().await {
        longest = longest.max(gone.map_err(|error| error.to_string())??);
    }
    if has_processes {
        summary.push(format!(
            "what a killed server left was gone after {} ms at most",
            longest.as_millis()
        ));
    }
    Ok(summary.join("; "))
}

/// Writes the project whose processes run jobs and steps.
fn write_project(folder: &Path, files: &[(&str, &str)]) -> Result<(), String> {
    let processes = folder.join("processes");
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(&processes).map_err(text)?;
    for (name, source) in files {
        let path = processes.join(name);
        fs::write(&path, source).map_err(text)?;
        // What no runner knows is a program itself.
        if path.extension().is_none() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(text)?;
        }
    }
    Ok(())
}
