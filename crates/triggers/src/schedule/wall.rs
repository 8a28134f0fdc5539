//! Cron patterns on the clock of a zone. The pattern is asked about the wall alone; where that
//! clock jumps, what it shows is brought to moments here.

use croner::{Cron, JobType};
use jiff::{
    Timestamp,
    civil::DateTime,
    tz::{AmbiguousOffset, TimeZone},
};

/// The longest time that is looked through for clocks that were set back.
const FOLD_HOURS: i64 = 3;

/// The most changes of a clock, or times of day, that a search crosses.
const MAX_STEPS: usize = 1_000;

#[derive(Clone, Debug)]
pub(super) struct Wall {
    cron: Cron,
    zone: TimeZone,
    /// The pattern names times of the day, each of which is due once.
    is_fixed: bool,
}

impl Wall {
    pub fn new(cron: Cron, zone: TimeZone) -> Self {
        let is_fixed = matches!(cron.determine_job_type(), JobType::FixedTime);
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

    fn next_fixed(&self, from: Timestamp) -> Option<Timestamp> {
        let mut wall = self.zone.to_datetime(from);
        for _ in 0..MAX_STEPS {
            wall = self.next(wall, false)?;
            // In an hour that comes twice, times of the first may be over.
            let moment = self.moment(wall)?;
            if moment > from {
                return Some(moment);
            }
        }
        None
    }

    fn last_fixed(&self, until: Timestamp) -> Option<Timestamp> {
        let wall = self.zone.to_datetime(until);
        // The clock may have shown later times before it was set back.
        let later = jiff::Span::new().hours(FOLD_HOURS);
        let mut wall = self.previous(wall.checked_add(later).ok()?, true)?;
        for _ in 0..MAX_STEPS {
            let moment = self.moment(wall)?;
            if moment <= until {
                return Some(moment);
            }
            wall = self.previous(wall, false)?;
        }
        None
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
        let second = jiff::SignedDuration::from_secs(1);
        let mut at = until;
        for _ in 0..MAX_STEPS {
            let found = self.previous(self.zone.to_datetime(at), true)?;
            let found = self.zone.to_offset(at).to_timestamp(found).ok()?;
            // The change that began the clock's present time.
            let after = at.checked_add(second).ok()?;
            match self.zone.preceding(after).next() {
                Some(change) if found < change.timestamp() => {
                    at = change.timestamp().checked_sub(second).ok()?;
                }
                _ => return Some(found),
            }
        }
        None
    }
}
