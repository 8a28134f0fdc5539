//! Tells when a project's files changed, once per burst of changes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use super::format_of;

/// An editor that saves writes, renames and touches; all of that is one change.
const QUIET: Duration = Duration::from_millis(80);

/// Watches until the receiver is dropped. Each message means: look again.
pub fn watch(project: &Path) -> notify::Result<mpsc::Receiver<()>> {
    let (seen, mut burst) = mpsc::unbounded_channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && !matches!(event.kind, EventKind::Access(_))
        {
            let _ = seen.send(event.paths);
        }
    })?;
    let mut folders: Vec<Watched> = ["flows", "processes", "triggers"]
        .map(|name| Watched {
            path: project.join(name),
            is_deep: false,
        })
        .into();
    // Not the whole tree: the data folder in it changes with every commit.
    watcher.watch(project, RecursiveMode::NonRecursive)?;
    for folder in &mut folders {
        folder.is_deep = watch_deep(&mut watcher, &folder.path);
    }
    let (tell, told) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(mut paths) = burst.recv().await {
            while let Ok(Some(more)) = tokio::time::timeout(QUIET, burst.recv()).await {
                paths.extend(more);
            }
            let mut is_news = false;
            for folder in &mut folders {
                let is_there = folder.path.is_dir();
                let appeared = !folder.is_deep && is_there;
                if appeared {
                    folder.is_deep = watch_deep(&mut watcher, &folder.path);
                } else if !is_there {
                    folder.is_deep = false;
                }
                is_news |= appeared || matters(&paths, &folder.path);
            }
            if is_news && tell.send(()).await.is_err() {
                return;
            }
        }
    });
    Ok(told)
}

/// A folder of the project, and whether all below it is watched.
struct Watched {
    path: PathBuf,
    is_deep: bool,
}

fn watch_deep(watcher: &mut RecommendedWatcher, folder: &Path) -> bool {
    folder.is_dir() && watcher.watch(folder, RecursiveMode::Recursive).is_ok()
}

fn matters(paths: &[PathBuf], folder: &Path) -> bool {
    paths.iter().any(|path| {
        let noise = path
            .iter()
            .any(|part| part == "__pycache__" || part == "node_modules");
        let ending = path.extension().and_then(|ending| ending.to_str());
        // A path without an ending may be a folder that was moved, or an executable.
        let is_ours = format_of(path).is_some()
            || matches!(
                ending,
                None | Some("ts" | "mts" | "js" | "mjs" | "cjs" | "py" | "sh")
            );
        (path.starts_with(folder) || path == folder) && is_ours && !noise
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_burst_of_changes_is_told_once_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap();
        let mut told = watch(&project).unwrap();
        std::fs::create_dir(project.join(".riverrun")).unwrap();
        std::fs::write(project.join("notes.md"), "x").unwrap();
        // The folder of flows itself may come later.
        std::fs::create_dir(project.join("flows")).unwrap();
        told.recv().await.unwrap();
        for name in ["a.yaml", "b.json", "a.yaml"] {
            std::fs::write(project.join("flows").join(name), "x").unwrap();
        }
        told.recv().await.unwrap();
        assert!(told.try_recv().is_err());
    }
}
