//! Pages of a stream. Chunks are read one after the other until the page is full.

use std::ops::ControlFlow;

use riverrun_store::{Direction, Error, EventQuery, Place, Result, codec, in_order};
use riverrun_types::{Draft, Event, EventType, Json, Millis, StreamName, event::EventContext};
use rusqlite::OptionalExtension;

use super::{View, locate};
use crate::{
    error::{corrupt, translate},
    queue::life,
};

/// A stream according to its chunks.
pub(super) struct Stream {
    pub(super) no: i64,
    /// How many events the chunks hold.
    pub(super) stored: u64,
    /// The events after them: for a job's stream, those that its row holds and the stream does not.
    pub(super) derived: Vec<Draft>,
    pub(super) context: EventContext,
}

impl Stream {
    fn len(&self) -> u64 {
        self.stored + self.derived.len() as u64
    }

    /// The derived events with their positions.
    pub(super) fn tail(&self) -> impl DoubleEndedIterator<Item = (u64, &Draft)> {
        let places = self.derived.iter().enumerate();
        places.map(|(at, draft)| (self.stored + at as u64, draft))
    }
}

/// Some events in a row, unpacked.
pub(super) struct Chunk {
    pub(super) first: u64,
    pub(super) drafts: Vec<Draft>,
}

pub(crate) fn events(view: View<'_>, name: &StreamName, query: &EventQuery) -> Result<Vec<Event>> {
    let Some(stream) = find(view, name)? else {
        return Ok(Vec::new());
    };
    let (low, high) = bounds(view, &stream, query)?;
    let mut page = Vec::with_capacity(
        query
            .limit
            .min(256)
            .min((high.saturating_sub(low)) as usize),
    );
    if query.limit == 0 || low >= high {
        return Ok(page);
    }
    let mut bytes = 0;
    let mut take = |seq: u64, draft: Draft| {
        if (low..high).contains(&seq) && matches(&draft, query) {
            let ms = draft.ms;
            bytes += draft.data.as_ref().map_or(0, Json::bytes);
            page.push(draft.at(seq, ms, &stream.context));
        }
        if page.len() == query.limit || bytes >= query.max_bytes {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut flow = ControlFlow::Continue(());
    match query.direction {
        Direction::Forward => {
            if low < stream.stored {
                walk(view, &stream, FORWARD, low, |chunk| {
                    if chunk.first >= high {
                        return ControlFlow::Break(());
                    }
                    flow = (chunk.first..)
                        .zip(chunk.drafts)
                        .try_for_each(|(seq, draft)| take(seq, draft));
                    flow
                })?;
            }
            if flow.is_continue() {
                let _ = stream
                    .tail()
                    .try_for_each(|(seq, draft)| take(seq, draft.clone()));
            }
        }
        Direction::Backward => {
            flow = stream
                .tail()
                .rev()
                .try_for_each(|(seq, draft)| take(seq, draft.clone()));
            if flow.is_break() || low >= stream.stored || stream.stored == 0 {
                return Ok(page);
            }
            let last = high.min(stream.stored) - 1;
            walk(view, &stream, BACKWARD, last, |chunk| {
                let end = chunk.first + chunk.drafts.len() as u64;
                (0..end)
                    .rev()
                    .zip(chunk.drafts.into_iter().rev())
                    .try_for_each(|(seq, draft)| take(seq, draft))?;
                if chunk.first <= low {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
        }
    }
    Ok(page)
}

/// The positions that the query's place and times leave, half open. Times never decrease along a
/// stream, so they are places too.
fn bounds(view: View<'_>, stream: &Stream, query: &EventQuery) -> Result<(u64, u64)> {
    let (mut low, mut high) = match (query.direction, query.from) {
        (Direction::Forward, from) => (from.unwrap_or(0), stream.len()),
        (Direction::Backward, from) => (0, from.unwrap_or(stream.len()).min(stream.len())),
    };
    let before = |ms: Millis| match ms.checked_sub(1) {
        Some(ms) => locate::count(view, stream, Place::Time(ms)),
        None => Ok(0),
    };
    if let Some(since_ms) = query.since_ms {
        low = low.max(before(since_ms)?);
    }
    if let Some(until_ms) = query.until_ms {
        high = high.min(before(until_ms)?);
    }
    Ok((low, high))
}

fn matches(draft: &Draft, query: &EventQuery) -> bool {
    let step = |wanted: &str| {
        draft
            .step
            .as_ref()
            .is_some_and(|step| &*step.name == wanted)
    };
    (query.types.is_empty() || query.types.iter().any(|wanted| is_of(&draft.kind, wanted)))
        && query.step.as_deref().is_none_or(step)
}

/// `log.info` is of `log.info` and of the family `log`.
fn is_of(kind: &EventType, wanted: &EventType) -> bool {
    kind == wanted
        || kind
            .as_str()
            .strip_prefix(wanted.as_str())
            .is_some_and(|rest| rest.starts_with('.'))
}

const FORWARD: &str = "SELECT first, base_ms, body FROM chunks
     WHERE stream = ?1 AND first >= coalesce(
         (SELECT max(first) FROM chunks WHERE stream = ?1 AND first <= ?2), 0)
     ORDER BY first";

const BACKWARD: &str = "SELECT first, base_ms, body FROM chunks
     WHERE stream = ?1 AND first <= ?2 ORDER BY first DESC";

/// Chunks in the order of `sql`, from the one that holds the position `from`.
fn walk(
    view: View<'_>,
    stream: &Stream,
    sql: &str,
    from: u64,
    mut visit: impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<()> {
    let mut statement = view.conn.prepare_cached(sql).map_err(translate)?;
    let mut rows = statement.query((stream.no, from)).map_err(translate)?;
    let mut order = Order::of(stream, sql, from);
    while let Some(row) = rows.next().map_err(translate)? {
        let chunk = chunk(row)?;
        order.take(&chunk)?;
        if visit(chunk).is_break() {
            return Ok(());
        }
    }
    order.end()
}

/// Makes sure that a walk meets every event: a chunk whose place is damaged is missing at its
/// place.
struct Order<'a> {
    stream: &'a Stream,
    is_forward: bool,
    /// The position that the next chunk has to begin with, or to end with.
    next: u64,
    is_first: bool,
}

impl<'a> Order<'a> {
    fn of(stream: &'a Stream, sql: &str, from: u64) -> Self {
        let is_forward = sql == FORWARD;
        Self {
            stream,
            is_forward,
            next: if is_forward { from } else { from + 1 },
            is_first: true,
        }
    }

    fn take(&mut self, chunk: &Chunk) -> Result<()> {
        let (begin, end) = (chunk.first, chunk.first + chunk.drafts.len() as u64);
        let fits = match (self.is_forward, self.is_first) {
            // The beginnings of streams other than runs' may have been trimmed.
            (true, true) => (begin <= self.next && self.next < end) || self.may_be_trimmed(begin),
            (true, false) => begin == self.next,
            (false, true) => begin < self.next && self.next <= end,
            (false, false) => end == self.next,
        };
        if !fits {
            return Err(self.missing());
        }
        self.is_first = false;
        self.next = if self.is_forward { end } else { begin };
        Ok(())
    }

    fn may_be_trimmed(&self, begin: u64) -> bool {
        self.stream.no < 0 && begin > self.next
    }

    fn end(&self) -> Result<()> {
        let is_whole = match self.is_forward {
            true => self.next >= self.stream.stored,
            false => self.next == 0 || self.stream.no < 0,
        };
        match is_whole {
            true => Ok(()),
            false => Err(self.missing()),
        }
    }

    fn missing(&self) -> Error {
        let at = match self.is_forward {
            true => self.next,
            false => self.next.saturating_sub(1),
        };
        let stream = &self.stream.context.run_id;
        corrupt(format_args!("the stream of {stream} lacks event {at}"))
    }
}

pub(super) fn chunk(row: &rusqlite::Row<'_>) -> Result<Chunk> {
    let first: u64 = row.get(0).map_err(translate)?;
    let base_ms: Millis = row.get(1).map_err(translate)?;
    let body = row.get_ref(2).map_err(translate)?;
    let drafts = body
        .as_blob()
        .ok()
        .and_then(|body| codec::decode(body, first, base_ms));
    let drafts = drafts.ok_or_else(|| {
        corrupt(format_args!(
            "the events from position {first} on do not match their checksum"
        ))
    })?;
    Ok(Chunk { first, drafts })
}

pub(super) fn find(view: View<'_>, name: &StreamName) -> Result<Option<Stream>> {
    if let Some(run) = name.run() {
        let row: Option<(i64, u64, i64, i64)> = view
            .conn
            .prepare_cached("SELECT no, len, flow, tenant FROM runs WHERE id = ?1")
            .and_then(|mut statement| {
                let read = |row: &rusqlite::Row<'_>| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                };
                statement.query_row([run.as_str()], read).optional()
            })
            .map_err(translate)?;
        let Some((no, len, flow, tenant)) = row else {
            return Ok(None);
        };
        let context = EventContext {
            run_id: name.id.clone(),
            flow_name: view.names.text(flow)?,
            tenant_id: view.names.text_of(tenant)?,
        };
        return Ok(Some(Stream {
            no,
            stored: len,
            derived: Vec::new(),
            context,
        }));
    }
    let context = EventContext {
        run_id: name.id.clone(),
        flow_name: name.kind.clone(),
        tenant_id: None,
    };
    if name.is_job()
        && let Some(stream) = of_job(view, name, &context)?
    {
        return Ok(Some(stream));
    }
    let Some(kind) = view.names.find(&name.kind) else {
        return Ok(None);
    };
    let row: Option<(i64, u64)> = view
        .conn
        .prepare_cached("SELECT no, len FROM streams WHERE kind = ?1 AND id = ?2")
        .and_then(|mut statement| {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            statement.query_row((kind, &*name.id), read).optional()
        })
        .map_err(translate)?;
    Ok(row.map(|(no, len)| Stream {
        no: -no,
        stored: len,
        derived: Vec::new(),
        context,
    }))
}

/// The stream of a job that exists. One statement reads both, so that they are consistent.
fn of_job(view: View<'_>, name: &StreamName, context: &EventContext) -> Result<Option<Stream>> {
    let sql = format!(
        "SELECT {}, s.no, s.len, s.last_ms FROM work w JOIN queues q ON q.no = w.queue
         LEFT JOIN streams s ON s.kind = ?1 AND s.id = w.id WHERE w.id = ?2",
        life::COLUMNS
    );
    let kind = view.names.find(StreamName::JOB);
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let mut rows = statement.query((kind, &*name.id)).map_err(translate)?;
    let Some(row) = rows.next().map_err(translate)? else {
        return Ok(None);
    };
    let (_, life) = life::read(row)?;
    let number = |at: usize| row.get::<_, Option<i64>>(at).map_err(translate);
    let mut derived = life.unrecorded();
    in_order(&mut derived, number(13)?.unwrap_or(0));
    Ok(Some(Stream {
        no: -number(11)?.unwrap_or(0),
        stored: number(12)?.unwrap_or(0).cast_unsigned(),
        derived,
        context: context.clone(),
    }))
}
