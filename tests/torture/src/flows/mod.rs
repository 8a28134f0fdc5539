//! Flows under load: runs that are started, watched and reckoned up in the end.

mod definitions;
mod effects;
mod load;
mod verify;
mod watch;

use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::Server;
use effects::Effects;
use load::Load;

/// Readers that follow streams live.
const READERS: usize = 4;

/// Clients that start runs, the world that runs act on, and readers that watch.
pub struct Flows {
    effects: Effects,
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    readers: Vec<JoinHandle<Vec<watch::Watched>>>,
}

impl Flows {
    pub async fn begin(server: &Server, clients: usize) -> Result<Self, String> {
        let effects = Effects::serve().await?;
        definitions::register(server, effects.address).await?;
        let load = Arc::new(Load::new(server.url()));
        Ok(Self {
            effects,
            clients: load.spawn(clients),
            readers: watch::spawn(&load, READERS),
            load,
        })
    }

    pub fn acknowledged(&self) -> usize {
        self.load.acknowledged()
    }

    /// Ends the load and checks the promises; the answer is what was checked.
    pub async fn reckon(self, server: &Server) -> Result<String, String> {
        self.load.stop();
        for client in self.clients {
            client.await.map_err(|error| error.to_string())?;
        }
        let summary = verify::verify(server, &self.load, &self.effects).await?;
        let watched = watch::finish(self.readers, server).await?;
        Ok(format!("{summary}, {watched} watched events in order"))
    }
}
