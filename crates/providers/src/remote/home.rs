//! Where the processes of workers are taken in, and the flows that they make.

use async_trait::async_trait;
use riverrun_protocol::{Fault, LoadedProcess, MadeFlow};
use riverrun_runtime::{Composable, Process, Runtime};

/// The flows that the processes of a worker make, and what is wrong with some.
#[derive(Clone, Debug, Default)]
pub struct MadeFlows {
    pub flows: Vec<MadeFlow>,
    pub faults: Vec<Fault>,
}

/// The server that workers bring their processes to.
#[async_trait]
pub trait Home: Send + Sync {
    /// Takes in a process; says whether it is the worker's that will run.
    fn take_in(&self, process: Process) -> bool;

    /// Registers the flows that the processes of one worker make together.
    async fn make_flows(&self, processes: &[LoadedProcess]) -> MadeFlows;
}

#[async_trait]
impl Home for Runtime {
    fn take_in(&self, process: Process) -> bool {
        self.offer_process(process)
    }

    async fn make_flows(&self, processes: &[LoadedProcess]) -> MadeFlows {
        let composable = |process| {
            let LoadedProcess { id, config, .. }: &LoadedProcess = process;
            let id = id.as_deref()?;
            Some(Composable { id, config })
        };
        let processes: Vec<_> = processes.iter().filter_map(composable).collect();
        let made = self.register_offered(&processes).await;
        let flows = made.flows.iter().map(|flow| MadeFlow {
            id: flow.id.to_string(),
            version: flow.version.to_string(),
        });
        MadeFlows {
            flows: flows.collect(),
            faults: made.faults,
        }
    }
}
