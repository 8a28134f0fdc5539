//! Two servers measured in turns of a fraction of a second.
//!
//! A machine that is shared changes its speed within seconds, by more than the difference that is
//! looked for. Both servers run all the time, one of them idle; each pair of turns gives one ratio,
//! in changing order, and the median of many ratios is known far better than either figure.

use std::{path::Path, sync::Arc, time::Instant};

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    Bench, Result,
    flows::{three_steps, waiting},
    load,
    report::percentile,
    server::Server,
};

/// What is measured in one turn, and how many requests that takes.
struct Turn {
    name: &'static str,
    load: Load,
    count: usize,
}

enum Load {
    /// Requests with so many in flight, answered with this status.
    Requests {
        in_flight: usize,
        status: u16,
        request: fn(&Side, usize) -> (Arc<str>, Bytes),
    },
    /// Jobs that were added before, from the resumption of their queue to the last one's end.
    Drain,
}

const fn requests(
    name: &'static str,
    count: usize,
    in_flight: usize,
    status: u16,
    request: fn(&Side, usize) -> (Arc<str>, Bytes),
) -> Turn {
    let load = Load::Requests {
        in_flight,
        status,
        request,
    };
    Turn { name, load, count }
}

const TURNS: [Turn; 11] = [
    requests(
        "three-step flows, 256 in flight",
        4_000,
        256,
        200,
        |_, n| {
            let body = format!(r#"{{"input":{{"n":{n}}}}}"#);
            ("/api/flows/three/start?wait=10000".into(), body.into())
        },
    ),
    requests("three-step flows alone", 300, 1, 200, |_, n| {
        let body = format!(r#"{{"input":{{"n":{n}}}}}"#);
        ("/api/flows/three/start?wait=10000".into(), body.into())
    }),
    requests("events alone", 300, 1, 201, |side, n| {
        (side.stream.clone(), event(n))
    }),
    requests(
        "events to one stream, 64 writers",
        5_000,
        64,
        201,
        |side, n| (side.stream.clone(), event(n)),
    ),
    requests(
        "events to 1,000 streams, 64 writers",
        5_000,
        64,
        201,
        |side, n| (side.streams[n % side.streams.len()].clone(), event(n)),
    ),
    requests("jobs added, 64 in flight", 5_000, 64, 201, |_, n| {
        let body = format!(r#"{{"data":{{"n":{n},"pad":"{PAD}"}}}}"#);
        ("/api/queue/idle/jobs?create=true".into(), body.into())
    }),
    Turn {
        name: "jobs drained in Node",
        load: Load::Drain,
        count: 8_000,
    },
    requests(
        "event flows of three steps in Node",
        1_000,
        256,
        200,
        |_, _| ("/api/flows/events/start?wait=60000".into(), "{}".into()),
    ),
    requests(
        "code with three ctx.run in Node",
        1_000,
        256,
        200,
        |_, _| ("/api/flows/code/start?wait=60000".into(), "{}".into()),
    ),
    requests("code with three ctx.run alone", 100, 1, 200, |_, _| {
        ("/api/flows/code/start?wait=60000".into(), "{}".into())
    }),
    requests("calls to Node, 64 in flight", 3_000, 64, 200, |_, n| {
        let body = format!(r#"{{"process":"echo","input":{{"n":{n}}}}}"#);
        ("/api/runner/execute".into(), body.into())
    }),
];

const PAD: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

fn event(n: usize) -> Bytes {
    format!(r#"{{"type":"order.noted","data":{{"n":{n},"note":"a small one"}}}}"#).into()
}

/// One of the two servers.
struct Side {
    server: Server,
    /// Of a run that waits.
    stream: Arc<str>,
    streams: Vec<Arc<str>>,
    /// Jobs that were drained so far.
    drained: u64,
    _folder: tempfile::TempDir,
}

impl Side {
    async fn start(bench: &Bench, binary: &Path) -> Result<Self> {
        let folder = bench.folder()?;
        project(folder.path())?;
        let bench = Bench {
            binary: binary.into(),
            data: bench.data.clone(),
            scale: bench.scale,
        };
        let server = Server::of_project(&bench, folder.path()).await?;
        server.register(&three_steps()).await?;
        server.register(&waiting()).await?;
        let started = server.post("/api/flows/waiting/start", &json!({})).await?;
        let run = started["runId"].as_str().unwrap_or_default();
        Ok(Self {
            stream: format!("/api/events/flow/{run}").into(),
            streams: (0..1_000)
                .map(|n| format!("/api/events/bench/{n}").into())
                .collect(),
            drained: 0,
            server,
            _folder: folder,
        })
    }

    /// Milliseconds a request of one turn: of all together, or the median where they come alone.
    async fn take(&mut self, turn: &Turn) -> Result<f64> {
        match turn.load {
            Load::Drain => self.drain(turn.count).await,
            Load::Requests {
                in_flight,
                status,
                request,
            } => {
                let paths: Vec<_> = (0..turn.count).map(|n| request(self, n)).collect();
                let next = move |n: usize| paths[n].clone();
                let address = self.server.address;
                let mut load = load::requests(address, in_flight, turn.count, status, next).await?;
                Ok(match in_flight {
                    1 => percentile(&mut load.samples, 0.5),
                    _ => 1e3 / load.per_second,
                })
            }
        }
    }

    async fn drain(&mut self, jobs: usize) -> Result<f64> {
        let queue = "/api/queue/drained";
        self.server
            .post(&format!("{queue}/pause"), &json!({}))
            .await?;
        let some = json!({ "jobs": vec![json!({"data": {"n": 1}}); 1_000] });
        for _ in 0..jobs / 1_000 {
            self.server.post(&format!("{queue}/jobs"), &some).await?;
        }
        self.drained += jobs as u64;
        let begun = Instant::now();
        self.server
            .post(&format!("{queue}/resume"), &json!({}))
            .await?;
        while self.completed(queue).await? < self.drained {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3 / jobs as f64)
    }

    async fn completed(&self, queue: &str) -> Result<u64> {
        let queue: Value = self.server.read(queue).await?;
        Ok(queue["counts"]["completed"].as_u64().unwrap_or_default())
    }
}

fn project(folder: &Path) -> Result<()> {
    let processes = folder.join("processes");
    std::fs::create_dir_all(&processes)?;
    for (name, config, body) in [
        (
            "first",
            "step: 'events', emits: ['one']",
            "await ctx.emit({ type: 'one', data: { n: 1 } })",
        ),
        (
            "second",
            "step: 'second', subscriptions: [{ eventKind: 'one' }], emits: ['two']",
            "await ctx.emit({ type: 'two', data: { n: 1 } })",
        ),
        (
            "third",
            "step: 'third', subscriptions: [{ eventKind: 'two' }]",
            "return input",
        ),
        (
            "code",
            "step: 'code'",
            "for (const name of ['x', 'y', 'z']) await ctx.run(name, () => name)",
        ),
        ("drained", "runMode: 'queue'", "return input"),
        ("echo", "runMode: 'call'", "return input"),
    ] {
        let text = format!(
            "export const config = {{ concurrency: 1024, {config} }}\n\
             export default async (input, ctx) => {{ {body} }}\n"
        );
        std::fs::write(processes.join(format!("{name}.mjs")), text)?;
    }
    Ok(())
}

/// What one turn's name came to, over all pairs.
#[derive(Default)]
struct Figures {
    before: Vec<f64>,
    after: Vec<f64>,
    /// Processor time of the servers, in milliseconds.
    cpu: [f64; 2],
}

/// Measures the server against an older one, and prints a JSON line of each pair's ratios and a table.
pub async fn measure(bench: &Bench, older: &Path, pairs: usize) -> Result<()> {
    let mut before = Side::start(bench, older).await?;
    let mut after = Side::start(bench, &bench.binary).await?;
    for turn in &TURNS {
        // Caches, connections and children are warm afterwards.
        before.take(turn).await?;
        after.take(turn).await?;
    }
    let mut figures: Vec<Figures> = TURNS.iter().map(|_| Figures::default()).collect();
    for pair in 0..pairs {
        for (turn, figures) in TURNS.iter().zip(&mut figures) {
            for newer in [pair % 2 == 0, pair % 2 == 1] {
                let (side, times) = match newer {
                    false => (&mut before, &mut figures.before),
                    true => (&mut after, &mut figures.after),
                };
                let cpu_ms = side.server.cpu_ms();
                times.push(side.take(turn).await?);
                figures.cpu[usize::from(newer)] += side.server.cpu_ms() - cpu_ms;
            }
        }
        let ratios = TURNS.iter().zip(&figures).map(|(turn, figures)| {
            let ratio = figures.after[pair] / figures.before[pair];
            (turn.name.to_owned(), json!((ratio * 1e3).round() / 1e3))
        });
        let ratios: serde_json::Map<String, Value> = ratios.collect();
        println!("{}", json!({"pair": pair + 1, "ratios": ratios}));
    }
    print(&figures, pairs);
    Ok(())
}

fn print(figures: &[Figures], pairs: usize) {
    println!("\ntime after / time before, the median of {pairs} pairs of turns (less is better)\n");
    println!("| figure | before, ms | after, ms | time | 95 % sure | processor time |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (turn, figures) in TURNS.iter().zip(figures) {
        let mut ratios: Vec<f64> = (figures.before.iter().zip(&figures.after))
            .map(|(before, after)| after / before)
            .collect();
        let (low, high) = sure(&mut ratios);
        let [before, after] =
            [&figures.before, &figures.after].map(|times| percentile(&mut times.clone(), 0.5));
        let [cpu_before, cpu_after] = figures.cpu;
        println!(
            "| {} | {before:.4} | {after:.4} | **{:.3}** | {low:.3} to {high:.3} | {:.3} |",
            turn.name,
            percentile(&mut ratios, 0.5),
            cpu_after / cpu_before,
        );
    }
}

/// The bounds between which the median of all ratios lies with 95 % certainty: ranks of the sign
/// test.
fn sure(ratios: &mut [f64]) -> (f64, f64) {
    ratios.sort_by(f64::total_cmp);
    let count = ratios.len() as f64;
    let off = (0.98 * count.sqrt()).ceil() as usize;
    let middle = ratios.len() / 2;
    let low = middle.saturating_sub(off);
    let high = (middle + off).min(ratios.len() - 1);
    (ratios[low], ratios[high])
}
