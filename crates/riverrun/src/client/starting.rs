//! Waits for a server on this machine that is starting.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use reqwest::{RequestBuilder, Response};
use tokio::time::{Instant, sleep};
use url::{Host, Url};

use super::Client;
use crate::{failure::Result, output};

/// The time between two tries: a server needs a few of them to start.
const PAUSE: Duration = Duration::from_millis(50);
/// After this long the command prints what it waits for.
const SILENT: Duration = Duration::from_secs(1);

/// How long a command waits for its server.
pub struct Patience {
    wait: Duration,
    /// A server that was there and is gone is not starting.
    has_answered: AtomicBool,
}

impl Patience {
    /// Servers on other machines are started by others: a command does not wait for them.
    pub fn new(server: &Url, wait: Duration) -> Self {
        let is_here = match server.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        Self {
            wait: if is_here { wait } else { Duration::ZERO },
            has_answered: AtomicBool::new(false),
        }
    }
}

/// Whether a request may be sent again when it is not known what became of it.
#[derive(Clone, Copy, PartialEq)]
pub enum Again {
    /// It changes nothing.
    Safe,
    /// Only if it did not reach a server.
    Unsent,
}

impl Client {
    /// Sends a request, to a server that is starting as soon as it listens.
    pub(super) async fn dispatch(&self, request: RequestBuilder, again: Again) -> Result<Response> {
        let began = Instant::now();
        let mut is_reported = false;
        loop {
            // Only a body that is a stream cannot be cloned, and there is none.
            let Some(attempt) = request.try_clone() else {
                let sent = request.send().await;
                return sent.map_err(|error| self.unreachable(&error));
            };
            let error = match attempt.send().await {
                Ok(response) => {
                    self.patience.has_answered.store(true, Ordering::Relaxed);
                    return Ok(response);
                }
                Err(error) => error,
            };
            // A server that was killed may still take connections for a moment.
            let is_gone = again == Again::Safe && error.is_request() && !error.is_timeout();
            let is_starting = (error.is_connect() || is_gone)
                && !self.patience.has_answered.load(Ordering::Relaxed);
            if !is_starting || began.elapsed() >= self.patience.wait {
                return Err(self.unreachable(&error));
            }
            if !is_reported && began.elapsed() >= SILENT {
                is_reported = true;
                output::talk(&format!(
                    "waiting for a server at {} (--connect-timeout 0s does not wait)",
                    self.url()
                ));
            }
            sleep(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_servers_on_this_machine_are_waited_for() {
        for (url, is_here) in [
            ("http://127.0.0.1:4600", true),
            ("http://localhost:1", true),
            ("http://[::1]:1", true),
            ("http://river.example:4600", false),
            ("http://10.0.0.1", false),
        ] {
            let patience = Patience::new(&url.parse().unwrap(), Duration::from_secs(5));
            assert_eq!(!patience.wait.is_zero(), is_here, "{url}");
        }
    }
}
