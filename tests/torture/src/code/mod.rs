//! Code under load: flows whose code retries its operations by itself, while the server, its runners
//! and workers elsewhere are killed, and while some of them have another version of the code.
//!
//! Every effect is noted in a ledger outside. It is executed at least once and recorded once, and
//! nothing is undone unless an operation failed for good.

mod load;
mod verify;
mod worker;

use std::{fs, path::Path, path::PathBuf, sync::Arc};

use rand::{RngExt, rngs::StdRng};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{Server, tree::Process};
use load::Load;
use worker::Worker;

/// The file of the process that the server itself runs.
const ORDER: &str = "torture-order.mjs";
/// The process that workers elsewhere run.
const REMOTE: &str = "torture-remote-order";
/// Tries of the operation that may fail.
const ATTEMPTS: u64 = 4;

/// Which version of the code is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    Fitting,
    /// The first operation has another name in runs that have recorded it under the old one.
    Renamed,
}

impl Version {
    fn any(dice: &mut StdRng) -> Self {
        match dice.random_range(0..3) {
            0 => Self::Renamed,
            _ => Self::Fitting,
        }
    }

    /// The code. A renamed one asks whether anything is recorded, so that it fits its own runs.
    fn source(self) -> String {
        let name = match self {
            Self::Fitting => "'charge'",
            Self::Renamed => "ctx.patched('fresh') ? 'charge' : 'pay'",
        };
        include_str!("order.mjs").replace("NAME", name)
    }
}

/// Clients that start runs, and the code that these run.
pub struct Code {
    load: Arc<Load>,
    clients: Vec<JoinHandle<()>>,
    processes: PathBuf,
    ledger: PathBuf,
    worker: Worker,
}

impl Code {
    /// Writes the first version into the project, before the server is started.
    pub fn write(project: &Path) -> Result<(), String> {
        let processes = project.join("processes");
        fs::create_dir_all(&processes).map_err(text)?;
        let undo = include_str!("undo.mjs");
        fs::write(processes.join("torture-undo.mjs"), undo).map_err(text)?;
        fs::write(processes.join(ORDER), Version::Fitting.source()).map_err(text)
    }

    pub async fn begin(
        server: &Server,
        binary: &Path,
        project: &Path,
        clients: usize,
        seed: u64,
    ) -> Result<Self, String> {
        for (flow, process) in [
            ("torture-order", "torture-order"),
            ("torture-remote", REMOTE),
        ] {
            server
                .post("/api/flows", &definition(flow, process))
                .await?;
        }
        let ledger = project.join("ledger.jsonl");
        let load = Arc::new(Load::new(server.url(), &ledger));
        Ok(Self {
            clients: load.spawn(clients, seed),
            processes: project.join("processes"),
            ledger,
            worker: Worker::start(server.url(), binary, project.join("elsewhere"))?,
            load,
        })
    }

    pub fn acknowledged(&self) -> usize {
        self.load.started().len()
    }

    /// Changes the code that the next server loads.
    pub fn change(&self, dice: &mut StdRng) -> Result<(), String> {
        self.set(Version::any(dice))
    }

    /// Kills the worker elsewhere; another takes its place, with any version of the code.
    pub async fn kill_worker(&mut self, dice: &mut StdRng) -> Result<Vec<Process>, String> {
        self.worker.replace(Version::any(dice)).await
    }

    /// Loads fitting code everywhere, which the server finds when it is started next.
    pub async fn settle(&mut self) -> Result<Vec<Process>, String> {
        self.load.stop();
        for client in self.clients.drain(..) {
            client.await.map_err(|error| error.to_string())?;
        }
        self.set(Version::Fitting)?;
        self.worker.replace(Version::Fitting).await
    }

    /// Lets the runs end and checks them; the answer is what was checked, and processes to wait for.
    pub async fn reckon(self, server: &Server) -> Result<(String, Vec<Process>), String> {
        crate::runs::all_ended(server).await?;
        let checked = verify::verify(server, &self.load, &self.ledger).await?;
        Ok((checked, self.worker.stop().await?))
    }

    fn set(&self, version: Version) -> Result<(), String> {
        fs::write(self.processes.join(ORDER), version.source()).map_err(text)
    }
}

/// A step that is undone if the run fails, and then the order.
fn definition(flow: &str, process: &str) -> Value {
    json!({
        "id": flow, "version": "1.0.0", "initialStepId": "book",
        "steps": {
            "book": {
                "type": "set", "config": {"value": {"ledger": "${ledger}"}},
                "compensation": {"step": "undo"}, "transitions": {"onSuccess": "order"},
            },
            "order": {"type": "process", "config": {"process": process}, "input": {"type": "full"}},
            "undo": {"type": "process", "config": {"process": "torture-undo"}},
        },
    })
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}
