//! One child process of a pool, from the point of view of the pool.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use riverrun_protocol::WorkError;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{failure, link::Link, process::is_stopped};

/// How a child ended, while it ran something.
pub(super) struct End {
    /// The error for everything that ran in it.
    pub error: WorkError,
    /// How many ran in it.
    pub running: usize,
}

pub(super) struct Child {
    pub link: Arc<Link>,
    pub pid: u32,
    is_leaving: AtomicBool,
    /// Fires when the child gets no more invocations.
    pub leaving: CancellationToken,
    has_died: AtomicBool,
    verdict: OnceLock<WorkError>,
    end: OnceLock<End>,
    pub condemned: Notify,
    /// Fires when the process has ended.
    pub exited: CancellationToken,
    /// Fires when the process has ended and everything that ran in it has its error.
    pub gone: CancellationToken,
}

impl Child {
    pub fn new(link: Arc<Link>, pid: u32) -> Arc<Self> {
        Arc::new(Self {
            link,
            pid,
            is_leaving: AtomicBool::new(false),
            leaving: CancellationToken::new(),
            has_died: AtomicBool::new(false),
            verdict: OnceLock::new(),
            end: OnceLock::new(),
            condemned: Notify::new(),
            exited: CancellationToken::new(),
            gone: CancellationToken::new(),
        })
    }

    /// Whether it may be given work.
    pub fn is_open(&self) -> bool {
        !self.is_leaving.load(Ordering::Acquire)
    }

    /// Gives it no more work. It ends when what runs in it has ended.
    pub fn retire(&self) {
        if !self.is_leaving.swap(true, Ordering::AcqRel) {
            self.leaving.cancel();
        }
    }

    /// Ends it at once; this is the error of all that runs in it. The first verdict stays.
    pub fn condemn(&self, error: WorkError) {
        let _ = self.verdict.set(error);
        self.condemned.notify_one();
        self.died();
    }

    /// Takes note that it went without having been asked to.
    pub fn died(&self) {
        if self.is_open() {
            self.has_died.store(true, Ordering::Release);
        }
        self.retire();
    }

    pub fn has_died(&self) -> bool {
        self.has_died.load(Ordering::Acquire)
    }

    /// It was asked to go, and not because of anything that it did.
    pub fn was_replaced(&self) -> bool {
        !self.is_open() && !self.has_died() && self.verdict().is_none()
    }

    /// Whether it says anything within a time when it is asked.
    pub async fn is_alive(&self, probe: Duration) -> bool {
        self.link.answers(probe).await && !self.gone.is_cancelled()
    }

    /// Whether a signal has stopped it (SIGSTOP), which no handler does by computing or waiting.
    pub fn is_stopped(&self) -> bool {
        is_stopped(self.pid)
    }

    /// The error of all that runs in it while it is stopped.
    pub fn stopped(&self) -> WorkError {
        let message = format!("{} was ended: a signal had stopped it", self.link.name);
        failure::lost(message)
    }

    /// It has ended, and what runs in it gets its error now.
    pub fn ended(&self, error: WorkError, running: usize) {
        let _ = self.end.set(End { error, running });
    }

    /// How it ended, if this is the error of that.
    pub fn end_of(&self, error: &WorkError) -> Option<&End> {
        self.end.get().filter(|end| end.error == *error)
    }

    pub fn verdict(&self) -> Option<&WorkError> {
        self.verdict.get()
    }
}
