//! The environment of a run in a test: a runtime in memory, and the test process as its worker.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::{sink, stream};
use riverrun::{Riverrun, SimulatedClock};
use riverrun_protocol::WorkError;
use riverrun_providers::remote::{Workers, WorkersOptions};
use riverrun_runtime::Options;
use riverrun_types::{ErrorCode, Millis};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::{
    home::{MadeFlow, TestHome},
    pipe::{Asked, Out},
    plan::Wanted,
    refused::refused,
    request::{Answer, Play, Sleep},
    walk::Walk,
};

/// How long handlers may take by the machine's clock: a person may look at one with a debugger.
const PATIENCE: Duration = Duration::from_secs(600);

type Line = Result<String, WorkError>;

/// Where messages of the test process go while a run is played.
pub struct Inbox {
    worker: mpsc::UnboundedSender<Line>,
    answers: mpsc::UnboundedSender<Vec<Answer>>,
    asleep: watch::Sender<Option<Sleep>>,
}

impl Inbox {
    pub fn put(&self, asked: Asked) {
        // A test process that sends anything else does not sleep.
        let mut asleep = None;
        match asked {
            Asked::Worker(line) => drop(self.worker.send(Ok(line))),
            Asked::Opened { answers } => drop(self.answers.send(answers)),
            Asked::Sleep(sleep) => asleep = Some(sleep),
            // A test process plays one run at a time.
            Asked::Play(_) => {}
        }
        self.asleep.send_replace(asleep);
    }
}

pub struct Stage {
    clock: SimulatedClock,
    worker: mpsc::UnboundedReceiver<Line>,
    answers: mpsc::UnboundedReceiver<Vec<Answer>>,
    asleep: watch::Receiver<Option<Sleep>>,
    out: Out,
}

impl Stage {
    pub fn new(play: &Play, out: Out) -> (Self, Inbox) {
        let clock = SimulatedClock::starting_at_ms(play.start_ms).patience(PATIENCE);
        let (to_worker, worker) = mpsc::unbounded_channel();
        let (to_answers, answers) = mpsc::unbounded_channel();
        let (to_asleep, asleep) = watch::channel(None);
        let inbox = Inbox {
            worker: to_worker,
            answers: to_answers,
            asleep: to_asleep,
        };
        let stage = Self {
            clock,
            worker,
            answers,
            asleep,
            out,
        };
        (stage, inbox)
    }

    pub async fn play(self, play: Play) -> Result<Value, WorkError> {
        let options = Options {
            public_url: Some("http://127.0.0.1:4600".to_owned()),
            grace: Duration::ZERO,
            ..Options::default()
        };
        let river = Riverrun::builder()
            .memory()
            .options(options)
            .clock(&self.clock)
            .open()
            .await
            .map_err(refused)?;
        let (planned, flow) = oneshot::channel::<Result<MadeFlow, WorkError>>();
        let home = Arc::new(TestHome {
            river: river.clone(),
            wanted: Wanted {
                flow: play.flow.clone(),
                entry: play.entry.clone(),
            },
            planned: Mutex::new(Some(planned)),
        });
        let workers = Workers::new(WorkersOptions {
            start: PATIENCE,
            silent: PATIENCE,
            ..WorkersOptions::default()
        });
        let mut attended = tokio::spawn(attend(
            workers.clone(),
            home,
            self.worker,
            Timed {
                out: self.out.clone(),
                clock: self.clock.clone(),
                sent_ms: None,
            },
        ));
        let flow = match flow.await {
            Ok(planned) => planned,
            Err(_) => Err((&mut attended)
                .await
                .ok()
                .and_then(Result::err)
                .unwrap_or_else(|| {
                    WorkError::new(
                        ErrorCode::WorkerLost,
                        "the test process went before the run began",
                    )
                })),
        };
        let played = match flow {
            Ok(flow) => {
                let walk = Walk::new(
                    river.clone(),
                    self.clock,
                    flow,
                    self.answers,
                    self.asleep,
                    self.out,
                );
                walk.play(play).await
            }
            Err(error) => Err(error),
        };
        // Nothing more is sent about this run after its report.
        attended.abort();
        workers.close();
        tokio::spawn(async move { river.shutdown().await });
        played
    }
}

/// Writes what is said to the worker, each time with the time that it is.
struct Timed {
    out: Out,
    clock: SimulatedClock,
    sent_ms: Option<Millis>,
}

impl Timed {
    fn say(&mut self, text: String) {
        let now = self.clock.now_ms();
        if self.sent_ms.replace(now) != Some(now) {
            self.out.send(&json!({ "kit": "time", "ms": now }));
        }
        self.out.line(text.trim_end_matches('\n').to_owned());
    }
}

async fn attend(
    workers: Workers,
    home: Arc<TestHome>,
    lines: mpsc::UnboundedReceiver<Line>,
    timed: Timed,
) -> Result<(), WorkError> {
    let incoming = stream::unfold(lines, |mut lines| async move {
        let line = lines.recv().await?;
        Some((line, lines))
    });
    let outgoing = sink::unfold(timed, |mut timed, text: String| async move {
        timed.say(text);
        Ok::<_, std::convert::Infallible>(timed)
    });
    let (incoming, outgoing) = (Box::pin(incoming), Box::pin(outgoing));
    workers.attend(incoming, outgoing, &*home).await
}
