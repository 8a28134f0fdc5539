//! Where QuickJS runs: on threads of this process, or in processes of its own.

#[cfg(unix)]
use std::path::PathBuf;

/// Where a [`Sandbox`](crate::Sandbox) evaluates what is not native.
#[derive(Debug, Clone)]
pub struct Isolation(pub(crate) Kind);

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Threads,
    /// The program to start.
    #[cfg(unix)]
    Processes(PathBuf),
}

impl Isolation {
    /// Threads of this process: nothing has to be prepared, and an expression that spins inside a
    /// built-in keeps its thread for ever.
    pub fn threads() -> Isolation {
        Isolation(Kind::Threads)
    }

    /// Child processes, which are killed when an expression does not end in time. A child is this
    /// very program, started again: there this function evaluates expressions and does not return.
    /// **Call it at the start of `main`**, before anything else is done.
    ///
    /// Systems other than Unix have threads only.
    pub fn processes() -> Isolation {
        #[cfg(unix)]
        {
            if crate::processes::is_child() {
                crate::processes::serve();
            }
            match program() {
                Ok(program) => Isolation(Kind::Processes(program)),
                Err(error) => {
                    tracing::warn!(%error, "this program has no path: expressions run on threads");
                    Isolation::threads()
                }
            }
        }
        #[cfg(not(unix))]
        Isolation::threads()
    }

    /// Child processes of another program, whose `main` begins with [`Isolation::processes`]. For
    /// tests: a program that does not begin like this would do whatever else it does.
    #[doc(hidden)]
    #[cfg(unix)]
    pub fn program(path: impl Into<PathBuf>) -> Isolation {
        Isolation(Kind::Processes(path.into()))
    }
}

impl Default for Isolation {
    fn default() -> Isolation {
        Isolation::threads()
    }
}

/// This program. Linux finds it after its file was replaced or removed, as an upgrade does.
#[cfg(unix)]
fn program() -> std::io::Result<PathBuf> {
    let link = PathBuf::from("/proc/self/exe");
    match link.exists() {
        true => Ok(link),
        false => std::env::current_exe(),
    }
}
