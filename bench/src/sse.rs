//! Live delivery: from the acknowledgement that a writer gets to the reader's socket.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use http_body_util::BodyExt;
use tokio::{
    sync::{mpsc, watch},
    time::MissedTickBehavior,
};

use crate::{
    Bench, Result, load,
    report::{Report, percentile},
    server::Server,
    target::{By, Target},
};

/// Readers of one stream.
const TOGETHER: usize = 100;
/// Readers of a stream of their own.
const APART: usize = 900;
/// Readers that come afterwards, one after the other.
const SET_UPS: usize = 200;
/// How often an event is appended; every tenth to the stream that many read.
const EVERY: Duration = Duration::from_millis(5);

/// An event, by its number, has reached a reader.
type Seen = (usize, Instant);

pub async fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let folder = bench.folder()?;
    let server = Server::start(bench, folder.path()).await?;
    let (seen, mut arrivals) = mpsc::unbounded_channel();
    let (stop, stopped) = watch::channel(());
    let mut readers = Vec::new();
    for n in 0..TOGETHER + APART {
        let stream = if n < TOGETHER { APART } else { n - TOGETHER };
        let reader = follow(server.address, stream, seen.clone(), stopped.clone()).await?;
        readers.push(tokio::spawn(reader));
    }
    drop((seen, stopped));

    let acknowledged = write(&server, 4_000 / bench.scale).await?;
    // The last ones are on their way.
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(stop);
    for reader in readers {
        reader.await??;
    }
    let mut samples = Vec::new();
    while let Some((event, at)) = arrivals.recv().await {
        // Some readers get the event before the writer has read its acknowledgement.
        let late = at.saturating_duration_since(acknowledged[event]);
        samples.push(late.as_secs_f64() * 1e3);
    }
    let expected: usize = (0..acknowledged.len()).map(|n| stream_of(n).1).sum();
    if samples.len() != expected {
        return Err(format!("{} deliveries came, not {expected}", samples.len()).into());
    }
    report.add("readers", (TOGETHER + APART) as f64, "");
    report.add("deliveries", expected as f64, "");
    report.add(
        "delivery after acknowledgement, p50",
        percentile(&mut samples, 0.5),
        "ms",
    );
    let p99 = percentile(&mut samples, 0.99);
    let target = Target::Below(10.0, By::Cpu);
    report.judge("delivery after acknowledgement, p99", p99, "ms", target);
    report.add(
        "delivery after acknowledgement, worst",
        percentile(&mut samples, 1.0),
        "ms",
    );
    report.add(
        "memory of the server with its readers",
        server.resident_mb(),
        "MB",
    );
    let mut set_ups = set_ups(&server, acknowledged.len()).await?;
    let p99 = percentile(&mut set_ups, 0.99);
    let target = Target::Below(50.0, By::Cpu);
    report.judge(
        "set-up of a reader with its backfill, p99",
        p99,
        "ms",
        target,
    );
    Ok(())
}

/// How long new readers take until they have all that was written to the stream that many read.
async fn set_ups(server: &Server, written: usize) -> Result<Vec<f64>> {
    let last = (0..written)
        .rev()
        .find(|event| stream_of(*event).0 == APART);
    let last = last.ok_or("nothing was written to the stream that many read")?;
    let path = format!("/api/events/bench/{APART}/stream");
    let mut samples = Vec::new();
    for _ in 0..SET_UPS {
        let began = Instant::now();
        let mut connection = load::connect(server.address).await?;
        let mut body = load::get(&mut connection, &path).await?;
        let mut text = String::new();
        while numbers(&text).last() != Some(last) {
            let frame = body.frame().await.ok_or("a live stream has ended")??;
            let data = frame.into_data().unwrap_or_default();
            text.push_str(&String::from_utf8_lossy(&data));
        }
        samples.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(samples)
}

/// Which stream an event goes to, and how many read it.
fn stream_of(event: usize) -> (usize, usize) {
    match event % 10 {
        0 => (APART, TOGETHER),
        _ => (event * 7 % APART, 1),
    }
}

/// Appends events at a steady pace; when each was acknowledged.
async fn write(server: &Server, count: usize) -> Result<Vec<Instant>> {
    let mut connection = load::connect(server.address).await?;
    let mut pace = tokio::time::interval(EVERY);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut acknowledged = Vec::with_capacity(count);
    for event in 0..count {
        pace.tick().await;
        let path = format!("/api/events/bench/{}", stream_of(event).0);
        let body = format!(r#"{{"type":"order.noted","data":{{"n":{event}}}}}"#);
        let answer = load::post(&mut connection, &path, body.into()).await?;
        if answer.status != 201 {
            return Err(format!("POST {path}: {}", answer.status).into());
        }
        acknowledged.push(Instant::now());
    }
    Ok(acknowledged)
}

/// Connects a reader and returns what it does from then on.
async fn follow(
    address: SocketAddr,
    stream: usize,
    seen: mpsc::UnboundedSender<Seen>,
    mut stopped: watch::Receiver<()>,
) -> Result<impl Future<Output = Result<()>>> {
    let mut connection = load::connect(address).await?;
    let path = format!("/api/events/bench/{stream}/stream");
    let mut body = load::get(&mut connection, &path).await?;
    Ok(async move {
        // The connection lives as long as its sender does.
        let _connection = Arc::new(connection);
        loop {
            let frame = tokio::select! {
                frame = body.frame() => frame.ok_or("a live stream has ended")??,
                _ = stopped.changed() => return Ok(()),
            };
            let at = Instant::now();
            let data = frame.into_data().unwrap_or_default();
            for event in numbers(&String::from_utf8_lossy(&data)) {
                seen.send((event, at))?;
            }
        }
    })
}

/// The numbers of the events in a piece of a live stream.
fn numbers(text: &str) -> impl Iterator<Item = usize> {
    text.split(r#""data":{"n":"#).skip(1).filter_map(|rest| {
        let digits = rest.split('}').next()?;
        digits.parse().ok()
    })
}
