//! Supervises a child from its start to its end.

use riverrun_types::ErrorCode;
use std::{process::ExitStatus, sync::Arc, time::Duration};

use riverrun_protocol::{Lines, LogLevel, WorkError};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    process::ChildStdin,
};

use super::{RunnerOptions, child::Child};
use crate::{
    failure,
    process::{Group, LINE_BYTES, LINES_PER_SECOND, Output, Printed, Spawned, Tail, rss_bytes},
};

/// How long what is left in the pipes of a dead child is waited for: others may hold them open.
const LEFTOVERS: Duration = Duration::from_millis(500);
/// How much is read at once.
const READ_BYTES: usize = 64 << 10;

pub(super) async fn supervise(
    child: Arc<Child>,
    spawned: Spawned,
    printed: Printed,
    options: Arc<RunnerOptions>,
) {
    let Spawned {
        child: mut process,
        group,
        leash,
        stdin,
        stdout,
        stderr,
        messages,
    } = spawned;
    let tail = Tail::default();
    let output = |level, tail| Output {
        level,
        printed: printed.clone(),
        tail,
        line_bytes: LINE_BYTES,
        held: None,
        per_second: LINES_PER_SECOND,
    };
    let printing = [
        tokio::spawn(output(LogLevel::Info, Tail::default()).read(stdout)),
        tokio::spawn(output(LogLevel::Warn, tail.clone()).read(stderr)),
    ];
    let writing = tokio::spawn(write(child.clone(), stdin));
    let reading = tokio::spawn(read(child.clone(), messages));

    let status = watch(&child, &mut process, group, &options).await;
    child.exited.cancel();
    child.died();
    drop(leash);
    let _ = tokio::time::timeout(LEFTOVERS, async {
        let _ = reading.await;
        for printing in printing {
            let _ = printing.await;
        }
    })
    .await;
    let error = verdict(&child, status, &tail);
    let written = tokio::time::timeout(LEFTOVERS, writing).await;
    let read = written.ok().and_then(Result::ok).unwrap_or(u64::MAX);
    let running = child.link.reached(read);
    if running > 0 || child.verdict().is_some() {
        tracing::warn!(
            runner = child.link.name,
            running,
            error.code = error.code.as_str(),
            "{}",
            error.message
        );
    }
    child.ended(error.clone(), running);
    child.link.fail_read(&error, read);
    child.gone.cancel();
}

/// Returns when the process has ended, by itself or by us.
async fn watch(
    child: &Child,
    process: &mut tokio::process::Child,
    group: Group,
    options: &RunnerOptions,
) -> Option<ExitStatus> {
    let done = async {
        child.leaving.cancelled().await;
        child.link.retired().await;
    };
    let mut done = std::pin::pin!(done);
    let mut frozen = std::pin::pin!(frozen(child, options.silent));
    let mut looks = tokio::time::interval(options.memory_interval);
    loop {
        tokio::select! {
            status = process.wait() => return status.ok(),
            () = child.condemned.notified() => break,
            error = &mut frozen => {
                child.condemn(error);
                break;
            }
            () = &mut done => {
                // Its input has ended, which makes it exit.
                let exited = tokio::time::timeout(options.term_grace, process.wait()).await;
                if let Ok(status) = exited {
                    return status.ok();
                }
                break;
            }
            _ = looks.tick() => look(child, options),
        }
    }
    group.end(process, options.term_grace).await;
    process.try_wait().ok().flatten()
}

/// Returns when it does nothing any more, with why: it was stopped from outside, or a handler blocks
/// it for good.
async fn frozen(child: &Child, silent: Option<Duration>) -> WorkError {
    let Some(silent) = silent else {
        return std::future::pending().await;
    };
    child.link.silence(silent).await;
    if child.is_stopped() {
        return child.stopped();
    }
    let (name, ms) = (&child.link.name, silent.as_millis());
    let message = format!("{name} was ended: it said nothing for {ms} ms, though it was asked");
    WorkError::new(ErrorCode::RunnerFrozen, message)
}

fn look(child: &Child, options: &RunnerOptions) {
    let Some(bytes) = rss_bytes(child.pid) else {
        return;
    };
    let over = |limit: u64| {
        let (held, limit) = (bytes >> 20, limit >> 20);
        format!(
            "{} holds {held} MiB of memory, more than {limit} MiB",
            child.link.name
        )
    };
    if bytes > options.memory_hard_bytes {
        let error = WorkError::new(ErrorCode::RunnerMemory, over(options.memory_hard_bytes));
        child.condemn(error);
    } else if bytes > options.memory_soft_bytes && child.is_open() {
        tracing::warn!("{}; it is replaced", over(options.memory_soft_bytes));
        child.retire();
    }
}

/// Why what still runs in the child has failed.
fn verdict(child: &Child, status: Option<ExitStatus>, stderr: &Tail) -> WorkError {
    if let Some(error) = child.verdict() {
        return error.clone();
    }
    stderr.tell(failure::died(&child.link.name, status))
}

/// Writes all waiting lines at once, until there are no more or the child stops reading. Returns the
/// number of bytes that the child has read: it did not begin the work after them.
async fn write(child: Arc<Child>, mut stdin: ChildStdin) -> u64 {
    let mut written = 0;
    let write = async {
        let mut bytes = Vec::new();
        while child.link.out.take(&mut bytes).await {
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                match stdin.write(rest).await {
                    Ok(count) if count > 0 => {
                        written += count as u64;
                        rest = &rest[count..];
                    }
                    ended => {
                        let error = ended.err().map(|error| error.to_string());
                        let error = error.unwrap_or_default();
                        return closed(&child, &format!("its input cannot be written: {error}"))
                            .await;
                    }
                }
            }
            bytes.clear();
            // One large message does not hold memory for ever.
            bytes.shrink_to(1 << 20);
        }
    };
    tokio::select! {
        () = child.exited.cancelled() => {}
        () = write => {}
    }
    let unread = rustix::io::ioctl_fionread(&stdin).unwrap_or(0);
    written.saturating_sub(unread)
}

async fn read(child: Arc<Child>, mut messages: pipe::Receiver) {
    let mut lines = Lines::new(child.link.limits.message_bytes);
    let mut bytes = vec![0; READ_BYTES];
    loop {
        let count = match messages.read(&mut bytes).await {
            Ok(0) | Err(_) => return closed(&child, "it closed its messages").await,
            Ok(count) => count,
        };
        child.link.note_received();
        lines.push(&bytes[..count]);
        while let Some(line) = lines.next_line() {
            let received = match line {
                Ok(line) => child.link.receive(line).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(error) = received {
                return child.condemn(failure::protocol(&child.link.name, error));
            }
        }
    }
}

/// A pipe that ends is the first sign of a death; without a death it is a fault of its own.
async fn closed(child: &Child, what: &str) {
    if tokio::time::timeout(LEFTOVERS, child.exited.cancelled())
        .await
        .is_err()
    {
        child.condemn(failure::protocol(&child.link.name, what));
    }
}
