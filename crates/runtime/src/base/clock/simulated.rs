//! Time that does not move until a test moves it.

use std::{
    collections::BTreeMap,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use parking_lot::Mutex;
use riverrun_types::Millis;
use tokio::sync::Notify;

use super::{Clock, machine_ms};

/// How long, by the machine's clock, work under way may take by default.
const PATIENCE: Duration = Duration::from_secs(30);

/// A clock that a test moves. Give it to a runtime with
/// [`Options::clock`](crate::Options::clock); clones are the same clock, and several runtimes may
/// go by it.
///
/// It moves only when the test moves it, from one due moment to the next: all work that is due at a
/// moment, with everything that follows from it, is done before time goes on. So the outcome of a
/// test does not depend on how fast the machine is.
#[derive(Clone, Debug)]
pub struct SimulatedClock {
    simulation: Arc<Simulation>,
    patience: Duration,
    /// How many handlers may run while time moves.
    passed: usize,
}

impl Default for SimulatedClock {
    /// Begins at the machine's time.
    fn default() -> Self {
        Self::starting_at_ms(machine_ms())
    }
}

impl From<&SimulatedClock> for Clock {
    fn from(clock: &SimulatedClock) -> Self {
        Self {
            simulation: Some(clock.simulation.clone()),
            store: None,
        }
    }
}

impl SimulatedClock {
    /// Begins at this time, in milliseconds since 1970.
    pub fn starting_at_ms(ms: Millis) -> Self {
        let state = State {
            now_ms: ms,
            ..State::default()
        };
        let simulation = Simulation {
            state: Mutex::new(state),
            settled: Notify::new(),
        };
        Self {
            simulation: Arc::new(simulation),
            patience: PATIENCE,
            passed: 0,
        }
    }

    /// How long, by the machine's clock, work under way may take before the test gets the error
    /// that time cannot move. Default 30 s.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Lets time move while up to this many handlers run, such as handlers that sleep until a later
    /// time. Time does not move while more run. Default 0.
    pub fn passing(mut self, handlers: usize) -> Self {
        self.passed = handlers;
        self
    }

    /// Makes every read of the clock take this long, so that a test detects code that reads the
    /// clock twice for one moment. Default 0.
    pub fn ticking_ms(self, ms: Millis) -> Self {
        self.simulation.state.lock().tick_ms = ms;
        self
    }

    pub fn now_ms(&self) -> Millis {
        self.simulation.now_ms()
    }

    /// Moves time forward, through every moment at which something is due. Time moves only after
    /// the running handlers have ended.
    pub async fn advance(&self, by: Duration) -> Result<(), Unsettled> {
        self.walk(self.after(by)).await
    }

    /// Moves time forward to this time, in milliseconds since 1970; never back.
    pub async fn advance_to_ms(&self, ms: Millis) -> Result<(), Unsettled> {
        self.walk(ms).await
    }

    /// Moves time forward while handlers run: for their timeouts, and the leases on their work.
    pub async fn advance_regardless(&self, by: Duration) -> Result<(), Unsettled> {
        self.clone().passing(usize::MAX).advance(by).await
    }

    /// Moves time to the next moment at which something may be due, and returns it; returns `None`
    /// if nothing is due, ever.
    pub async fn advance_to_next(&self) -> Result<Option<Millis>, Unsettled> {
        self.settle().await?;
        let Some(next_ms) = self.next_due_ms() else {
            return Ok(None);
        };
        self.walk(next_ms).await?;
        Ok(Some(next_ms))
    }

    /// The next moment at which something may be due; `None` if nothing is due, ever. The answer
    /// may be too late while work is under way: call [`settle`](Self::settle) first.
    pub fn next_due_ms(&self) -> Option<Millis> {
        self.simulation.next_stop(self.passed)
    }

    /// Waits until nothing more happens without time moving.
    pub async fn settle(&self) -> Result<(), Unsettled> {
        let settled = self.simulation.settled(self.passed);
        match tokio::time::timeout(self.patience, settled).await {
            Ok(()) => Ok(()),
            Err(_) => self.simulation.unsettled(self.passed).map_or(Ok(()), Err),
        }
    }

    fn after(&self, by: Duration) -> Millis {
        let by = Millis::try_from(by.as_millis()).unwrap_or(Millis::MAX);
        self.now_ms().saturating_add(by)
    }

    async fn walk(&self, to_ms: Millis) -> Result<(), Unsettled> {
        loop {
            self.settle().await?;
            let now = self.now_ms();
            let stop = self.next_due_ms().filter(|stop| *stop < to_ms);
            match stop {
                Some(due) => self.simulation.set(due.max(now)),
                None if now < to_ms => self.simulation.set(to_ms),
                None => return Ok(()),
            }
        }
    }
}

/// Time was not moved, because work under way did not end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "time stands still: {handlers} handlers and {tasks} other tasks do not come to an end; a handler \
     that is not to end is passed with `advance_regardless`"
)]
pub struct Unsettled {
    /// Handlers that run.
    pub handlers: usize,
    /// Other work under way.
    pub tasks: usize,
}

