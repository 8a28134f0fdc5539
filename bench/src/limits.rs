//! What this machine can do at best: the yardstick for everything else.

use std::{io::Write, path::Path, time::Instant};

use axum::{Router, routing::post};

use crate::report::Report;

/// 4 KiB appends from one thread, each synced.
pub fn measure(report: &mut Report, data: &Path, scale: usize) -> std::io::Result<()> {
    let path = data.join("sync.probe");
    let mut file = std::fs::File::create(&path)?;
    let block = [7u8; 4096];
    let count = 4_000 / scale;
    let begun = Instant::now();
    for _ in 0..count {
        file.write_all(&block)?;
        file.sync_data()?;
    }
    report.add(
        "limit: synced 4 KiB appends",
        count as f64 / begun.elapsed().as_secs_f64(),
        "/s",
    );
    drop(file);
    std::fs::remove_file(path)
}

/// Small POSTs to a server that does nothing, 256 in flight.
pub async fn http(report: &mut Report, scale: usize) {
    let app = Router::new().route("/x", post(|_: axum::body::Bytes| async { "{}" }));
    let Ok(listener) = tokio::net::TcpListener::bind("127.0.0.1:0").await else {
        return;
    };
    let Ok(address) = listener.local_addr() else {
        return;
    };
    let server = tokio::spawn(async move { axum::serve(listener, app).await });
    let body = r#"{"input":{"n":1}}"#;
    let rate = crate::load::requests(address, "/x", 256, 200_000 / scale, |_| body.into()).await;
    report.add("limit: empty axum POSTs", rate.per_second, "/s");
    server.abort();
}
