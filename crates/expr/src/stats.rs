//! The counters of a sandbox.

/// Counts of a [`Sandbox`](crate::Sandbox) since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Processes that evaluate now.
    pub processes: u64,
    /// Processes that were started.
    pub started: u64,
    /// Evaluations that could not be interrupted: their process was killed, or their thread given
    /// up.
    pub killed: u64,
    /// Processes that ended by themselves, under an expression or without one.
    pub crashed: u64,
    /// Evaluations that were answered with `EXPR_UNAVAILABLE`.
    pub unavailable: u64,
}
