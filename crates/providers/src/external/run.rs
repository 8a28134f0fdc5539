//! One executable from its start to its end.

use riverrun_types::{Code, ErrorCode};
use std::{ffi::OsString, process::ExitStatus, sync::Arc, time::Duration};

use parking_lot::Mutex;
use riverrun_contract::{Host, Invocation};
use riverrun_protocol::{CancelReason, Frame, LogLevel, Reply, WorkError};
use tokio::{io::AsyncWriteExt, process::Child};
use tokio_util::sync::CancellationToken;

use super::{
    ExternalOptions,
    input::Input,
    shebang,
    words::{MessageReader, Word},
};
use crate::{
    failure,
    process::{
        Group, HeldLine, LINE_BYTES, Line, Output, Printed, Spawned, Tail, group_rss_bytes, spawn,
    },
};

/// How long what is left in the pipes of an ended process is waited for.
const LEFTOVERS: Duration = Duration::from_millis(500);

pub(super) async fn run(
    command: &[OsString],
    options: &ExternalOptions,
    invocation: Invocation,
) -> Result<Reply, WorkError> {
    let failed = |error: std::io::Error| {
        let program = command.first().map(|program| program.to_string_lossy());
        let program = program.unwrap_or_default();
        let message = format!("{program} cannot be started: {error}");
        WorkError::new(ErrorCode::RunnerStart, message)
    };
    let input = Input::of(&invocation.invoke, options)
        .await
        .map_err(failed)?;
    let variables = input.variables.clone();
    let spawned = spawn(command, options.folder.as_deref(), variables, None).map_err(|error| {
        // The system says that the program is missing where it is its interpreter.
        let missing = (error.kind() == std::io::ErrorKind::NotFound)
            .then(|| shebang::missing(command, &input.variables));
        missing.flatten().unwrap_or_else(|| failed(error))
    })?;
    let ended = attend(spawned, input.text.clone(), options, invocation).await;
    match ended {
        // What `env` says when it finds no such program.
        Err(error) if error.code == "EXIT_127" => {
            Err(shebang::missing(command, &input.variables).unwrap_or(error))
        }
        ended => ended,
    }
}

async fn attend(
    spawned: Spawned,
    input: String,
    options: &ExternalOptions,
    invocation: Invocation,
) -> Result<Reply, WorkError> {
    let Spawned {
        mut child,
        group,
        leash: _leash,
        mut stdin,
        stdout,
        stderr,
        messages,
    } = spawned;
    let (held, said): (HeldLine, Tail) = Default::default();
    let output = |level| Output {
        level,
        printed: printed(invocation.host.clone()),
        tail: Tail::default(),
        line_bytes: LINE_BYTES,
        held: None,
        // What is kept of an attempt is bounded by its own limit.
        per_second: u32::MAX,
    };
    let stdout = Output {
        line_bytes: options.limits.result_bytes,
        held: Some(held.clone()),
        ..output(LogLevel::Info)
    }
    .read(stdout);
    let stderr = Output {
        tail: said.clone(),
        ..output(LogLevel::Warn)
    }
    .read(stderr);
    // It need not read its input.
    let feeding = async move {
        let _ = stdin.write_all(input.as_bytes()).await;
    };
    let word: Mutex<Option<Word>> = Mutex::default();
    let has_ended = CancellationToken::new();
    let listening = async {
        let line_bytes = options.limits.message_bytes;
        let listened =
            MessageReader::new(&invocation, &word).listen(messages, line_bytes, &has_ended);
        if let Err(error) = listened.await {
            *word.lock() = Some(Err(error));
            group.kill();
        }
    };
    let printing = async {
        let printing = std::pin::pin!(async {
            tokio::join!(stdout, stderr, feeding);
        });
        let too_late = async {
            has_ended.cancelled().await;
            tokio::time::sleep(LEFTOVERS).await;
        };
        tokio::select! {
            () = printing => {}
            () = too_late => {}
        }
    };
    let ending = async {
        let ended = end(&mut child, group, options, &invocation).await;
        group.kill();
        has_ended.cancel();
        ended
    };
    // What it asked for is done even if that takes longer than reading what it left.
    let ((status, why), (), ()) = tokio::join!(ending, printing, listening);
    let word = word.lock().take();
    settle(status, why, word, &held, &said, options, &invocation)
}

