//! Jobs under load: added in every way to workers in Node and Python, of the server and elsewhere,
//! and reckoned up in the end.

mod load;
mod notes;
mod verify;
mod wish;
mod workers;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rand::rngs::StdRng;
use tokio::task::JoinHandle;

use crate::{Server, tree::Process};
use load::Load;
use workers::Workers;

/// The queues: one for each language, and one whose jobs run elsewhere.
const QUEUES: [&str; 3] = ["node", "python", "remote"];

/// The handlers' own record, in the project's folder.
const NOTES: &str = "attempts.jsonl";

/// The processes that take the jobs.
pub const PROCESSES: [(&str, &str); 2] = [
    ("worker-node.mjs", include_str!("worker.mjs")),
    ("worker-python.py", include_str!("worker.py")),
];

/// Clients that add jobs, and where handlers note what they do.
pub struct Jobs {
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    workers: Workers,
    /// In the server's project and in that of the workers elsewhere.
    notes: [PathBuf; 2],
}

impl Jobs {
    pub async fn begin(
        server: &Server,
        binary: &Path,
        project: &Path,
        clients: usize,
        seed: u64,
    ) -> Result<Self, String> {
        let away = project.with_file_name("away");
        let workers = Workers::start(server, binary, away.clone()).await?;
        let load = Arc::new(Load::new(server.url()));
        Ok(Self {
            clients: load.spawn(clients, seed),
            workers,
            notes: [project.join(NOTES), away.join(NOTES)],
            load,
        })
    }

    /// Kills one of the workers elsewhere; leaves processes to wait for.
    pub async fn kill_worker(&mut self, dice: &mut StdRng) -> Result<Vec<Process>, String> {
        self.workers.kill_any(dice).await
    }

    pub fn acknowledged(&self) -> usize {
        self.load.acknowledged()
    }

    /// Ends the load, lets the queues run empty and checks the promises; the answer is what was
    /// checked, and the processes that are to end by themselves.
    pub async fn reckon(self, server: &Server) -> Result<(String, Vec<Process>), String> {
        self.load.stop();
        for client in self.clients {
            client.await.map_err(|error| error.to_string())?;
        }
        verify::drained(server).await?;
        // Whatever was noted was noted before the outcome that the server waited for.
        let notes = notes::read(&self.notes)?;
        let summary = verify::verify(server, &self.load, &notes).await?;
        Ok((summary, self.workers.stop().await?))
    }
}
