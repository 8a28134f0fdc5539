//! Translates TypeScript for runners, in a child process that may die.
//!
//! A Node runner asks on a socket (fd 4) and waits, because its loader has to answer synchronously;
//! so every request is answered, whatever becomes of the child. The child is started by the first
//! request and ends when there was none for a while.

use std::{ffi::OsString, fmt, io, process::Stdio, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::UnixStream,
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
    time::{Instant, sleep_until, timeout},
};

/// What a message may have. A runner refuses larger files before it asks.
const MESSAGE_BYTES: usize = 64 << 20;
/// How long one file may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// The child ends after this long without a request.
const IDLE: Duration = Duration::from_secs(10);

/// The program that translates TypeScript: it reads requests on its standard input and answers on its
/// standard output, each a length in four bytes and JSON. Clones share its process.
#[derive(Clone)]
pub struct Translator(Arc<Shared>);

struct Shared {
    command: Vec<OsString>,
    child: Mutex<Option<Running>>,
}

struct Running {
    _child: Child,
    stdin: ChildStdin,
    stdout: ChildStdout,
    used: Instant,
}

impl fmt::Debug for Translator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Translator({:?})", self.0.command)
    }
}

impl Translator {
    /// `command` is the program and its arguments.
    pub fn new(command: Vec<OsString>) -> Self {
        Self(Arc::new(Shared {
            command,
            child: Mutex::default(),
        }))
    }

    /// Answers a runner's requests until it closes the socket.
    pub(crate) async fn serve(self, mut socket: UnixStream) {
        while let Ok(request) = read(&mut socket).await {
            let answer = self.translate(&request).await;
            if write(&mut socket, &answer).await.is_err() {
                return;
            }
        }
    }

    async fn translate(&self, request: &[u8]) -> Vec<u8> {
        let mut child = self.0.child.lock().await;
        match timeout(PATIENCE, self.ask(&mut child, request)).await {
            Ok(Ok(answer)) => answer,
            // One that failed is not asked again.
            Ok(Err(error)) => {
                *child = None;
                failed(&format!("the translator of TypeScript ended: {error}"))
            }
            Err(_) => {
                *child = None;
                let seconds = PATIENCE.as_secs();
                failed(&format!("translating it took more than {seconds} s"))
            }
        }
    }

    async fn ask(&self, child: &mut Option<Running>, request: &[u8]) -> io::Result<Vec<u8>> {
        let running = match child {
            Some(running) => running,
            None => {
                let running = child.insert(self.start()?);
                tokio::spawn(end_when_idle(Arc::downgrade(&self.0)));
                running
            }
        };
        write(&mut running.stdin, request).await?;
        let answer = read(&mut running.stdout).await?;
        running.used = Instant::now();
        Ok(answer)
    }

    fn start(&self) -> io::Result<Running> {
        let (program, arguments) =
            self.0.command.split_first().ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "the command is empty")
            })?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        Ok(Running {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
            used: Instant::now(),
            _child: child,
        })
    }
}

async fn end_when_idle(shared: std::sync::Weak<Shared>) {
    loop {
        let Some(used) = ({
            let Some(shared) = shared.upgrade() else {
                return;
            };
            let mut child = shared.child.lock().await;
            let used = child.as_ref().map(|running| running.used);
            match used {
                Some(used) if used.elapsed() >= IDLE => {
                    *child = None;
                    None
                }
                used => used,
            }
        }) else {
            return;
        };
        sleep_until(used + IDLE).await;
    }
}

/// The answer to a request that the child could not answer.
fn failed(message: &str) -> Vec<u8> {
    serde_json::json!({ "failed": message })
        .to_string()
        .into_bytes()
}

async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let length = from.read_u32().await? as usize;
    if length > MESSAGE_BYTES {
        return Err(io::Error::other("a message is too long"));
    }
    let mut message = vec![0; length];
    from.read_exact(&mut message).await?;
    Ok(message)
}

async fn write(to: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> io::Result<()> {
    let length = u32::try_from(message.len()).map_err(io::Error::other)?;
    to.write_u32(length).await?;
    to.write_all(message).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers a request with its own text, and dies of one that says so.
    const ECHO: &str = r#"
const { readSync, writeSync } = require('node:fs')
const take = (length) => {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length;) {
    const count = readSync(0, bytes, at, length - at)
    if (!count) process.exit(0)
    at += count
  }
  return bytes
}
for (;;) {
  const text = take(take(4).readUInt32BE())
  if (text.toString() === 'die') process.exit(3)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(text.length)
  writeSync(1, Buffer.concat([length, text]))
}"#;

    fn echo() -> Translator {
        Translator::new(["node", "-e", ECHO].map(OsString::from).to_vec())
    }

    async fn ask(socket: &mut UnixStream, text: &str) -> String {
        write(socket, text.as_bytes()).await.unwrap();
        String::from_utf8(read(socket).await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_translator_that_dies_answers_and_is_replaced() {
        let translator = echo();
        let (mut runner, server) = UnixStream::pair().unwrap();
        tokio::spawn(translator.serve(server));
        assert_eq!(ask(&mut runner, "one").await, "one");
        let died = ask(&mut runner, "die").await;
        assert!(died.starts_with(r#"{"failed":"the translator"#), "{died}");
        assert_eq!(ask(&mut runner, "two").await, "two");
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_an_answer() {
        let translator = Translator::new(vec!["/nowhere/at/all".into()]);
        let (mut runner, server) = UnixStream::pair().unwrap();
        tokio::spawn(translator.serve(server));
        let answer = ask(&mut runner, "one").await;
        assert!(answer.contains("failed"), "{answer}");
    }
}
