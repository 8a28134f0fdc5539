//! Options for remote workers.

use std::time::Duration;

use riverrun_protocol::Limits;

#[derive(Clone, Debug)]
pub struct WorkersOptions {
    /// What a message and a result may have. Default 16 MiB and 1 MiB.
    pub limits: Limits,
    /// How long a worker may take to answer `initialise`. Default 10 s.
    pub start: Duration,
    /// How long a handler that was asked to stop may take. Default 10 s: longer than a worker needs
    /// to end a runner of its own by force, so that the worker can say what became of it.
    pub cancel_grace: Duration,
    /// How long a worker whose connection broke may take to come back; then what it ran is lost.
    /// Default 5 s.
    pub reconnect: Duration,
    /// How long a worker that runs something may be silent, though it is asked, until its connection
    /// counts as broken. Default 30 s, as long as a lease lives.
    pub silent: Duration,
    /// How long a worker whose handler does not stop may take to answer a ping. Default 2 s.
    pub probe: Duration,
}

impl Default for WorkersOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            start: Duration::from_secs(10),
            cancel_grace: Duration::from_secs(10),
            reconnect: Duration::from_secs(5),
            silent: Duration::from_secs(30),
            probe: Duration::from_secs(2),
        }
    }
}
