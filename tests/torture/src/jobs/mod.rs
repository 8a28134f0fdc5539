//! Jobs under load: added in every way to workers in Node and Python, and reckoned up in the end.

mod load;
mod notes;
mod verify;
mod wish;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::task::JoinHandle;

use crate::Server;
use load::Load;

/// The queues, each with a worker in another language.
const QUEUES: [&str; 2] = ["node", "python"];

/// The handlers' own record, in the project's folder.
const NOTES: &str = "attempts.jsonl";

/// Writes the project whose processes take the jobs.
pub fn write_project(folder: &Path) -> Result<(), String> {
    let processes = folder.join("processes");
    let text = |error: std::io::Error| error.to_string();
    fs::create_dir_all(&processes).map_err(text)?;
    let files = [
        ("worker-node.mjs", include_str!("worker.mjs")),
        ("worker-python.py", include_str!("worker.py")),
    ];
    for (name, source) in files {
        fs::write(processes.join(name), source).map_err(text)?;
    }
    Ok(())
}

/// Clients that add jobs, and where handlers note what they do.
pub struct Jobs {
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    notes: PathBuf,
}

impl Jobs {
    pub fn begin(server: &Server, project: &Path, clients: usize, seed: u64) -> Self {
        let load = Arc::new(Load::new(server.url()));
        Self {
            clients: load.spawn(clients, seed),
            notes: project.join(NOTES),
            load,
        }
    }

    pub fn acknowledged(&self) -> usize {
        self.load.acknowledged()
    }

    /// Ends the load, lets the queues run empty and checks the promises; the answer is what was
    /// checked.
    pub async fn reckon(self, server: &Server) -> Result<String, String> {
        self.load.stop();
        for client in self.clients {
            client.await.map_err(|error| error.to_string())?;
        }
        verify::drained(server).await?;
        // Whatever was noted was noted before the outcome that the server waited for.
        let notes = notes::read(&self.notes)?;
        verify::verify(server, &self.load, &notes).await
    }
}
