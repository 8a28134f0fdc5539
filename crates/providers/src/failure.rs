//! Errors for work that ended without an answer of its own.

use riverrun_types::ErrorCode;
use std::{fmt::Display, process::ExitStatus};

use riverrun_protocol::{CancelReason, Invoke, WorkError};
use rustix::process::Signal;

pub(crate) fn timeout(timeout_ms: u64) -> WorkError {
    WorkError::new(
        ErrorCode::Timeout,
        format!("did not end within {timeout_ms} ms"),
    )
}

pub(crate) fn cancelled(reason: CancelReason) -> WorkError {
    let why = match reason {
        CancelReason::User => "it was cancelled",
        CancelReason::Timeout => "its time was over",
        CancelReason::Shutdown => "the server stops",
        CancelReason::LeaseLost => "its lease is gone",
        CancelReason::ClientGone => "the client has left",
    };
    WorkError::new(ErrorCode::Cancelled, format!("stopped because {why}"))
}

/// How an invocation ends that was stopped by force.
pub(crate) fn stopped(reason: CancelReason, timeout_ms: Option<u64>, grace_ms: u64) -> WorkError {
    match reason {
        CancelReason::Timeout => WorkError::new(
            ErrorCode::RunnerHung,
            format!(
                "did not end within {} ms, nor within {grace_ms} ms of being asked to stop",
                timeout_ms.unwrap_or_default()
            ),
        ),
        _ => cancelled(reason),
    }
}

pub(crate) fn protocol(who: &str, what: impl Display) -> WorkError {
    WorkError::new(
        ErrorCode::ProtocolError,
        format!("{who} broke the protocol: {what}"),
    )
}

pub(crate) fn result_too_large(bytes: usize, limit: usize) -> WorkError {
    let message = format!("the result has {bytes} bytes, more than the {limit} that it may have");
    WorkError::new(ErrorCode::ResultTooLarge, message).permanent()
}

pub(crate) fn input_too_large(bytes: usize, limit: usize) -> WorkError {
    let message = format!("the input has {bytes} bytes, more than the {limit} that fit a message");
    WorkError::new(ErrorCode::InputTooLarge, message).permanent()
}

/// Why an invocation does not fit a message.
pub(crate) fn invocation_too_large(invoke: &Invoke, bytes: usize, limit: usize) -> WorkError {
    let journal = invoke.journal_bytes();
    if journal <= bytes / 2 {
        return input_too_large(bytes, limit);
    }
    let message = format!(
        "the journal has {journal} bytes, and an invocation with all that belongs to it at most {limit}"
    );
    WorkError::new(ErrorCode::JournalTooLarge, message).permanent()
}

/// The program that runs the handler was lost, which is not the handler's failure and costs no
/// attempt.
pub(crate) fn lost(message: String) -> WorkError {
    WorkError::new(ErrorCode::WorkerLost, message)
}

pub(crate) fn is_loss(error: &WorkError) -> bool {
    error.code == ErrorCode::WorkerLost && error.retriable.is_none()
}

/// An error that a handler threw. It may have been that of a loss elsewhere, such as of a call.
pub(crate) fn thrown(mut error: WorkError) -> WorkError {
    if is_loss(&error) {
        error.retriable = Some(true);
    }
    error
}

/// How an invocation ends whose runner ended by itself. A signal that only others send (a deploy,
/// an operator, the system short of memory) is a loss; an exit code or the signal of a crash is the
/// code's own doing.
pub(crate) fn died(runner: &str, status: Option<ExitStatus>) -> WorkError {
    use std::os::unix::process::ExitStatusExt;
    let outside = [Signal::HUP, Signal::INT, Signal::KILL, Signal::TERM];
    let signal = status.and_then(|status| status.signal());
    let is_outside = signal.is_some_and(|signal| outside.iter().any(|own| own.as_raw() == signal));
    let status = status.map_or_else(|| "an unknown status".to_owned(), exit);
    let message = format!("{runner} ended with {status}");
    match is_outside {
        true => lost(message),
        false => WorkError::new(ErrorCode::RunnerDied, message),
    }
}

/// `exit code 3`, `signal 9 (SIGKILL)`.
pub(crate) fn exit(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal} ({})", signal_name(signal)),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// Its usual name, or its number where it has none.
pub(crate) fn signal_name(signal: i32) -> String {
    let known = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = known
        .into_iter()
        .find(|(known, _)| known.as_raw() == signal);
    name.map_or_else(|| format!("SIG{signal}"), |(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_that_others_kill_is_a_loss_and_one_that_crashes_is_not() {
        use std::os::unix::process::ExitStatusExt;
        let code = |raw| died("node runner 1", Some(ExitStatus::from_raw(raw))).code;
        for signal in [1, 2, 9, 15] {
            assert_eq!(code(signal), ErrorCode::WorkerLost, "{signal}");
        }
        for raw in [4, 6, 7, 8, 11, 13, 0, 1 << 8, 137 << 8] {
            assert_eq!(code(raw), ErrorCode::RunnerDied, "{raw}");
        }
        assert_eq!(died("node runner 1", None).code, ErrorCode::RunnerDied);
    }

    #[test]
    fn signals_have_their_names() {
        for (signal, name) in [
            (9, "SIGKILL"),
            (15, "SIGTERM"),
            (11, "SIGSEGV"),
            (200, "SIG200"),
        ] {
            assert_eq!(signal_name(signal), name);
        }
    }
}
