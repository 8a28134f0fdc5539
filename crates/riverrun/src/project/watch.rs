//! Reports which of a project's files changed, once per burst of changes.
//!
//! It watches flows, triggers, processes and every source file that a process may import: the whole
//! folder of the project except installed, built and hidden files and the server's own. Each folder
//! has a watch of its own, so that the excluded ones cost nothing: the data folder changes with every
//! commit.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher, event::ModifyKind};
use tokio::sync::{Notify, mpsc};

use super::{format_of, processes::language_of};

/// An editor that saves writes, renames and touches; all of that is one change.
const QUIET: Duration = Duration::from_millis(80);
/// What tools that install packages write last, in the folder of the packages. With them a module
/// that lacked one may load.
const INSTALLED: [&str; 4] = [
    ".package-lock.json",
    ".modules.yaml",
    ".yarn-integrity",
    ".yarn-state.yml",
];
/// Folders that are watched at most: each takes something of the system.
const MAX_FOLDERS: usize = 8_192;

/// Watches until the receiver is dropped. Each message holds the files that have changed.
pub fn watch(project: &Path, data: &Path) -> notify::Result<mpsc::Receiver<Vec<PathBuf>>> {
    let seen = Arc::new(Seen::default());
    let changes = seen.clone();
    let root = project.to_owned();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event {
            changes.add(&root, event);
        }
    })?;
    let mut folders = Folders {
        watcher,
        watched: HashSet::new(),
        project: project.to_owned(),
        data: data.to_owned(),
    };
    folders
        .watcher
        .watch(project, RecursiveMode::NonRecursive)?;
    folders.take_in(project);
    folders.watch_packages();
    let (tell, changed) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(paths) = seen.burst(&tell).await {
            let news = folders.news(paths);
            if !news.is_empty() && tell.send(news).await.is_err() {
                return;
            }
        }
    });
    Ok(changed)
}

/// Changes that are not reported yet. A file that changes a thousand times is there once.
#[derive(Default)]
struct Seen {
    paths: Mutex<HashSet<PathBuf>>,
    wake: Notify,
}

impl Seen {
    fn add(&self, project: &Path, event: notify::Event) {
        let is_touch = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
        // The executable bit decides whether a file is a process; in other folders it is irrelevant.
        let processes = project.join("processes");
        let matters = |path: &PathBuf| !is_touch || path.starts_with(&processes);
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        self.paths().extend(event.paths.into_iter().filter(matters));
        self.wake.notify_one();
    }

    fn paths(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changes up to the next quiet moment; `None` when the receiver is gone.
    async fn burst(&self, tell: &mpsc::Sender<Vec<PathBuf>>) -> Option<HashSet<PathBuf>> {
        tokio::select! {
            () = self.wake.notified() => {}
            () = tell.closed() => return None,
        }
        while tokio::time::timeout(QUIET, self.wake.notified())
            .await
            .is_ok()
        {}
        Some(std::mem::take(&mut *self.paths()))
    }
}

/// The folders that are watched.
struct Folders {
    watcher: RecommendedWatcher,
    /// By their real paths: links may lead in circles.
    watched: HashSet<PathBuf>,
    project: PathBuf,
    /// What the server writes itself.
    data: PathBuf,
}

impl Folders {
    /// The files among the paths that matter, and those of folders that have come.
    fn news(&mut self, paths: HashSet<PathBuf>) -> Vec<PathBuf> {
        let mut news = Vec::new();
        for path in paths {
            if path == self.packages() {
                news.extend(self.watch_packages());
            } else if self.is_installed(&path) {
                news.push(path);
                continue;
            }
            if self.is_noise(&path) {
                continue;
            }
            if path.is_dir() {
                news.extend(self.take_in(&path));
            } else if self.matters(&path) {
                news.push(path);
            }
        }
        news.sort();
        news
    }

    fn packages(&self) -> PathBuf {
        self.project.join("node_modules")
    }

    fn is_installed(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str());
        path.parent() == Some(self.packages().as_path())
            && name.is_some_and(|name| INSTALLED.contains(&name))
    }

