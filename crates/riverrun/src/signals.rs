//! SIGINT and SIGTERM: the first asks for a graceful end, the second ends at once.

/// Resolves at the first signal; from then on a second one ends the process.
pub async fn asked_to_stop() {
    let signal = next().await;
    tracing::info!(signal, "stopping; once more stops at once");
    tokio::spawn(async {
        next().await;
        tracing::warn!("stopped at once; what was acknowledged is on disk");
        std::process::exit(130);
    });
}

/// Resolves at the next signal, and says which.
#[cfg(unix)]
pub async fn next() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => "SIGTERM",
        () = interrupted() => "SIGINT",
    }
}

/// Resolves at the next signal, and says which.
#[cfg(not(unix))]
pub async fn next() -> &'static str {
    interrupted().await;
    "Ctrl-C"
}

/// Resolves at Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
