//! Wraps each TCP connection.
//!
//! It disconnects a client that reads nothing for a while, so that the memory of its answers is
//! released. It adds `x-content-type-options: nosniff` to answers that the HTTP library writes
//! itself, for requests that it cannot parse.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep},
};

/// What is put into answers that no route gave.
const HEADER: &[u8] = b"x-content-type-options: nosniff\r\n";

/// Whose bytes a connection writes.
#[derive(Default)]
pub(crate) struct Traffic {
    /// Answers of routes that are not written to the end.
    open: AtomicUsize,
    /// Whether what is written next comes from a route.
    is_ours: AtomicBool,
}

impl Traffic {
    /// A request reached the routes.
    pub fn begin(&self) {
        self.open.fetch_add(1, Ordering::AcqRel);
        self.is_ours.store(true, Ordering::Release);
    }

    /// The body of its answer, which is the end of it.
    pub fn body(self: Arc<Self>, body: Body) -> Watched {
        Watched {
            body,
            _answer: Answer(self),
        }
    }

    /// Everything was written. Without an answer under way, whatever comes next is not a route's
    /// unless another request reaches one first.
    fn flushed(&self) {
        if self.open.load(Ordering::Acquire) == 0 {
            self.is_ours.store(false, Ordering::Release);
        }
    }

    fn is_foreign(&self) -> bool {
        !self.is_ours.load(Ordering::Acquire)
    }
}

struct Answer(Arc<Traffic>);

impl Drop for Answer {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The body of an answer of a route.
pub(crate) struct Watched {
    body: Body,
    _answer: Answer,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How far the header is in an answer of the HTTP library.
enum Added {
    /// Nothing of an answer was written.
    No,
    /// The first line was; so much of the header.
    Bytes(usize),
    Whole,
}

pub(crate) struct Connection {
    stream: TcpStream,
    traffic: Arc<Traffic>,
    added: Added,
    /// How long the client may take nothing.
    stall: Duration,
    /// When it is disconnected, while it takes nothing.
    until: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    pub fn new(stream: TcpStream, traffic: Arc<Traffic>, stall: Duration) -> Self {
        Self {
            stream,
            traffic,
            added: Added::No,
            stall,
            until: None,
        }
    }

    /// Passes on what became of a write, or the end of the client's time.
    fn watch<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.until = None;
            return written;
        }
        let stall = self.stall;
        let until = self
            .until
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + stall)));
        match until.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                tracing::debug!(?stall, "a client that takes nothing is disconnected");
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }

    /// Writes an answer of the HTTP library: its first line, the header, the rest.
    fn write_foreign(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let part = match self.added {
                Added::No => {
                    let is_answer = buf.starts_with(b"HTTP/1.");
                    let mut ends = buf.windows(2);
                    let line = is_answer.then(|| ends.position(|end| end == b"\r\n"));
                    let Some(line) = line.flatten() else {
                        return Pin::new(&mut self.stream).poll_write(cx, buf);
                    };
                    let line = &buf[..line + 2];
                    let written = ready!(Pin::new(&mut self.stream).poll_write(cx, line))?;
                    if written == line.len() {
                        self.added = Added::Bytes(0);
                    }
                    return Poll::Ready(Ok(written));
                }
                Added::Bytes(written) => &HEADER[written..],
                Added::Whole => return Pin::new(&mut self.stream).poll_write(cx, buf),
            };
            let left = part.len();
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, part))?;
            self.added = match left - written {
                0 => Added::Whole,
                left => Added::Bytes(HEADER.len() - left),
            };
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = match self.traffic.is_foreign() {
            true => self.write_foreign(cx, buf),
            false => Pin::new(&mut self.stream).poll_write(cx, buf),
        };
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match self.traffic.is_foreign() {
            true => {
                let first = bufs.iter().find(|buf| !buf.is_empty());
                self.write_foreign(cx, first.map_or(&[], |buf| buf))
            }
            false => Pin::new(&mut self.stream).poll_write_vectored(cx, bufs),
        };
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if let Poll::Ready(Ok(())) = &flushed {
            self.traffic.flushed();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
