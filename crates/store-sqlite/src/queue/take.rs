//! Jobs that begin where they are added, without waiting to be claimed.

use riverrun_store::TakeJobs;
use riverrun_types::Millis;

use super::{ACTIVE, DELAYED, Queue, WAITING};
use crate::{core::Core, error::Worked};

/// The room that is left for the jobs of a commit.
pub(crate) struct Takes {
    token: u64,
    now_ms: Millis,
    rooms: Vec<Left>,
}

struct Left {
    queue: i64,
    jobs: usize,
    concurrency: Option<u32>,
}

impl Takes {
    /// Nothing if nobody has room, or if the lease is gone.
    pub(crate) fn of(core: &Core, take: Option<&TakeJobs>) -> Worked<Option<Self>> {
        let Some(take) = take else {
            return Ok(None);
        };
        if lease_end(core, take.token)?.is_none_or(|until| until <= take.now_ms) {
            return Ok(None);
        }
        let queues = &mut *core.queues.borrow_mut();
        let mut rooms = Vec::with_capacity(take.rooms.len());
        for room in &take.rooms {
            let queue = queues.named(&core.conn, &room.queue, take.now_ms)?;
            rooms.push(Left {
                queue: queue.no,
                jobs: room.jobs,
                concurrency: room.concurrency,
            });
        }
        Ok(Some(Self {
            token: take.token,
            now_ms: take.now_ms,
            rooms,
        }))
    }

    pub(super) fn token(&self) -> u64 {
        self.token
    }

    pub(super) fn now_ms(&self) -> Millis {
        self.now_ms
    }

    /// Whether the next job of a queue may begin: whatever waits goes first.
    pub(super) fn has_room(&self, queue: &Queue) -> bool {
        let fits = |left: &Left| {
            let most = left.concurrency.map_or(i64::MAX, i64::from);
            left.queue == queue.no && left.jobs > 0 && queue.count(ACTIVE) < most
        };
        let is_next = queue.count(WAITING) == 0 && queue.count(DELAYED) == 0;
        is_next && !queue.paused && self.rooms.iter().any(fits)
    }

    pub(super) fn use_one(&mut self, queue: &Queue) {
        let mut rooms = self.rooms.iter_mut();
        if let Some(left) = rooms.find(|left| left.queue == queue.no && left.jobs > 0) {
            left.jobs -= 1;
        }
    }
}

/// When a lease ends, if there is one. The commits of a group are mostly under the same.
fn lease_end(core: &Core, token: u64) -> Worked<Option<Millis>> {
    if let Some((known, until_ms)) = core.lease.get()
        && known == token
    {
        return Ok(Some(until_ms));
    }
    let until = super::lease_end(&core.conn, token)?;
    core.lease.set(until.map(|until_ms| (token, until_ms)));
    Ok(until)
}
