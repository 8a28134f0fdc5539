//! Options of runners.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use riverrun_protocol::Limits;

use crate::{Environment, Translator};

/// What a pool of runners does. Every time is a bound on waiting, never a delay.
#[derive(Clone, Debug)]
pub struct RunnerOptions {
    /// Child processes of the pool. Default 1: each takes any number of invocations at once, and
    /// only handlers that compute, rather than wait, profit from more.
    pub size: usize,
    /// What is started. Default the SDK that this program carries, with the interpreter on `PATH`.
    pub program: Program,
    /// Where the SDK that this program carries is written to, under a name that its content
    /// decides. Default a folder of this user in the system's folder for temporary files.
    pub sdk_folder: PathBuf,
    /// Translates TypeScript for the SDK of Node. Default none: TypeScript is left to Node, where it
    /// can load it.
    pub typescript: Option<Translator>,
    /// The project's folder: the children's working directory. Default none, the server's.
    pub project: Option<PathBuf>,
    /// Default the usual variables.
    pub environment: Environment,
    /// What a message and a result may have. Default 16 MiB and 1 MiB.
    pub limits: Limits,
    /// How long a child may take until it has answered `initialise`. Default 20 s.
    pub start: Duration,
    /// How long a module may take to load. Default 60 s.
    pub load: Duration,
    /// How long a handler that was asked to stop may take. Default 5 s.
    pub cancel_grace: Duration,
    /// How long a child may take to exit when its input has ended, and again after SIGTERM, until
    /// it is killed. Default 2 s.
    pub term_grace: Duration,
    /// After how long without a word of a module that loads somebody doubts that its child is alive.
    /// Default 1 s.
    pub doubt: Duration,
    /// How long a child may take to answer when somebody doubts that it is alive. Default 1 s.
    pub probe: Duration,
    /// How long a child that runs something may say nothing, though it is asked, until it is ended
    /// as frozen. Default 60 s; none turns it off.
    pub silent: Option<Duration>,
    /// How often the memory of a child is looked at. Default 1 s.
    pub memory_interval: Duration,
    /// A child that holds more bytes gets no new invocations, ends what it runs and is replaced.
    /// Default 1 GiB; `u64::MAX` turns it off.
    pub memory_soft_bytes: u64,
    /// A child that holds more bytes is ended at once. Default 2 GiB; `u64::MAX` turns it off.
    pub memory_hard_bytes: u64,
    /// The first pause before a child that could not be started is started again; each further one
    /// is twice as long. Default 100 ms.
    pub backoff_min: Duration,
    /// The longest such pause. Default 30 s.
    pub backoff_max: Duration,
}

impl Default for RunnerOptions {
    fn default() -> Self {
        Self {
            size: 1,
            program: Program::default(),
            sdk_folder: std::env::temp_dir().join("riverrun-sdk"),
            typescript: None,
            project: None,
            environment: Environment::default(),
            limits: Limits::default(),
            start: Duration::from_secs(20),
            load: Duration::from_secs(60),
            cancel_grace: Duration::from_secs(5),
            term_grace: Duration::from_secs(2),
            doubt: Duration::from_secs(1),
            probe: Duration::from_secs(1),
            silent: Some(Duration::from_secs(60)),
            memory_interval: Duration::from_secs(1),
            memory_soft_bytes: 1 << 30,
            memory_hard_bytes: 2 << 30,
            backoff_min: Duration::from_millis(100),
            backoff_max: Duration::from_secs(30),
        }
    }
}

/// What is started as a runner.
#[derive(Clone, Debug)]
pub enum Program {
    /// The SDK that this program carries. The interpreter is a path, or a name to be found on
    /// `PATH`; `None` takes the language's usual names.
    Sdk { interpreter: Option<String> },
    /// Another program that speaks the protocol.
    Command(Vec<OsString>),
}

impl Default for Program {
    fn default() -> Self {
        Self::Sdk { interpreter: None }
    }
}
