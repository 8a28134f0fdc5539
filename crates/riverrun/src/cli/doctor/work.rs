//! The interpreters that the project's processes need, and the processes that do not load.

use riverrun_providers::{Language, RunnerOptions, find_interpreter};

use super::{Check, project_of};
use crate::{
    cli::worker::LocalProcesses,
    config::Settings,
    project::{Processes, processes::languages},
};

/// One check for each interpreter, and one for each file under `processes/` that does not load.
pub async fn checks(settings: &Settings) -> Vec<Check> {
    let folder = project_of(settings);
    let mut options = settings.config.process_settings();
    // Looking at a project must not write into its data folder.
    let Ok(scratch) = tempfile::tempdir() else {
        return Vec::new();
    };
    options.node.sdk_folder = scratch.path().to_owned();
    options.python.sdk_folder = scratch.path().to_owned();
    let needed = languages(&folder);
    let mut checks = Vec::new();
    for (name, language, runner) in [
        ("node", Language::Node, &options.node),
        ("python", Language::Python, &options.python),
    ] {
        checks.push(interpreter(name, language, runner, needed.contains(&language)).await);
    }
    let found = LocalProcesses::default();
    let mut processes = Processes::new(found.clone(), &folder, options);
    let outcome = processes.look().await;
    processes.end().await;
    let loaded = found.count();
    checks.extend(
        outcome
            .failures
            .iter()
            .map(|failure| Check::of("process", failure)),
    );
    for warning in outcome.warnings {
        checks.push(Check::good("process", format!("warning: {warning}")));
    }
    let below = folder.join("processes");
    checks.push(Check::good(
        "work",
        format!("{loaded} processes loaded from {}", below.display()),
    ));
    checks
}

/// One that no file of the project needs is no fault.
async fn interpreter(
    name: &'static str,
    language: Language,
    options: &RunnerOptions,
    is_needed: bool,
) -> Check {
    match find_interpreter(language, options).await {
        Ok(found) => {
            let (major, minor) = found.version;
            Check::good(name, format!("{major}.{minor} at {}", found.path.display()))
        }
        Err(error) if !is_needed => Check::good(name, format!("not needed: {}", error.message)),
        Err(error) => Check::bad(
            name,
            error.message,
            format!("runners.{name} in riverrun.toml names the program"),
        ),
    }
}
