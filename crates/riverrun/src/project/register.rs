//! Registering a project's flows: strictly when serving, with versions of its own when developing.

use std::path::Path;

use riverrun::{Json, Riverrun};
use riverrun_runtime::{Composable, ConfigIssue, compose};
use serde_json::{Value, json};

use super::{FlowFile, invalid, read_all};
use crate::failure::{Failure, Result};

/// A flow of the project, as it is registered now.
#[derive(Clone, Debug, PartialEq)]
pub struct Registered {
    pub id: String,
    pub version: String,
    /// False where it was registered before.
    pub created: bool,
    /// What may be meant otherwise, such as an event that nobody takes.
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
    pub fn told_warnings(&self) -> impl Iterator<Item = String> {
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
        let versions = river.runtime().versions(&flow.id);
        let entry = versions
            .iter()
            .find(|entry| *entry.version == *flow.version);
        if let Some(entry) = entry {
            flow.warnings = warnings(&river.runtime().validate(&entry.definition.value()));
        }
    }
}

/// Registers every flow of the project as it stands. The first that is refused stops it.
pub async fn register(river: &Riverrun, project: &Path) -> Result<Vec<Registered>> {
    let mut registered = Vec::new();
    for (_, file) in read_all(project).await? {
        let file = file?;
        registered.push(put(river, &file, &file.definition).await?);
    }
    Ok(registered)
}

