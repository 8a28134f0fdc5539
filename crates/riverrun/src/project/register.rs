//! Registers a project's flows: strictly in `serve`, with development versions in `dev`.

use riverrun_types::ErrorCode;
use std::path::Path;

use riverrun::Riverrun;
use riverrun_protocol::NotLoaded;
use riverrun_runtime::ConfigIssue;

use super::{invalid, names::expect_processes, read_all};
use crate::failure::{Failure, Result};

/// A flow of the project, as it is registered now.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    pub id: String,
    pub version: String,
    /// False where it was registered before.
    pub created: bool,
    /// Possible mistakes, such as an event without subscribers.
    pub warnings: Vec<String>,
}

impl From<riverrun::RegisteredFlow> for Registered {
    fn from(flow: riverrun::RegisteredFlow) -> Self {
        Self {
            id: flow.id.to_string(),
            version: flow.version.to_string(),
            created: flow.created,
            warnings: warnings(&flow.issues),
        }
    }
}

impl Registered {
    /// What may be meant otherwise, each with the flow's name.
    pub fn named_warnings(&self) -> impl Iterator<Item = String> {
        let flow = self.to_string();
        self.warnings
            .iter()
            .map(move |warning| format!("{flow}: {warning}"))
    }
}

impl std::fmt::Display for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.id, self.version)
    }
}

/// What may be meant otherwise in flows, now that the triggers are known too.
pub fn warn_anew(river: &Riverrun, flows: &mut [Registered]) {
    for flow in flows {
        let versions = river.runtime().flows().versions(&flow.id);
        let entry = versions
            .iter()
            .find(|entry| *entry.version == *flow.version);
        if let Some(entry) = entry {
            let issues = river.runtime().flows().validate(&entry.definition.value());
            flow.warnings = warnings(&issues);
        }
    }
}

/// Registers every flow of the project as it stands. The first that is refused stops it.
pub async fn register(river: &Riverrun, project: &Path) -> Result<Vec<Registered>> {
    expect_processes(river, project)?;
    let mut registered = Vec::new();
    for (_, file) in read_all(project).await? {
        let file = file?;
        let answer = river.register(file.definition).await;
        registered.push(outcome_at(&file.path, answer)?);
    }
    Ok(registered)
}

