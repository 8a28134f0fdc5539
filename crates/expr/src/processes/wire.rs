//! What a sandbox and its children say to each other.
//!
//! Everything is a frame: its length in four bytes, then its bytes. Numbers are little-endian, texts
//! are UTF-8 behind their length. The parent begins with a frame of limits and the child answers
//! `greeting`; then the parent sends frames of requests, and the child answers each evaluation with
//! one frame, in order. Both are the same version of the same program, so nothing here is kept
//! compatible; the greeting's number guards against a program that was replaced meanwhile.

use std::io::{self, ErrorKind, Read};

use crate::realm::Text;
use crate::{Arg, Error, Limits};

/// Changes with everything in this file.
const VERSION: u32 = 1;

const DEFINE: u8 = 1;
const FORGET: u8 = 2;
const EVAL: u8 = 3;
const CHECK: u8 = 4;

const UNDEFINED: u8 = 0;
const JSON: u8 = 1;
const THROWN: u8 = 2;
const TIMEOUT: u8 = 3;
const MEMORY: u8 = 4;
const TOO_LARGE: u8 = 5;
const NOT_JSON: u8 = 6;
const ASYNC: u8 = 7;
const CLOSED: u8 = 8;
const SYNTAX: u8 = 9;

fn invalid(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

// What the parent writes.

pub(super) fn limits_frame(limits: &Limits) -> Vec<u8> {
    let numbers = [
        limits.memory_bytes as u64,
        limits.time_ms,
        limits.stack_bytes as u64,
        limits.output_bytes as u64,
    ];
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    let bytes: Vec<u8> = bytes.collect();
    let length = (bytes.len() as u32).to_le_bytes();
    [&length[..], &bytes].concat()
}

/// One evaluation, as it stands in a batch.
pub(super) fn eval_request(id: u64, args: &[Arg<'_>]) -> Result<Vec<u8>, Error> {
    let bytes: usize = args
        .iter()
        .map(|arg| arg.name.len() + arg.json.len() + 8)
        .sum();
    let too_large = || Error::TooLarge {
        what: "input",
        bytes,
        limit_bytes: MAX_FRAME_BYTES,
    };
    if bytes > MAX_FRAME_BYTES / 2 {
        return Err(too_large());
    }
    let mut request = Vec::with_capacity(bytes + 10);
    request.push(EVAL);
    request.extend_from_slice(&id.to_le_bytes());
    request.push(u8::try_from(args.len()).map_err(|_| too_large())?);
    for arg in args {
        put_text(&mut request, arg.name);
        put_text(&mut request, arg.json);
    }
    Ok(request)
}

/// Whether a source parses; answered with `undefined` or with what is wrong.
pub(super) fn check_request(id: u64) -> Vec<u8> {
    let mut request = vec![CHECK];
    request.extend_from_slice(&id.to_le_bytes());
    request
}

/// The frame limit is far below what four bytes can say.
fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(&(text.len() as u32).to_le_bytes());
    to.extend_from_slice(text.as_bytes());
}

/// The longest frame.
const MAX_FRAME_BYTES: usize = 1 << 30;

/// Requests that are sent together.
pub(super) struct Batch(Vec<u8>);

impl Default for Batch {
    fn default() -> Batch {
        // Its length comes last.
        Batch(vec![0; 4])
    }
}

impl Batch {
    pub(super) fn define(&mut self, id: u64, source: &str) {
        self.0.push(DEFINE);
        self.0.extend_from_slice(&id.to_le_bytes());
        put_text(&mut self.0, source);
    }

    pub(super) fn forget(&mut self) {
        self.0.push(FORGET);
    }

    pub(super) fn eval(&mut self, request: &[u8]) {
        self.0.extend_from_slice(request);
    }

    pub(super) fn finish(self) -> io::Result<Vec<u8>> {
        frame(self.0)
    }
}

/// Fills the length in, for which four bytes were left at the front.
fn frame(mut bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let length = bytes.len() - 4;
    if length > MAX_FRAME_BYTES {
        return Err(invalid("a frame is too long"));
    }
    bytes[..4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(bytes)
}

// What the child writes.

pub(super) fn greeting() -> Vec<u8> {
    [4u32.to_le_bytes(), VERSION.to_le_bytes()].concat()
}

pub(super) fn answer_frame(answer: &Text) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    let mut put = |kind: u8, text: &str| {
        bytes.push(kind);
        bytes.extend_from_slice(text.as_bytes());
    };
    match answer {
        Ok(None) => put(UNDEFINED, ""),
        Ok(Some(json)) => put(JSON, json),
        Err(Error::Thrown { message }) => put(THROWN, message),
        Err(Error::Syntax {
            message,
            line,
            column,
        }) => put(SYNTAX, &format!("{line} {column} {message}")),
        Err(Error::Timeout { ms }) => put(TIMEOUT, &ms.to_string()),
        Err(Error::Memory { bytes }) => put(MEMORY, &bytes.to_string()),
        Err(Error::TooLarge {
            bytes, limit_bytes, ..
        }) => put(TOO_LARGE, &format!("{bytes} {limit_bytes}")),
        Err(Error::NotJson { message }) => put(NOT_JSON, message),
        Err(Error::Async) => put(ASYNC, ""),
        Err(Error::Closed | Error::Crashed | Error::Unavailable { .. }) => put(CLOSED, ""),
    }
    frame(bytes)
}

// What the child reads.

pub(super) fn read_limits(from: &mut impl Read) -> io::Result<Limits> {
    let mut frame = Vec::new();
    read_frame(from, &mut frame)?;
    let mut numbers = Cursor(&frame);
    let mut size = || {
        numbers
            .u64()
            .map(|n| usize::try_from(n).unwrap_or(usize::MAX))
    };
    Ok(Limits {
        memory_bytes: size()?,
        time_ms: size()? as u64,
        stack_bytes: size()?,
        output_bytes: size()?,
        ..Limits::default()
    })
}

pub(super) enum Request<'a> {
    Define {
        id: u64,
        source: &'a str,
    },
    /// All sources.
    Forget,
    Eval {
        id: u64,
        args: Vec<Arg<'a>>,
    },
    Check {
        id: u64,
    },
}

