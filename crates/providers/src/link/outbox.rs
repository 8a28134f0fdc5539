//! Gathers the lines that wait to be written; the writer takes all of them at once.

use parking_lot::Mutex;
use tokio::sync::Notify;

/// How many times over what is posted may fill the box.
const POSTED_TIMES: usize = 8;

pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
    emptied: Notify,
    waiting_bytes: usize,
    message_bytes: usize,
}

#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    /// Bytes that were ever added.
    added: u64,
    is_closed: bool,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Closed,
    TooLong { bytes: usize, limit: usize },
}

impl Outbox {
    pub fn new(waiting_bytes: usize, message_bytes: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            filled: Notify::new(),
            emptied: Notify::new(),
            waiting_bytes,
            message_bytes,
        }
    }

    /// Adds one message, once there is room for it. The other side may be slow; this waits for it.
    /// Says how many bytes were ever added, up to the message's end.
    pub async fn send(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<u64, Refused> {
        loop {
            if self.has_room() {
                break;
            }
            let mut emptied = std::pin::pin!(self.emptied.notified());
            emptied.as_mut().enable();
            if self.has_room() {
                break;
            }
            emptied.await;
        }
        self.add(write)
    }

    /// Adds one message at once. A side that makes us answer and never reads loses what is far
    /// too much; then this is false.
    pub fn post(&self, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let has_room = self.waiting.lock().bytes.len() < POSTED_TIMES * self.waiting_bytes;
        has_room && self.add(write).is_ok()
    }

    /// Adds one message at once, however much waits. For what is bounded elsewhere.
    pub fn put(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let _ = self.add(write);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.lock().bytes.is_empty()
    }

    /// Puts what waits into `bytes`, which comes empty, as soon as there is something. False when
    /// the box is closed and empty.
    pub async fn take(&self, bytes: &mut Vec<u8>) -> bool {
        loop {
            let filled = self.filled.notified();
            {
                let mut waiting = self.waiting.lock();
                if !waiting.bytes.is_empty() {
                    std::mem::swap(&mut waiting.bytes, bytes);
                    self.emptied.notify_waiters();
                    return true;
                }
                if waiting.is_closed {
                    return false;
                }
            }
            filled.await;
            // Others that are ready now have something to add too: one write for all of them.
            tokio::task::yield_now().await;
        }
    }

    /// No more is taken in; what waits may still be written.
    pub fn close(&self) {
        self.waiting.lock().is_closed = true;
        self.filled.notify_one();
        self.emptied.notify_waiters();
    }

    fn has_room(&self) -> bool {
        let waiting = self.waiting.lock();
        waiting.is_closed || waiting.bytes.len() < self.waiting_bytes
    }

    fn add(&self, write: impl FnOnce(&mut Vec<u8>)) -> Result<u64, Refused> {
        let mut waiting = self.waiting.lock();
        if waiting.is_closed {
            return Err(Refused::Closed);
        }
        let begin = waiting.bytes.len();
        write(&mut waiting.bytes);
        let (bytes, limit) = (waiting.bytes.len() - begin, self.message_bytes);
        if bytes > limit {
            waiting.bytes.truncate(begin);
            return Err(Refused::TooLong { bytes, limit });
        }
        waiting.added += bytes as u64;
        let end = waiting.added;
        drop(waiting);
        if begin == 0 {
            self.filled.notify_one();
        }
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use super::*;

    #[tokio::test]
    async fn what_waits_is_taken_at_once_and_room_is_waited_for() {
        let outbox = Arc::new(Outbox::new(4, 10));
        outbox.send(|bytes| bytes.extend(b"ab\n")).await.unwrap();
        outbox.send(|bytes| bytes.extend(b"cd\n")).await.unwrap();
        let third = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(|bytes| bytes.extend(b"ef\n")).await }
        });
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(!third.is_finished());
        let mut bytes = Vec::new();
        assert!(outbox.take(&mut bytes).await);
        assert_eq!(bytes, b"ab\ncd\n");
        assert_eq!(third.await.unwrap(), Ok(9), "bytes in all");
        bytes.clear();
        outbox.close();
        assert!(outbox.take(&mut bytes).await);
        assert_eq!(bytes, b"ef\n");
        bytes.clear();
        assert!(!outbox.take(&mut bytes).await);
        assert_eq!(outbox.send(|_| ()).await, Err(Refused::Closed));
    }

    #[tokio::test]
    async fn a_message_that_is_too_long_is_not_sent() {
        let outbox = Outbox::new(100, 3);
        let refused = outbox.send(|bytes| bytes.extend(b"abcd\n")).await;
        assert_eq!(refused, Err(Refused::TooLong { bytes: 5, limit: 3 }));
        outbox.close();
        assert!(!outbox.take(&mut Vec::new()).await);
    }
}
