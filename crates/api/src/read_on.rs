//! Reads the rest of request bodies that the handler did not read.
//!
//! A request may be answered before its body has arrived: it is too large, or its route is unknown.
//! Most clients write the whole body before they read the answer. If the server closed the
//! connection, they would see a broken connection instead of the answer. So the rest is read and
//! dropped, up to a size and a time; then the connection is closed. The answer does not wait.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::header,
};
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;

/// How long the rest of a body is read.
const TIME: Duration = Duration::from_secs(5);
/// How many bytes of it, at least.
const BYTES: usize = 64 << 20;
/// And else this many times what a body may have.
const TIMES: usize = 4;

/// A request whose body is read to its end even if its handler does not read it.
pub(crate) fn read_on(request: Request, max_body_bytes: usize) -> Request {
    if request.body().is_end_stream() {
        return request;
    }
    // A client that waits for `100 Continue` sends nothing before the server reads.
    let is_coming = !request.headers().contains_key(header::EXPECT);
    let most = max_body_bytes.saturating_mul(TIMES).max(BYTES);
    request.map(|body| {
        Body::new(Unread {
            body,
            is_coming,
            most,
        })
    })
}

struct Unread {
    body: Body,
    is_coming: bool,
    most: usize,
}

impl HttpBody for Unread {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.is_coming = !matches!(polled, Poll::Ready(None | Some(Err(_))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        if !self.is_coming || self.body.is_end_stream() {
            return;
        }
        let (rest, most) = (std::mem::take(&mut self.body), self.most);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(tokio::time::timeout(TIME, throw_away(rest, most)));
        }
    }
}

async fn throw_away(mut rest: Body, most: usize) {
    let mut left = most;
    while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut rest).poll_frame(cx)).await {
        left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
        if left == 0 {
            return;
        }
    }
}
