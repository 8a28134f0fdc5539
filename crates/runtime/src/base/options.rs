//! The settings of a runtime.

use std::time::Duration;

use riverrun_store::Retention;
use riverrun_types::Name;

use super::clock::Clock;

#[derive(Clone, Debug)]
pub struct Options {
    /// The name under which this instance holds leases. Default: a fresh id.
    pub owner: Name,
    /// How long a lease lasts without a heartbeat; after that another instance may take the run.
    /// Default 30 s.
    pub lease: Duration,
    /// Runs driven at once; further runs wait in the store. Default 1,024, at most
    /// [`Options::MAX_DRIVERS`].
    pub max_drivers: usize,
    /// How long one attempt of a step may take if the step sets no timeout. Default 30 s.
    pub attempt_timeout: Duration,
    /// The length of a chain of runs in which an event of each run starts the next: an event of the
    /// last run starts no more. Default 100.
    pub max_chain: u32,
    /// Steps that a flow's definition may have. Default 5,000, at most
    /// [`Options::MAX_FLOW_STEPS`].
    pub max_flow_steps: usize,
    /// Reduced runs kept in memory. Default 1,000.
    pub cached_runs: u64,
    /// How long ended runs are kept. Default completed 7 days, failed and cancelled 30.
    pub retention: Retention,
    /// How often retention deletes expired data. Default 1 minute.
    pub sweep_every: Duration,
    /// Whether a listener to emitted events will be added ([`crate::Streams::add_listener`]): no
    /// emitted event is done before the listener has handled it. Default false.
    pub has_listener: bool,
    /// The server's public URL, such as `https://flows.example.org`: the prefix of callback URLs.
    /// Default none: callback URLs are paths.
    pub public_url: Option<String>,
    /// Bytes of payloads that are read at a time for a reader of a live stream; at least one event
    /// is read. Default 256 KiB.
    pub live_reader_bytes: usize,
    /// Bytes that are held for all slow readers of live streams together; beyond that they read
    /// from the store. Default 64 MiB.
    pub live_total_bytes: usize,
    /// How long a shutdown waits for attempts that run. Default 5 s.
    pub grace: Duration,
    /// How long work that was active when the server crashed twice in a row runs alone, before more
    /// work is claimed. Default 2 s.
    pub probation: Duration,
    /// How long the server must run before a crash no longer counts as one in a row. Default 30 s.
    pub lasting: Duration,
    /// The clock. Default the machine's clock; a test passes one that it moves
    /// ([`SimulatedClock`](crate::SimulatedClock)).
    pub clock: Clock,
}

impl Options {
    /// The upper limit of runs driven at once.
    pub const MAX_DRIVERS: usize = 1_000_000;

    /// The upper limit of steps in a definition, as its schema says.
    pub const MAX_FLOW_STEPS: usize = 100_000;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            owner: Name::from(riverrun_types::RunId::fresh().as_str()),
            lease: Duration::from_secs(30),
            max_drivers: 1_024,
            attempt_timeout: Duration::from_secs(30),
            max_chain: 100,
            max_flow_steps: riverrun_engine::MAX_FLOW_STEPS,
            cached_runs: 1_000,
            retention: Retention::default(),
            sweep_every: Duration::from_secs(60),
            has_listener: false,
            public_url: None,
            live_reader_bytes: 256 << 10,
            live_total_bytes: riverrun_store::Hub::MAX_BYTES,
            grace: Duration::from_secs(5),
            probation: Duration::from_secs(2),
            lasting: Duration::from_secs(30),
            clock: Clock::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_has_half_a_minute_and_a_thousand_runs_are_cached() {
        let options = Options::default();
        assert_eq!(options.attempt_timeout, Duration::from_secs(30));
        assert_eq!(options.cached_runs, 1_000);
    }
}
