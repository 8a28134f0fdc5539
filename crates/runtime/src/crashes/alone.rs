//! Units that run one at a time.

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
use crate::base::Base;

/// How long no unit may have begun before the rest runs together: the remaining units wait for a
/// process that is not loaded, or for their time.
const IDLE: Duration = Duration::from_secs(15);

/// Lets one unit run at a time, while units remain that were active at the last crash.
pub(crate) struct Alone {
    base: Base,
    is_on: AtomicBool,
    start_permit: Arc<Semaphore>,
    left: Mutex<Left>,
    crashes: u32,
}

struct Left {
    units: HashSet<RunId>,
    /// When the last unit began.
    last: Instant,
}

/// The right to begin one unit. None if all may run together.
pub(crate) struct StartPermit(Option<OwnedSemaphorePermit>);

impl StartPermit {
    /// As many units as there is room for.
    pub fn most(&self, room: usize, unit: usize) -> usize {
        match &self.0 {
            None => room,
            Some(_) => room.min(unit),
        }
    }
}

impl Alone {
    pub fn new(base: Base, units: HashSet<RunId>, crashes: u32) -> Self {
        if !units.is_empty() {
            let (units, crashes) = (units.len(), crashes);
            tracing::warn!(
                units,
                crashes,
                "the server crashed several times in a row: the active work is run one unit at a time"
            );
        }
        Self {
            base,
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

    /// Waits for the right to begin a unit. Returns at once if none has to wait.
    pub async fn start_permit(&self) -> StartPermit {
        if self.is_over() {
            return StartPermit(None);
        }
        let permit = self.start_permit.clone().acquire_owned();
        let permit = self.base.clock().rest(permit).await.ok();
        StartPermit(permit.filter(|_| !self.is_over()))
    }

    /// Records the unit that is about to begin alone. If that cannot be stored it begins all the
    /// same, and a crash only counts as a loss.
    pub async fn record(&self, start_permit: &StartPermit, units: Vec<Unit>) {
        if start_permit.0.is_none() || units.is_empty() {
            return;
        }
        self.left.lock().last = Instant::now();
        let starts = Starts {
            alone: units,
            ..Starts::running(self.crashes)
        };
        if let Err(error) = starts.store(self.base.store()).await {
            tracing::warn!(%error, "the unit that runs alone could not be recorded");
        }
    }

    /// Waits until the unit has ended, waits or has survived its probation.
    pub async fn watch(
        &self,
        start_permit: StartPermit,
        units: &[RunId],
        running: Vec<JoinHandle<()>>,
    ) {
        if start_permit.0.is_none() {
            return;
        }
        let ended = futures::future::join_all(running);
        let probation = tokio::time::timeout(self.base.options().probation, ended);
        let _ = self.base.clock().rest(probation).await;
        self.passed(units).await;
    }

    /// Units have survived without killing the server.
    async fn passed(&self, units: &[RunId]) {
        let is_last = {
            let mut left = self.left.lock();
            left.last = Instant::now();
            left.units.retain(|unit| !units.contains(unit));
            left.units.is_empty()
        };
        let crashes = if is_last { 0 } else { self.crashes };
        if let Err(error) = Starts::running(crashes).store(self.base.store()).await {
            tracing::warn!(%error, "the unit that ran alone could not be removed from the record");
        }
        if is_last {
            self.end();
        }
    }

    fn end(&self) {
        if self.is_on.swap(false, Ordering::AcqRel) {
            tracing::info!("the work of the last crash has begun; going on as usual");
        }
    }

    /// Ends it when no unit is left that can begin.
    pub async fn look_after(self: Arc<Self>) {
        loop {
            let goes_on = self.base.rest(tokio::time::sleep(IDLE / 5)).await;
            if !goes_on || self.is_over() {
                return;
            }
            let is_idle = self.start_permit.available_permits() > 0;
            if is_idle && self.left.lock().last.elapsed() > IDLE {
                self.end();
                return;
            }
        }
    }

    /// Resets the count of crashes once the server has run long enough.
    pub async fn forget(self: Arc<Self>, lasted: Duration) {
        if !self.base.rest(tokio::time::sleep(lasted)).await {
            return;
        }
        // Units that run one at a time record themselves, and reset it at their end.
        if self.is_over()
            && let Err(error) = Starts::running(0).store(self.base.store()).await
        {
            tracing::warn!(%error, "earlier crashes could not be removed from the record");
        }
    }
}
