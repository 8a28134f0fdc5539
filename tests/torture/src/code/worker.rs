//! A worker elsewhere, which may have another version of the code than the one before it.

use std::{fs, path::Path, path::PathBuf, process::Stdio};

use tokio::process::{Child, Command};

use super::{REMOTE, Version, text};
use crate::{tree, tree::Process};

pub struct Worker {
    binary: PathBuf,
    project: PathBuf,
    url: String,
    running: Child,
}

impl Worker {
    pub fn start(url: String, binary: &Path, project: PathBuf) -> Result<Self, String> {
        let running = spawn(&url, binary, &project, Version::Fitting)?;
        Ok(Self {
            binary: binary.to_owned(),
            project,
            url,
            running,
        })
    }

    /// Kills it and starts another with this code; leaves processes to wait for.
    pub async fn replace(&mut self, version: Version) -> Result<Vec<Process>, String> {
        let left = self.kill().await?;
        self.running = spawn(&self.url, &self.binary, &self.project, version)?;
        Ok(left)
    }

    pub async fn stop(mut self) -> Result<Vec<Process>, String> {
        self.kill().await
    }

    async fn kill(&mut self) -> Result<Vec<Process>, String> {
        let left = self.running.id().map(tree::children).unwrap_or_default();
        self.running.kill().await.map_err(text)?;
        Ok(left)
    }
}

fn spawn(url: &str, binary: &Path, project: &Path, version: Version) -> Result<Child, String> {
    let processes = project.join("processes");
    fs::create_dir_all(&processes).map_err(text)?;
    let file = processes.join(format!("{REMOTE}.mjs"));
    fs::write(file, version.source()).map_err(text)?;
    Command::new(binary)
        .args(["worker", "--concurrency", "16", "--wait", "60s", "--server"])
        .arg(url)
        .arg("--project")
        .arg(project)
        .env("RIVERRUN_LOG", "error")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("a worker does not start: {error}"))
}
