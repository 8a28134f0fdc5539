//! What this machine can do at best: the yardstick for everything else.

use std::{io::Write, path::Path, time::Instant};

use axum::{Router, body::Bytes, routing::post};

use crate::{Bench, Result, load, target::Machine};

/// Takes about two seconds, so that it can be asked before every part.
pub async fn measure(bench: &Bench) -> Result<Machine> {
    let scale = bench.scale.min(4);
    Ok(Machine {
        appends: appends(&bench.data, 2_000 / scale)?,
        posts: posts(60_000 / scale).await?,
    })
}

/// 4 KiB appends a second from one thread, each synced.
fn appends(data: &Path, count: usize) -> Result<f64> {
    let path = data.join("sync.probe");
    let mut file = std::fs::File::create(&path)?;
    let block = [7u8; 4096];
    let begun = Instant::now();
    for _ in 0..count {
        file.write_all(&block)?;
        file.sync_data()?;
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    drop(file);
    std::fs::remove_file(path)?;
    Ok(rate)
}

/// Small POSTs a second to a server that does nothing, 256 in flight.
async fn posts(count: usize) -> Result<f64> {
    let app = Router::new().route("/x", post(|_: Bytes| async { "{}" }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(async move { axum::serve(listener, app).await });
    let body = Bytes::from_static(br#"{"input":{"n":1}}"#);
    let load = load::requests(address, 256, count, 200, move |_| {
        ("/x".into(), body.clone())
    });
    let load = load.await;
    server.abort();
    Ok(load?.per_second)
}
