//! One invocation in a remote worker.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_protocol::{Reply, Running, WorkError};
use riverrun_runtime::{Invocation, Provider};

use super::{member::Credit, workers::List};
use crate::link::{Opened, Run, Stubborn};

pub(super) struct RemoteProvider {
    pub list: Arc<List>,
    pub process: String,
}

#[async_trait]
impl Provider for RemoteProvider {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let (mut credit, opened) = loop {
            let credit = self.list.pick(&self.process, &invocation.cancel).await?;
            // One that has gone just now is off the list.
            if let Ok(opened) = credit.member.link.open(Some(invocation.host.clone())) {
                break (credit, opened);
            }
        };
        if let (Some(job_id), Some(lease)) =
            (&invocation.invoke.job.job_id, &invocation.invoke.lease)
        {
            let running = Running {
                job_id: job_id.clone(),
                lease: lease.clone(),
                invocation: Some(opened.id),
            };
            credit.note(opened.id, running);
        }
        let held = Held {
            _credit: Arc::new(credit),
            grace: self.list.options.cancel_grace,
        };
        Run::new(opened, &invocation, held)
            .run(&*invocation.invoke)
            .await
    }
}

/// Keeps the credit until the worker has really ended what it was given for.
#[derive(Clone)]
struct Held {
    _credit: Arc<Credit>,
    grace: Duration,
}

impl Stubborn for Held {
    fn grace(&self) -> Duration {
        self.grace
    }

    /// Nobody can force a program on another machine. What its handler still asks for is refused,
    /// and it has one credit less until it answers after all.
    async fn give_up(self, mut opened: Opened) {
        opened.detach();
        tokio::spawn(async move {
            let _ = opened.answer().await;
            drop(self);
        });
    }
}
