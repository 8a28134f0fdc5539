//! Flags that set configuration. Each is also a key of `riverrun.toml` and a `RIVERRUN_*` variable.

use riverrun_types::ErrorCode;
use std::path::PathBuf;

use clap::Args;

use crate::{
    config::{self, Flags, LogFormat, Settings},
    failure::{Failure, Result},
    output::{self, paint, paint::paint},
};

#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Configuration")]
pub struct ServerFlags {
    /// The configuration file. Default: riverrun.toml in the folder of the project.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address to listen on; port 0 selects a free port. Default 127.0.0.1:4600.
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// The URL under which others reach the server, used in links such as callback URLs.
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// The data folder of the embedded store. Default .riverrun in the folder of the project, else in
    /// the current folder.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// The store: sqlite:// (in --data), sqlite:///folder or memory:.
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// The format of log lines.
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// The log level: error, warn, info, debug, trace, off, or a filter such as warn,riverrun=debug.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// Accept requests from other machines without authentication.
    #[arg(long)]
    allow_unauthenticated: bool,
    /// Set another configuration key, for example --set retention.completed=1d.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The flags for a worker, which does not listen and stores nothing.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Configuration")]
pub struct WorkerFlags {
    /// The configuration file. Default: riverrun.toml in the folder of the project.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The format of log lines.
    #[arg(long, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// The log level: error, warn, info, debug, trace, off, or a filter such as warn,riverrun=debug.
    #[arg(long, value_name = "FILTER")]
    log: Option<String>,
    /// Set another configuration key, for example --set runners.node_processes=4.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl From<WorkerFlags> for ServerFlags {
    fn from(flags: WorkerFlags) -> Self {
        Self {
            config: flags.config,
            log_format: flags.log_format,
            log: flags.log,
            set: flags.set,
            ..Self::default()
        }
    }
}

impl ServerFlags {
    /// The configuration in effect; `project` with the name of what gave it.
    pub fn load(&self, project: Option<(PathBuf, &str)>) -> Result<Settings> {
        let mut values = Vec::new();
        let mut put = |key: &str, flag: &str, value: Option<String>| {
            if let Some(value) = value {
                values.push((key.to_owned(), value, flag.to_owned()));
            }
        };
        for assignment in &self.set {
            let (key, value) = assignment.split_once('=').ok_or_else(|| {
                Failure::usage(
                    ErrorCode::Usage,
                    format!("--set {assignment:?} is not key=value"),
                )
                .next("--set retention.completed=1d")
            })?;
            put(key.trim(), "--set", Some(value.to_owned()));
        }
        let format = self.log_format.map(|format| match format {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        });
        put("listen", "--listen", self.listen.clone());
        put("public_url", "--public-url", self.public_url.clone());
        put(
            "data",
            "--data",
            self.data.as_ref().map(|path| path.display().to_string()),
        );
        put("store", "--store", self.store.clone());
        put("log_format", "--log-format", format);
        put("log", "--log", self.log.clone());
        let open = self.allow_unauthenticated.then(|| "true".to_owned());
        put("allow_unauthenticated", "--allow-unauthenticated", open);
        let flags = Flags {
            file: self.config.clone(),
            project: project.map(|(folder, flag)| (folder, flag.to_owned())),
            values,
        };
        // What is not Unicode is none of ours.
        let env = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        config::load(&flags, env)
    }
}

/// Says what looks like a mistake in the configuration, for commands that keep no log.
pub fn log_warnings(settings: &Settings) {
    for warning in &settings.warnings {
        output::talk(&format!("{}: {warning}", paint(paint::WARN, "warning")));
    }
}

/// The project's folder, which must be one.
pub fn project_folder(folder: &std::path::Path) -> Result<PathBuf> {
    if folder.is_dir() {
        return Ok(folder.to_owned());
    }
    Err(Failure::usage(
        ErrorCode::ProjectNotFound,
        format!("there is no folder {}", folder.display()),
    )
    .next(format!("riverrun init {}", folder.display())))
}
