//! The list of connected workers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use riverrun_protocol::{CancelReason, Drained, Initialised, LoadedProcess, WorkError};
use riverrun_runtime::{Cancellation, Provider};
use serde::Serialize;
use tokio::sync::Notify;

use super::{
    WorkersOptions,
    invoke::RemoteProvider,
    member::{Credit, Member},
};
use crate::{failure, link::Link};

/// All workers that are connected, or may come back. Clones share the list.
#[derive(Clone)]
pub struct Workers {
    pub(super) list: Arc<List>,
}

pub(super) struct List {
    pub options: WorkersOptions,
    members: Mutex<Vec<Arc<Member>>>,
    count: AtomicU64,
    /// Told when a worker has come or gone, or a credit is free.
    changed: Arc<Notify>,
}

/// A worker as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    /// Tells workers of the same name apart.
    pub id: u64,
    pub name: String,
    pub tags: Vec<String>,
    pub sdk: String,
    pub processes: Vec<LoadedProcess>,
    /// How many more invocations it takes.
    pub credits: u32,
    pub running: usize,
    /// False while its connection is broken and it may come back.
    pub is_connected: bool,
    pub is_leaving: bool,
    pub last_heard_ms_ago: u64,
}

impl Workers {
    pub fn new(options: WorkersOptions) -> Self {
        Self {
            list: Arc::new(List {
                options,
                members: Mutex::default(),
                count: AtomicU64::new(0),
                changed: Arc::default(),
            }),
        }
    }

    /// Runs the invocations of a process in whichever worker has it and is free, and waits for one
    /// if none is.
    pub fn provider(&self, process: &str) -> Arc<dyn Provider> {
        Arc::new(RemoteProvider {
            list: self.list.clone(),
            process: process.to_owned(),
        })
    }

    pub fn list(&self) -> Vec<WorkerStatus> {
        self.list
            .members
            .lock()
            .iter()
            .map(|member| status(member))
            .collect()
    }

    /// How many invocations of a process can be taken at once now.
    pub fn free(&self, process: &str) -> u32 {
        let members = self.list.members.lock();
        let free = members.iter().map(|member| member.free(process));
        free.fold(0, u32::saturating_add)
    }

    /// Returns when the answers of the other methods may have changed.
    pub async fn changed(&self) {
        self.list.changed.notified().await;
    }

    /// Gives a worker no more work, lets it end what it runs within this time, and ends its
    /// connection. Says how many invocations did not end; `None` if there is no such worker.
    pub async fn drain(&self, id: u64, grace: Duration) -> Option<usize> {
        let found = self
            .list
            .members
            .lock()
            .iter()
            .find(|member| member.id == id)
            .cloned();
        let member = found?;
        member.stop_taking();
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let params = serde_json::json!({ "graceMs": grace_ms });
        let asked = member.link.request("drain", &params);
        let answer = tokio::time::timeout(grace + Duration::from_secs(1), asked).await;
        let drained = answer.ok().and_then(Result::ok);
        let said: Option<Drained> = drained.and_then(|answer| answer.read().ok());
        let unfinished =
            said.map_or_else(|| member.link.running(), |said| said.unfinished as usize);
        self.list
            .forget(&member, &failure::cancelled(CancelReason::Shutdown));
        member.hang_up();
        Some(unfinished)
    }
}

impl List {
    /// The worker that has come back, or a new one.
    pub fn enter(&self, said: &Initialised) -> Arc<Member> {
        let mut members = self.members.lock();
        let name = said.worker.as_ref().map(|worker| worker.name.as_str());
        let back = members
            .iter()
            .find(|member| Some(member.name.as_str()) == name && member.runs(&said.running));
        if let Some(member) = back {
            return member.clone();
        }
        let id = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let shown = format!("worker {}", name.unwrap_or("without a name"));
        let link = Link::new(shown, self.options.limits);
        // What it still runs for a server that is gone keeps its ids.
        link.skip_ids(
            said.running
                .iter()
                .filter_map(|running| running.invocation)
                .max(),
        );
        let member = Member::new(id, link, said, self.changed.clone());
        members.push(member.clone());
        member
    }

    /// Takes a worker off the list and ends what it ran with this error.
    pub fn forget(&self, member: &Arc<Member>, error: &WorkError) {
        self.members
            .lock()
            .retain(|other| !Arc::ptr_eq(other, member));
        member.link.fail(error);
        self.changed.notify_waiters();
    }

    /// A credit of the worker with the most to spare, as soon as there is one.
    pub async fn pick(&self, process: &str, cancel: &Cancellation) -> Result<Credit, WorkError> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(credit) = self.free(process) {
                return Ok(credit);
            }
            tokio::select! {
                () = changed => {}
                reason = cancel.cancelled() => return Err(failure::cancelled(reason)),
            }
        }
    }

    fn free(&self, process: &str) -> Option<Credit> {
        let members = self.members.lock();
        let most = members.iter().max_by_key(|member| member.free(process))?;
        most.take(process)
    }
}

fn status(member: &Member) -> WorkerStatus {
    let heard = member.link.heard().elapsed().as_millis();
    let running = member.link.running();
    let state = member.state.lock();
    WorkerStatus {
        id: member.id,
        name: member.name.clone(),
        tags: state.tags.clone(),
        sdk: state.sdk.clone(),
        processes: state.processes.clone(),
        credits: state.window.saturating_sub(state.taken),
        running,
        is_connected: state.connection.is_some(),
        is_leaving: state.is_leaving,
        last_heard_ms_ago: u64::try_from(heard).unwrap_or(u64::MAX),
    }
}
