//! Workers bring their processes to this server.

use async_trait::async_trait;
use riverrun_contract::{Brought, Home, MadeFlows, Process};
use riverrun_protocol::{LoadedProcess, MadeFlow};

use super::{Composable, Composer};

#[async_trait]
impl Home for Composer {
    fn take_in(&self, process: Process) -> bool {
        self.queues().offer_process(process)
    }

    async fn make_flows(&self, brought: &Brought, others: &[LoadedProcess]) -> MadeFlows {
        let (processes, others) = (composable(&brought.processes), composable(others));
        let made = self
            .register_offered(&processes, &others, &brought.broken)
            .await;
        let mut known = MadeFlows {
            faults: made.faults,
            ..MadeFlows::default()
        };
        for flow in made.flows {
            let made = MadeFlow {
                id: flow.registered.id.to_string(),
                version: flow.registered.version.to_string(),
            };
            if !flow.shared.is_empty() {
                known.shared.push((made.clone(), flow.shared));
            }
            known.flows.push(made);
        }
        known
    }
}

fn composable(processes: &[LoadedProcess]) -> Vec<Composable<'_>> {
    let composable = |process| {
        let LoadedProcess { id, config, .. }: &LoadedProcess = process;
        let id = id.as_deref()?;
        Some(Composable { id, config })
    };
    processes.iter().filter_map(composable).collect()
}
