//! `riverrun doctor`: checks, and what to do about failed ones.

mod disk;
mod network;
mod work;

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{
    Global,
    flows::built_in,
    server_flags::{ServerFlags, log_warnings, project_folder},
};
use crate::{
    config::Settings,
    failure::{Exit, Failure, Result},
    output::{self, Format, paint, paint::paint},
    project,
};

#[derive(Args, Debug)]
pub struct Doctor {
    /// The folder of the project. Default: the current folder.
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    /// Also check all stored data, like riverrun verify. This reads all of it.
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    flags: ServerFlags,
}

/// One thing that was looked at.
#[derive(Serialize)]
pub struct Check {
    pub name: &'static str,
    pub ok: bool,
    pub found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Check {
    pub fn good(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            ok: true,
            found: found.into(),
            next: None,
        }
    }

    pub fn bad(name: &'static str, found: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            name,
            ok: false,
            found: found.into(),
            next: Some(next.into()),
        }
    }

    fn of(name: &'static str, failure: &Failure) -> Self {
        let found = std::iter::once(&failure.message).chain(&failure.notes);
        let found: Vec<&str> = found.map(String::as_str).collect();
        let remedy = || failure.code.known().map(|code| code.fix().to_owned());
        Self {
            name,
            ok: false,
            found: found.join("; "),
            next: failure.next.first().cloned().or_else(remedy),
        }
    }
}

impl Doctor {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let mut checks = Vec::new();
        match self.settings() {
            Ok(settings) => {
                log_warnings(&settings);
                let file = settings
                    .file
                    .as_ref()
                    .map(|file| file.display().to_string());
                checks.push(Check::good(
                    "config",
                    file.unwrap_or_else(|| "defaults, no riverrun.toml".to_owned()),
                ));
                checks.extend(disk::checks(&settings.config));
                if self.deep {
                    checks.extend(disk::deep(&settings.config));
                }
                checks.extend(network::checks(&settings.config, global).await?);
                checks.push(self.flows(&settings));
                checks.extend(work::checks(&settings).await);
            }
            Err(failure) => checks.push(Check::of("config", &failure)),
        }
        let well = checks.iter().all(|check| check.ok);
        match global.output {
            Format::Json => output::json(Format::Json, &checks),
            Format::Jsonl => checks
                .iter()
                .for_each(|check| output::json(Format::Jsonl, check)),
            Format::Table => checks.iter().for_each(tell),
        }
        Ok(if well { Exit::Ok } else { Exit::Failed })
    }

    fn settings(&self) -> Result<Settings> {
        let project = self.project.as_deref().map(project_folder).transpose()?;
        self.flags.load(project.map(|folder| (folder, "--project")))
    }

    fn flows(&self, settings: &Settings) -> Check {
        let folder = project_of(settings);
        let files = match project::flow_files(&folder) {
            Ok(files) => files,
            Err(failure) => return Check::of("flows", &failure),
        };
        let handlers = built_in();
        let bad: Vec<String> = files
            .iter()
            .filter(|path| {
                let issues = project::read("the flow", path)
                    .map(|file| riverrun_engine::validate(&file.definition, &handlers));
                issues.map_or(true, |issues| riverrun_engine::errors(&issues))
            })
            .map(|path| path.display().to_string())
            .collect();
        if bad.is_empty() {
            return Check::good(
                "flows",
                format!("{} in {}", files.len(), folder.join("flows").display()),
            );
        }
        let next = format!("riverrun flows validate {}", bad.join(" "));
        Check::bad(
            "flows",
            format!("{} of {} are invalid", bad.len(), files.len()),
            next,
        )
    }
}

/// The project's folder: what is given, or the current one.
fn project_of(settings: &Settings) -> PathBuf {
    let project = settings.config.project.clone();
    project.unwrap_or_else(|| PathBuf::from("."))
}

fn tell(check: &Check) {
    let mark = match check.ok {
        true => paint(paint::GOOD, "✓"),
        false => paint(paint::BAD, "✗"),
    };
    output::data(&format!("{mark} {:<8} {}", check.name, check.found));
    if let Some(next) = &check.next {
        output::data(&format!("  try: {next}"));
    }
}
