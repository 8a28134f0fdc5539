//! Events that make no decision, and streams other than runs'.

use std::borrow::Cow;

use foldhash::HashMap;
use riverrun_types::{Draft, Millis, RunId, StreamName};

use super::{Judging, Read, Rows, RunRow, Write, refuse};
use crate::{Append, Error, Expect, Life, Placed};

/// The time of a stream's last event after these were added to it: times never decrease.
pub fn last_ms(floor_ms: Millis, drafts: &[Draft]) -> Millis {
    drafts
        .iter()
        .fold(floor_ms, |last, draft| last.max(draft.ms))
}

/// A stream other than a run's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamRow {
    /// 0 for a stream that is not stored yet.
    pub place: i64,
    pub len: u64,
    pub last_ms: Millis,
}

/// The rows of streams other than runs'.
pub trait StreamRows: Read {
    fn stream(&mut self, name: &StreamName) -> Result<Option<StreamRow>, Self::Error>;

    /// The events of a job's life in its row.
    fn job_life(&mut self, id: &str) -> Result<Option<Life>, Self::Error>;
}

/// A stream as the commit has left it so far.
#[derive(Clone, Copy)]
struct Changing {
    stored: Option<StreamRow>,
    /// The length of the stream for a reader.
    len: u64,
}

#[derive(Default)]
pub(super) struct Changed(HashMap<StreamName, Changing>);

/// The effect of adding events to a stream other than a run's.
#[derive(Debug)]
pub struct Extension<'a> {
    /// The events, behind those of a job's life that the stream did not hold.
    pub drafts: Cow<'a, [Draft]>,
    /// The new row, at its old place.
    pub row: StreamRow,
    /// Where all of `drafts` are.
    pub placed: Placed,
    /// How many of them are events of the job's life.
    pub life_len: u64,
}

impl<'a> Extension<'a> {
    /// `life`: the events of a job's life that its stream does not hold yet. They are added only
    /// before others.
    pub fn of(stored: Option<StreamRow>, life: Vec<Draft>, events: &'a [Draft]) -> Self {
        let before = stored.unwrap_or_default();
        let life_len = life.len() as u64;
        let drafts = match life.is_empty() {
            true => Cow::Borrowed(events),
            false => Cow::Owned([&life, events].concat()),
        };
        let len = before.len + drafts.len() as u64;
        Self {
            row: StreamRow {
                place: before.place,
                len,
                last_ms: last_ms(before.last_ms, &drafts),
            },
            placed: Placed {
                first: before.len,
                floor_ms: before.last_ms,
                len,
                no: 0,
            },
            drafts,
            life_len,
        }
    }

    /// Where the caller's own events are, if the first of all has this number in the log.
    pub fn own(&self, no: u64) -> Placed {
        let life = self
            .drafts
            .get(..self.life_len as usize)
            .unwrap_or_default();
        Placed {
            first: self.placed.first + self.life_len,
            floor_ms: last_ms(self.placed.floor_ms, life),
            len: self.placed.len,
            no: no + self.life_len,
        }
    }
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    pub(super) fn append(&mut self, change: &'a Append) -> Result<(), R::Error> {
        match change.stream.run() {
            Some(run) => self.append_to_run(change, run),
            None => self.append_to_stream(change),
        }
    }

    fn append_to_run(&mut self, change: &'a Append, run: RunId) -> Result<(), R::Error> {
        let before = match self.run(&run)? {
            None => return refuse(Error::RunNotFound(run)),
            Some(row) if row.status.is_ended() => return refuse(Error::RunEnded(run)),
            Some(row) => row,
        };
        fits(change, before.turn, before.len)?;
        let row = RunRow {
            len: before.len + change.events.len() as u64,
            last_ms: last_ms(before.last_ms, &change.events),
            ..before
        };
        self.add_events(&run, Some(before), &change.events)?;
        if !change.events.is_empty() {
            self.set_run(&run, Some(row));
            self.write(Write::ExtendRun { run, row })?;
        }
        Ok(())
    }

    fn append_to_stream(&mut self, change: &'a Append) -> Result<(), R::Error> {
        let stream = &change.stream;
        let changing = match self.changed.streams.0.get(stream) {
            Some(changing) => *changing,
            None => {
                let stored = self.rows.stream(stream)?;
                // The events in a job's row count for a reader, though they are not stored. Only an
                // expectation, of this change or of a later one, reads them.
                let is_asked = change.expect != Expect::Any || self.is_followed();
                let life = match stream.is_job() && is_asked {
                    true => self.rows.job_life(&stream.id)?,
                    false => None,
                };
                let unrecorded = life.map_or(0, |life| life.unrecorded().len() as u64);
                Changing {
                    stored,
                    len: stored.map_or(0, |row| row.len) + unrecorded,
                }
            }
        };
        // Only a run takes turns.
        fits(change, 0, changing.len)?;
        if self.is_followed() {
            let changing = Changing {
                len: changing.len + change.events.len() as u64,
                ..changing
            };
            self.changed.streams.0.insert(stream.clone(), changing);
        }
        let receipt = self.receipt.placed.len();
        self.receipt
            .placed
            .push(Extension::of(changing.stored, Vec::new(), &[]).placed);
        self.write(Write::AddToStream {
            change,
            stored: changing.stored,
            receipt,
        })
    }
}

fn fits<E: From<super::Refused>>(change: &Append, turn: u64, len: u64) -> Result<(), E> {
    let fits = match change.expect {
        Expect::Any => true,
        Expect::Turn(expected) => expected == turn,
        Expect::Len(expected) => expected == len,
    };
    match fits {
        true => Ok(()),
        false => refuse(Error::Conflict(RunId::new(&change.stream.id))),
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::EventType;

    use super::*;

    #[test]
    fn the_life_of_a_job_stands_before_the_events_that_are_added() {
        let draft = |ms| Draft::new(ms, EventType::LogInfo);
        let stored = StreamRow {
            place: 3,
            len: 2,
            last_ms: 50,
        };
        let events = [draft(60), draft(40)];
        let extension = Extension::of(Some(stored), vec![draft(70)], &events);
        assert_eq!(
            extension.row,
            StreamRow {
                place: 3,
                len: 5,
                last_ms: 70
            }
        );
        assert_eq!((extension.placed.first, extension.placed.floor_ms), (2, 50));
        let own = extension.own(100);
        assert_eq!((own.first, own.floor_ms, own.len, own.no), (3, 70, 5, 101));
    }
}
