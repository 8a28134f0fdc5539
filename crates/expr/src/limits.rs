//! How much one evaluation may use, and how many may run at once.

/// Bounds of a [`Sandbox`](crate::Sandbox). None can be turned off; a value of 0 for `threads` or
/// `queue_len` counts as 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that one evaluation may allocate on top of the warm engine, arguments and result
    /// included. Default 32 MiB.
    pub memory_bytes: usize,
    /// Milliseconds that one evaluation may run, time in the queue not counted. Default 250.
    pub time_ms: u64,
    /// Bytes of native stack for recursion. Default 256 KiB.
    pub stack_bytes: usize,
    /// Bytes of JSON that an evaluation may answer with. Native paths are exempt: their answer is
    /// a piece of their argument. Default 1 MiB.
    pub output_bytes: usize,
    /// Processes, or threads, with a warm engine each. Default 2.
    pub threads: usize,
    /// Evaluations that may wait for an engine; callers beyond that wait to be queued.
    /// Default 1024.
    pub queue_len: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory_bytes: 32 << 20,
            time_ms: 250,
            stack_bytes: 256 << 10,
            output_bytes: 1 << 20,
            threads: 2,
            queue_len: 1024,
        }
    }
}
