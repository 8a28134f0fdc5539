//! `riverrun build`, and starting from the file that it writes: one file with everything that a
//! server needs to know about a project, so that it starts without reading folders or loading
//! modules.

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use clap::Args;
use riverrun::{Json, Riverrun};
use serde::{Deserialize, Serialize};

use super::{Global, server_flags::ServerFlags, server_flags::project_folder};
use crate::{
    failure::{Exit, Failure, Result},
    output::{self, paint, paint::paint},
    project::{self, Placed, Processes, Registered, SyncedTrigger, processes::Entry},
};

/// The name of the file in the project's folder.
const NAME: &str = "riverrun.registry.json";
/// The form of the file.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Registry {
    form: u32,
    riverrun: String,
    flows: Vec<Json>,
    processes: Vec<Entry>,
    #[serde(default)]
    triggers: Vec<Json>,
}

#[derive(Args, Debug)]
pub struct Build {
    /// The folder of the project.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The file to write. Default: riverrun.registry.json in the folder of the project.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    flags: ServerFlags,
}

impl Build {
    /// Loads every process and checks every flow and trigger; writes nothing if one of them is wrong.
    pub async fn run(self, _global: &Global) -> Result<Exit> {
        let folder = project_folder(&self.folder)?;
        let settings = self.flags.load(Some((folder.clone(), "the folder")))?;
        let river = Riverrun::builder().memory().open().await?;
        project::expect_processes(&river, &folder)?;
        let mut flows = Vec::new();
        let mut failures = Vec::new();
        for (path, file) in project::read_all(&folder).await? {
            let file = match file {
                Ok(file) => file,
                Err(failure) => {
                    failures.push(failure);
                    continue;
                }
            };
            let issues = river.runtime().flows().validate(&file.definition);
            let is_error = |issue: &riverrun::Issue| issue.severity == riverrun::Severity::Error;
            if issues.iter().any(is_error) {
                failures.push(project::invalid(&path, &issues));
                continue;
            }
            flows.push(Json::of(&file.definition));
            // As a server does that starts with it.
            if let Err(error) = river.register(file.definition).await {
                failures.push(project::of_file(&path, error.into()));
            }
        }
        let mut processes =
            Processes::new(river.clone(), &folder, settings.config.process_settings());
        let outcome = processes.look().await;
        let entries = processes.entries();
        let composed = project::register_composed(&river, true).await;
        let triggers = project::read_triggers(&folder).await?;
        failures.extend(project::check_triggers(&river, &triggers));
        river.shutdown().await?;
        processes.end().await;
        outcome.warn();
        failures.extend(outcome.failures);
        failures.extend(composed.failures);
        let registered = composed.registered.iter();
        for warning in registered
            .flat_map(Registered::named_warnings)
            .chain(composed.warnings)
        {
            output::talk(&format!("{} {warning}", paint(paint::WARN, "warning:")));
        }
        if let Some(last) = failures.pop() {
            for failure in &failures {
                output::talk(&failure.to_string());
            }
            return Err(last);
        }
        let registry = Registry {
            form: FORM,
            riverrun: env!("CARGO_PKG_VERSION").to_owned(),
            flows,
            processes: entries,
            triggers: triggers
                .iter()
                .map(|file| Json::of(&file.definition))
                .collect(),
        };
        let path = self.out.unwrap_or_else(|| folder.join(NAME));
        let text = serde_json::to_string_pretty(&registry)
            .map_err(|error| Failure::new(ErrorCode::ClientFailed, error.to_string()))?;
        crate::files::replace(&path, (text + "\n").as_bytes())
            .map_err(|error| Failure::file("the registry", &path, &error))?;
        output::talk(&format!(
            "wrote {} with {} flows and {} processes",
            paint(paint::NAME, path.display()),
            registry.flows.len(),
            registry.processes.len()
        ));
        Ok(Exit::Ok)
    }
}

/// The project that a registry file belongs to: the folder that it lies in.
pub fn project_of(registry: &Path) -> PathBuf {
    let parent = registry.parent().filter(|parent| *parent != Path::new(""));
    parent.unwrap_or(Path::new(".")).to_owned()
}

fn read(path: &Path) -> Result<Registry> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::file("the registry", path, &error))?;
    let broken = |what: String| {
        Failure::new(
            ErrorCode::RegistryInvalid,
            format!("{}: {what}", path.display()),
        )
        .next("riverrun build <project>")
    };
    let registry: Registry =
        serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    if registry.form != FORM {
        return Err(broken(format!(
            "it has the form {}, and this riverrun reads {FORM}",
            registry.form
        )));
    }
    Ok(registry)
}

/// Registers the flows of a registry file.
pub async fn flows(path: Option<&Path>, river: &Riverrun) -> Result<Vec<Registered>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let mut registered = Vec::new();
    let Registry {
        flows, processes, ..
    } = read(path)?;
    let ids = processes.into_iter().map(|entry| entry.id);
    river.runtime().processes().expect(ids);
    for definition in flows {
        registered.push(river.register(definition.value()).await?.into());
    }
    Ok(registered)
}

/// Brings triggers to what a registry file says.
pub async fn sync_triggers(
    path: &Path,
    river: &Riverrun,
) -> std::result::Result<Vec<SyncedTrigger>, Vec<Failure>> {
    let triggers = read(path).map_err(|failure| vec![failure])?.triggers;
    let placed = triggers.iter().map(|definition| {
        let definition = definition.value();
        let id = definition["id"].as_str().unwrap_or_default();
        Placed {
            place: format!("{}: trigger {id:?}", path.display()),
            definition,
        }
    });
    project::sync(river, placed.collect()).await
}

/// Takes in the processes of a registry file.
pub fn boot(path: &Path, processes: &mut Processes) -> Result<()> {
    processes.boot(&read(path)?.processes)
}
