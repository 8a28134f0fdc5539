#![allow(clippy::unwrap_used, clippy::print_stdout)]
use riverrun_api::ApiOptions;
use riverrun_engine::{Outcome, SchemaIssue};
use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Action, Call, Effects, Handler, Options, Runtime};
use riverrun_store_sqlite::SqliteStore;
use riverrun_types::{Json, StreamName};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
struct Note;
impl Handler for Note {
    fn kind(&self) -> &str {
        "note"
    }
    fn about(&self) -> &str {
        ""
    }
    fn schema(&self) -> Value {
        json!({"type": "object"})
    }
    fn effects(&self) -> Effects {
        Effects::None
    }
    fn prepare(&self, _: &Value) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        Ok(Arc::new(Note))
    }
}
#[async_trait::async_trait]
impl Action for Note {
    async fn run(&self, _: &Call<'_>) -> Outcome {
        Outcome::success(Json::of(&1))
    }
}

async fn load(addr: &str, request: String, clients: usize, secs: u64) -> f64 {
    let end = Instant::now() + Duration::from_secs(secs);
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let request = request.clone();
            let addr = addr.to_owned();
            tokio::spawn(async move {
                let mut s = TcpStream::connect(addr).await.unwrap();
                s.set_nodelay(true).unwrap();
                let mut n = 0u64;
                let mut buf = vec![0; 4096];
                while Instant::now() < end {
                    s.write_all(request.as_bytes()).await.unwrap();
                    let got = s.read(&mut buf).await.unwrap();
                    assert!(got > 12);
                    assert!(
                        &buf[9..10] == b"2",
                        "{}",
                        String::from_utf8_lossy(&buf[..got])
                    );
                    n += 1;
                }
                n
            })
        })
        .collect();
    let mut total = 0;
    for t in tasks {
        total += t.await.unwrap();
    }
    total as f64 / secs as f64
}
#[tokio::main]
async fn main() {
    let store = SqliteStore::memory().unwrap();
    let sandbox = Arc::new(Sandbox::new(Limits::default()).unwrap());
    let runtime = Runtime::open(
        store,
        sandbox,
        [Arc::new(Note) as Arc<dyn Handler>],
        Options::default(),
    )
    .await
    .unwrap();
    runtime.register(&json!({"id":"f","version":"1.0.0","initialStepId":"a","steps":{
        "a":{"type":"note","transitions":{"onSuccess":"b"}},"b":{"type":"note","transitions":{"onSuccess":"c"}},"c":{"type":"note"}}})).await.unwrap();
    let options = ApiOptions::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let empty = axum::Router::new().route("/x", axum::routing::post(|| async { "ok" }));
    let l2 = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr2 = l2.local_addr().unwrap().to_string();
    tokio::spawn(async move { axum::serve(l2, empty).await });
    tokio::spawn(riverrun_api::serve(
        listener,
        riverrun_api::router(runtime.clone(), options),
        std::future::pending(),
    ));
    for _ in 0..2 {
        println!(
            "empty axum POST      {:>9.0}/s",
            load(
                &addr2,
                "POST /x HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".into(),
                64,
                3
            )
            .await
        );
        println!(
            "healthz              {:>9.0}/s",
            load(
                &addr,
                "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n".into(),
                64,
                3
            )
            .await
        );
        let body = r#"{"input":{"n":1}}"#;
        println!("start, unknown flow… (404 skipped); bad start 400 skipped");
        println!("start (memory store) {:>9.0}/s", load(&addr, format!("POST /api/flows/f/start HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()), 256, 5).await);
    }
    // library
    let t = Instant::now();
    let n = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let tasks: Vec<_> = (0..256)
        .map(|_| {
            let r = runtime.clone();
            let n = n.clone();
            tokio::spawn(async move {
                while t.elapsed() < Duration::from_secs(5) {
                    r.start(riverrun_runtime::StartRequest::new("f", json!({"n":1})))
                        .await
                        .unwrap();
                    n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            })
        })
        .collect();
    for t in tasks {
        t.await.unwrap();
    }
    println!(
        "library start        {:>9.0}/s",
        n.load(std::sync::atomic::Ordering::Relaxed) as f64 / 5.0
    );
    // 1,000 readers of one stream
    let took: Arc<Mutex<Vec<Duration>>> = Arc::default();
    let acked: Arc<Mutex<Vec<Option<Instant>>>> = Arc::new(Mutex::new(vec![None; 101]));
    let early = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let ready = Arc::new(tokio::sync::Semaphore::new(0));
    for _ in 0..1000 {
        let (addr, took, acked, early, ready) = (
            addr.clone(),
            took.clone(),
            acked.clone(),
            early.clone(),
            ready.clone(),
        );
        tokio::spawn(async move {
            let mut s = TcpStream::connect(addr).await.unwrap();
            s.write_all(b"GET /api/events/test/s/stream HTTP/1.1\r\nhost: x\r\n\r\n")
                .await
                .unwrap();
            let mut buf = vec![0; 65536];
            let mut signalled = false;
            loop {
                let got = s.read(&mut buf).await.unwrap();
                if got == 0 {
                    return;
                }
                let now = Instant::now();
                if !signalled {
                    signalled = true;
                    ready.add_permits(1);
                }
                let text = String::from_utf8_lossy(&buf[..got]);
                for part in text.split("\"k\":").skip(1) {
                    let k: usize = part
                        .split(|c: char| !c.is_ascii_digit())
                        .next()
                        .unwrap()
                        .parse()
                        .unwrap();
                    match acked.lock().unwrap()[k] {
                        Some(at) => took.lock().unwrap().push(now.saturating_duration_since(at)),
                        None => {
                            early.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            took.lock().unwrap().push(Duration::ZERO)
                        }
                    }
                }
            }
        });
    }
    ready.acquire_many(1000).await.unwrap().forget();
    let name = StreamName::new("test", "s");
    for k in 0..100 {
        runtime
            .append(&name, &[Json::of(&json!({"type":"n","data":{"k":k}}))])
            .await
            .unwrap();
        acked.lock().unwrap()[k] = Some(Instant::now());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut took = took.lock().unwrap().clone();
    took.sort();
    println!(
        "sse: {} deliveries, {} before the ack was seen, p50 {:?} p99 {:?} max {:?}",
        took.len(),
        early.load(std::sync::atomic::Ordering::Relaxed),
        took[took.len() / 2],
        took[took.len() * 99 / 100],
        took[took.len() - 1]
    );
    let rss = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", rss.lines().find(|l| l.starts_with("VmRSS")).unwrap());
}
