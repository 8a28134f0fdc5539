//! Awaits under load: runs that wait for times, events and doors, in code and declared, with
//! timeouts that race what is fired; flows of events that are joined and undone; schedules and
//! events that start runs. All is reckoned up in the end.

mod definitions;
mod effects;
mod load;
mod verify;
mod wish;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::task::JoinHandle;

use crate::Server;
use load::Load;
pub use verify::nothing_is_left;

/// The processes whose code waits, and the handlers' own record, in the project's folder.
pub const PROCESSES: [(&str, &str); 3] = [
    ("torture-code.mjs", include_str!("code.mjs")),
    ("torture-tell.mjs", include_str!("tell.mjs")),
    ("torture-saga.mjs", include_str!("saga.mjs")),
];
const EFFECTS: &str = "effects.jsonl";

/// Clients that start runs and fire what these wait for.
pub struct Awaits {
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    effects: PathBuf,
}

impl Awaits {
    pub async fn begin(
        server: &Server,
        project: &Path,
        clients: usize,
        seed: u64,
    ) -> Result<Self, String> {
        definitions::register(server).await?;
        let load = Arc::new(Load::new(server.url()));
        Ok(Self {
            clients: load.spawn(clients, seed),
            effects: project.join(EFFECTS),
            load,
        })
    }

    pub fn acknowledged(&self) -> usize {
        self.load.started().len()
    }

    /// Ends the load, lets the runs end and checks the promises; the answer is what was checked.
    pub async fn reckon(self, server: &Server) -> Result<String, String> {
        self.load.stop();
        for client in self.clients {
            client.await.map_err(|error| error.to_string())?;
        }
        verify::stop_schedules(server).await?;
        // Whatever was noted was noted before the outcome that the server waited for.
        crate::runs::all_ended(server).await?;
        let effects = effects::read(&self.effects)?;
        verify::verify(server, &self.load, &effects).await
    }
}
