//! Reads sources from one pipe and writes the translations to another.
//!
//! A message is its length in four bytes, the highest first, and JSON: a [`Source`] one way, and
//! `{"ok": JavaScript}` or `{"error": SyntaxError}` the other.

use std::{
    io::{self, Read, Write},
    panic::{self, AssertUnwindSafe},
    thread,
};

use serde::Serialize;

use crate::{JavaScript, Source, SyntaxError, translate};

/// Enough for nesting that people write, many times over.
const STACK_BYTES: usize = 64 << 20;
/// A longer message is not read.
const MESSAGE_BYTES: usize = 64 << 20;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Answer {
    Ok(JavaScript),
    Error(SyntaxError),
}

/// Answers until the input ends.
pub fn serve(
    mut input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> io::Result<()> {
    // A panic becomes an answer; what it prints is not read.
    panic::set_hook(Box::new(|_| {}));
    let work = move || -> io::Result<()> {
        while let Some(message) = read(&mut input)? {
            let answer = answer(&message);
            let text = serde_json::to_vec(&answer)?;
            let length = u32::try_from(text.len()).map_err(io::Error::other)?;
            output.write_all(&length.to_be_bytes())?;
            output.write_all(&text)?;
            output.flush()?;
        }
        Ok(())
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work)?;
    let ended = thread.join();
    ended.unwrap_or_else(|_| Err(io::Error::other("the translator panicked")))
}

fn answer(message: &[u8]) -> Answer {
    let source: Source = match serde_json::from_slice(message) {
        Ok(source) => source,
        Err(error) => return failed(format!("the request cannot be read: {error}")),
    };
    match panic::catch_unwind(AssertUnwindSafe(|| translate(source))) {
        Ok(Ok(code)) => Answer::Ok(code),
        Ok(Err(error)) => Answer::Error(error),
        Err(_) => failed("the TypeScript parser failed on this file".to_owned()),
    }
}

fn failed(message: String) -> Answer {
    Answer::Error(SyntaxError {
        message,
        line: 1,
        column: 1,
        shown: String::new(),
    })
}

fn read(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match input.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let length = u32::from_be_bytes(length) as usize;
    if length > MESSAGE_BYTES {
        return Err(io::Error::other("the request is too long"));
    }
    let mut message = vec![0; length];
    input.read_exact(&mut message)?;
    Ok(Some(message))
}