/// Registers every flow of the project; one that changed under its version gets
/// `<version>+dev.N`. Nothing is registered if a flow is invalid; each failure is told.
pub async fn register_dev(
    river: &Riverrun,
    project: &Path,
) -> std::result::Result<Vec<Registered>, Vec<Failure>> {
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    for (path, file) in read_all(project).await.map_err(|failure| vec![failure])? {
        match file {
            Ok(file) => match river.runtime().validate(&file.definition) {
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
        match put_dev(river, &file).await {
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
/// version gets a new one whenever it has changed.
pub async fn register_composed(river: &Riverrun, developing: bool) -> ComposedFlows {
    let processes = river.runtime().known_processes();
    let composable: Vec<Composable<'_>> = processes
        .iter()
        .map(|process| Composable {
            id: &process.id,
            config: &process.config.raw,
        })
        .collect();
    let composed = compose(&composable);
    let shown = |issue: &ConfigIssue| format!("{}: {}", issue.path, issue.message);
    let failure = |issue| Failure::new("PROCESS_INVALID", shown(issue));
    let mut failures: Vec<Failure> = composed.issues.iter().map(failure).collect();
    let mut registered = Vec::new();
    for flow in composed.flows {
        let file = FlowFile {
            path: "processes".into(),
            definition: flow.definition,
        };
        let answer = match developing || !flow.is_versioned {
            true => put_dev(river, &file).await,
            false => put(river, &file, &file.definition).await,
        };
        match answer {
            Ok(flow) => registered.push(flow),
            Err(failure) => failures.push(failure),
        }
    }
    ComposedFlows {
        registered,
        failures,
        warnings: composed.warnings.iter().map(shown).collect(),
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

async fn put(river: &Riverrun, file: &FlowFile, definition: &Value) -> Result<Registered> {
    match river.register(definition.clone()).await {
        Ok(flow) => Ok(flow.into()),
        Err(riverrun::Error::Runtime(riverrun_runtime::Error::FlowInvalid(issues))) => {
            Err(invalid(&file.path, &issues))
        }
        Err(error) => {
            let failure = Failure::from(error);
            let message = format!("{}: {}", file.path.display(), failure.message);
            let changed = failure.code == "FLOW_EXISTS";
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

async fn put_dev(river: &Riverrun, file: &FlowFile) -> Result<Registered> {
    let text = |key: &str| file.definition[key].as_str().unwrap_or_default();
    let (id, version) = (text("id"), text("version"));
    let known: Vec<(String, Json)> = river
        .runtime()
        .versions(id)
        .into_iter()
        .map(|entry| (entry.version.to_string(), entry.definition))
        .collect();
    match next_version(version, &file.definition, &known) {
        Next::Same(version) => Ok(Registered {
            id: id.to_owned(),
            version,
            created: false,
            warnings: warnings(&river.runtime().validate(&file.definition)),
        }),
        Next::New(version) => {
            let mut definition = file.definition.clone();
            definition["version"] = json!(version);
            put(river, file, &definition).await
        }
    }
}

#[derive(Debug, PartialEq)]
enum Next {
    /// The newest of this version is the same definition.
    Same(String),
    New(String),
}

/// Under which version a definition that says `version` is registered, given all versions that
/// are known, newest first.
fn next_version(version: &str, definition: &Value, known: &[(String, Json)]) -> Next {
    let number = |candidate: &str| match candidate == version {
        true => Some(0),
        false => dev_number(version, candidate),
    };
    let newest = known
        .iter()
        .filter_map(|(name, definition)| Some((number(name)?, name, definition)))
        .max_by_key(|(number, ..)| *number);
    let Some((number, name, registered)) = newest else {
        return Next::New(version.to_owned());
    };
    let mut registered = registered.value();
    registered["version"] = json!(version);
    if &registered == definition {
        Next::Same(name.clone())
    } else {
        Next::New(dev_version(version, number + 1))
    }
}

/// `1.0.0+dev.3`; build metadata needs all three numbers before it.
fn dev_version(version: &str, number: u64) -> String {
    if version.contains('+') {
        return format!("{version}.dev.{number}");
    }
    let plain = version.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let zeroes = match version.matches('.').count() {
        0 if plain => ".0.0",
        1 if plain => ".0",
        _ => "",
    };
    format!("{version}{zeroes}+dev.{number}")
}

fn dev_number(version: &str, candidate: &str) -> Option<u64> {
    let (_, number) = candidate.rsplit_once("dev.")?;
    let number = number.parse().ok()?;
    (dev_version(version, number) == candidate).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(version: &str, name: &str) -> Value {
        json!({"id": "f", "version": version, "name": name})
    }

    fn check(definition: Value, known: &[(&str, &str)], expected: Next) {
        let known: Vec<(String, Json)> = known
            .iter()
            .map(|(version, name)| ((*version).to_owned(), Json::of(&flow(version, name))))
            .collect();
        let version = definition["version"].as_str().unwrap();
        assert_eq!(next_version(version, &definition, &known), expected);
    }

    #[test]
    fn versions_count_up_as_a_flow_is_edited() {
        let new = |version: &str| Next::New(version.to_owned());
        let same = |version: &str| Next::Same(version.to_owned());
        check(flow("1.0.0", "a"), &[], new("1.0.0"));
        check(flow("1.0.0", "a"), &[("1.0.0", "a")], same("1.0.0"));
        check(flow("1.0.0", "b"), &[("1.0.0", "a")], new("1.0.0+dev.1"));
        check(
            flow("1.0.0", "b"),
            &[("1.0.0+dev.1", "b"), ("1.0.0", "a")],
            same("1.0.0+dev.1"),
        );
        // Back to what it was is newer than what came between.
        check(
            flow("1.0.0", "a"),
            &[("1.0.0+dev.1", "b"), ("1.0.0", "a")],
            new("1.0.0+dev.2"),
        );
        check(
            flow("1.0.0", "c"),
            &[("1.0.0+dev.9", "b"), ("1.0.0+dev.10", "d"), ("1.0.0", "a")],
            new("1.0.0+dev.11"),
        );
        check(flow("2.0.0", "a"), &[("1.0.0", "a")], new("2.0.0"));
        check(flow("1", "b"), &[("1", "a")], new("1.0.0+dev.1"));
        check(
            flow("1.0.0+x", "b"),
            &[("1.0.0+x", "a")],
            new("1.0.0+x.dev.1"),
        );
    }

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
        assert_eq!(river.runtime().versions("f").len(), 3);
        write("value: 3");
        let failure = register(&river, folder.path()).await.unwrap_err();
        assert_eq!(failure.code, "FLOW_EXISTS");
        assert!(failure.message.contains("f.yaml"), "{}", failure.message);
        river.shutdown().await.unwrap();
    }
}
