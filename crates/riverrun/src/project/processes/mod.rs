//! A project's processes: found under `processes/**`, loaded by the runner of their language, and
//! registered with the runtime.
//!
//! New runners load changed files; the old runners finish their work and end. So an edit never
//! interrupts active work, and work that starts after it runs the new code.
//!
//! `find` looks for the files, `loading` loads them side by side (`module`, `executable`), `conflicts`
//! rejects two files with the same id or queue, and `register` is the interface to the runtime or
//! worker that executes them.

mod broken;
mod conflicts;
mod entries;
mod executable;
mod find;
mod ignored;
mod loading;
mod module;
mod outcome;
mod process;
mod register;
mod shown;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use riverrun_providers::{External, ExternalOptions, Language, RunnerOptions, Runners};
use riverrun_runtime::{Process, Provider, RunMode};

use crate::failure::Result;
use conflicts::Claims;
use executable::{config_path, executable_config};
use find::{Kind, ProcessFile, ProcessFiles};
use ignored::IgnoredFile;
use loading::Read;
use process::{process, source};

pub use entries::Entry;
pub use find::{language_of, languages, process_files};
pub use loading::Loading;
pub use outcome::Outcome;
pub use register::Register;

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
    /// Whether what handlers say is shown on the terminal.
    is_shown: bool,
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

impl Processes {
    pub fn new(register: impl Register + 'static, project: &Path, options: Settings) -> Self {
        // Runners get absolute paths: their working folder is the project's.
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
            is_shown: false,
        }
    }

    /// Shows what the handlers of all processes say and how they fail, from the next load on.
    pub fn show_work(&mut self) {
        self.is_shown = true;
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
        let ProcessFiles { files, ignored } = match process_files(&self.project) {
            Ok(found) => found,
            Err(failure) => {
                outcome.failures.push(failure);
                return loading;
            }
        };
        self.forget_missing(&files, outcome);
        self.warned.retain(|path| {
            ignored
                .iter()
                .any(|ignored_file| ignored_file.path == *path)
        });
        for IgnoredFile { path, warning } in ignored {
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
            let warning = ignored::no_handler(&file.path, &self.project);
            outcome.warnings.push(warning);
        }
        let ids: Vec<String> = processes.iter().map(|p| p.id.to_string()).collect();
        for process in processes {
            let config = &process.config;
            let queue = (config.run_mode != RunMode::Call).then(|| config.queue.to_string());
            if is_new {
                outcome.loaded.push((process.id.to_string(), queue));
            }
            self.register.put(self.dressed(process));
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

    fn dressed(&self, mut process: Process) -> Process {
        if self.is_shown {
            process.provider = Arc::new(shown::Shown {
                name: process.id.to_string().into(),
                provider: process.provider,
            });
        }
        process
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

    fn external(&self, path: &Path) -> Arc<dyn Provider> {
        let mut options = self.options.external.clone();
        options.folder = Some(self.project.clone());
        Arc::new(External::new(vec![path.as_os_str().to_owned()], options))
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
