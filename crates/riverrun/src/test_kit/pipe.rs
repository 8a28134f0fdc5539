//! Lines from and to the test process.

use std::io::{BufRead, Write};

use riverrun_protocol::MESSAGE_BYTES;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::request::{Answer, Play, Sleep};

/// What the test process says.
pub enum Asked {
    Play(Box<Play>),
    Sleep(Sleep),
    Opened {
        answers: Vec<Answer>,
    },
    /// A line of the worker protocol.
    Worker(String),
}

/// What a line that steers is of.
#[derive(Deserialize)]
struct Kind {
    kit: String,
}

#[derive(Deserialize)]
struct Opened {
    answers: Vec<Answer>,
}

pub struct Pipe(UnboundedReceiver<String>);

/// Where lines to the test process are put.
#[derive(Clone)]
pub struct Out(UnboundedSender<String>);

impl Pipe {
    /// Reads and writes on threads of their own, so that neither waits for the other.
    pub fn open() -> (Self, Out) {
        let (said, lines) = mpsc::unbounded_channel();
        let (say, mut to_say) = mpsc::unbounded_channel::<String>();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let Ok(line) = line else { return };
                // A line of the worker protocol has its own limit, which is smaller than this.
                if line.len() > 8 * MESSAGE_BYTES || said.send(line).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            let mut stdout = std::io::stdout().lock();
            while let Some(line) = to_say.blocking_recv() {
                let mut written = writeln!(stdout, "{line}");
                while let (Ok(()), Ok(line)) = (&written, to_say.try_recv()) {
                    written = writeln!(stdout, "{line}");
                }
                if written.and_then(|()| stdout.flush()).is_err() {
                    return;
                }
            }
        });
        (Self(lines), Out(say))
    }

    /// Nothing when the test process is gone, or said what is no message.
    pub async fn next(&mut self) -> Option<Asked> {
        let line = self.0.recv().await?;
        if !line.starts_with(r#"{"kit":"#) {
            return Some(Asked::Worker(line));
        }
        match steering(&line) {
            Ok(asked) => asked,
            Err(error) => {
                eprintln!("riverrun test-kit: what the test kit said is no message: {error}");
                None
            }
        }
    }
}

/// A tag inside would keep JSON from being taken as its own text, so the line is read twice.
fn steering(line: &str) -> serde_json::Result<Option<Asked>> {
    let Kind { kit } = serde_json::from_str(line)?;
    Ok(match kit.as_str() {
        "play" => Some(Asked::Play(serde_json::from_str(line)?)),
        "sleep" => Some(Asked::Sleep(serde_json::from_str(line)?)),
        "opened" => {
            let Opened { answers } = serde_json::from_str(line)?;
            Some(Asked::Opened { answers })
        }
        _ => None,
    })
}

impl Out {
    pub fn send(&self, message: &impl Serialize) {
        if let Ok(line) = serde_json::to_string(message) {
            self.line(line);
        }
    }

    /// Lines are dropped once the test process has closed the pipe.
    pub fn line(&self, line: String) {
        let _ = self.0.send(line);
    }
}
