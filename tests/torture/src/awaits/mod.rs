//! Awaits under load: runs that wait for times, events and callbacks, in code and declared, of
//! processes and executables, with timeouts that race what is fired; flows of events that are
//! joined and undone; routes, schedules and events that start runs. All is reckoned up in the end.

mod definitions;
mod effects;
mod load;
mod notes;
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

/// The processes whose code waits and the program that is a step, and their own records, in the
/// project's folder.
pub const PROCESSES: [(&str, &str); 5] = [
    ("torture-code.mjs", include_str!("code.mjs")),
    ("torture-arrived.mjs", include_str!("arrived.mjs")),
    ("torture-saga.mjs", include_str!("saga.mjs")),
    ("torture-tool", include_str!("tool")),
    ("torture-tool.yaml", include_str!("tool.yaml")),
];
const EFFECTS: &str = "effects.jsonl";
const NOTES: &str = "tools.jsonl";

/// What handlers say they did.
pub struct Records {
    effects: effects::Effects,
    notes: notes::Notes,
}

/// Clients that start runs and fire what these wait for.
pub struct Awaits {
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    effects: PathBuf,
    notes: PathBuf,
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
            notes: project.join(NOTES),
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
        let records = Records {
            effects: effects::read(&self.effects)?,
            notes: notes::read(&self.notes)?,
        };
        verify::verify(server, &self.load, &records).await
    }
}
