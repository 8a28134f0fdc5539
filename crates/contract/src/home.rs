//! Where the processes of workers are registered, and the flows that they make.

use async_trait::async_trait;
use riverrun_protocol::{Fault, LoadedProcess, MadeFlow, NotLoaded};
use riverrun_types::ErrorCode;

use crate::Process;

/// The flows that the processes of a worker make, and what is wrong with some.
#[derive(Clone, Debug, Default)]
pub struct MadeFlows {
    pub flows: Vec<MadeFlow>,
    pub faults: Vec<Fault>,
    /// Of flows that it makes together with others: the processes of their steps.
    pub shared: Vec<(MadeFlow, Vec<String>)>,
}

impl MadeFlows {
    /// A flow to which the worker contributes steps now has this version, even if its entry belongs
    /// to another worker.
    pub fn note_shared(&mut self, flow: &MadeFlow) {
        self.flows.retain(|known| known.id != flow.id);
        self.flows.push(flow.clone());
        let is_its = |fault: &Fault| fault.flow.as_ref() == Some(&flow.id);
        let is_over = |fault: &Fault| is_its(fault) && fault.code == ErrorCode::FlowIncomplete;
        self.faults.retain(|fault| !is_over(fault));
    }
}

/// What a worker brings along.
pub struct Brought {
    pub processes: Vec<LoadedProcess>,
    /// What it could not load.
    pub broken: Vec<NotLoaded>,
}

/// The server that workers bring their processes to.
#[async_trait]
pub trait Home: Send + Sync {
    /// Takes in a process; says whether it is the worker's that will run.
    fn take_in(&self, process: Process) -> bool;

    /// Registers the flows that the processes of one worker make, with each other and with those of
    /// the other workers.
    async fn make_flows(&self, brought: &Brought, others: &[LoadedProcess]) -> MadeFlows;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_is_whole_now_ends_its_own_fault_alone() {
        let fault = |code: &str, flow: &str| Fault {
            code: code.into(),
            message: "it has to do with \"shop\"".to_owned(),
            flow: Some(flow.to_owned()),
        };
        let flow = |id: &str, version: &str| MadeFlow {
            id: id.to_owned(),
            version: version.to_owned(),
        };
        let mut made = MadeFlows {
            flows: vec![flow("shop", "1.0.0"), flow("other", "1.0.0")],
            faults: vec![
                fault("FLOW_INCOMPLETE", "shop"),
                fault("FLOW_INCOMPLETE", "far"),
                fault("FLOW_CONFLICT", "shop"),
            ],
            shared: Vec::new(),
        };
        made.note_shared(&flow("shop", "2.0.0"));
        assert_eq!(made.flows, [flow("other", "1.0.0"), flow("shop", "2.0.0")]);
        assert_eq!(
            made.faults,
            [
                fault("FLOW_INCOMPLETE", "far"),
                fault("FLOW_CONFLICT", "shop")
            ]
        );
    }
}
