//! A project's processes: found under `processes/**`, loaded by the runner of their language, and
//! taken in by the runtime.
//!
//! What changes is loaded by new runners; the old ones finish what they run and end. So work under
//! way is never cut off by an edit, and what starts after it runs the new code.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use riverrun::{Json, Riverrun};
use riverrun_protocol::WorkError;
use riverrun_providers::{External, ExternalOptions, Language, RunnerOptions, Runners};
use riverrun_runtime::{BrokenProcess, Format, Process, ProcessConfig, Source, parse_definition};
use serde::{Deserialize, Serialize};

use super::{
    claims::Claims,
    loading::{Loading, Read},
    strays::{self, Stray},
};
use crate::{
    failure::{Failure, Result},
    output::{self, paint, paint::paint},
};

/// The most bytes of an executable's config.
const MAX_CONFIG: u64 = 1 << 20;

/// What runs a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Node,
    Python,
    Executable,
}

impl Kind {
    fn language(self) -> Option<Language> {
        match self {
            Self::Node => Some(Language::Node),
            Self::Python => Some(Language::Python),
            Self::Executable => None,
        }
    }
}

/// A file with work in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessFile {
    /// The path below `processes` without its ending.
    pub id: String,
    pub path: PathBuf,
    pub kind: Kind,
}

/// A process as a registry file keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    pub id: String,
    /// Relative to the project's folder.
    pub file: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub export: Option<String>,
    pub kind: Kind,
    pub config: Json,
}

/// What is under `<project>/processes`.
#[derive(Default)]
pub struct Found {
    /// By name.
    pub files: Vec<ProcessFile>,
    /// What seems to be meant as one, or for one, and is not.
    pub strays: Vec<Stray>,
}