/// The kind of work that keeps time from moving.
#[derive(Clone, Copy)]
pub(super) enum Counted {
    Busy,
    Handlers,
}

/// The reason for a sleep.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Alarm {
    /// Work is due: time stops there.
    Due,
    /// A heartbeat for running handlers: time stops there only if it passes any.
    Beat,
    /// A periodic check, which time does not stop for.
    Look,
}

pub(super) struct Simulation {
    state: Mutex<State>,
    /// Notified when work ended and no task is busy.
    settled: Notify,
}

#[derive(Default)]
struct State {
    now_ms: Millis,
    /// How long a read of the clock takes.
    tick_ms: Millis,
    busy: usize,
    handlers: usize,
    /// By their times, then in the order in which they were added.
    sleepers: BTreeMap<(Millis, u64), Sleeper>,
    next: u64,
}

struct Sleeper {
    alarm: Alarm,
    waker: Waker,
}

impl State {
    fn counted(&mut self, what: Counted) -> &mut usize {
        match what {
            Counted::Busy => &mut self.busy,
            Counted::Handlers => &mut self.handlers,
        }
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.lock();
        f.debug_struct("Simulation")
            .field("now_ms", &state.now_ms)
            .field("busy", &state.busy)
            .field("handlers", &state.handlers)
            .field("sleepers", &state.sleepers.len())
            .finish()
    }
}

impl Simulation {
    pub(super) fn now_ms(&self) -> Millis {
        let mut state = self.state.lock();
        state.now_ms = state.now_ms.saturating_add(state.tick_ms);
        state.now_ms
    }

    pub(super) fn more(&self, what: Counted) {
        *self.state.lock().counted(what) += 1;
    }

    pub(super) fn less(&self, what: Counted) {
        let is_quiet = {
            let mut state = self.state.lock();
            let counted = state.counted(what);
            debug_assert!(*counted > 0, "only a busy task can rest");
            *counted = counted.saturating_sub(1);
            state.busy == 0
        };
        if is_quiet {
            self.settled.notify_waiters();
        }
    }

    pub(super) fn count(self: &Arc<Self>, what: Counted) -> Count {
        self.more(what);
        Count {
            simulation: self.clone(),
            what,
        }
    }

    pub(super) fn sleep_until(self: &Arc<Self>, at_ms: Millis, alarm: Alarm) -> Sleep {
        Sleep {
            simulation: self.clone(),
            at_ms,
            alarm,
            no: None,
        }
    }

    /// The next moment at which time stops.
    fn next_stop(&self, passed: usize) -> Option<Millis> {
        let stops = |alarm| match alarm {
            Alarm::Due => true,
            Alarm::Beat => passed > 0,
            Alarm::Look => false,
        };
        let state = self.state.lock();
        let mut sleepers = state.sleepers.iter();
        let next = sleepers.find(|(_, sleeper)| stops(sleeper.alarm));
        next.map(|((at_ms, _), _)| *at_ms)
    }

    /// Moves the clock, and wakes the sleepers whose time has come.
    fn set(&self, ms: Millis) {
        let due = {
            let mut state = self.state.lock();
            state.now_ms = ms.max(state.now_ms);
            let now = state.now_ms;
            let later = state.sleepers.split_off(&(now, u64::MAX));
            std::mem::replace(&mut state.sleepers, later)
        };
        // A woken task counts as busy at once, which takes the lock.
        for sleeper in due.into_values() {
            sleeper.waker.wake();
        }
    }

    /// Waits until no work is under way.
    async fn settled(&self, passed: usize) {
        loop {
            let mut settled_now = pin!(self.settled.notified());
            settled_now.as_mut().enable();
            if self.unsettled(passed).is_none() {
                return;
            }
            settled_now.await;
        }
    }

    fn unsettled(&self, passed: usize) -> Option<Unsettled> {
        let state = self.state.lock();
        let handlers = match state.handlers > passed {
            true => state.handlers,
            false => 0,
        };
        let tasks = state.busy;
        (handlers + tasks > 0).then_some(Unsettled { handlers, tasks })
    }
}

/// Keeps time from moving until it is dropped.
pub(super) struct Count {
    simulation: Arc<Simulation>,
    what: Counted,
}

impl Drop for Count {
    fn drop(&mut self) {
        self.simulation.less(self.what);
    }
}