/// Registers every flow of the project; one that changed under its version gets `<version>+dev.N`.
/// Nothing is registered if a flow is invalid; each failure is reported.
pub async fn register_dev(
    river: &Riverrun,
    project: &Path,
) -> std::result::Result<Vec<Registered>, Vec<Failure>> {
    expect_processes(river, project).map_err(|failure| vec![failure])?;
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    for (path, file) in read_all(project).await.map_err(|failure| vec![failure])? {
        match file {
            Ok(file) => match river.runtime().flows().validate(&file.definition) {
                issues if has_errors(&issues) => failures.push(invalid(&path, &issues)),
                _ => files.push(file),
            },
            Err(failure) => failures.push(failure),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    let mut registered = Vec::new();
    for file in files {
        let answer = river
            .runtime()
            .flows()
            .register_changed(&file.definition)
            .await;
        match outcome_at(&file.path, answer.map_err(Into::into)) {
            Ok(flow) => registered.push(flow),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        Ok(registered)
    } else {
        Err(failures)
    }
}

/// What became of the flows that a project's processes make together.
#[derive(Default)]
pub struct ComposedFlows {
    pub registered: Vec<Registered>,
    pub failures: Vec<Failure>,
    /// What may be meant otherwise in the configs, such as a step that no flow leads to.
    pub warnings: Vec<String>,
}

/// Registers the flows that the project's processes make together. One whose configs give no
/// version gets a new one whenever it has changed; when developing, so does every other.
pub async fn register_composed(river: &Riverrun, developing: bool) -> ComposedFlows {
    register_but(river, developing, &[]).await
}

/// The same for a server that others rely on: without the flows that a file belongs to which does not
/// load. They stay as they were registered.
pub async fn register_whole(river: &Riverrun) -> ComposedFlows {
    let not_loaded = river.runtime().processes().not_loaded();
    register_but(river, false, &not_loaded).await
}

async fn register_but(river: &Riverrun, developing: bool, broken: &[NotLoaded]) -> ComposedFlows {
    let runtime = river.runtime();
    let composed = runtime.composer().composed();
    let shown = |issue: &ConfigIssue| format!("{}: {}", issue.path, issue.message);
    let failure = |issue| Failure::new(ErrorCode::ProcessInvalid, shown(issue));
    let mut failures: Vec<Failure> = composed.issues.iter().map(failure).collect();
    let mut warnings: Vec<String> = composed.warnings.iter().map(shown).collect();
    for (flow, issue) in &composed.incomplete {
        match runtime.composer().entry_held_back(flow, broken) {
            Some(why) => warnings.push(why),
            None => failures.push(failure(issue)),
        }
    }
    let mut registered = Vec::new();
    for mut flow in composed.flows {
        if let Some(why) = runtime.composer().held_back(&flow, broken) {
            warnings.push(why);
            continue;
        }
        flow.is_versioned &= !developing;
        let answer = runtime.composer().register_composed(&flow).await;
        let place = format!("processes: flow {:?}", flow.id());
        match outcome_at(Path::new(&place), answer.map_err(Into::into)) {
            Ok(flow) => registered.push(flow),
            Err(failure) => failures.push(failure),
        }
    }
    ComposedFlows {
        registered,
        failures,
        warnings,
    }
}

fn has_errors(issues: &[riverrun::Issue]) -> bool {
    issues
        .iter()
        .any(|issue| issue.severity == riverrun::Severity::Error)
}

fn warnings(issues: &[riverrun::Issue]) -> Vec<String> {
    let warns = |issue: &&riverrun::Issue| issue.severity == riverrun::Severity::Warning;
    let shown = |issue: &riverrun::Issue| format!("{}: {}", issue.path, issue.message);
    issues.iter().filter(warns).map(shown).collect()
}

/// What became of a definition, or why it was refused, with the place that it stands in.
fn outcome_at(
    path: &Path,
    answer: std::result::Result<riverrun::RegisteredFlow, riverrun::Error>,
) -> Result<Registered> {
    match answer {
        Ok(flow) => Ok(flow.into()),
        Err(riverrun::Error::Runtime(riverrun_runtime::Error::FlowInvalid(issues))) => {
            Err(invalid(path, &issues))
        }
        Err(error) => {
            let failure = Failure::from(error);
            let message = format!("{}: {}", path.display(), failure.message);
            let changed = failure.code == ErrorCode::FlowExists;
            let failure = Failure { message, ..failure };
            Err(match changed {
                true => failure
                    .note("a registered version never changes: runs may be under way on it")
                    .next("a new version in the file, or riverrun dev, which makes versions as you edit"),
                false => failure,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn an_edited_flow_is_what_starts_and_an_invalid_one_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let flows = folder.path().join("flows");
        std::fs::create_dir(&flows).unwrap();
        let write = |value: &str| {
            let text = format!(
                "id: f\nversion: 1.0.0\ninitialStepId: a\nsteps: {{a: {{type: set, config: {{{value}}}, outputKey: x}}}}\n"
            );
            std::fs::write(flows.join("f.yaml"), text).unwrap();
        };
        let river = Riverrun::builder().memory().open().await.unwrap();
        for (value, version) in [
            ("value: 1", "1.0.0"),
            ("value: 2", "1.0.0+dev.1"),
            ("value: 2", "1.0.0+dev.1"),
            ("value: 1", "1.0.0+dev.2"),
        ] {
            write(value);
            let registered = register_dev(&river, folder.path()).await.unwrap();
            assert_eq!(registered[0].version, version);
            let run = river.run("f", json!({})).await.unwrap();
            assert_eq!(run.version, version);
        }
        write("valeu: 1");
        let failures = register_dev(&river, folder.path()).await.unwrap_err();
        assert_eq!(failures[0].code, "FLOW_INVALID");
        assert_eq!(river.runtime().flows().versions("f").len(), 3);
        write("value: 3");
        let failure = register(&river, folder.path()).await.unwrap_err();
        assert_eq!(failure.code, "FLOW_EXISTS");
        assert!(failure.message.contains("f.yaml"), "{}", failure.message);
        river.shutdown().await.unwrap();
    }
}
