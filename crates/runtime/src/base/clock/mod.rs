//! The one place that reads the clock. Due times go by the [`Clock`] of a runtime: the machine's,
//! or one that a test moves ([`SimulatedClock`]), corrected to the clock of its store.
//!
//! Retry pauses and short waits that gather more writes go by the machine's time in either case:
//! from outside they look like part of the work itself.

mod rest;
mod simulated;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use riverrun_store::Store;
use riverrun_types::{Millis, time::NEVER};

use simulated::{Alarm, Count, Counted, Simulation};
pub use simulated::{SimulatedClock, Unsettled};

/// How often a sleeper checks whether the machine's clock was set or the machine was suspended;
/// timers detect neither. Due work is late by at most this.
const GLANCE: Duration = Duration::from_secs(10);

/// Tells a runtime the time. The default is the machine's clock.
#[derive(Clone, Default)]
pub struct Clock {
    simulation: Option<Arc<Simulation>>,
    /// The store whose clock leases, limits and due times go by.
    store: Option<Arc<dyn Store>>,
}

impl Clock {
    /// This clock, corrected to the store's: instances on one store agree about the time though
    /// their machines do not.
    pub(crate) fn of(self, store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            ..self
        }
    }

    /// The time by the store's clock, once a runtime has it.
    pub fn now_ms(&self) -> Millis {
        let local_ms = self.local_ms();
        match &self.store {
            Some(store) => store.now_ms(local_ms),
            None => local_ms,
        }
    }

    fn local_ms(&self) -> Millis {
        match &self.simulation {
            None => machine_ms(),
            Some(simulation) => simulation.now_ms(),
        }
    }

    /// Sleeps until a time at which work is due.
    pub async fn sleep_until(&self, at_ms: Millis) {
        match &self.simulation {
            None => sleep_by(|| self.now_ms(), tokio::time::sleep, at_ms).await,
            Some(_) if at_ms == NEVER => std::future::pending().await,
            Some(simulation) => {
                let ahead_ms = self.now_ms() - self.local_ms();
                let at_ms = at_ms.saturating_sub(ahead_ms);
                simulation.sleep_until(at_ms, Alarm::Due).await;
            }
        }
    }

    /// Sleeps this long; work is due then.
    pub async fn sleep(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Due).await,
        }
    }

    /// Sleeps this long before a check that has no due time of its own. Simulated time does not
    /// stop for it: the check happens at the first stop after that.
    pub(crate) async fn sleep_lightly(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Look).await,
        }
    }

    /// Sleeps this long before a heartbeat. Simulated time stops for it only while it passes
    /// running handlers; otherwise no lease has to be kept alive.
    pub(crate) async fn sleep_to_beat(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Beat).await,
        }
    }

    /// The simulated time after this duration.
    fn after(&self, time: Duration) -> Millis {
        let ms = Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX);
        self.local_ms().saturating_add(ms)
    }

    /// Marks work as under way until the guard is dropped: simulated time does not move meanwhile.
    pub fn busy(&self) -> Busy {
        Busy(
            self.simulation
                .as_ref()
                .map(|clock| clock.count(Counted::Busy)),
        )
    }

    /// Marks a handler as running until the guard is dropped.
    pub(crate) fn handler(&self) -> Busy {
        Busy(
            self.simulation
                .as_ref()
                .map(|clock| clock.count(Counted::Handlers)),
        )
    }

    /// Waits for something that other tasks, or time, bring about. A [`busy`] task is not busy
    /// while it waits here, and is busy again from the moment it is woken.
    ///
    /// [`busy`]: Clock::busy
    pub async fn rest<F: Future>(&self, waiting: F) -> F::Output {
        match &self.simulation {
            None => waiting.await,
            Some(simulation) => rest::rest(simulation, waiting).await,
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.simulation).finish()
    }
}

/// Marks work as under way; see [`Clock::busy`].
#[must_use]
pub struct Busy(#[expect(dead_code, reason = "counts until it is dropped")] Option<Count>);

/// Sleeps until a clock, which may be set meanwhile, shows a time. Sleeps at least once.
async fn sleep_by(now_ms: impl Fn() -> Millis, sleep: impl AsyncFn(Duration), at_ms: Millis) {
    loop {
        let left = at_ms.saturating_sub(now_ms()).max(0).unsigned_abs();
        sleep(Duration::from_millis(left).min(GLANCE)).await;
        if now_ms() >= at_ms {
            return;
        }
    }
}

fn machine_ms() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const HOUR_MS: Millis = 3_600_000;

    /// How long a sleeper that is due in an hour sleeps if the clock is set by this much after a
    /// minute.
    async fn slept_ms(set_ms: Millis) -> Millis {
        let passed = Cell::new(0);
        let now_ms = || match passed.get() {
            ms if ms > 60_000 => ms + set_ms,
            ms => ms,
        };
        let sleep = async |time: Duration| {
            passed.set(passed.get() + Millis::try_from(time.as_millis()).unwrap());
        };
        sleep_by(now_ms, sleep, HOUR_MS).await;
        passed.get()
    }

    #[tokio::test]
    async fn what_is_due_comes_in_time_though_the_clock_is_set() {
        assert_eq!(slept_ms(0).await, HOUR_MS);
        // Forward by an hour, or far beyond: at the next check.
        for set_ms in [HOUR_MS, 1_000 * HOUR_MS] {
            assert_eq!(slept_ms(set_ms).await, 70_000);
        }
        assert_eq!(slept_ms(HOUR_MS / 2).await, HOUR_MS / 2);
        assert_eq!(slept_ms(-HOUR_MS).await, 2 * HOUR_MS);
    }
}