/// Looks through the folder. One that is not there has nothing.
pub fn process_files(project: &Path) -> Result<Found> {
    let root = project.join("processes");
    let (mut files, mut others) = (Vec::new(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::file("the folder", &folder, &error)),
        };
        for entry in entries.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            let skipped = name.starts_with(['.', '_']) || name == "node_modules";
            // Links are followed: a shared process may live elsewhere.
            match std::fs::metadata(&path) {
                _ if skipped => {}
                Ok(meta) if meta.is_dir() => folders.push(path),
                Ok(meta) if meta.is_file() => match kind_of(&path, strays::is_executable(&meta)) {
                    Some(kind) => {
                        let id = id_of(&root, &path);
                        files.push(ProcessFile { id, path, kind });
                    }
                    None => others.push(path),
                },
                _ => {}
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    others.sort();
    let strays = strays::strays(project, others, &files);
    Ok(Found { files, strays })
}

fn kind_of(path: &Path, is_executable: bool) -> Option<Kind> {
    let name = path.file_name()?.to_str()?;
    let is_aside = [".d.ts", ".test.", ".spec."]
        .iter()
        .any(|part| name.contains(part));
    if is_aside {
        return None;
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("ts" | "mts" | "js" | "mjs" | "cjs") => Some(Kind::Node),
        Some("py") => Some(Kind::Python),
        Some("json" | "yaml" | "yml" | "md" | "txt" | "toml" | "lock") => None,
        _ => is_executable.then_some(Kind::Executable),
    }
}

/// The language of a source file that processes may import.
pub(super) fn language_of(path: &Path) -> Option<Language> {
    let name = path.file_name()?.to_str()?;
    match path.extension()?.to_str()? {
        "ts" | "mts" | "cts" | "tsx" | "js" | "mjs" | "cjs" | "jsx" => Some(Language::Node),
        "py" => Some(Language::Python),
        // Other JSON may be what a handler writes: that must not load it anew.
        "json" => ["package.json", "tsconfig.json"]
            .contains(&name)
            .then_some(Language::Node),
        _ => None,
    }
}

fn id_of(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path).with_extension("");
    let parts = below.iter().map(|part| part.to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}

/// The queue of a process that names none: the last part of its id.
fn queue_name(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// Whoever runs what is found: a server's runtime, or a worker of a server elsewhere.
pub trait Register: Send + Sync {
    /// In place of an earlier one of the same id.
    fn put(&self, process: Process);
    fn remove(&self, id: &str);
    /// By id.
    fn known(&self) -> Vec<Arc<Process>>;
    /// Takes note of one that cannot be run.
    fn put_broken(&self, process: BrokenProcess) {
        let _ = process;
    }
    /// It is mended, or gone.
    fn forget_broken(&self, id: &str) {
        let _ = id;
    }
}

impl Register for Riverrun {
    fn put(&self, process: Process) {
        self.runtime().put_process(process);
    }

    fn remove(&self, id: &str) {
        self.runtime().remove_process(id);
    }

    fn known(&self) -> Vec<Arc<Process>> {
        self.runtime().known_processes()
    }

    fn put_broken(&self, process: BrokenProcess) {
        self.runtime().put_broken(process);
    }

    fn forget_broken(&self, id: &str) {
        self.runtime().forget_broken(id);
    }
}

/// The processes of one project, and the runners behind them.
pub struct Processes {
    register: Box<dyn Register>,
    project: PathBuf,
    options: Settings,
    runners: HashMap<Language, Runners>,
    /// What each file was when it was loaded, and the processes in it.
    loaded: HashMap<PathBuf, Loaded>,
    /// Files that did not load, each with its id.
    broken: HashMap<PathBuf, String>,
    /// Files that were warned of.
    warned: HashSet<PathBuf>,
}

struct Loaded {
    kind: Kind,
    changed: Option<SystemTime>,
    ids: Vec<String>,
}

/// How processes are run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub node: RunnerOptions,
    pub python: RunnerOptions,
    pub external: ExternalOptions,
}

/// What came of looking.
#[derive(Default)]
pub struct Outcome {
    /// Ids of processes that are new or changed, each with its queue if it has one.
    pub loaded: Vec<(String, Option<String>)>,
    pub removed: Vec<String>,
    /// Files that are no process and have changed, each with how many files were loaded anew.
    pub anew: Vec<(PathBuf, usize)>,
    pub failures: Vec<Failure>,
    /// What may be a mistake.
    pub warnings: Vec<String>,
}

impl Outcome {
    /// Says what may be a mistake to whoever called the command.
    pub fn warn(&self) {
        for warning in &self.warnings {
            output::talk(&format!("{} {warning}", paint(paint::WARN, "warning:")));
        }
    }
}

impl Processes {
    pub fn new(register: impl Register + 'static, project: &Path, options: Settings) -> Self {
        // Runners are told absolute paths: their working folder is the project's.
        let project = project
            .canonicalize()
            .unwrap_or_else(|_| project.to_owned());
        Self {
            register: Box::new(register),
            project,
            options,
            runners: HashMap::new(),
            loaded: HashMap::new(),
            broken: HashMap::new(),
            warned: HashSet::new(),
        }
    }

    /// Takes in what is there now: what is new or has changed is loaded, what is gone removed.
    pub async fn look(&mut self) -> Outcome {
        let mut outcome = Outcome::default();
        let mut loading = self.begin(&[], &mut outcome);
        let read = loading.all().await;
        self.take_in(read, &mut outcome);
        outcome
    }

    /// The same when these files have changed, those that processes import among them, for
    /// somebody in a hurry: what takes long to load is given back, for [`Processes::late`].
    pub async fn look_promptly(&mut self, changes: &[PathBuf]) -> (Outcome, Loading) {
        let mut outcome = Outcome::default();
        let mut loading = self.begin(changes, &mut outcome);
        let read = loading.prompt().await;
        self.take_in(read, &mut outcome);
        for file in loading.left() {
            self.note_loading(file, &mut outcome);
        }
        for (path, count) in &mut outcome.anew {
            let language = language_of(path);
            let left = loading.left().iter();
            *count -= left.filter(|file| file.kind.language() == language).count();
        }
        (outcome, loading)
    }

    /// Takes in a file that took long.
    pub fn late(&mut self, read: Read) -> Outcome {
        let mut outcome = Outcome::default();
        self.take_in(vec![read], &mut outcome);
        outcome
    }

    /// Begins to load what has to be. What is given up by a later look goes on as it was.
    fn begin(&mut self, changes: &[PathBuf], outcome: &mut Outcome) -> Loading {
        let mut loading = Loading::default();
        let Found { files, strays } = match process_files(&self.project) {
            Ok(found) => found,
            Err(failure) => {
                outcome.failures.push(failure);
                return loading;
            }
        };
        self.forget_missing(&files, outcome);
        self.warned
            .retain(|path| strays.iter().any(|stray| stray.path == *path));
        for Stray { path, warning } in strays {
            if self.warned.insert(path) {
                outcome.warnings.push(warning);
            }
        }
        for kind in [Kind::Node, Kind::Python, Kind::Executable] {
            let of_kind: Vec<&ProcessFile> =
                files.iter().filter(|file| file.kind == kind).collect();
            let imported = changes.iter().find(|path| {
                let language = language_of(path);
                language.is_some()
                    && language == kind.language()
                    && !files.iter().any(|file| file.path == **path)
            });
            if of_kind.iter().any(|file| self.has_changed(file)) {
                self.load(kind, &of_kind, &mut loading);
            } else if let (Some(path), false) = (imported, of_kind.is_empty()) {
                self.load(kind, &of_kind, &mut loading);
                let below = path.strip_prefix(&self.project).unwrap_or(path);
                outcome.anew.push((below.to_owned(), of_kind.len()));
            }
        }
        loading
    }

    fn has_changed(&self, file: &ProcessFile) -> bool {
        self.loaded
            .get(&file.path)
            .is_none_or(|loaded| loaded.changed != changed(file))
    }

    fn forget_missing(&mut self, files: &[ProcessFile], outcome: &mut Outcome) {
        let gone: Vec<PathBuf> = self
            .loaded
            .keys()
            .filter(|path| !files.iter().any(|file| file.path == **path))
            .cloned()
            .collect();
        self.broken.retain(|path, id| {
            let is_there = files.iter().any(|file| file.path == *path);
            if !is_there {
                self.register.forget_broken(id);
            }
            is_there
        });
        for path in gone {
            let Some(loaded) = self.loaded.remove(&path) else {
                continue;
            };
            for id in loaded.ids {
                self.register.remove(&id);
                outcome.removed.push(id);
            }
        }
    }

    /// Loads all files of a kind with new runners: modules may import each other.
    fn load(&mut self, kind: Kind, files: &[&ProcessFile], loading: &mut Loading) {
        let Some(language) = kind.language() else {
            for file in files {
                loading.known(Read {
                    file: (*file).clone(),
                    processes: self.load_executable(file),
                });
            }
            return;
        };
        let runners = self.new_runners(language);
        loading.modules(&runners, files);
        // The old ones end when no process needs them any more and nothing runs in them.
        self.runners.insert(language, runners);
    }

    /// Takes in what was loaded, and takes note of what could not be.
    fn take_in(&mut self, read: Vec<Read>, outcome: &mut Outcome) {
        let mut loaded = Vec::new();
        for Read { file, processes } in read {
            match processes {
                Ok(processes) => loaded.push((file, processes)),
                // An earlier version of it goes on.
                Err(failure) => self.note_broken(&file, failure, outcome),
            }
        }
        // What is loaded anew gives up what it had: two files may change places.
        let known = self.register.known();
        let stays = |process: &&Arc<Process>| {
            let file = process.source.file.as_deref();
            self.loaded.keys().any(|path| path.to_str() == file)
                && !loaded.iter().any(|(new, _)| new.path.to_str() == file)
        };
        let mut claims = Claims::of(known.iter().filter(stays));
        for (file, processes) in loaded {
            let claimed = processes
                .iter()
                .try_for_each(|process| claims.claim(process));
            match claimed {
                Err(failure) => self.note_broken(&file, failure, outcome),
                Ok(()) => self.put(&file, processes, outcome),
            }
        }
    }

    fn put(&mut self, file: &ProcessFile, processes: Vec<Process>, outcome: &mut Outcome) {
        let is_new = self.has_changed(file);
        self.mended(file);
        if processes.is_empty() && is_new {
            let warning = strays::no_handler(&file.path, &self.project);
            outcome.warnings.push(warning);
        }
        let ids: Vec<String> = processes.iter().map(|p| p.id.to_string()).collect();
        for process in processes {
            let config = &process.config;
            let queue = (config.run_mode != riverrun_runtime::RunMode::Call)
                .then(|| config.queue.to_string());
            if is_new {
                outcome.loaded.push((process.id.to_string(), queue));
            }
            self.register.put(process);
        }
        let before = self.loaded.insert(
            file.path.clone(),
            Loaded {
                kind: file.kind,
                changed: changed(file),
                ids: ids.clone(),
            },
        );
        for id in before.into_iter().flat_map(|before| before.ids) {
            if !ids.contains(&id) {
                self.register.remove(&id);
                outcome.removed.push(id);
            }
        }
    }

    /// It is not there yet, and nobody waits for it but those who ask for it.
    fn note_loading(&mut self, file: &ProcessFile, outcome: &mut Outcome) {
        let shown = file.path.strip_prefix(&self.project).unwrap_or(&file.path);
        let message = format!("{} is still being loaded", shown.display());
        self.put_broken(file, &Failure::new("MODULE_LOADING", message));
        outcome.warnings.push(format!(
            "{} takes long to load; the others work meanwhile",
            shown.display()
        ));
    }

    fn note_broken(&mut self, file: &ProcessFile, failure: Failure, outcome: &mut Outcome) {
        for (path, count) in &mut outcome.anew {
            *count -= usize::from(language_of(path) == file.kind.language());
        }
        self.put_broken(file, &failure);
        outcome.failures.push(failure);
    }

    fn put_broken(&mut self, file: &ProcessFile, failure: &Failure) {
        let source = source(file, None);
        self.broken.insert(file.path.clone(), file.id.clone());
        self.register.put_broken(BrokenProcess {
            id: file.id.as_str().into(),
            queue: queue_name(&file.id).into(),
            file: source.file,
            language: source.language,
            error: WorkError::new(&failure.code, failure.text()).permanent(),
        });
    }

    fn mended(&mut self, file: &ProcessFile) {
        if self.broken.remove(&file.path).is_some()
            && !self.broken.values().any(|id| *id == file.id)
        {
            self.register.forget_broken(&file.id);
        }
    }

    fn new_runners(&self, language: Language) -> Runners {
        let options = match language {
            Language::Node => &self.options.node,
            Language::Python => &self.options.python,
        };
        let mut options = options.clone();
        options.project = Some(self.project.clone());
        Runners::new(language, options)
    }

    fn load_executable(&self, file: &ProcessFile) -> Result<Vec<Process>> {
        let raw = executable_config(&file.path)?;
        let provider = self.external(&file.path);
        Ok(vec![process(
            file.id.clone(),
            raw,
            provider,
            source(file, None),
            &file.path,
        )?])
    }

    fn external(&self, path: &Path) -> Arc<dyn riverrun_runtime::Provider> {
        let mut options = self.options.external.clone();
        options.folder = Some(self.project.clone());
        Arc::new(External::new(vec![path.as_os_str().to_owned()], options))
    }

    /// Takes in what a registry file says, without looking at the files: each is loaded when it is
    /// first needed.
    pub fn boot(&mut self, entries: &[Entry]) -> Result<()> {
        for entry in entries {
            let path = self.project.join(&entry.file);
            let file = ProcessFile {
                id: entry.id.clone(),
                path: path.clone(),
                kind: entry.kind,
            };
            let provider = match entry.kind.language() {
                None => self.external(&path),
                Some(language) => {
                    let fresh = self.new_runners(language);
                    let runners = self.runners.entry(language).or_insert(fresh);
                    runners.provider(&path.to_string_lossy(), entry.export.as_deref(), 1)
                }
            };
            let source = source(&file, entry.export.clone());
            let raw = entry.config.clone();
            let process = process(entry.id.clone(), raw, provider, source, &path)?;
            self.register.put(process);
        }
        for runners in self.runners.values() {
            runners.warm();
        }
        Ok(())
    }

    /// Everything that is loaded, for a registry file.
    pub fn entries(&self) -> Vec<Entry> {
        let processes = self.register.known();
        let entry = |process: &Arc<Process>| {
            let file = PathBuf::from(process.source.file.as_deref()?);
            let loaded = self.loaded.get(&file)?;
            Some(Entry {
                id: process.id.to_string(),
                file: file.strip_prefix(&self.project).unwrap_or(&file).to_owned(),
                export: process.source.export.clone(),
                kind: loaded.kind,
                config: process.config.raw.clone(),
            })
        };
        processes.iter().filter_map(entry).collect()
    }

    /// Ends the runners, once the runtime has ended what runs in them.
    pub async fn end(&mut self) {
        for (_, runners) in self.runners.drain() {
            runners.drain(Duration::ZERO).await;
        }
    }
}

fn changed(file: &ProcessFile) -> Option<SystemTime> {
    let own = std::fs::metadata(&file.path).and_then(|meta| meta.modified());
    let config = config_path(&file.path)
        .filter(|_| file.kind == Kind::Executable)
        .and_then(|path| {
            std::fs::metadata(path)
                .and_then(|meta| meta.modified())
                .ok()
        });
    own.ok().max(config)
}

pub(super) async fn load_module(runners: &Runners, file: &ProcessFile) -> Result<Vec<Process>> {
    let path = file.path.to_string_lossy();
    let loaded = runners.load(&path, 1).await;
    let loaded = loaded.map_err(|error| refused(&path, &error))?;
    let runners = loaded.runners;
    loaded
        .processes
        .into_iter()
        .map(|found| {
            let export = found
                .export
                .as_deref()
                .filter(|export| *export != "default");
            let id = match export {
                None => file.id.clone(),
                Some(export) => format!("{}.{export}", file.id),
            };
            let provider = runners.provider(&path, found.export.as_deref(), 1);
            let source = source(file, found.export.clone());
            process(id, found.config, provider, source, &file.path)
        })
        .collect()
}

/// That a module does not load: what is wrong, with its path once, and what the stack adds to it.
fn refused(path: &str, error: &WorkError) -> Failure {
    let message = match error.message.contains(path) {
        true => error.message.clone(),
        false => format!("{path}: {}", error.message),
    };
    let is_new = |line: &&str| {
        let said = line.split_once(": ").map_or(*line, |(_, said)| said);
        !said.trim().is_empty() && !message.contains(line.trim()) && !message.contains(said.trim())
    };
    let stack: Vec<&str> = error.stack.as_deref().unwrap_or_default().lines().collect();
    let news: Vec<&str> = stack.into_iter().filter(is_new).collect();
    let failure = Failure::new(error.code.clone(), message.clone());
    match news.is_empty() {
        true => failure,
        false => failure.note(news.join("\n")),
    }
}

fn source(file: &ProcessFile, export: Option<String>) -> Source {
    let language = match file.kind {
        Kind::Python => "python",
        Kind::Executable => "executable",
        Kind::Node => match file.path.extension().and_then(|ending| ending.to_str()) {
            Some("ts" | "mts") => "typescript",
            _ => "javascript",
        },
    };
    Source {
        file: Some(file.path.to_string_lossy().into_owned()),
        export,
        revision: Some(1),
        language: Some(language.to_owned()),
    }
}

fn process(
    id: String,
    raw: Json,
    provider: Arc<dyn riverrun_runtime::Provider>,
    source: Source,
    path: &Path,
) -> Result<Process> {
    let config = ProcessConfig::read(&raw, queue_name(&id)).map_err(|issues| {
        let count = issues.len();
        let message = format!(
            "the config of {} has {count} issue{}",
            path.display(),
            if count == 1 { "" } else { "s" }
        );
        issues.iter().fold(
            Failure::new("PROCESS_INVALID", message),
            |failure, issue| failure.note(format!("{}: {}", issue.path, issue.message)),
        )
    })?;
    Ok(Process {
        id: id.into(),
        config,
        provider,
        source,
    })
}

/// The file beside an executable that holds its config.
pub(super) fn config_path(path: &Path) -> Option<PathBuf> {
    ["yaml", "yml", "json"]
        .iter()
        .map(|ending| path.with_extension(ending))
        .find(|path| path.is_file())
}

fn executable_config(path: &Path) -> Result<Json> {
    match config_path(path) {
        None => Ok(Json::null()),
        Some(config) => read_config(&config).map(|value| Json::of(&value)),
    }
}

pub(super) fn read_config(config: &Path) -> Result<serde_json::Value> {
    let file = |error: &std::io::Error| Failure::file("the config", config, error);
    let size = std::fs::metadata(config)
        .map_err(|error| file(&error))?
        .len();
    if size > MAX_CONFIG {
        let message = format!(
            "{} has {size} bytes; a config may have {MAX_CONFIG}",
            config.display()
        );
        return Err(Failure::new("FILE_UNUSABLE", message));
    }
    let text = std::fs::read_to_string(config).map_err(|error| file(&error))?;
    let format = config
        .extension()
        .and_then(|ending| Format::of_extension(ending.to_str()?))
        .unwrap_or(Format::Yaml);
    parse_definition(&text, format)
        .map_err(|error| Failure::new(error.code(), format!("{}: {error}", config.display())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_module_that_does_not_load_is_told_without_saying_anything_twice() {
        for (message, stack, notes) in [
            ("/p/a.ts is TypeScript", None, &[][..]),
            ("must be an object", None, &[]),
            (
                "/p/a.ts: no database",
                Some("Error: no database\n    at file:///p/a.ts:2:7"),
                &["    at file:///p/a.ts:2:7"],
            ),
            (
                "/p/a.ts:3:5: Unexpected token",
                Some("/p/a.ts:3:5\nlet => 2\n    ^^"),
                &["let => 2\n    ^^"],
            ),
        ] {
            let error = WorkError {
                stack: stack.map(Into::into),
                ..WorkError::new("MODULE_ERROR", message)
            };
            let failure = refused("/p/a.ts", &error);
            assert_eq!(failure.message.matches("/p/a.ts").count(), 1, "{message}");
            assert_eq!(failure.notes, notes, "{message}");
        }
    }

    #[test]
    fn processes_are_found_by_their_endings_and_rights() {
        let folder = tempfile::tempdir().unwrap();
        assert!(process_files(folder.path()).unwrap().files.is_empty());
        let root = folder.path().join("processes");
        std::fs::create_dir_all(root.join("mail/deep")).unwrap();
        std::fs::create_dir_all(root.join("node_modules/x")).unwrap();
        for name in [
            "a.ts",
            "b.py",
            "mail/send.mjs",
            "mail/deep/x.cjs",
            "types.d.ts",
            "a.test.ts",
            "_helper.ts",
            "notes.md",
            "plain.sh",
            "node_modules/x/index.js",
        ] {
            std::fs::write(root.join(name), "").unwrap();
        }
        let tool = root.join("tool.sh");
        std::fs::write(&tool, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::write(root.join("forgotten.sh"), "#!/bin/sh\n").unwrap();
        for (name, text) in [
            ("lonely.yaml", "concurrency: 3"),
            ("tool.yaml", "concurrency: 3"),
            ("tool.json", "{\"concurrency\": 3}"),
            ("a.yml", "queue: other"),
            ("package.json", "{\"type\": \"module\"}"),
            ("prices.json", "[1, 2]"),
            ("empty.yaml", ""),
            ("broken.yaml", "a: [b"),
        ] {
            std::fs::write(root.join(name), text).unwrap();
        }
        let found = process_files(folder.path()).unwrap();
        let warnings: Vec<&str> = found.strays.iter().map(|s| s.warning.as_str()).collect();
        let unread = "has settings that nobody reads";
        let script = "is a script that may not be executed, so it is no process";
        let expected = [
            format!("processes/a.yml {unread}: processes/a.ts has its own, in `config`"),
            format!("processes/forgotten.sh {script}; try: chmod +x processes/forgotten.sh"),
            format!("processes/lonely.yaml {unread}: there is no executable lonely beside it"),
            format!(
                "processes/tool.json {unread}: those of processes/tool.sh are in processes/tool.yaml"
            ),
        ];
        assert_eq!(warnings, expected);
        let found: Vec<(String, Kind)> = found
            .files
            .into_iter()
            .map(|file| (file.id, file.kind))
            .collect();
        let expected = [
            ("a", Kind::Node),
            ("b", Kind::Python),
            ("mail/deep/x", Kind::Node),
            ("mail/send", Kind::Node),
            ("tool", Kind::Executable),
        ];
        assert_eq!(found, expected.map(|(id, kind)| (id.to_owned(), kind)));
    }
}
