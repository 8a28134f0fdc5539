//! Log lines: on stderr, for people or for machines.

use tracing_subscriber::{EnvFilter, fmt};

use crate::{
    config::{Config, LogFormat, Settings},
    output,
};

/// Starts logging. Called once, by commands that run a server.
pub fn init(config: &Config) {
    // The filter was checked with the rest of the configuration.
    let filter = EnvFilter::builder().parse_lossy(&config.log);
    let lines = fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Json => lines.json().flatten_event(true).init(),
        LogFormat::Text => lines
            .with_ansi(output::stderr_has_colour())
            .with_target(false)
            .compact()
            .init(),
    }
}

/// Logs the warnings about the configuration.
pub fn log_warnings(settings: &Settings) {
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }
}
