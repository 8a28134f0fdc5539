//! Evaluates expressions: natively at once, or in QuickJS elsewhere.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use crate::expr::{Arg, Evaluated};
use crate::isolation::Kind;
#[cfg(unix)]
use crate::processes::Processes;
use crate::threads::Threads;
use crate::{Error, Expr, Isolation, Limits, Stats};

/// Evaluates expressions within [`Limits`]. Never runs JavaScript on the caller's thread.
pub struct Sandbox {
    backend: Backend,
}

enum Backend {
    Threads(Threads),
    #[cfg(unix)]
    Processes(Processes),
}

impl Sandbox {
    /// Evaluates on threads of this process; fails only if the system refuses one. An expression
    /// that spins inside a built-in keeps its thread, and a few of those exhaust the sandbox: use
    /// [`Sandbox::isolated`] where others write the expressions.
    pub fn new(limits: Limits) -> io::Result<Sandbox> {
        Self::isolated(limits, Isolation::threads())
    }

    /// Evaluates where `isolation` says. Processes are started when the first expression needs one.
    pub fn isolated(limits: Limits, isolation: Isolation) -> io::Result<Sandbox> {
        let backend = match isolation.0 {
            Kind::Threads => Backend::Threads(Threads::start(limits)?),
            #[cfg(unix)]
            Kind::Processes(program) => Backend::Processes(Processes::new(limits, program)),
        };
        Ok(Sandbox { backend })
    }

    /// Evaluates; `Ok(None)` is `undefined`. Native expressions are answered without waiting.
    /// Dropping the future gives the evaluation up.
    pub async fn eval(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        if let Some(answer) = expr.eval_native(args) {
            return answer;
        }
        match &self.backend {
            Backend::Threads(threads) => threads.eval(expr, args).await,
            #[cfg(unix)]
            Backend::Processes(processes) => processes.eval(expr, args).await,
        }
    }

    /// As [`Sandbox::eval`], for threads outside an async runtime.
    pub fn eval_blocking(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        block_on(self.eval(expr, args))
    }

    /// Proves that expressions can be evaluated, if the last ones could not. Costs nothing as long
    /// as nothing is known to be wrong: an idle server starts no process for it.
    pub async fn check(&self) -> Result<(), Error> {
        let Some(reason) = self.trouble() else {
            return Ok(());
        };
        let probe = Expr::compile("[1].map(n => n)")?;
        self.eval(&probe, &[]).await?;
        match self.trouble() {
            None => Ok(()),
            Some(_) => Err(Error::Unavailable { reason }),
        }
    }

    /// Counts since the start.
    pub fn stats(&self) -> Stats {
        match &self.backend {
            Backend::Threads(threads) => Stats {
                killed: threads.abandoned(),
                ..Stats::default()
            },
            #[cfg(unix)]
            Backend::Processes(processes) => processes.stats(),
        }
    }

    fn trouble(&self) -> Option<String> {
        match &self.backend {
            Backend::Threads(threads) => threads.trouble(),
            #[cfg(unix)]
            Backend::Processes(processes) => processes.trouble(),
        }
    }

    #[cfg(test)]
    fn queued(&self) -> usize {
        match &self.backend {
            Backend::Threads(threads) => threads.queued(),
            #[cfg(unix)]
            Backend::Processes(_) => 0,
        }
    }
}

/// Waits for a future on a thread that nothing else needs meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[cfg(test)]
mod tests;
