//! Starts a process in a group of its own, with a pipe for its messages at fd 3 and, for runners that
//! load TypeScript, a socket at fd 4.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::Stdio,
};

use command_fds::{CommandFdExt, FdMapping};
use tokio::{
    net::unix::pipe,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use super::{Group, Leash};

/// Room in the pipes of messages, so that a busy side is not woken for every few of them.
const PIPE_BYTES: usize = 256 << 10;

/// Where a process finds the socket that it was given.
pub(crate) const SOCKET_FD: i32 = 4;

pub(crate) struct Spawned {
    /// Killed when it is dropped.
    pub child: Child,
    pub group: Group,
    /// Whatever the process has started ends with this.
    pub leash: Leash,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// What the process writes to fd 3.
    pub messages: pipe::Receiver,
}

pub(crate) fn spawn(
    command: &[OsString],
    folder: Option<&Path>,
    variables: BTreeMap<OsString, OsString>,
    socket: Option<OwnedFd>,
) -> io::Result<Spawned> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
    let (sender, messages) = pipe::pipe()?;
    let mut mappings = vec![FdMapping {
        parent_fd: sender.into_blocking_fd()?,
        child_fd: 3,
    }];
    mappings.extend(socket.map(|parent_fd| FdMapping {
        parent_fd,
        child_fd: SOCKET_FD,
    }));
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .fd_mappings(mappings)
        .map_err(io::Error::other)?;
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let stdin = child.stdin.take().ok_or_else(missing)?;
    // Without more room it is only slower.
    let _ = rustix::pipe::fcntl_setpipe_size(&stdin, PIPE_BYTES);
    let _ = rustix::pipe::fcntl_setpipe_size(&messages, PIPE_BYTES);
    let group = Group::of(&child);
    Ok(Spawned {
        group,
        leash: Leash::new(group),
        stdin,
        stdout: child.stdout.take().ok_or_else(missing)?,
        stderr: child.stderr.take().ok_or_else(missing)?,
        messages,
        child,
    })
}

/// A program by its name in the folders of `PATH`, or by its path.
pub(crate) fn find_program(name: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    std::env::split_paths(path?)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