/// The requests of a frame, up to the first that cannot be read.
pub(super) fn requests(frame: &[u8]) -> impl Iterator<Item = io::Result<Request<'_>>> {
    let mut cursor = Cursor(frame);
    std::iter::from_fn(move || (!cursor.0.is_empty()).then(|| cursor.request()))
}

// What the parent reads.

pub(super) fn read_greeting(from: &mut impl Read) -> io::Result<()> {
    let mut frame = Vec::new();
    read_frame(from, &mut frame)?;
    match Cursor(&frame).u32()? {
        VERSION => Ok(()),
        _ => Err(invalid("the program was replaced by another version")),
    }
}

pub(super) fn read_answer(from: &mut impl Read) -> io::Result<Text> {
    let length = read_length(from)?;
    let mut kind = [0];
    from.read_exact(&mut kind)?;
    let length = length.checked_sub(1);
    let mut text = vec![0; length.ok_or_else(|| invalid("an empty answer"))?];
    from.read_exact(&mut text)?;
    let text = String::from_utf8(text).map_err(|_| invalid("an answer is not text"))?;
    let number = |text: &str| text.parse().unwrap_or(0);
    Ok(match kind[0] {
        UNDEFINED => Ok(None),
        JSON => Ok(Some(text)),
        THROWN => Err(Error::Thrown { message: text }),
        SYNTAX => {
            let (line, rest) = text.split_once(' ').unwrap_or_default();
            let (column, message) = rest.split_once(' ').unwrap_or_default();
            Err(Error::Syntax {
                message: message.to_owned(),
                line: line.parse().unwrap_or(1),
                column: column.parse().unwrap_or(1),
            })
        }
        TIMEOUT => Err(Error::Timeout {
            ms: text.parse().unwrap_or(0),
        }),
        MEMORY => Err(Error::Memory {
            bytes: number(&text),
        }),
        TOO_LARGE => {
            let (bytes, limit) = text.split_once(' ').unwrap_or_default();
            Err(Error::TooLarge {
                what: "result",
                bytes: number(bytes),
                limit_bytes: number(limit),
            })
        }
        NOT_JSON => Err(Error::NotJson { message: text }),
        ASYNC => Err(Error::Async),
        CLOSED => Err(Error::Closed),
        _ => return Err(invalid("an unknown answer")),
    })
}

