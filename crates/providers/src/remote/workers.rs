//! The list of connected workers.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use riverrun_contract::{Away, Cancellation, Holder, MadeFlows, Provider};
use riverrun_protocol::{
    CancelReason, Drained, Fault, Initialised, Limits, LoadedProcess, MadeFlow, WorkError,
};
use riverrun_types::{ErrorCode, Millis};
use serde::Serialize;
use tokio::sync::watch;

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
    /// Notified when a worker has come or gone, or a credit is free.
    changed: watch::Sender<()>,
    /// Credits that wait for jobs which are being claimed, by process.
    reserved: Mutex<HashMap<String, Vec<Credit>>>,
    is_closed: AtomicBool,
    /// Held while flows of a worker are registered, so that none is judged by half of another's.
    pub making: tokio::sync::Mutex<()>,
}

/// A worker as it is now.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkerStatus {
    /// Distinguishes workers of the same name.
    pub id: u64,
    pub name: String,
    pub tags: Vec<String>,
    pub sdk: String,
    pub processes: Vec<LoadedProcess>,
    /// The processes that it offers and the server has itself.
    pub shadowed: Vec<String>,
    /// The flows that its processes make, and what is wrong with some.
    #[serde(skip)]
    pub made: MadeFlows,
    /// How many invocations it takes at once.
    pub window: u32,
    /// How many more it takes now.
    pub credits: u32,
    pub running: usize,
    pub state: WorkerState,
    /// When it connected last.
    pub since: SystemTime,
    pub last_message_ms_ago: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    Connected,
    /// It gets no more, and ends what it runs.
    Draining,
    /// Its connection is broken and it may come back.
    Away,
}

impl Workers {
    pub fn new(options: WorkersOptions) -> Self {
        Self {
            list: Arc::new(List {
                options,
                members: Mutex::default(),
                count: AtomicU64::new(0),
                changed: watch::Sender::new(()),
                reserved: Mutex::default(),
                is_closed: AtomicBool::new(false),
                making: tokio::sync::Mutex::default(),
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

    /// What a message and a result may have.
    pub fn limits(&self) -> Limits {
        self.list.options.limits
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
        let _ = self.list.changes().changed().await;
    }

    /// Takes no more workers and ends the connections of those that are there, so that they come
    /// back when there is a server again. What they still run is lost: stop the runtime first.
    pub fn close(&self) {
        self.list.is_closed.store(true, Ordering::Release);
        let members = self.list.members.lock().clone();
        for member in members {
            self.list
                .forget(&member, &failure::cancelled(CancelReason::Shutdown));
            member.hang_up();
        }
    }

    /// Gives a worker no more work from now on; `None` if there is no such worker. The rest lets it
    /// end what it runs within this time, ends its connection, and says how many invocations did
    /// not end.
    pub fn drain(
        &self,
        id: u64,
        grace: Duration,
    ) -> Option<impl Future<Output = usize> + Send + 'static> {
        let member = {
            let members = self.list.members.lock();
            members.iter().find(|member| member.id == id).cloned()?
        };
        member.stop_taking();
        Some(drained(self.list.clone(), member, grace))
    }
}

impl std::fmt::Debug for Workers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list()).finish()
    }
}

async fn drained(list: Arc<List>, member: Arc<Member>, grace: Duration) -> usize {
    let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
    let params = serde_json::json!({ "graceMs": grace_ms });
    let asked = member.link.request("drain", &params);
    let answer = tokio::time::timeout(grace + Duration::from_secs(1), asked).await;
    let drained = answer.ok().and_then(Result::ok);
    let said: Option<Drained> = drained.and_then(|answer| answer.read().ok());
    let unfinished = said.map_or_else(|| member.link.running(), |said| said.unfinished as usize);
    let message = format!(
        "worker {} was drained before it had ended this",
        member.name
    );
    list.forget(&member, &WorkError::new(ErrorCode::WorkerLost, message));
    member.hang_up();
    unfinished
}

