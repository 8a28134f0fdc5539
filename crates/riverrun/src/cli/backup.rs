//! `riverrun backup` and `riverrun restore`: a data folder as one file, and back.

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    server_flags::ServerFlags,
    verify::{Reducer, folder_of},
};
use crate::{
    failure::{Exit, Failure, Result},
    output::{self, Progress},
};

#[derive(Args, Debug)]
pub struct Backup {
    /// The file to write. It appears when it is complete.
    file: PathBuf,
    /// The most megabytes to copy per second. 0: no limit.
    #[arg(long, value_name = "MB", default_value_t = 100)]
    rate: u64,
    /// Abort when the log of the server has grown by this many megabytes meanwhile. 0: no limit. From
    /// half of it on, --rate is ignored.
    #[arg(long, value_name = "MB", default_value_t = 1_000)]
    max_log: u64,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    flags: ServerFlags,
}

impl Backup {
    pub fn run(self) -> Result<Exit> {
        let folder = folder_of(&self.flags.load(None)?.config)?;
        if is_inside(&self.file, &folder) {
            let message = format!(
                "{} is inside the data folder {}",
                self.file.display(),
                folder.display()
            );
            return Err(Failure::usage(ErrorCode::FileUnusable, message)
                .note("nothing was written")
                .next("a file outside of the data folder, best on another disk"));
        }
        if self.file.exists() && !self.force {
            let message = format!("{} is there already", self.file.display());
            return Err(Failure::usage(ErrorCode::FileExists, message)
                .note("nothing was written")
                .next("riverrun backup --force, or another name"));
        }
        let mut progress = Progress::new();
        let bytes_of = |mb: u64| (mb > 0).then(|| mb.saturating_mul(1_000_000));
        let pace = riverrun_store_sqlite::Pace {
            rate: bytes_of(self.rate),
            max_log_bytes: bytes_of(self.max_log),
        };
        let bytes = riverrun_store_sqlite::backup(&folder, &self.file, pace, &mut |done, total| {
            progress.show("copying", done, total);
        });
        drop(progress);
        let bytes = bytes.map_err(riverrun::Error::from)?;
        output::talk(&format!("wrote {} ({bytes} bytes)", self.file.display()));
        Ok(Exit::Ok)
    }
}

/// Whether a file is, or would be, in a folder or below it, by whatever path.
fn is_inside(file: &Path, folder: &Path) -> bool {
    let parent = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // A link that stands under the name leads elsewhere only if it is followed.
    let file = file.canonicalize().or_else(|_| parent.canonicalize());
    match (file, folder.canonicalize()) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        _ => false,
    }
}

#[derive(Args, Debug)]
pub struct Restore {
    /// A file written by riverrun backup.
    file: PathBuf,
    /// The data folder to create. It must be empty or missing.
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,
}

impl Restore {
    pub fn run(self) -> Result<Exit> {
        crate::files::open("the backup", &self.file)?;
        if self
            .data
            .read_dir()
            .is_ok_and(|mut found| found.next().is_some())
        {
            let message = format!("the folder {} is not empty", self.data.display());
            return Err(Failure::usage(ErrorCode::FileExists, message)
                .note("nothing was written")
                .next("--data <a new folder>"));
        }
        let mut inspector = Reducer::new();
        let mut progress = Progress::new();
        let restored = riverrun_store_sqlite::restore(
            &self.file,
            &self.data,
            &mut inspector,
            &mut |done, total| progress.show("copying", done, total),
        );
        drop((inspector, progress));
        let report = restored.map_err(riverrun::Error::from)?;
        if let Some(first) = report.findings.first() {
            let count = report.findings.len() as u64 + report.more;
            let message = format!(
                "the backup {} is damaged: {} ({count} findings)",
                self.file.display(),
                first.problem
            );
            return Err(Failure::new(ErrorCode::StoreCorrupt, message)
                .note("nothing was written")
                .next(format!("riverrun verify --file {}", self.file.display())));
        }
        output::talk(&format!(
            "made {} with {} runs and {} events",
            self.data.display(),
            report.runs,
            report.events
        ));
        output::talk("next:");
        output::talk(&format!("  riverrun serve --data {}", self.data.display()));
        Ok(Exit::Ok)
    }
}
