//! The main loop of a child: reads batches of evaluations, executes them, answers each.

use std::collections::HashMap;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::exit;

use super::wire::{self, Request};
use crate::realm::Engine;
use crate::{Error, Expr, Limits, syntax};

/// The first argument of a program that is to be a child.
pub(super) const CHILD_ARGUMENT: &str = "__expressions";

/// A buffer that was larger than this is given back after its batch.
const KEPT_BYTES: usize = 1 << 20;

/// Whether this process was started to evaluate expressions.
pub(crate) fn is_child() -> bool {
    std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == CHILD_ARGUMENT)
        && std::env::args_os().len() == 2
}

/// Evaluates for the parent until the parent ends.
pub(crate) fn serve() -> ! {
    match start() {
        // Standard input carries no data and closes when the parent ends. This thread waits for
        // that, because the other thread may be stuck in an evaluation.
        Ok(()) => {
            let mut rest = [0; 64];
            let mut stdin = io::stdin().lock();
            while stdin.read(&mut rest).is_ok_and(|read| read > 0) {}
            exit(0)
        }
        Err(_) => exit(1),
    }
}

fn start() -> io::Result<()> {
    let socket = io::stdout().as_fd().try_clone_to_owned()?;
    let mut socket = BufReader::new(UnixStream::from(socket));
    let limits = wire::read_limits(&mut socket)?;
    restrain(&limits);
    let stack = limits.stack_bytes.saturating_add(1 << 20);
    let evaluate = move || {
        let ended = run(socket, limits);
        exit(i32::from(ended.is_err()))
    };
    // The engine counts its own stack; the rest is for the frames around it.
    std::thread::Builder::new()
        .stack_size(stack)
        .spawn(evaluate)?;
    Ok(())
}

/// The engine counts what it allocates. This bounds whatever it does not count, and what this
/// process could allocate if the engine were broken.
fn restrain(limits: &Limits) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let at_most = |bytes: u64| Rlimit {
        current: Some(bytes),
        maximum: Some(bytes),
    };
    // A system that refuses leaves the engine's own limit.
    let _ = setrlimit(Resource::Core, at_most(0));
    if let Some(mapped) = mapped_bytes() {
        let more = limits.memory_bytes.saturating_add(limits.output_bytes);
        let more = (more as u64).saturating_mul(4).saturating_add(1 << 30);
        let _ = setrlimit(Resource::As, at_most(mapped.saturating_add(more)));
    }
}

/// The address space that the process has now; known on Linux.
fn mapped_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split(' ').next()?.parse().ok()?;
    Some(pages.saturating_mul(rustix::param::page_size() as u64))
}

fn run(mut socket: BufReader<UnixStream>, limits: Limits) -> io::Result<()> {
    let mut answers = socket.get_ref().try_clone()?;
    let mut engine = Engine::new(limits);
    let warm = engine.warm();
    warm.map_err(|error| io::Error::other(error.to_string()))?;
    answers.write_all(&wire::greeting())?;
    let mut sources = HashMap::new();
    let mut frame = Vec::new();
    loop {
        wire::read_frame(&mut socket, &mut frame)?;
        for request in wire::requests(&frame) {
            match request? {
                Request::Define { id, source } => {
                    sources.insert(id, Expr::checked_elsewhere(id, source));
                }
                Request::Forget => sources.clear(),
                Request::Eval { id, args } => {
                    let answer = match sources.get(&id) {
                        Some(expr) => engine.eval(expr, &args),
                        None => Err(Error::Closed),
                    };
                    answers.write_all(&wire::answer_frame(&answer)?)?;
                    engine.renew_if_spent();
                }
                Request::Check { id } => {
                    let answer = match sources.get(&id) {
                        Some(expr) => syntax::check(expr.source()).map(|()| None),
                        None => Err(Error::Closed),
                    };
                    answers.write_all(&wire::answer_frame(&answer)?)?;
                }
            }
        }
        if frame.capacity() > KEPT_BYTES {
            frame = Vec::new();
        }
    }
}