    /// Watches the folder of packages, if there is one, and nothing below it. What was installed
    /// before that is news too.
    fn watch_packages(&mut self) -> Option<PathBuf> {
        let folder = self.packages();
        if !folder.is_dir() {
            return None;
        }
        if let Err(error) = self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
            tracing::warn!(%error, "{} is not watched", folder.display());
        }
        let mut marks = INSTALLED.iter().map(|name| folder.join(name));
        marks.find(|mark| mark.is_file())
    }

    /// Watches a folder and all below it, and says which files are there that matter.
    fn take_in(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(real) = folder.canonicalize() else {
                continue;
            };
            if self.watched.len() >= MAX_FOLDERS {
                tracing::warn!(
                    "the project has more than {MAX_FOLDERS} folders; not all are watched"
                );
                break;
            }
            // A folder that went and came again has to be watched anew; a link to it has not.
            let is_link = real != folder;
            if !self.watched.insert(real) && is_link {
                continue;
            }
            if let Err(error) = self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, "{} is not watched", folder.display());
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            for path in entries.map(|entry| entry.path()) {
                if self.is_noise(&path) {
                } else if path.is_dir() {
                    folders.push(path);
                } else if self.matters(&path) {
                    found.push(path);
                }
            }
        }
        found
    }

    /// What is installed, built, hidden or the server's own.
    fn is_noise(&self, path: &Path) -> bool {
        if self.data != self.project && path.starts_with(&self.data) {
            return true;
        }
        let below = path.strip_prefix(&self.project).unwrap_or(path);
        below.iter().any(|part| {
            let part = part.to_string_lossy();
            let is_installed = ["node_modules", "__pycache__", "venv", "target"];
            part.starts_with('.') || is_installed.contains(&&*part)
        })
    }

    fn matters(&self, path: &Path) -> bool {
        let is_in = |folder: &str| path.starts_with(self.project.join(folder));
        // A path without an ending may be a folder that was moved, or an executable.
        let is_plain = path
            .extension()
            .is_none_or(|ending| ending == "sh" || format_of(path).is_some());
        let is_ours = ["flows", "processes", "triggers"].into_iter().any(is_in) && is_plain;
        is_ours || language_of(path).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(project: &Path, paths: &[PathBuf]) -> Vec<String> {
        let below = paths.iter().map(|path| path.strip_prefix(project).unwrap());
        below
            .map(|path| path.to_str().unwrap().to_owned())
            .collect()
    }

    #[tokio::test]
    async fn a_burst_of_changes_is_reported_once_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let mut changed = watch(&project, &project.join("data")).unwrap();
        std::fs::create_dir(project.join(".riverrun")).unwrap();
        std::fs::create_dir_all(project.join("data/sdk")).unwrap();
        std::fs::write(project.join("data/sdk/runner.mjs"), "x").unwrap();
        std::fs::write(project.join("notes.md"), "x").unwrap();
        // The folder of flows itself may come later.
        std::fs::create_dir(project.join("flows")).unwrap();
        std::fs::write(project.join("flows/first.yaml"), "x").unwrap();
        let first = changed.recv().await.unwrap();
        assert_eq!(names(&project, &first), ["flows/first.yaml"]);
        for name in ["a.yaml", "b.json", "a.yaml"] {
            std::fs::write(project.join("flows").join(name), "x").unwrap();
        }
        let second = changed.recv().await.unwrap();
        assert_eq!(names(&project, &second), ["flows/a.yaml", "flows/b.json"]);
        assert!(changed.try_recv().is_err());
    }

    #[tokio::test]
    async fn packages_that_were_installed_are_reported_once() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let mut changed = watch(&project, &project.join("data")).unwrap();
        let packages = project.join("node_modules");
        std::fs::create_dir_all(packages.join("tsx")).unwrap();
        std::fs::write(packages.join("tsx/index.js"), "x").unwrap();
        std::fs::write(packages.join(".package-lock.json"), "{}").unwrap();
        let first = changed.recv().await.unwrap();
        assert_eq!(names(&project, &first), ["node_modules/.package-lock.json"]);
        // Again, with another package, and the same where the folder was there before.
        let mut later = watch(&project, &project.join("data")).unwrap();
        for changed in [&mut changed, &mut later] {
            std::fs::create_dir_all(packages.join("esbuild")).unwrap();
            std::fs::write(packages.join(".package-lock.json"), "{ }").unwrap();
            let news = changed.recv().await.unwrap();
            assert_eq!(names(&project, &news), ["node_modules/.package-lock.json"]);
        }
    }

    #[tokio::test]
    async fn sources_are_watched_wherever_they_are_and_packages_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        for name in ["lib/deep", "node_modules/a", ".venv/lib", "lib/__pycache__"] {
            std::fs::create_dir_all(project.join(name)).unwrap();
        }
        // In circles.
        std::os::unix::fs::symlink(&project, project.join("lib/self")).unwrap();
        let mut changed = watch(&project, &project.join("data")).unwrap();
        for name in [
            "node_modules/a/index.js",
            ".venv/lib/b.py",
            "lib/__pycache__/c.py",
            "lib/out.json",
            "lib/deep/words.ts",
            "top.py",
        ] {
            std::fs::write(project.join(name), "x").unwrap();
        }
        let first = changed.recv().await.unwrap();
        assert_eq!(names(&project, &first), ["lib/deep/words.ts", "top.py"]);
        // A folder that is moved here, with what is in it.
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::create_dir(elsewhere.path().join("more")).unwrap();
        std::fs::write(elsewhere.path().join("more/new.mjs"), "x").unwrap();
        std::fs::rename(elsewhere.path().join("more"), project.join("more")).unwrap();
        let second = changed.recv().await.unwrap();
        assert_eq!(names(&project, &second), ["more/new.mjs"]);
        std::fs::write(project.join("more/new.mjs"), "y").unwrap();
        let third = changed.recv().await.unwrap();
        assert_eq!(names(&project, &third), ["more/new.mjs"]);
    }
}
