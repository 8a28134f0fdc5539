//! Cron patterns on the wall clock of a zone. The pattern is evaluated in wall-clock time, and the
//! results are mapped to moments here, across jumps of the clock.

use croner::Cron;
use jiff::{
    SignedDuration, Timestamp,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

/// The most changes of a clock that a search crosses.
const MAX_STEPS: usize = 1_000;

const SECOND: SignedDuration = SignedDuration::from_secs(1);

#[derive(Clone, Debug)]
pub(super) struct Wall {
    cron: Cron,
    zone: TimeZone,
    /// The pattern names times of the day, each of which is due once. One with a `*` for its second,
    /// minute or hour does not: it is a pace, and due whenever the clock shows what it says.
    is_fixed: bool,
}

impl Wall {
    pub fn new(cron: Cron, zone: TimeZone) -> Self {
        let pattern = &cron.pattern;
        let parts = [&pattern.seconds, &pattern.minutes, &pattern.hours];
        let is_fixed = !parts.iter().any(|part| part.from_wildcard);
        Self {
            cron,
            zone,
            is_fixed,
        }
    }

    /// The first match after a second.
    pub fn next_after(&self, from: Timestamp) -> Option<Timestamp> {
        match self.is_fixed {
            true => self.next_fixed(from),
            false => self.next_pace(from),
        }
    }

    /// The last match at or before a second.
    pub fn last_until(&self, until: Timestamp) -> Option<Timestamp> {
        match self.is_fixed {
            true => self.last_fixed(until),
            false => self.last_pace(until),
        }
    }

    fn next(&self, wall: DateTime, inclusive: bool) -> Option<DateTime> {
        self.cron.find_next_occurrence(&wall, inclusive).ok()
    }

    fn previous(&self, wall: DateTime, inclusive: bool) -> Option<DateTime> {
        self.cron.find_previous_occurrence(&wall, inclusive).ok()
    }

    /// The moment of a time of day: the first of two, and the end of the gap for one that the
    /// clock never shows. Moments grow with the times.
    fn moment(&self, wall: DateTime) -> Option<Timestamp> {
        match self.zone.to_ambiguous_timestamp(wall).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(wall).ok(),
            AmbiguousOffset::Fold { before, .. } => before.to_timestamp(wall).ok(),
            AmbiguousOffset::Gap { after, .. } => {
                // By the clock that is yet to come, it was before the jump.
                let before = after.to_timestamp(wall).ok()?;
                Some(self.zone.following(before).next()?.timestamp())
            }
        }
    }

    /// The time up to which the clock has shown every time of day, and whether that one is still
    /// to come. Where it was set back, what it shows for the second time is over.
    fn reached(&self, at: Timestamp) -> Option<(DateTime, bool)> {
        let wall = self.zone.to_datetime(at);
        match self.zone.to_ambiguous_timestamp(wall).offset() {
            AmbiguousOffset::Fold { before, after } if self.zone.to_offset(at) == after => {
                let next = at.checked_add(SECOND).ok()?;
                let set_back = self.zone.preceding(next).next()?.timestamp();
                Some((before.to_datetime(set_back), true))
            }
            _ => Some((wall, false)),
        }
    }

    fn next_fixed(&self, from: Timestamp) -> Option<Timestamp> {
        let (wall, is_to_come) = self.reached(from)?;
        self.moment(self.next(wall, is_to_come)?)
    }

    fn last_fixed(&self, until: Timestamp) -> Option<Timestamp> {
        let (wall, is_to_come) = self.reached(until)?;
        self.moment(self.previous(wall, !is_to_come)?)
    }

    /// Between two changes of the clock, matches on the wall are matches in time.
    fn next_pace(&self, from: Timestamp) -> Option<Timestamp> {
        let (mut at, mut inclusive) = (from, false);
        for _ in 0..MAX_STEPS {
            let found = self.next(self.zone.to_datetime(at), inclusive)?;
            let found = self.zone.to_offset(at).to_timestamp(found).ok()?;
            match self.zone.following(at).next() {
                Some(change) if found >= change.timestamp() => {
                    (at, inclusive) = (change.timestamp(), true);
                }
                _ => return Some(found),
            }
        }
        None
    }

    fn last_pace(&self, until: Timestamp) -> Option<Timestamp> {
        let mut at = until;
        for _ in 0..MAX_STEPS {
            let found = self.previous(self.zone.to_datetime(at), true)?;
            let found = self.zone.to_offset(at).to_timestamp(found).ok()?;
            // The change that began the clock's present time.
            let after = at.checked_add(SECOND).ok()?;
            match self.zone.preceding(after).next() {
                Some(change) if found < change.timestamp() => {
                    at = change.timestamp().checked_sub(SECOND).ok()?;
                }
                _ => return Some(found),
            }
        }
        None
    }
}
