//! Units that are taken up one at a time.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use riverrun_types::RunId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
    time::Instant,
};

use super::{Starts, Unit};
use crate::runtime::Runtime;

/// How long nothing may have been taken up before the rest is taken up together: what is left waits
/// for a process that is not loaded, or for its time.
const IDLE: Duration = Duration::from_secs(15);

/// Lets one unit run at a time, while there are some that were active at the last crash.
pub(crate) struct Alone {
    is_on: AtomicBool,
    start_permit: Arc<Semaphore>,
    left: Mutex<Left>,
    crashes: u32,
}

struct Left {
    units: HashSet<RunId>,
    /// When something was taken up last.
    last: Instant,
}

/// The right to take up one unit. None where all may be taken up together.
pub(crate) struct StartPermit(Option<OwnedSemaphorePermit>);

impl StartPermit {
    /// How many units of those for which there is room.
    pub fn most(&self, room: usize, unit: usize) -> usize {
        match &self.0 {
            None => room,
            Some(_) => room.min(unit),
        }
    }
}

impl Alone {
    pub fn new(units: HashSet<RunId>, crashes: u32) -> Self {
        if !units.is_empty() {
            let (units, crashes) = (units.len(), crashes);
            tracing::warn!(
                units,
                crashes,
                "the server crashed several times in a row: what was active is taken up one at a time"
            );
        }
        Self {
            is_on: AtomicBool::new(!units.is_empty()),
            start_permit: Arc::new(Semaphore::new(1)),
            left: Mutex::new(Left {
                units,
                last: Instant::now(),
            }),
            crashes,
        }
    }

    pub fn is_over(&self) -> bool {
        !self.is_on.load(Ordering::Acquire)
    }

    /// Waits for the right to take something up. At once where nobody has to wait.
    pub async fn start_permit(&self, runtime: &Runtime) -> StartPermit {
        if self.is_over() {
            return StartPermit(None);
        }
        let permit = self.start_permit.clone().acquire_owned();
        let permit = runtime.clock().rest(permit).await.ok();
        StartPermit(permit.filter(|_| !self.is_over()))
    }

    /// Records what is about to begin alone. If that cannot be stored it begins all the same, and a
    /// crash only counts as a loss.
    pub async fn record(&self, runtime: &Runtime, start_permit: &StartPermit, units: Vec<Unit>) {
        if start_permit.0.is_none() || units.is_empty() {
            return;
        }
        self.left.lock().last = Instant::now();
        let starts = Starts {
            alone: units,
            ..Starts::running(self.crashes)
        };
        if let Err(error) = starts.store(runtime.store()).await {
            tracing::warn!(%error, "what runs alone could not be recorded");
        }
    }

    /// Waits until what was taken up has ended, waits or has survived its probation.
    pub async fn watch(
        &self,
        runtime: &Runtime,
        start_permit: StartPermit,
        units: &[RunId],
        running: Vec<JoinHandle<()>>,
    ) {
        if start_permit.0.is_none() {
            return;
        }
        let ended = futures::future::join_all(running);
        let probation = tokio::time::timeout(runtime.options().probation, ended);
        let _ = runtime.clock().rest(probation).await;
        self.passed(runtime, units).await;
    }

    /// Units have shown that they do not kill the server.
    async fn passed(&self, runtime: &Runtime, units: &[RunId]) {
        let is_last = {
            let mut left = self.left.lock();
            left.last = Instant::now();
            left.units.retain(|unit| !units.contains(unit));
            left.units.is_empty()
        };
        let crashes = if is_last { 0 } else { self.crashes };
        if let Err(error) = Starts::running(crashes).store(runtime.store()).await {
            tracing::warn!(%error, "what ran alone is still recorded");
        }
        if is_last {
            self.end();
        }
    }

    fn end(&self) {
        if self.is_on.swap(false, Ordering::AcqRel) {
            tracing::info!("what was active at the last crash is taken up; going on as usual");
        }
    }
}

/// Ends it when nothing is left that can be taken up.
pub(crate) async fn look_after(runtime: Runtime) {
    loop {
        let idle = async {
            tokio::select! {
                () = tokio::time::sleep(IDLE / 5) => true,
                () = runtime.stopping() => false,
            }
        };
        let goes_on = runtime.clock().rest(idle).await;
        let alone = runtime.alone();
        if !goes_on || alone.is_over() {
            return;
        }
        let is_idle = alone.start_permit.available_permits() > 0;
        if is_idle && alone.left.lock().last.elapsed() > IDLE {
            alone.end();
            return;
        }
    }
}
