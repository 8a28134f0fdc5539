//! The one place that reads the clock. What is due, and when, goes by the [`Clock`] of a runtime:
//! the machine's, or one that a test moves ([`SimulatedClock`]), corrected to the clock of its store.
//!
//! What only waits for trouble to pass, or for more to write at once, goes by the machine's time in
//! either case: nobody can tell it from the work itself.

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

/// How often whoever sleeps to a time looks whether the machine's clock was set, or the machine
/// itself has slept: timers do not notice. What is due is late by no more than this.
const GLANCE: Duration = Duration::from_secs(10);

/// What tells a runtime the time. The default is the machine's clock.
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

    /// Sleeps to a time at which something is due.
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

    /// Sleeps this long, and something is due then.
    pub async fn sleep(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Due).await,
        }
    }

    /// Sleeps this long before a look at something that has no time of its own. Simulated time
    /// does not stop for it: the look is taken at the first stop after that.
    pub(crate) async fn sleep_lightly(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Look).await,
        }
    }

    /// Sleeps this long before a sign of life. Simulated time stops for it only while it passes
    /// handlers that run: else there is nothing to be kept alive.
    pub(crate) async fn sleep_to_beat(&self, time: Duration) {
        match &self.simulation {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Beat).await,
        }
    }

    /// The simulated time after so long.
    fn after(&self, time: Duration) -> Millis {
        let ms = Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX);
        self.local_ms().saturating_add(ms)
    }

    /// Says that something is being done, until the guard is dropped: simulated time stands still.
    pub fn busy(&self) -> Busy {
        Busy(
            self.simulation
                .as_ref()
                .map(|clock| clock.count(Counted::Busy)),
        )
    }

    /// Says that a handler runs, until the guard is dropped.
    pub(crate) fn handler(&self) -> Busy {
        Busy(
            self.simulation
                .as_ref()
                .map(|clock| clock.count(Counted::Handlers)),
        )
    }

    /// Waits for something that only others, or time, can bring about. Whoever is [`busy`] is not
    /// while it waits here, and is again from the moment on at which it is woken.
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

/// Says that something goes on; see [`Clock::busy`].
#[must_use]
pub struct Busy(#[expect(dead_code, reason = "counts until it is dropped")] Option<Count>);

/// Sleeps until a clock, which may be set meanwhile, shows a time. It has slept at least once.
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

    /// How long somebody sleeps who is due in an hour, if the clock is set by so much after a
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
        // Forward by an hour, or far beyond: at the next glance.
        for set_ms in [HOUR_MS, 1_000 * HOUR_MS] {
            assert_eq!(slept_ms(set_ms).await, 70_000);
        }
        assert_eq!(slept_ms(HOUR_MS / 2).await, HOUR_MS / 2);
        assert_eq!(slept_ms(-HOUR_MS).await, 2 * HOUR_MS);
    }
}
