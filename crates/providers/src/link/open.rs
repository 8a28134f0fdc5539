//! The requests that wait for their answers.

use riverrun_types::ErrorCode;
use std::{collections::HashMap, sync::Arc, time::Instant};

use riverrun_contract::Host;
use riverrun_protocol::WorkError;
use tokio::sync::oneshot;

use super::{Answer, Link};

#[derive(Default)]
pub(super) struct Open {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    invocations: usize,
    /// Since when there has always been an invocation; none while there is none.
    busy: Option<Instant>,
    ended: Option<WorkError>,
}

pub(super) struct Waiting {
    pub answer: oneshot::Sender<Answer>,
    /// Of an invocation.
    pub host: Option<Arc<dyn Host>>,
    sent: Sent,
}

/// Whether the other side can know of a request.
#[derive(Clone, Copy, Default, PartialEq)]
enum Sent {
    #[default]
    Not,
    /// It is being written; where it ends is not known yet.
    Begun,
    /// Its last byte is this one of all that were sent.
    To(u64),
}

impl Waiting {
    /// An invocation of which the other side, which has read so many bytes, knows nothing.
    pub fn is_unread(&self, read: u64) -> bool {
        let is_unread = match self.sent {
            Sent::Not => true,
            Sent::Begun => false,
            Sent::To(end) => end > read,
        };
        self.host.is_some() && is_unread
    }
}

impl Open {
    pub fn add(
        &mut self,
        host: Option<Arc<dyn Host>>,
    ) -> Result<(u64, oneshot::Receiver<Answer>), WorkError> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        let (answer, answered) = oneshot::channel();
        self.last += 1;
        if host.is_some() {
            self.invocations += 1;
            self.busy.get_or_insert_with(Instant::now);
        }
        let sent = Sent::Not;
        self.waiting
            .insert(self.last, Waiting { answer, host, sent });
        Ok((self.last, answered))
    }

    pub fn take(&mut self, id: u64) -> Option<Waiting> {
        let waiting = self.waiting.remove(&id)?;
        self.less(waiting.host.is_some());
        Some(waiting)
    }

    /// Keeps the request and forgets that it is an invocation. True if it was the last one.
    pub fn detach(&mut self, id: u64) -> bool {
        let host = self
            .waiting
            .get_mut(&id)
            .and_then(|waiting| waiting.host.take());
        self.less(host.is_some());
        host.is_some() && self.invocations == 0
    }

    /// A request is being written; then with where it ended.
    pub fn sent(&mut self, id: u64, end: Option<u64>) {
        if let Some(waiting) = self.waiting.get_mut(&id) {
            waiting.sent = end.map_or(Sent::Begun, Sent::To);
        }
    }

    /// Invocations of which the other side knows something, if it has read so many bytes.
    pub fn reached(&self, read: u64) -> usize {
        let waiting = self.waiting.values();
        let is_reached = |waiting: &&Waiting| waiting.host.is_some() && !waiting.is_unread(read);
        waiting.filter(is_reached).count()
    }

    /// Ids up to this one are in use elsewhere.
    pub fn skip(&mut self, last: u64) {
        self.last = self.last.max(last);
    }

    /// True if it was the last invocation.
    pub fn remove(&mut self, id: u64) -> bool {
        let removed = self.take(id);
        removed.is_some_and(|waiting| waiting.host.is_some()) && self.invocations == 0
    }

    pub fn host(&self, id: u64) -> Option<Arc<dyn Host>> {
        self.waiting.get(&id)?.host.clone()
    }

    /// Of all invocations.
    pub fn hosts(&self) -> Vec<Arc<dyn Host>> {
        let waiting = self.waiting.values();
        waiting.filter_map(|waiting| waiting.host.clone()).collect()
    }

    pub fn invocations(&self) -> usize {
        self.invocations
    }

    pub fn busy(&self) -> Option<Instant> {
        self.busy
    }

    pub fn only(&self) -> Option<Arc<dyn Host>> {
        if self.invocations != 1 {
            return None;
        }
        self.waiting
            .values()
            .find_map(|waiting| waiting.host.clone())
    }

    /// Takes no more if no invocation runs. True if so.
    pub fn end_if_idle(&mut self, error: WorkError) -> bool {
        if self.invocations == 0 {
            self.ended.get_or_insert(error);
        }
        self.invocations == 0
    }

    pub fn end(&mut self, error: &WorkError) -> Vec<Waiting> {
        self.ended.get_or_insert_with(|| error.clone());
        self.invocations = 0;
        self.busy = None;
        self.waiting.drain().map(|(_, waiting)| waiting).collect()
    }

    fn less(&mut self, is_invocation: bool) {
        self.invocations -= usize::from(is_invocation);
        if self.invocations == 0 {
            self.busy = None;
        }
    }
}

/// An open request. Dropping it closes it: what comes for it later is ignored.
pub(crate) struct Opened {
    pub id: u64,
    pub link: Arc<Link>,
    answered: oneshot::Receiver<Answer>,
    is_answered: bool,
}

impl Opened {
    pub fn new(link: Arc<Link>, id: u64, answered: oneshot::Receiver<Answer>) -> Self {
        Self {
            id,
            link,
            answered,
            is_answered: false,
        }
    }

    /// The answer is still waited for, but the invocation is over: what it asks for is refused.
    pub fn detach(&self) {
        self.link.detach(self.id);
    }

    /// Can be called again if it was dropped before it was done.
    pub async fn answer(&mut self) -> Answer {
        let answer = (&mut self.answered).await;
        self.is_answered = true;
        answer.unwrap_or_else(|_| {
            let message = format!("{} ended", self.link.name);
            Err(WorkError::new(ErrorCode::RunnerDied, message))
        })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !self.is_answered {
            self.link.close(self.id);
        }
    }
}
