//! Counts large answers that wait to be read.
//!
//! A client that requests a page and does not read it keeps that page in memory. So a large answer
//! counts as a live reader (`live`) until it is sent: when all of them together exceed the limit,
//! the connections that have not read for the longest time are closed.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::{Body, Bytes, HttpBody},
    response::Response,
};
use hyper::body::{Frame, SizeHint};

use crate::{
    app::Api,
    live::{HeldBytes, LiveReader},
    serve::Leave,
};

/// Smaller answers are not counted: they fit the buffers of their connection.
const LARGE: u64 = 64 << 10;

/// The piece that is handed to the connection at a time. Each one shows that the client reads.
const PIECE: usize = 64 << 10;

/// Counts the answer if it is large. `leave` ends the connection that it is for.
pub(crate) fn count(api: &Api, leave: Option<Leave>, response: Response) -> Response {
    let Some(bytes) = HttpBody::size_hint(response.body()).exact() else {
        return response;
    };
    if bytes <= LARGE {
        return response;
    }
    response.map(|body| {
        let reader = api.live().join(leave.unwrap_or_default().0);
        let held = reader.hold(usize::try_from(bytes).unwrap_or(usize::MAX));
        Body::new(Counted {
            body,
            rest: Bytes::new(),
            held,
            _reader: reader,
        })
    })
}

struct Counted {
    body: Body,
    /// What is left of the last frame of the body.
    rest: Bytes,
    held: HeldBytes,
    _reader: LiveReader,
}

impl HttpBody for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return other,
            }
        }
        let piece = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(piece);
        self.held.moved();
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        match self.body.size_hint().exact() {
            Some(bytes) => SizeHint::with_exact(bytes.saturating_add(rest)),
            None => SizeHint::default(),
        }
    }
}
