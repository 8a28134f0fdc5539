//! The store's outbox: emitted events for which an expression, or a listener, has to decide. Every
//! instance reads it; an await fires once for the first instance, and judging a signal twice does
//! no harm.
//!
//! Signals of one kind and tenant are a lane: they are judged in their order. Lanes take turns,
//! some of them at a time, so that slow expressions do not delay other kinds.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, Instant},
};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use riverrun_store::{Change, Commit, SignalLane, SignalRecord, SignalsOf};

use super::Awaits;
use crate::base::{Base, Result};

/// Signals that are read at a time.
const BATCH: usize = 100;

/// Lanes whose signals are being judged at a time.
const MAX_UNDER_WAY: usize = 16;

/// After this long a lane lets others take their turn.
const TURN: Duration = Duration::from_millis(50);

/// Lanes that are known to have signals. At this limit, no further signals are read.
const MAX_LANES: usize = 10_000;

/// Judges the signals in the outbox, whenever some arrive.
pub(crate) async fn read_outbox(awaits: Awaits) {
    let base = awaits.base();
    let new_signals = base.hub().signals();
    // Signals from before a restart would have no listener yet.
    tokio::select! {
        () = awaits.streams().listened_to() => {}
        () = base.stopping() => return,
    }
    let judge = Judge { awaits: &awaits };
    let mut lanes = Lanes::default();
    let mut under_way = FuturesUnordered::new();
    // Whether the outbox may have unread signals.
    let mut is_new = true;
    loop {
        if is_new && lanes.have_room() {
            match lanes.look(base).await {
                Ok(found) => is_new = found > 0,
                Err(error) => {
                    tracing::warn!(%error, "the outbox cannot be read; trying again");
                    if !base.pause(Duration::from_millis(500)).await {
                        return;
                    }
                }
            }
        }
        while under_way.len() < MAX_UNDER_WAY
            && let Some(cursor) = lanes.ready.pop_front()
        {
            under_way.push(judge.judge_lane(cursor));
        }
        // However many signals are read, lanes go on meanwhile.
        while let Some(Some(cursor)) = under_way.next().now_or_never() {
            lanes.had(cursor);
        }
        if base.is_stopping() {
            return;
        }
        let has_ready_lane = under_way.len() < MAX_UNDER_WAY && !lanes.ready.is_empty();
        if has_ready_lane || is_new && lanes.have_room() {
            continue;
        }
        if under_way.is_empty() {
            if !base.rest(new_signals.notified()).await {
                return;
            }
            is_new = true;
            continue;
        }
        tokio::select! {
            Some(cursor) = under_way.next() => lanes.had(cursor),
            () = new_signals.notified() => is_new = true,
            () = base.stopping() => return,
        }
    }
}

/// A lane in its turn.
struct LaneCursor {
    lane: SignalLane,
    /// The number of the last signal that was judged.
    after: u64,
    /// The number of the last known one when the lane was queued.
    upto: u64,
    /// The next ones, if they were read already.
    next: Vec<SignalRecord>,
}

/// The state of the outbox reader.
#[derive(Default)]
struct Lanes {
    /// The last signal that was read.
    seen: u64,
    /// The lanes that have signals, each with the number of its last one.
    last: HashMap<SignalLane, u64>,
    /// The lanes whose signals are not being judged at the moment.
    ready: VecDeque<LaneCursor>,
}

impl Lanes {
    fn have_room(&self) -> bool {
        self.last.len() < MAX_LANES
    }

    /// Reads the next signals; returns how many.
    async fn look(&mut self, base: &Base) -> Result<usize> {
        if self.last.is_empty() {
            // All were judged. Signals that are still there became visible late.
            self.seen = 0;
        }
        let signals = base.store().signals(SignalsOf::All, self.seen, BATCH);
        let signals = signals.await?;
        let count = signals.len();
        // Signals that are not judged at once are better kept in the store.
        let keeps = self.ready.len() < MAX_UNDER_WAY;
        let mut fresh: HashMap<SignalLane, Vec<SignalRecord>> = HashMap::new();
        for signal in signals {
            self.seen = signal.no;
            let lane = signal.lane();
            let is_known = self.last.insert(lane.clone(), signal.no).is_some();
            match fresh.get_mut(&lane) {
                Some(next) => next.push(signal),
                None if !is_known => drop(fresh.insert(lane, vec![signal])),
                None => {}
            }
        }
        let fresh = fresh.into_iter().map(|(lane, mut next)| {
            let after = next[0].no.saturating_sub(1);
            let upto = next[next.len() - 1].no;
            if !keeps {
                next.clear();
            }
            LaneCursor {
                lane,
                after,
                upto,
                next,
            }
        });
        self.ready.extend(fresh);
        Ok(count)
    }

    /// A lane has had its turn: it goes to the end of the queue if it has more.
    fn had(&mut self, mut cursor: LaneCursor) {
        match self.last.get(&cursor.lane) {
            Some(last) if cursor.after < *last => {
                cursor.upto = *last;
                self.ready.push_back(cursor);
            }
            _ => drop(self.last.remove(&cursor.lane)),
        }
    }
}

struct Judge<'a> {
    awaits: &'a Awaits,
}

impl Judge<'_> {
    /// Judges signals of a lane for a while. If that fails, the signal stays for a later turn.
    async fn judge_lane(&self, mut cursor: LaneCursor) -> LaneCursor {
        let kind = cursor.lane.kind.clone();
        if let Err(error) = self.judge(&mut cursor).await {
            tracing::warn!(%kind, %error, "events could not be delivered to their awaits; trying again");
            self.awaits.base().pause(Duration::from_millis(500)).await;
        }
        cursor
    }

    async fn judge(&self, cursor: &mut LaneCursor) -> Result<()> {
        let begun = Instant::now();
        let mut next = std::mem::take(&mut cursor.next);
        if next.is_empty() {
            let store = self.awaits.base().store();
            next = store
                .signals(SignalsOf::Lane(&cursor.lane), cursor.after, BATCH)
                .await?;
        }
        if next.is_empty() {
            // Another instance has judged them.
            cursor.after = cursor.upto;
        }
        for signal in next {
            self.awaits.judge_signal(&signal).await?;
            for listener in self.awaits.streams().listeners() {
                listener.on_signal(&signal).await?;
            }
            let removal = Commit::of(Change::RemoveSignal(signal.no));
            self.awaits.base().commit(removal).await?;
            cursor.after = signal.no;
            if begun.elapsed() > TURN {
                break;
            }
        }
        Ok(())
    }
}
