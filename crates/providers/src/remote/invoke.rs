//! One invocation in a remote worker.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_contract::{Holder, Invocation, Places, Provider, ReservedPlaces};
use riverrun_protocol::{Reply, Running, WorkError};

use super::{
    member::Credit,
    workers::{List, no_worker},
};
use crate::{
    failure,
    link::{Opened, Run, Stubborn},
};

pub(super) struct RemoteProvider {
    pub list: Arc<List>,
    pub process: String,
}

#[async_trait]
impl Provider for RemoteProvider {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let (mut credit, opened) = loop {
            let credit = self.credit(&invocation).await?;
            // One that has gone just now is off the list.
            if let Ok(opened) = credit.member.link.open(Some(invocation.host.clone())) {
                break (credit, opened);
            }
        };
        credit.note(opened.id, Running::of(opened.id, &invocation.invoke));
        let held = HeldCredit {
            credit: Arc::new(credit),
            grace: self.list.options.cancel_grace,
            probe: self.list.options.probe,
        };
        Run::new(opened, &invocation, held)
            .run(&*invocation.invoke)
            .await
    }

    fn places(&self) -> Option<&dyn Places> {
        Some(self)
    }

    fn holder(&self, job: &str) -> Option<Holder> {
        self.list.holder(job)
    }
}

impl RemoteProvider {
    /// A job, a step's too, uses the place that was taken for it; if that is gone it is not held any
    /// longer. A call waits for a worker that has it, if there is one.
    async fn credit(&self, invocation: &Invocation) -> Result<Credit, WorkError> {
        if invocation.invoke.kind == "call" {
            return self.list.pick(&self.process, &invocation.cancel).await;
        }
        let reserved = self.list.reserved(&self.process);
        reserved
            .or_else(|| self.list.free(&self.process))
            .ok_or_else(|| no_worker(&self.process))
    }
}

impl Places for RemoteProvider {
    fn take(&self, want: usize) -> ReservedPlaces {
        // Before the look, so that nothing that comes after it is missed.
        let mut changes = self.list.changes();
        let count = self.list.reserve(&self.process, want);
        ReservedPlaces {
            count,
            more: Box::pin(async move {
                let _ = changes.changed().await;
            }),
        }
    }

    fn give_back(&self, count: usize) {
        self.list.unreserve(&self.process, count);
    }

    fn is_staffed(&self) -> bool {
        self.list.is_served(&self.process)
    }
}

/// Keeps the credit until the worker has really ended what it was given for.
#[derive(Clone)]
struct HeldCredit {
    credit: Arc<Credit>,
    grace: Duration,
    probe: Duration,
}

impl Stubborn for HeldCredit {
    fn grace(&self) -> Duration {
        self.grace
    }

    /// A program on another machine cannot be forced to stop. Later requests of its handler are
    /// rejected, and the worker has one credit less until it answers. A worker that does not answer
    /// at all does not get the next attempt.
    async fn give_up(self, mut opened: Opened) -> Option<WorkError> {
        opened.detach();
        let member = &self.credit.member;
        let is_silent = !member.link.answers(self.probe).await;
        let lost = is_silent.then(|| {
            tracing::warn!(worker = member.name, "a worker answers nothing any more");
            member.lose();
            failure::lost(format!("worker {} does not answer", member.name))
        });
        tokio::spawn(async move {
            let _ = opened.answer().await;
            drop(self);
        });
        lost
    }
}
