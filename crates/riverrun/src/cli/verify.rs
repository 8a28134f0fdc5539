//! `riverrun verify`: checks everything that is stored, against its checksums and against each
//! other.

use std::path::{Path, PathBuf};

use clap::Args;
use riverrun_engine::RunState;
use riverrun_runtime::projection;
use riverrun_store::Projection;
use riverrun_store_sqlite::{Inspector, Report, RunRow, SqliteStore, verify, verify_file};
use riverrun_types::{Draft, ErrorCode, Millis, time::iso};

use super::{Global, server_flags::ServerFlags};
use crate::{
    config::Config,
    failure::{Exit, Failure, Result},
    output::{self, Format, Progress, paint, paint::paint, visible},
};

#[derive(Args, Debug)]
pub struct Verify {
    /// Check this backup instead of a data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "accept_loss")]
    file: Option<PathBuf>,
    /// Accept that acknowledged data is missing, so that the server starts with the rest. The old files
    /// are kept in a folder beside them.
    #[arg(long)]
    accept_loss: bool,
    #[command(flatten)]
    flags: ServerFlags,
}

impl Verify {
    pub fn run(self, global: &Global) -> Result<Exit> {
        let mut inspector = Reducer::new();
        let report = match &self.file {
            Some(file) => {
                crate::files::open("the backup", file)?;
                verify_file(file, &mut inspector)
            }
            None => {
                let folder = folder_of(&self.flags.load(None)?.config)?;
                if self.accept_loss {
                    accept(&folder)?;
                }
                verify(&folder, &mut inspector)
            }
        };
        drop(inspector);
        let report = report.map_err(riverrun::Error::from)?;
        tell(global.output, &report);
        Ok(match report.is_well() {
            true => Exit::Ok,
            false => Exit::Failed,
        })
    }
}

/// The folder of the embedded store.
pub fn folder_of(config: &Config) -> Result<PathBuf> {
    let path = match config.store.split_once(':') {
        Some(("sqlite", rest)) => rest.strip_prefix("//").unwrap_or(rest),
        _ => {
            let message = format!("{} keeps no files here", config.store);
            return Err(Failure::usage(ErrorCode::StoreUnknown, message)
                .next("--store sqlite:// with --data <folder>"));
        }
    };
    let folder = match path {
        "" => config.data.clone(),
        path => PathBuf::from(path),
    };
    if !folder.is_dir() {
        let message = format!("there is no data folder {}", folder.display());
        return Err(
            Failure::usage(ErrorCode::FileUnusable, message).next("--data <the data folder>")
        );
    }
    Ok(folder)
}

fn accept(folder: &Path) -> Result<()> {
    let options = riverrun_store_sqlite::Options {
        accept_loss: true,
        ..riverrun_store_sqlite::Options::new(folder)
    };
    // Closed at once: from now on the folder is what it is.
    let store = SqliteStore::open(options).map_err(riverrun::Error::from)?;
    drop(store);
    Ok(())
}

fn tell(format: Format, report: &Report) {
    if format != Format::Table {
        output::json(format, report);
        return;
    }
    for found in &report.findings {
        let id = found.id.as_deref().unwrap_or_default();
        let place = paint(
            paint::BAD,
            format_args!("✗ {} {}", found.place, visible(id)),
        );
        output::data(&format!("{place}: {}", visible(&found.problem)));
    }
    if report.more > 0 {
        output::data(&format!("  and {} more", report.more));
    }
    if report.is_older {
        output::talk("an older riverrun wrote this: only its structure was checked");
    }
    if report.in_use {
        output::talk("a server has the folder: how far it has acknowledged was not compared");
    }
    let counts = format!(
        "{} runs, {} events, {} checksums",
        report.runs, report.events, report.checked
    );
    let old = match report.unchecked {
        0 => String::new(),
        old => format!(", {old} values of an older version without one"),
    };
    match report.is_well() {
        true => output::data(&format!("{} {counts}{old}", paint(paint::GOOD, "✓ whole:"))),
        false => output::data(&format!("checked {counts}{old}")),
    }
}

/// Reduces the streams of runs, and shows how far the check is.
pub struct Reducer {
    state: RunState,
    progress: Progress,
}

impl Reducer {
    pub fn new() -> Self {
        Self {
            state: RunState::new(),
            progress: Progress::new(),
        }
    }
}

impl Inspector for Reducer {
    fn progress(&mut self, stage: &'static str, done: u64, total: u64) {
        self.progress
            .show(&format!("checking {stage}"), done, total);
    }

    fn events(&mut self, events: Vec<Draft>) {
        for event in &events {
            self.state.apply(event);
        }
    }

    fn run(&mut self, row: &RunRow) -> Option<String> {
        let state = std::mem::replace(&mut self.state, RunState::new());
        if state.len == 0 {
            return None;
        }
        let Projection {
            status,
            wake_ms,
            ended_ms,
            ..
        } = projection(&state);
        let time = |ms: Option<Millis>| ms.map_or_else(|| "none".to_owned(), iso);
        let members = [
            ("status", status.as_str().into(), row.status.as_str().into()),
            (
                "version",
                state.version.to_string(),
                row.version.to_string(),
            ),
            ("next time", time(wake_ms), time(row.wake_ms)),
            ("end", time(ended_ms), time(row.ended_ms)),
        ];
        let mut members = members.into_iter();
        let wrong = members.find(|(_, events, row)| events != row);
        wrong.map(|(name, events, row)| {
            format!("its events lead to {name} {events}, and its row says {row}")
        })
    }
}
