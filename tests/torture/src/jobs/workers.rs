//! Workers elsewhere: programs that run jobs for the server, over a connection of their own.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use rand::{RngExt, rngs::StdRng};
use tokio::process::{Child, Command};

use crate::{Server, tree, tree::Process};

/// How many there are at a time.
const WORKERS: usize = 2;

pub struct Workers {
    binary: PathBuf,
    project: PathBuf,
    url: String,
    running: Vec<Child>,
}

impl Workers {
    /// Starts them, each with the one process that takes the jobs of their queue, and waits until
    /// the server knows all of them.
    pub async fn start(server: &Server, binary: &Path, project: PathBuf) -> Result<Self, String> {
        let text = |error: std::io::Error| error.to_string();
        let processes = project.join("processes");
        fs::create_dir_all(&processes).map_err(text)?;
        let source = include_str!("worker.mjs").replace("node'", "remote'");
        let source = source.replace("'node-dead'", "'remote-dead'");
        fs::write(processes.join("worker-remote.mjs"), source).map_err(text)?;
        let mut workers = Self {
            binary: binary.to_owned(),
            project,
            url: server.url(),
            running: Vec::new(),
        };
        for _ in 0..WORKERS {
            let worker = workers.spawn()?;
            workers.running.push(worker);
        }
        let begun = Instant::now();
        while server.get("/api/workers").await?["items"]
            .as_array()
            .map_or(0, Vec::len)
            < WORKERS
        {
            if begun.elapsed() > Duration::from_secs(30) {
                return Err("the workers are not connected after 30 s".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(workers)
    }

    fn spawn(&self) -> Result<Child, String> {
        Command::new(&self.binary)
            .args(["worker", "--concurrency", "6", "--wait", "60s", "--server"])
            .arg(&self.url)
            .arg("--project")
            .arg(&self.project)
            .env("RIVERRUN_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("a worker does not start: {error}"))
    }

    /// Kills one and starts another in its place; leaves processes to wait for.
    pub async fn kill_any(&mut self, dice: &mut StdRng) -> Result<Vec<Process>, String> {
        let at = dice.random_range(0..self.running.len());
        let next = self.spawn()?;
        let mut victim = std::mem::replace(&mut self.running[at], next);
        let left = victim.id().map(tree::children).unwrap_or_default();
        victim.kill().await.map_err(|error| error.to_string())?;
        Ok(left)
    }

    pub async fn stop(mut self) -> Result<Vec<Process>, String> {
        let mut left = Vec::new();
        for worker in &mut self.running {
            left.extend(worker.id().map(tree::children).unwrap_or_default());
            worker.kill().await.map_err(|error| error.to_string())?;
        }
        Ok(left)
    }
}
