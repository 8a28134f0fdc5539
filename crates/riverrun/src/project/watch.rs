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
    let flows = project.join("flows");
    // Not the whole tree: the data folder in it changes with every commit.
    watcher.watch(project, RecursiveMode::NonRecursive)?;
    let mut deep = watch_flows(&mut watcher, &flows);
    let (tell, told) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(mut paths) = burst.recv().await {
            while let Ok(Some(more)) = tokio::time::timeout(QUIET, burst.recv()).await {
                paths.extend(more);
            }
            let flows_appeared = !deep && flows.is_dir();
            if flows_appeared {
                deep = watch_flows(&mut watcher, &flows);
            } else if deep && !flows.is_dir() {
                deep = false;
            }
            if (flows_appeared || matters(&paths, &flows)) && tell.send(()).await.is_err() {
                return;
            }
        }
    });
    Ok(told)
}

fn watch_flows(watcher: &mut RecommendedWatcher, flows: &Path) -> bool {
    flows.is_dir() && watcher.watch(flows, RecursiveMode::Recursive).is_ok()
}

fn matters(paths: &[PathBuf], flows: &Path) -> bool {
    paths.iter().any(|path| {
        // A path without an ending may be a folder of flows that was moved.
        let inside = path.starts_with(flows) || path.ends_with("flows");
        inside && (format_of(path).is_some() || path.extension().is_none())
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
