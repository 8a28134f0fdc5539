//! An executable for each job.
//!
//! The executable finds its job in its environment: `RIVERRUN_JOB_ID`, `RIVERRUN_HANDLER` (the
//! process), `RIVERRUN_ATTEMPT`, and `RIVERRUN_INPUT` with the input as JSON, or
//! `RIVERRUN_INPUT_FILE` with the name of a file where the input is too large for a variable. The
//! input comes on standard input too. What a step's await brought is `RIVERRUN_AWAITED`, or in the
//! file that `RIVERRUN_AWAITED_FILE` names.
//!
//! What it prints to standard output is logged as info, to standard error as warn. To fd 3 it may
//! write lines of JSON: the notifications of the protocol
//! (`{"method":"progress","params":{"pct":50}}`), `emit`, which ends it if it is refused, and as the last word `{"result":{"value":…}}` or
//! `{"error":{"code":"CARD","message":"…"}}`. If it wrote no result there, the last line of its
//! standard output is the result if it is JSON, and else the result is null.
//!
//! Exit code 0 is success. Any other fails the job with the code `EXIT_<n>`, a signal with
//! `EXIT_SIGKILL` and the like. When the job is cancelled, its time is over or it holds too much
//! memory, the executable and its process group get SIGTERM, and SIGKILL if they do not obey in time.

mod input;
mod run;
mod shebang;
mod words;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use async_trait::async_trait;
use riverrun_contract::{Invocation, Provider};
use riverrun_protocol::{Limits, Reply, WorkError};

use crate::Environment;

/// Runs the jobs of one process, each with a new process of the operating system.
pub struct External {
    command: Vec<OsString>,
    options: ExternalOptions,
}

#[derive(Clone, Debug)]
pub struct ExternalOptions {
    /// The working directory. Default none, the server's.
    pub folder: Option<PathBuf>,
    /// Default the usual variables.
    pub environment: Environment,
    /// The largest input in bytes that is put into a variable; a larger one goes into a file.
    /// Default 32 KiB.
    pub variable_bytes: usize,
    /// Where files of large inputs are written. Default the system's folder for temporary files.
    pub input_folder: PathBuf,
    /// What a line on fd 3 and a result may have. Default 16 MiB and 1 MiB.
    pub limits: Limits,
    /// How long after SIGTERM a process is killed. Default 5 s.
    pub cancel_grace: Duration,
    /// A process that holds more bytes, with all of its group, is ended. Default 2 GiB; `u64::MAX`
    /// turns it off.
    pub memory_bytes: u64,
    /// How often its memory is looked at. Default 1 s.
    pub memory_interval: Duration,
}

impl Default for ExternalOptions {
    fn default() -> Self {
        Self {
            folder: None,
            environment: Environment::default(),
            variable_bytes: 32 << 10,
            input_folder: std::env::temp_dir(),
            limits: Limits::default(),
            cancel_grace: Duration::from_secs(5),
            memory_bytes: 2 << 30,
            memory_interval: Duration::from_secs(1),
        }
    }
}

impl External {
    /// `command` is a program and its arguments.
    pub fn new(command: Vec<OsString>, options: ExternalOptions) -> Self {
        Self { command, options }
    }
}

#[async_trait]
impl Provider for External {
    async fn invoke(&self, invocation: Invocation) -> Result<Reply, WorkError> {
        run::run(&self.command, &self.options, invocation).await
    }
}
