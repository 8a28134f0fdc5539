//! The one place that reads the clock. What is due, and when, goes by the [`Clock`] of a runtime:
//! the machine's, or one that a test moves ([`SimulatedClock`]).
//!
//! What only waits for trouble to pass, or for more to write at once, goes by the machine's time in
//! either case: nobody can tell it from the work itself.

mod rest;
mod simulated;

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use riverrun_types::{Millis, time::NEVER};

use simulated::{Alarm, Count, Counted, Simulation};
pub use simulated::{SimulatedClock, Unsettled};

/// The longest sleep by the machine's clock: whoever would sleep for years looks once a day
/// instead, so that a clock that was set does not matter for longer.
const DAY: Duration = Duration::from_secs(86_400);

/// What tells a runtime the time. The default is the machine's clock.
#[derive(Clone, Debug, Default)]
pub struct Clock(Option<Arc<Simulation>>);

impl Clock {
    pub fn now_ms(&self) -> Millis {
        match &self.0 {
            None => machine_ms(),
            Some(simulation) => simulation.now_ms(),
        }
    }

    /// Sleeps to a time at which something is due; by the machine's clock at most a day, so that
    /// the caller looks again.
    pub async fn sleep_until(&self, at_ms: Millis) {
        match &self.0 {
            None => {
                let left = at_ms.saturating_sub(machine_ms()).max(0).unsigned_abs();
                tokio::time::sleep(Duration::from_millis(left).min(DAY)).await;
            }
            Some(_) if at_ms == NEVER => std::future::pending().await,
            Some(simulation) => simulation.sleep_until(at_ms, Alarm::Due).await,
        }
    }

    /// Sleeps this long, and something is due then.
    pub async fn sleep(&self, time: Duration) {
        match &self.0 {
            None => tokio::time::sleep(time).await,
            Some(_) => self.sleep_until(self.after(time)).await,
        }
    }

    /// Sleeps this long before a look at something that has no time of its own. Simulated time
    /// does not stop for it: the look is taken at the first stop after that.
    pub(crate) async fn sleep_lightly(&self, time: Duration) {
        match &self.0 {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Look).await,
        }
    }

    /// Sleeps this long before a sign of life. Simulated time stops for it only while it passes
    /// handlers that run: else there is nothing to be kept alive.
    pub(crate) async fn sleep_to_beat(&self, time: Duration) {
        match &self.0 {
            None => tokio::time::sleep(time).await,
            Some(simulation) => simulation.sleep_until(self.after(time), Alarm::Beat).await,
        }
    }

    fn after(&self, time: Duration) -> Millis {
        let ms = Millis::try_from(time.as_millis()).unwrap_or(Millis::MAX);
        self.now_ms().saturating_add(ms)
    }

    /// Says that something is being done, until the guard is dropped: simulated time stands still.
    pub fn busy(&self) -> Busy {
        Busy(self.0.as_ref().map(|clock| clock.count(Counted::Busy)))
    }

    /// Says that a handler runs, until the guard is dropped.
    pub(crate) fn handler(&self) -> Busy {
        Busy(self.0.as_ref().map(|clock| clock.count(Counted::Handlers)))
    }

    /// Waits for something that only others, or time, can bring about. Whoever is [`busy`] is not
    /// while it waits here, and is again from the moment on at which it is woken.
    ///
    /// [`busy`]: Clock::busy
    pub async fn rest<F: Future>(&self, waiting: F) -> F::Output {
        match &self.0 {
            None => waiting.await,
            Some(simulation) => rest::rest(simulation, waiting).await,
        }
    }
}

/// Says that something goes on; see [`Clock::busy`].
#[must_use]
pub struct Busy(#[expect(dead_code, reason = "counts until it is dropped")] Option<Count>);

fn machine_ms() -> Millis {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
