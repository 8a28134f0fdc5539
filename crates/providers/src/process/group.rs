//! A process group: a process and everything that it started, ended together.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The group that a child leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group(Option<Pid>);

impl Group {
    pub fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        Self(pid.and_then(Pid::from_raw))
    }

    pub fn id(self) -> Option<i32> {
        self.0.map(Pid::as_raw_pid)
    }

    pub fn terminate(self) {
        self.signal(Signal::TERM);
    }

    pub fn kill(self) {
        self.signal(Signal::KILL);
    }

    /// Asks the group to end, and ends it by force if its leader has not obeyed in time. Returns
    /// when the leader is gone.
    pub async fn end(self, child: &mut Child, term: Duration) {
        self.terminate();
        if tokio::time::timeout(term, child.wait()).await.is_err() {
            self.kill();
            // A process in uninterruptible sleep outlives even this for a while.
            let _ = child.wait().await;
        }
        self.kill();
    }

    /// A group that is gone already needs no signal.
    fn signal(self, signal: Signal) {
        if let Some(pid) = self.0 {
            let _ = kill_process_group(pid, signal);
        }
    }
}