pub(super) fn read_frame(from: &mut impl Read, frame: &mut Vec<u8>) -> io::Result<()> {
    let length = read_length(from)?;
    frame.clear();
    frame.resize(length, 0);
    from.read_exact(frame)
}

fn read_length(from: &mut impl Read) -> io::Result<usize> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    match u32::from_le_bytes(length) as usize {
        length if length > MAX_FRAME_BYTES => Err(invalid("a frame is too long")),
        length => Ok(length),
    }
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn bytes(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let split = self.0.split_at_checked(count);
        let (bytes, rest) = split.ok_or_else(|| invalid("a frame is too short"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let bytes = self.bytes(N)?;
        bytes
            .try_into()
            .map_err(|_| invalid("a frame is too short"))
    }

    fn u32(&mut self) -> io::Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> io::Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> io::Result<&'a str> {
        let length = self.u32()? as usize;
        let bytes = self.bytes(length)?;
        std::str::from_utf8(bytes).map_err(|_| invalid("a text is not UTF-8"))
    }

    fn request(&mut self) -> io::Result<Request<'a>> {
        let [kind] = self.array()?;
        match kind {
            DEFINE => Ok(Request::Define {
                id: self.u64()?,
                source: self.text()?,
            }),
            FORGET => Ok(Request::Forget),
            CHECK => Ok(Request::Check { id: self.u64()? }),
            EVAL => {
                let id = self.u64()?;
                let [count] = self.array()?;
                let args = (0..count).map(|_| Ok(Arg::new(self.text()?, self.text()?)));
                Ok(Request::Eval {
                    id,
                    args: args.collect::<io::Result<_>>()?,
                })
            }
            _ => Err(invalid("an unknown request")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_arrive_as_they_were_sent() {
        let mut batch = Batch::default();
        batch.define(7, "input.a + 1");
        let args = [Arg::new("input", r#"{"a": "é"}"#), Arg::new("ctx", "")];
        batch.eval(&eval_request(7, &args).unwrap());
        batch.eval(&check_request(7));
        batch.forget();
        let sent = batch.finish().unwrap();
        let mut frame = Vec::new();
        read_frame(&mut &sent[..], &mut frame).unwrap();
        let shown = requests(&frame).map(|request| match request.unwrap() {
            Request::Define { id, source } => format!("define {id} {source}"),
            Request::Forget => "forget".to_owned(),
            Request::Eval { id, args } => format!("eval {id} {args:?}"),
            Request::Check { id } => format!("check {id}"),
        });
        let shown: Vec<_> = shown.collect();
        let eval = format!("eval 7 {args:?}");
        assert_eq!(shown, ["define 7 input.a + 1", &eval, "check 7", "forget"]);
        let cut = requests(&frame[..frame.len() - 3]).last().unwrap();
        assert!(cut.is_err());
    }

    #[test]
    fn answers_arrive_as_they_were_given() {
        let message = || "TypeError: é".to_owned();
        for answer in [
            Ok(None),
            Ok(Some(r#"{"a": 1}"#.to_owned())),
            Err(Error::Thrown { message: message() }),
            Err(Error::Timeout { ms: 250 }),
            Err(Error::Memory { bytes: 1 << 25 }),
            Err(Error::TooLarge {
                what: "result",
                bytes: 2,
                limit_bytes: 1,
            }),
            Err(Error::NotJson { message: message() }),
            Err(Error::Async),
            Err(Error::Closed),
            Err(Error::Syntax {
                message: message(),
                line: 3,
                column: 4,
            }),
        ] {
            let sent = answer_frame(&answer).unwrap();
            assert_eq!(read_answer(&mut &sent[..]).unwrap(), answer);
        }
    }

    #[test]
    fn limits_arrive_as_they_were_sent() {
        let limits = Limits {
            memory_bytes: 5,
            time_ms: 6,
            stack_bytes: 7,
            output_bytes: 8,
            ..Limits::default()
        };
        let sent = limits_frame(&limits);
        assert_eq!(read_limits(&mut &sent[..]).unwrap(), limits);
    }
}
