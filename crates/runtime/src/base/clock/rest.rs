//! Tracks exactly when a task waits: from the moment its future returns pending until the moment it
//! is woken, not until it is polled again. So started work is never overlooked.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
};

use parking_lot::Mutex;

use super::simulated::{Counted, Simulation};

pub(super) async fn rest<F: Future>(simulation: &Arc<Simulation>, waiting: F) -> F::Output {
    let mut waiting = pin!(waiting);
    let rest = Arc::new(Rest {
        simulation: simulation.clone(),
        state: Mutex::default(),
    });
    let _over = Over(rest.clone());
    poll_fn(|context| rest.poll(waiting.as_mut(), context)).await
}

struct Rest {
    simulation: Arc<Simulation>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_resting: bool,
    is_woken: bool,
    /// The waker of the task's executor.
    outer: Option<Waker>,
}

impl Rest {
    fn poll<F: Future>(
        self: &Arc<Self>,
        waiting: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        {
            let mut state = self.state.lock();
            self.get_up(&mut state);
            state.is_woken = false;
            state.outer = Some(context.waker().clone());
        }
        let waker = Waker::from(self.clone());
        let polled = waiting.poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            let mut state = self.state.lock();
            // A task that was woken meanwhile is polled again.
            if !state.is_woken {
                state.is_resting = true;
                self.simulation.less(Counted::Busy);
            }
        }
        polled
    }

    fn get_up(&self, state: &mut State) {
        if std::mem::take(&mut state.is_resting) {
            self.simulation.more(Counted::Busy);
        }
    }
}

impl Wake for Rest {
    fn wake(self: Arc<Self>) {
        let outer = {
            let mut state = self.state.lock();
            state.is_woken = true;
            self.get_up(&mut state);
            state.outer.clone()
        };
        if let Some(outer) = outer {
            outer.wake();
        }
    }
}

/// The wait is over, or was dropped.
struct Over(Arc<Rest>);

impl Drop for Over {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        // A waker that is still stored somewhere wakes no task any more.
        state.outer = None;
        self.0.get_up(&mut state);
    }
}
