//! A history in pages. A page is reduced from the start of the oldest attempt that the page before
//! left open, not from the stream's beginning, and holds at most the requested number of entries.

use std::{fmt, ops::ControlFlow, str::FromStr};

use riverrun_types::Draft;

use super::{History, HistoryEntry};

/// Where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HistoryCursor {
    /// The first event that has to be read: no attempt that was open began before it.
    from: u64,
    /// The event that ends the page's first attempts.
    at: u64,
    /// How many of the attempts that this event ends are on earlier pages.
    skip: usize,
}

impl fmt::Display for HistoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, at, skip } = self;
        write!(f, "{from}.{at}.{skip}")
    }
}

impl FromStr for HistoryCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let mut number = || -> Option<u64> {
            let part = parts.next()?;
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().ok())?
        };
        let read = (number(), number(), number());
        let (Some(from), Some(at), Some(skip)) = read else {
            return Err(());
        };
        if parts.next().is_some() || from > at {
            return Err(());
        }
        let skip = usize::try_from(skip).map_err(|_| ())?;
        Ok(Self { from, at, skip })
    }
}

/// A page under construction.
#[derive(Debug)]
pub struct HistoryPage {
    history: History,
    cursor: HistoryCursor,
    limit: usize,
    entries: Vec<HistoryEntry>,
    next: Option<HistoryCursor>,
}

impl HistoryPage {
    /// A page of at most `limit` entries. The events that it takes begin at
    /// [`HistoryPage::position`].
    pub fn new(cursor: HistoryCursor, limit: usize) -> Self {
        let history = History {
            position: cursor.from,
            ..History::default()
        };
        Self {
            history,
            cursor,
            limit,
            entries: Vec::new(),
            next: None,
        }
    }

    /// The position of the next event that it takes.
    pub fn position(&self) -> u64 {
        self.history.position
    }

    /// Reduces one more event of the stream, until the page is full and something is left for the
    /// next one.
    pub fn apply(&mut self, draft: &Draft) -> ControlFlow<()> {
        let at = self.position();
        self.history.apply(draft);
        let ended = std::mem::take(&mut self.history.entries);
        let began = std::mem::take(&mut self.history.began);
        let skip = match at {
            at if at < self.cursor.at => return ControlFlow::Continue(()),
            at if at == self.cursor.at => self.cursor.skip,
            _ => 0,
        };
        let room = self.limit - self.entries.len();
        let left = began.get(skip + room..).unwrap_or_default();
        let oldest_left = left.iter().min().copied();
        self.entries.extend(ended.into_iter().skip(skip).take(room));
        let Some(oldest_left) = oldest_left else {
            return ControlFlow::Continue(());
        };
        let open = self.history.open.values().map(|open| open.position);
        let from = open.chain([oldest_left]).min().unwrap_or(oldest_left);
        // A reader from there sees only the attempts that began there or later.
        let seen = began.iter().take(skip + room);
        self.next = Some(HistoryCursor {
            from,
            at,
            skip: seen.filter(|began| **began >= from).count(),
        });
        ControlFlow::Break(())
    }

    /// The entries, and where the next page begins if there is one.
    pub fn finish(self) -> (Vec<HistoryEntry>, Option<HistoryCursor>) {
        (self.entries, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_nonsense_is_none() {
        let cursor = HistoryCursor {
            from: 3,
            at: 70,
            skip: 2,
        };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in [
            "", "1", "1.2", "1.2.3.4", "a.b.c", "5.2.0", "-1.2.3", "+1.2.3", "..", "1.2.",
        ] {
            assert_eq!(text.parse::<HistoryCursor>(), Err(()), "{text:?}");
        }
    }
}
