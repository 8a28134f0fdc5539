//! SIGINT and SIGTERM: the first asks for a graceful end, the second ends at once.

/// Resolves at the first signal; from then on a second one ends the process.
pub async fn asked_to_stop() {
    // One pair of ears for both: a second signal that comes at once is not lost.
    let mut signals = Signals::listen();
    let signal = signals.next().await;
    tracing::info!(signal, "stopping; once more stops at once");
    tokio::spawn(async move {
        signals.next().await;
        tracing::warn!("stopped at once; what was acknowledged is on disk");
        std::process::exit(130);
    });
}

/// Resolves at the next signal, and says which.
pub async fn next() -> &'static str {
    Signals::listen().next().await
}

#[cfg(unix)]
struct Signals {
    terminate: Option<tokio::signal::unix::Signal>,
    interrupt: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Hears every signal from now on. One that cannot be heard never comes.
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self {
            terminate: signal(SignalKind::terminate()).ok(),
            interrupt: signal(SignalKind::interrupt()).ok(),
        }
    }

    async fn next(&mut self) -> &'static str {
        async fn heard(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = heard(&mut self.terminate) => "SIGTERM",
            () = heard(&mut self.interrupt) => "SIGINT",
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> Self {
        Self
    }

    async fn next(&mut self) -> &'static str {
        interrupted().await;
        "Ctrl-C"
    }
}

/// Resolves at Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