/// Waits for the end, or brings it about; then with why.
async fn end(
    child: &mut Child,
    group: Group,
    options: &ExternalOptions,
    invocation: &Invocation,
) -> (Option<ExitStatus>, Option<WorkError>) {
    let timeout_ms = invocation.invoke.timeout_ms;
    let why = tokio::select! {
        status = child.wait() => return (status.ok(), None),
        reason = invocation.cancel.cancelled() => match reason {
            CancelReason::Timeout => failure::timeout(timeout_ms.unwrap_or_default()),
            reason => failure::cancelled(reason),
        },
        () = crate::process::timer(timeout_ms) => failure::timeout(timeout_ms.unwrap_or_default()),
        error = too_large(group, options) => error,
    };
    group.end(child, options.cancel_grace).await;
    (child.try_wait().ok().flatten(), Some(why))
}

/// Returns when the group holds more memory than it may.
async fn too_large(group: Group, options: &ExternalOptions) -> WorkError {
    let limit = options.memory_bytes;
    let Some(id) = group.id().filter(|_| limit < u64::MAX) else {
        return std::future::pending().await;
    };
    loop {
        tokio::time::sleep(options.memory_interval).await;
        // On a thread of its own: it looks at every process of the system.
        let held = tokio::task::spawn_blocking(move || group_rss_bytes(id)).await;
        let held = held.unwrap_or(0);
        if held > limit {
            let (held, limit) = (held >> 20, limit >> 20);
            let message =
                format!("the executable holds {held} MiB of memory, more than {limit} MiB");
            return WorkError::new(ErrorCode::RunnerMemory, message);
        }
    }
}

fn printed(host: Arc<dyn Host>) -> Printed {
    Arc::new(move |level, message| {
        host.frame(Frame::Log {
            level,
            message,
            meta: None,
        });
    })
}

/// The last word and the exit code decide.
fn settle(
    status: Option<ExitStatus>,
    why: Option<WorkError>,
    word: Option<Word>,
    held: &HeldLine,
    said: &Tail,
    options: &ExternalOptions,
    invocation: &Invocation,
) -> Result<Reply, WorkError> {
    let held = held.lock().take();
    let printed = || {
        if let Some(line) = &held {
            invocation.host.frame(Frame::Log {
                level: LogLevel::Info,
                message: line.text().to_owned(),
                meta: None,
            });
        }
    };
    let limit = options.limits.result_bytes;
    let is_success = status.is_some_and(|status| status.success());
    let reply = match word {
        Some(Err(error)) => {
            printed();
            return Err(error);
        }
        _ if !is_success => {
            printed();
            return Err(why.unwrap_or_else(|| ended_badly(status, said)));
        }
        Some(Ok(reply)) => {
            printed();
            reply
        }
        None => Reply {
            value: match held {
                None => None,
                Some(Line::Json(value)) => Some(value),
                Some(Line::Broken { line, error }) => return Err(no_result(&line, &error)),
                Some(Line::Cut { bytes, .. }) => {
                    return Err(failure::result_too_large(bytes, limit));
                }
            },
            ..Reply::default()
        },
    };
    match reply.value.as_ref().filter(|value| value.bytes() > limit) {
        Some(value) => Err(failure::result_too_large(value.bytes(), limit)),
        None => Ok(reply),
    }
}

/// Of a last line that was meant to be the result.
fn no_result(line: &str, error: &str) -> WorkError {
    let shown: String = line.chars().take(100).collect();
    let message = format!("the last line that was printed is broken JSON: {error}: {shown}");
    WorkError::new(ErrorCode::OutputInvalid, message).permanent()
}

fn ended_badly(status: Option<ExitStatus>, said: &Tail) -> WorkError {
    use std::os::unix::process::ExitStatusExt;
    let code = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => Code::from(format!("EXIT_{code}")),
        Some((None, Some(signal))) => Code::from(format!("EXIT_{}", failure::signal_name(signal))),
        _ => ErrorCode::RunnerDied.into(),
    };
    let shown = status.map_or_else(|| "an unknown status".to_owned(), failure::exit);
    said.tell(WorkError::new(
        code,
        format!("the executable ended with {shown}"),
    ))
}
