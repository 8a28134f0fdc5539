//! Runs one invocation in a child, until it ends, is cancelled or is lost.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use riverrun_contract::{Invocation, Provider};
use riverrun_protocol::{Invoke, Reply, WorkError};
use serde::Serialize;

use super::{RunnerOptions, child::Child, pool::Pool, spared};
use crate::{
    failure,
    link::{Opened, Run, Stubborn},
};

/// Runs the invocations of one process in the pool of its language.
pub(super) struct RunnerProvider {
    pub pool: Arc<Pool>,
    pub file: String,
    pub export: Option<String>,
    pub revision: u64,
}

/// An invocation as it is sent: the runtime's, with where its handler is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(flatten)]
    invoke: &'a Invoke,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
}

#[async_trait]
impl Provider for RunnerProvider {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        let mut reloads = 0;
        loop {
            let apart = self.pool.apart(&invocation).await;
            let child = match &apart {
                Some(apart) => apart.child.clone(),
                None => self.pool.pick(&invocation.cancel).await?,
            };
            let opened = match child.link.open(Some(invocation.host.clone())) {
                Ok(opened) => opened,
                // It went just now, and nothing of this ran in it.
                Err(_) => {
                    child.retire();
                    continue;
                }
            };
            let hosted = Hosted {
                process: invocation.invoke.process.clone(),
                child: child.clone(),
                options: self.pool.options.clone(),
            };
            let running = Run::new(opened, &invocation, hosted);
            match running.run(self.params(&invocation.invoke)).await {
                Err(error) if error.code == "RELOAD" && reloads <= self.pool.size() => {
                    // A module that fails again and again does not cost a child each time.
                    if let Some(error) = self.pool.failed.still(&self.file) {
                        return Err(error);
                    }
                    reloads += 1;
                    child.retire();
                }
                ended => {
                    self.pool.failed.note(&self.file, &child.link.name, &ended);
                    let spared = &self.pool.spared;
                    let death = ended.as_ref().err().and_then(|error| child.end_of(error));
                    if apart.is_some() {
                        spared.tried(&invocation.invoke, death.is_some());
                        return match death {
                            Some(_) => ended,
                            None => ended.map_err(failure::thrown),
                        };
                    }
                    return ended.map_err(|error| match death {
                        Some(end) => spared.died(&invocation.invoke, &child.link.name, end),
                        None => spared.judge(&invocation.invoke, failure::thrown(error)),
                    });
                }
            }
        }
    }
}

impl RunnerProvider {
    fn params<'a>(&'a self, invoke: &'a Invoke) -> Params<'a> {
        Params {
            invoke,
            file: invoke.file.is_none().then_some(&self.file),
            export: self.export.as_deref().filter(|_| invoke.export.is_none()),
            revision: invoke.revision.is_none().then_some(self.revision),
        }
    }
}

/// A handler that does not obey keeps its child from ever being idle, so the child gets no more
/// work and ends. Where others run in it and it is alive they may end in peace, and what the
/// handler still asks for is refused; else the child is ended now, and they are run again.
#[derive(Clone)]
struct Hosted {
    process: String,
    child: Arc<Child>,
    options: Arc<RunnerOptions>,
}

impl Stubborn for Hosted {
    fn grace(&self) -> Duration {
        self.options.cancel_grace
    }

    async fn give_up(self, opened: Opened) -> Option<WorkError> {
        let runner = &self.child.link.name;
        self.child.retire();
        if self.child.is_stopped() {
            let error = self.child.stopped();
            self.child.condemn(error.clone());
            self.child.gone.cancelled().await;
            return Some(error);
        }
        let others = self.child.link.running().saturating_sub(1);
        if others > 0 && self.child.is_alive(self.options.probe).await {
            tracing::warn!(runner, others, "a handler ignores that it was cancelled");
            drop(opened);
            return None;
        }
        // Its own attempt has ended by its timeout; this is the error of its neighbours.
        self.child.condemn(spared::hung(runner, &self.process));
        self.child.gone.cancelled().await;
        None
    }
}
