//! SIGINT and SIGTERM: the first stops the program gracefully, the second ends it at once.
//!
//! A server receives them on a separate thread, so that they work even if its other threads are
//! blocked.

use std::time::Duration;

use tokio::sync::oneshot;

/// How much longer than its grace a server may take to end by itself.
const MARGIN: Duration = Duration::from_secs(30);

/// Resolves at the first signal. From then on a second signal ends the process, and so does a
/// timeout: the grace of running work and a margin.
pub fn asked_to_stop(grace: Duration) -> impl Future<Output = ()> + Send + 'static {
    let (asked, stop) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || listen(asked, grace.saturating_add(MARGIN)));
    if let Err(error) = thread {
        tracing::warn!(%error, "no thread for signals: they end the process at once");
    }
    async move {
        if stop.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Runs on a runtime of its own, which no other task can block.
fn listen(asked: oneshot::Sender<()>, patience: Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        // One pair for both: a second signal that comes at once is not lost.
        let mut signals = Signals::listen();
        let signal = signals.next().await;
        tracing::info!(signal, "stopping; a second signal stops at once");
        // Fails where the server is ending already.
        let _ = asked.send(());
        match tokio::time::timeout(patience, signals.next()).await {
            Ok(_) => tracing::warn!("stopped at once; what was acknowledged is on disk"),
            Err(_) => tracing::error!(
                "did not stop within {} s and was ended; what was acknowledged is on disk",
                patience.as_secs()
            ),
        }
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
    /// Receives every signal from now on. A handler that cannot be installed never reports a signal.
    fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self {
            terminate: signal(SignalKind::terminate()).ok(),
            interrupt: signal(SignalKind::interrupt()).ok(),
        }
    }

    async fn next(&mut self) -> &'static str {
        async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            () = received(&mut self.terminate) => "SIGTERM",
            () = received(&mut self.interrupt) => "SIGINT",
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