/// Sleeps until the clock shows a time.
pub(super) struct Sleep {
    simulation: Arc<Simulation>,
    at_ms: Millis,
    alarm: Alarm,
    no: Option<u64>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let simulation = self.simulation.clone();
        let mut state = simulation.state.lock();
        if state.now_ms >= self.at_ms {
            return Poll::Ready(());
        }
        let no = *self.no.get_or_insert_with(|| {
            state.next += 1;
            state.next
        });
        let sleeper = Sleeper {
            alarm: self.alarm,
            waker: context.waker().clone(),
        };
        state.sleepers.insert((self.at_ms, no), sleeper);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(no) = self.no {
            let gone = self
                .simulation
                .state
                .lock()
                .sleepers
                .remove(&(self.at_ms, no));
            // The waker is dropped without the lock: it may hold the last reference to the clock.
            drop(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use riverrun_types::time::NEVER;

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Records the times at which it is woken, this many ms apart.
    fn ticks(clock: &Clock, every: u64, count: usize) -> Arc<Mutex<Vec<Millis>>> {
        let seen: Arc<Mutex<Vec<Millis>>> = Arc::default();
        let (clock, times, busy) = (clock.clone(), seen.clone(), clock.busy());
        tokio::spawn(async move {
            for _ in 0..count {
                clock.rest(clock.sleep(ms(every))).await;
                tokio::task::yield_now().await;
                times.lock().push(clock.now_ms());
            }
            drop(busy);
        });
        seen
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn time_stops_at_every_due_moment() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let (slow, fast) = (ticks(&clock, 100, 2), ticks(&clock, 30, 4));
        simulated.advance(ms(95)).await.unwrap();
        assert_eq!(*fast.lock(), [30, 60, 90]);
        assert!(slow.lock().is_empty());
        assert_eq!(simulated.now_ms(), 95);
        assert_eq!(simulated.advance_to_next().await, Ok(Some(100)));
        assert_eq!(*slow.lock(), [100]);
        simulated.advance(ms(1_000)).await.unwrap();
        assert_eq!(*fast.lock(), [30, 60, 90, 120]);
        assert_eq!(*slow.lock(), [100, 200]);
        assert_eq!(simulated.advance_to_next().await, Ok(None));
        simulated.advance_to_ms(7).await.unwrap();
        assert_eq!(simulated.now_ms(), 1_100, "time does not go back");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn time_does_not_stop_for_a_look() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let looks = Arc::new(AtomicUsize::new(0));
        let (counted, looker, busy) = (looks.clone(), clock.clone(), clock.busy());
        tokio::spawn(async move {
            let _busy = busy;
            loop {
                looker.rest(looker.sleep_lightly(ms(10))).await;
                counted.fetch_add(1, Ordering::AcqRel);
            }
        });
        simulated.advance(ms(1_000_000)).await.unwrap();
        assert_eq!(looks.load(Ordering::Acquire), 1);
        assert_eq!(simulated.advance_to_next().await, Ok(None));
    }

    #[tokio::test]
    async fn a_handler_is_waited_for_or_passed() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let handler = clock.handler();
        simulated.advance_regardless(ms(5)).await.unwrap();
        assert_eq!(simulated.now_ms(), 5);
        let stuck = simulated.clone().patience(ms(1)).advance(ms(5)).await;
        assert_eq!(
            stuck,
            Err(Unsettled {
                handlers: 1,
                tasks: 0
            })
        );
        assert_eq!(simulated.now_ms(), 5);
        drop(handler);
        simulated.advance(ms(5)).await.unwrap();
        assert_eq!(simulated.now_ms(), 10);
    }

    #[tokio::test]
    async fn time_moves_while_no_more_handlers_run_than_are_passed() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let (one, two) = (clock.handler(), clock.handler());
        let passing = simulated.clone().passing(1);
        let mut advance = pin!(passing.advance(ms(5)));
        assert!(futures::poll!(advance.as_mut()).is_pending());
        assert_eq!(simulated.now_ms(), 0);
        drop(two);
        advance.await.unwrap();
        assert_eq!(simulated.now_ms(), 5);
        drop(one);
    }

    #[tokio::test]
    async fn a_rest_that_is_given_up_is_one_no_more() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let busy = clock.busy();
        {
            let mut rest = pin!(clock.rest(std::future::pending::<()>()));
            assert!(futures::poll!(rest.as_mut()).is_pending());
            simulated.settle().await.unwrap();
        }
        assert!(simulated.simulation.unsettled(usize::MAX).is_some());
        drop(busy);
        simulated.settle().await.unwrap();
    }

    #[tokio::test]
    async fn never_is_no_moment() {
        let simulated = SimulatedClock::starting_at_ms(0);
        let clock = Clock::from(&simulated);
        let mut sleep = pin!(clock.sleep_until(NEVER));
        assert!(futures::poll!(sleep.as_mut()).is_pending());
        assert_eq!(simulated.advance_to_next().await, Ok(None));
    }
}