impl List {
    /// The worker that has come back, or a new one.
    pub fn enter(&self, said: &Initialised) -> Arc<Member> {
        let mut members = self.members.lock();
        let name = said.worker.as_ref().map(|worker| worker.name.as_str());
        let instance = said
            .worker
            .as_ref()
            .and_then(|worker| worker.instance.as_ref());
        // One that says which it is comes back although nothing runs: its last connection may be
        // dead and not yet detected as such.
        let back = members.iter().find(|member| match instance {
            Some(_) => member.instance.as_ref() == instance,
            None => Some(member.name.as_str()) == name && member.runs(&said.running),
        });
        if let Some(member) = back {
            return member.clone();
        }
        let id = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let shown = format!("worker {}", name.unwrap_or("without a name"));
        let link = Link::resumable(shown, self.options.limits);
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

    /// What the workers beside this one have, those that came first before the others.
    pub fn processes_of_others(&self, of: &Arc<Member>) -> Vec<LoadedProcess> {
        let members = self.members.lock().clone();
        let others = members.iter().filter(|member| !Arc::ptr_eq(member, of));
        let there = others.filter(|member| !member.is_leaving());
        there
            .flat_map(|member| member.state.lock().processes.clone())
            .collect()
    }

    /// Lets the workers know that a flow is theirs too of which others have the rest.
    pub fn note_shared(&self, of: &Arc<Member>, shared: &[(MadeFlow, Vec<String>)]) {
        let members = self.members.lock().clone();
        for member in members.iter().filter(|member| !Arc::ptr_eq(member, of)) {
            for (flow, processes) in shared {
                member.note_shared(flow, processes);
            }
        }
    }

    /// The flows that other workers make otherwise.
    pub fn conflicts(&self, of: &Arc<Member>, flows: &[MadeFlow]) -> Vec<Fault> {
        let members = self.members.lock().clone();
        let others = members.iter().filter(|member| !Arc::ptr_eq(member, of));
        let mut faults = Vec::new();
        for other in others.filter(|member| !member.is_leaving()) {
            for theirs in other.welcome().flows {
                let ours = flows.iter().find(|flow| flow.id == theirs.id);
                if let Some(ours) = ours.filter(|flow| flow.version != theirs.version) {
                    let MadeFlow { id, version } = ours;
                    faults.push(Fault {
                        code: ErrorCode::FlowConflict.into(),
                        message: format!(
                            "worker {} makes flow {id:?} of other steps ({id}@{}): new runs are of {id}@{version}",
                            other.name, theirs.version
                        ),
                        flow: Some(id.clone()),
                    });
                }
            }
        }
        faults
    }

    /// Takes a worker off the list and ends what it ran with this error.
    pub fn forget(&self, member: &Arc<Member>, error: &WorkError) {
        self.members
            .lock()
            .retain(|other| !Arc::ptr_eq(other, member));
        member.link.fail(error);
        self.tell_changed();
    }

    pub fn tell_changed(&self) {
        self.changed.send_replace(());
    }

    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Keeps credits for jobs that are about to be claimed.
    pub fn reserve(&self, process: &str, want: usize) -> usize {
        let credits: Vec<Credit> = std::iter::from_fn(|| self.free(process))
            .take(want)
            .collect();
        let count = credits.len();
        if count > 0 {
            let mut reserved = self.reserved.lock();
            reserved
                .entry(process.to_owned())
                .or_default()
                .extend(credits);
        }
        count
    }

    /// A credit that was kept, of a worker that is still there.
    pub fn reserved(&self, process: &str) -> Option<Credit> {
        loop {
            let credit = self.reserved.lock().get_mut(process)?.pop()?;
            if credit.member.is_connected() {
                return Some(credit);
            }
        }
    }

    pub fn unreserve(&self, process: &str, count: usize) {
        let freed = {
            let mut reserved = self.reserved.lock();
            let Some(credits) = reserved.get_mut(process) else {
                return;
            };
            credits.split_off(credits.len().saturating_sub(count))
        };
        // Outside the lock: a waiting claim may take the credits at once.
        drop(freed);
    }

    /// Whether some worker has this process, though it may be busy or away for a moment.
    pub fn is_served(&self, process: &str) -> bool {
        let members = self.members.lock();
        members.iter().any(|member| member.serves(process))
    }

    /// The worker that has a job.
    pub fn holder(&self, job: &str) -> Option<Holder> {
        let members = self.members.lock();
        let mut holding = members.iter();
        let (member, away) = holding.find_map(|member| Some((member, member.holds(job)?)))?;
        Some(Holder {
            id: member.id,
            name: member.name.clone(),
            away: away.map(|since| Away {
                since_ms: millis(since),
                until_ms: millis(since + self.options.reconnect),
            }),
        })
    }

    /// A credit of the worker with the most to spare, as soon as there is one; refused when no
    /// worker has the process.
    pub async fn pick(&self, process: &str, cancel: &Cancellation) -> Result<Credit, WorkError> {
        let mut changes = self.changes();
        loop {
            changes.mark_unchanged();
            if let Some(credit) = self.free(process) {
                return Ok(credit);
            }
            if !self.is_served(process) {
                return Err(no_worker(process));
            }
            tokio::select! {
                _ = changes.changed() => {}
                reason = cancel.cancelled() => return Err(failure::cancelled(reason)),
            }
        }
    }

    pub fn free(&self, process: &str) -> Option<Credit> {
        let members = self.members.lock();
        let most = members.iter().max_by_key(|member| member.free(process))?;
        most.take(process)
    }
}

pub(super) fn no_worker(process: &str) -> WorkError {
    let message = format!("no worker that has process {process:?} is connected");
    WorkError::new(ErrorCode::NoWorker, message)
}

fn millis(time: SystemTime) -> Millis {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

fn status(member: &Member) -> WorkerStatus {
    let silent_ms = member.link.last_received().elapsed().as_millis();
    let running = member.link.running();
    let state = member.state.lock();
    WorkerStatus {
        id: member.id,
        name: member.name.clone(),
        tags: state.tags.clone(),
        sdk: state.sdk.clone(),
        processes: state.processes.clone(),
        shadowed: state.shadowed.clone(),
        made: state.made.clone().unwrap_or_default(),
        window: state.window,
        credits: state.window.saturating_sub(state.taken),
        running,
        state: match (&state.connection, state.is_leaving) {
            (_, true) => WorkerState::Draining,
            (Some(_), false) => WorkerState::Connected,
            (None, false) => WorkerState::Away,
        },
        since: state.since,
        last_message_ms_ago: u64::try_from(silent_ms).unwrap_or(u64::MAX),
    }
}
