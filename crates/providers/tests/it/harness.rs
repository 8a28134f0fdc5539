//! A host that remembers, and what an invocation needs.

use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use riverrun_contract::{Cancellation, Host, Invocation, Provider};
use riverrun_protocol::{Frame, Invoke, JobInput, LogLevel, Reply, WorkError};
use riverrun_providers::{Environment, Language, Program, RunnerOptions, Runners};
use riverrun_types::Json;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Answers every question with what was asked.
#[derive(Default)]
pub struct Remembers {
    frames: Mutex<Vec<Frame>>,
    pub asked: Mutex<Vec<(String, Value)>>,
    notify: Notify,
}

#[async_trait]
impl Host for Remembers {
    fn frame(&self, frame: Frame) {
        self.frames.lock().push(frame);
        self.notify.notify_one();
    }

    async fn ask(&self, method: &str, params: Json) -> Result<Json, WorkError> {
        let asked = params.value();
        let is_refused = asked["key"] == "accuracy";
        let is_reserved = asked["type"] == "flow.failed";
        self.asked.lock().push((method.to_owned(), asked));
        // Some have to wait, some have not: neither may overtake the other.
        if method == "state.set" {
            tokio::task::yield_now().await;
        }
        match method {
            "state.set" if is_refused => Err(WorkError::new("STATE_INVALID", "must not be")),
            "emit" if is_reserved => Err(WorkError::new("RESERVED_TYPE", "not yours").permanent()),
            _ => Ok(Json::of(&json!({"method": method, "params": params}))),
        }
    }
}

impl Remembers {
    pub fn frames(&self) -> Vec<Frame> {
        self.frames.lock().clone()
    }

    pub fn logs(&self) -> Vec<(LogLevel, String)> {
        let frames = self.frames().into_iter();
        let log = |frame| match frame {
            Frame::Log { level, message, .. } => Some((level, message)),
            _ => None,
        };
        frames.filter_map(log).collect()
    }

    /// Waits for a frame that will come.
    pub async fn until(&self, is_it: impl Fn(&Frame) -> bool) {
        let wait = async {
            while !self.frames.lock().iter().any(&is_it) {
                self.notify.notified().await;
            }
        };
        within(wait).await;
    }
}

/// Nothing here may take long.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("took too long")
}

pub struct Asked {
    pub host: Arc<Remembers>,
    pub cancel: Cancellation,
    pub invocation: Invocation,
}

pub fn invocation(input: Value) -> Asked {
    invocation_with(input, |_| ())
}

pub fn invocation_with(input: Value, change: impl FnOnce(&mut Invoke)) -> Asked {
    let mut invoke = Invoke {
        process: "deeds".to_owned(),
        kind: "job".to_owned(),
        job: JobInput {
            job_id: Some("job-1".to_owned()),
            input: Some(Json::of(&input)),
            attempt: 1,
            max_attempts: 3,
            ..JobInput::default()
        },
        timeout_ms: Some(15_000),
        ..Invoke::default()
    };
    change(&mut invoke);
    let (host, cancel) = (Arc::new(Remembers::default()), Cancellation::default());
    let invocation = Invocation {
        invoke: Arc::new(invoke),
        host: host.clone(),
        cancel: cancel.clone(),
    };
    Asked {
        host,
        cancel,
        invocation,
    }
}

pub fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/fixtures")
        .join(name)
}

/// Options with which nothing bad takes long.
pub fn quick(mode: &str) -> RunnerOptions {
    let command: [OsString; 3] = ["node".into(), fixture("fake.mjs").into(), mode.into()];
    RunnerOptions {
        program: Program::Command(command.to_vec()),
        cancel_grace: Duration::from_millis(300),
        term_grace: Duration::from_millis(300),
        doubt: Duration::from_millis(100),
        probe: Duration::from_millis(300),
        memory_interval: Duration::from_millis(20),
        backoff_min: Duration::from_millis(10),
        ..RunnerOptions::default()
    }
}

pub struct Fake {
    pub runners: Runners,
    provider: Arc<dyn Provider>,
    folder: tempfile::TempDir,
}

impl Fake {
    pub fn new(change: impl FnOnce(&mut RunnerOptions)) -> Self {
        Self::mode("good", change)
    }

    pub fn mode(mode: &str, change: impl FnOnce(&mut RunnerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = quick(mode);
        let file = folder.path().join("pids").to_str().unwrap().to_owned();
        options.environment = Environment {
            set: [("PID_FILE".to_owned(), file)].into(),
            ..Environment::default()
        };
        change(&mut options);
        let runners = Runners::new(Language::Node, options);
        Self {
            provider: runners.provider("deeds", Some("default"), 1),
            runners,
            folder,
        }
    }

    pub async fn run(&self, asked: &Asked) -> Result<Reply, WorkError> {
        within(self.provider.invoke(asked.invocation.clone())).await
    }

    pub async fn value(&self, input: Value) -> Value {
        let reply = self.run(&invocation(input)).await.unwrap();
        reply.value.map_or(Value::Null, |value| value.value())
    }

    pub async fn code(&self, input: Value) -> String {
        self.run(&invocation(input)).await.unwrap_err().code.into()
    }

    /// Runs it beside the test.
    pub fn begin(&self, asked: &Asked) -> tokio::task::JoinHandle<Result<Reply, WorkError>> {
        let (provider, invocation) = (self.provider.clone(), asked.invocation.clone());
        tokio::spawn(async move { within(provider.invoke(invocation)).await })
    }

    /// Begins something that runs until it is cancelled, and waits until it runs.
    pub async fn occupied(&self) -> (Asked, tokio::task::JoinHandle<Result<Reply, WorkError>>) {
        let asked = invocation(json!({"do": "obey"}));
        let before = self.running();
        let handle = self.begin(&asked);
        until(|| self.running() > before).await;
        // What was sent before has been received when this is answered.
        self.value(json!({"do": "pid"})).await;
        (asked, handle)
    }

    pub fn running(&self) -> usize {
        self.runners
            .status()
            .iter()
            .map(|status| status.running)
            .sum()
    }

    /// What the fake wrote to its file.
    pub async fn written(&self) -> String {
        let file = self.folder.path().join("pids");
        until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n'))).await;
        std::fs::read_to_string(&file).unwrap().trim().to_owned()
    }
}

/// For what has no signal that a test could wait on: other processes.
pub async fn until(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(wait).await;
}

pub fn is_alive(pid: &str) -> bool {
    // A zombie is dead, although its parent has not waited for it.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}
