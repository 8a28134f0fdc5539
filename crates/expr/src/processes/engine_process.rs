//! The parent's end of a child: its process, its socket and what it already knows.

use std::collections::HashSet;
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use super::wire::{self, Batch};
use super::{Job, child::CHILD_ARGUMENT};
use crate::Limits;
use crate::realm::Text;

/// What a child may take over the time limit of an evaluation before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// How long a child may take to start, and to read what it is sent.
const START: Duration = Duration::from_secs(10);

/// Sources that a child keeps; beyond either it forgets all of them.
const MAX_SOURCES: usize = 512;
const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Why a child cannot be used any more.
pub(super) enum Fault {
    /// It did not answer within the time limit.
    Overdue,
    Died(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Fault {
        Fault::Died(error)
    }
}

/// Dropping it kills the process.
pub(super) struct EngineProcess {
    process: Child,
    /// Nothing is written to it. The child ends when it is closed, even by this process's death.
    _lifeline: Option<ChildStdin>,
    socket: BufReader<UnixStream>,
    known: HashSet<u64>,
    known_bytes: usize,
}

impl EngineProcess {
    /// Starts a child and waits until its engine is warm.
    pub(super) fn start(program: &Path, limits: &Limits) -> io::Result<EngineProcess> {
        let (ours, theirs) = UnixStream::pair()?;
        let mut process = Command::new(program)
            .arg0("riverrun-expressions")
            .arg(CHILD_ARGUMENT)
            // Nothing of this server's secrets, and no signal that its terminal sends.
            .env_clear()
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(theirs))
            .stderr(Stdio::null())
            .spawn()?;
        let mut child = EngineProcess {
            _lifeline: process.stdin.take(),
            process,
            socket: BufReader::new(ours),
            known: HashSet::new(),
            known_bytes: 0,
        };
        child.greet(limits)?;
        Ok(child)
    }

    fn greet(&mut self, limits: &Limits) -> io::Result<()> {
        let socket = self.socket.get_mut();
        socket.set_read_timeout(Some(START))?;
        socket.set_write_timeout(Some(START))?;
        socket.write_all(&wire::limits_frame(limits))?;
        wire::read_greeting(&mut self.socket)?;
        let time = Duration::from_millis(limits.time_ms).saturating_add(GRACE);
        self.socket.get_mut().set_read_timeout(Some(time))
    }

    pub(super) fn send(&mut self, jobs: &[Job]) -> Result<(), Fault> {
        let mut batch = Batch::default();
        for job in jobs {
            let (id, source) = (job.expr.id(), job.expr.source());
            if self.known.insert(id) {
                self.known_bytes += source.len();
                if self.known.len() > MAX_SOURCES || self.known_bytes > MAX_SOURCE_BYTES {
                    batch.forget();
                    self.known.clear();
                    self.known.insert(id);
                    self.known_bytes = source.len();
                }
                batch.define(id, source);
            }
            batch.eval(&job.request);
        }
        let frame = batch.finish().map_err(Fault::Died)?;
        Ok(self.socket.get_mut().write_all(&frame)?)
    }

    /// The answer to the first evaluation that was sent and not answered yet.
    pub(super) fn receive(&mut self) -> Result<Text, Fault> {
        wire::read_answer(&mut self.socket).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Fault::Overdue,
            _ => Fault::Died(error),
        })
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        // It may have ended already; either way it is gone after this.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
