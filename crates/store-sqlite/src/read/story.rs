//! A story: the streams that belong to it are found by index and merged by time.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashSet, VecDeque},
};

use riverrun_store::{Error, EventQuery, InStory, Page, Result, StoryQuery};
use riverrun_types::{Event, Millis, Name, RunId, StreamName};
use rusqlite::{Params, Row};

use super::{
    View,
    events::{self, chunk},
    lists::MAX_PAGE,
    log::{COLUMNS, OWNERS, whose},
};
use crate::error::translate;

/// Events read of one stream at a time.
const AT_A_TIME: usize = 64;

/// The place of an event in a story: time, then stream, then position. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    ms: Millis,
    kind: Name,
    id: Name,
    seq: u64,
}

impl Place {
    fn of(stream: &StreamName, event: &Event) -> Self {
        Self {
            ms: event.id.ms,
            kind: stream.kind.clone(),
            id: stream.id.clone(),
            seq: event.id.seq,
        }
    }

    fn text(&self) -> String {
        format!("{}-{}@{}/{}", self.ms, self.seq, self.kind, self.id)
    }

    fn parse(text: &str) -> Result<Self> {
        let read = || {
            let (place, stream) = text.split_once('@')?;
            let place: riverrun_types::EventId = place.parse().ok()?;
            let (kind, id) = stream.split_once('/')?;
            Some(Self {
                ms: place.ms,
                kind: kind.into(),
                id: id.into(),
                seq: place.seq,
            })
        };
        read().ok_or_else(|| Error::BadCursor(text.chars().take(64).collect()))
    }
}

pub(crate) fn story(view: View<'_>, query: &StoryQuery) -> Result<Page<InStory>> {
    let after = query.cursor.as_deref().map(Place::parse).transpose()?;
    let limit = query.limit.clamp(1, MAX_PAGE);
    let ids = ids(view, &query.correlation)?;
    let mut sources = sources(view, query, &ids)?;
    let mut heap = BinaryHeap::new();
    for (at, source) in sources.iter_mut().enumerate() {
        source.begin(after.as_ref());
        if let Some(place) = source.next_place(view, &ids, after.as_ref())? {
            heap.push(Reverse((place, at)));
        }
    }
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    while let Some(Reverse((place, at))) = heap.pop() {
        if items.len() == limit || bytes >= EventQuery::PAGE_BYTES {
            let next = last.as_ref().map(Place::text);
            return Ok(Page { items, next });
        }
        let source = &mut sources[at];
        if let Some(event) = source.ready.pop_front() {
            bytes += event.data.as_ref().map_or(0, riverrun_types::Json::bytes);
            let stream = source.stream.clone();
            items.push(InStory { stream, event });
        }
        if let Some(place) = source.next_place(view, &ids, after.as_ref())? {
            heap.push(Reverse((place, at)));
        }
        last = Some(place);
    }
    Ok(Page { items, next: None })
}

/// The id itself, the story that what it names belongs to, and the runs of both.
const PARTS: &str = "WITH RECURSIVE part (id) AS (
         VALUES (?1)
         UNION SELECT correlation FROM runs WHERE id = ?1 AND correlation IS NOT NULL
         UNION SELECT correlation FROM work WHERE id = ?1 AND correlation IS NOT NULL
         UNION SELECT r.id FROM part p CROSS JOIN runs r ON r.parent = p.id
         UNION SELECT r.id FROM part p CROSS JOIN runs r ON r.correlation = p.id
         LIMIT ?2)";

fn ids(view: View<'_>, correlation: &Name) -> Result<HashSet<Name>> {
    let sql = format!("{PARTS} SELECT id FROM part");
    let values = (&**correlation, StoryQuery::MAX_PARTS);
    let found = all(view, &sql, values, |row| row.get::<_, Name>(0))?;
    Ok(found.into_iter().collect())
}

fn all<T>(
    view: View<'_>,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let find = || -> rusqlite::Result<Vec<T>> {
        let mut statement = view.conn.prepare_cached(sql)?;
        statement.query_map(values, |row| read(row))?.collect()
    };
    find().map_err(translate)
}

/// A stream of the story, or the part of one that belongs to it.
struct Source {
    stream: StreamName,
    part: Part,
    ready: VecDeque<Event>,
}

enum Part {
    /// All of it, from this position on.
    Whole {
        from: u64,
        since_ms: Option<Millis>,
    },
    /// The events in these chunks that carry the id.
    Chunks(VecDeque<Marked>),
    Over,
}

/// A chunk with events of the story.
struct Marked {
    stream: i64,
    first: u64,
    base_ms: Millis,
}

fn sources(view: View<'_>, query: &StoryQuery, ids: &HashSet<Name>) -> Result<Vec<Source>> {
    let values = (&*query.correlation, StoryQuery::MAX_PARTS);
    let sql = format!(
        "{PARTS} SELECT w.id FROM part p CROSS JOIN work w ON w.correlation = p.id LIMIT ?2"
    );
    let jobs = all(view, &sql, values, |row| row.get::<_, String>(0))?;
    let jobs = jobs.iter().map(|job| StreamName::job(&RunId::new(job)));
    let runs = ids.iter().map(|id| StreamName::flow(&RunId::new(id)));
    let own = [StreamName::JOB, "call"].map(|kind| StreamName::new(kind, &query.correlation));
    let whole: HashSet<StreamName> = runs.chain(jobs).chain(own).collect();
    let marked = marked(view, query, &whole)?;
    let all = whole.into_iter().map(|stream| Source {
        stream,
        part: Part::Whole {
            from: 0,
            since_ms: None,
        },
        ready: VecDeque::new(),
    });
    let parts = marked.into_values().map(|(stream, places)| Source {
        stream,
        part: Part::Chunks(places.into()),
        ready: VecDeque::new(),
    });
    Ok(all.chain(parts).collect())
}

/// The chunks of other streams that hold events of the story.
fn marked(
    view: View<'_>,
    query: &StoryQuery,
    whole: &HashSet<StreamName>,
) -> Result<BTreeMap<i64, (StreamName, Vec<Marked>)>> {
    let sql = format!(
        "{PARTS} SELECT {COLUMNS} FROM part p CROSS JOIN stories t ON t.correlation = p.id
         CROSS JOIN chunks c ON c.stream = t.stream AND c.first = t.first {OWNERS} LIMIT ?2"
    );
    let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
    let values = (&*query.correlation, StoryQuery::MAX_PARTS);
    let mut rows = statement.query(values).map_err(translate)?;
    let mut found: BTreeMap<i64, (StreamName, Vec<Marked>)> = BTreeMap::new();
    while let Some(row) = rows.next().map_err(translate)? {
        let read = || -> rusqlite::Result<Marked> {
            Ok(Marked {
                stream: row.get(4)?,
                first: row.get(0)?,
                base_ms: row.get(1)?,
            })
        };
        let place = read().map_err(translate)?;
        let (stream, _) = whose(view, row)?;
        if !whole.contains(&stream) {
            let part = found.entry(place.stream);
            let (_, places) = part.or_insert_with(|| (stream, Vec::new()));
            places.push(place);
        }
    }
    for (_, places) in found.values_mut() {
        places.sort_by_key(|place| place.first);
        places.dedup_by_key(|place| place.first);
    }
    Ok(found)
}

impl Source {
    /// Skips events before a place, as far as that is possible without reading.
    fn begin(&mut self, after: Option<&Place>) {
        let Some(after) = after else {
            return;
        };
        let own = (&self.stream.kind, &self.stream.id);
        match &mut self.part {
            Part::Whole { from, since_ms } => match own.cmp(&(&after.kind, &after.id)) {
                // In the same millisecond it came before.
                std::cmp::Ordering::Less => *since_ms = Some(after.ms.saturating_add(1)),
                std::cmp::Ordering::Equal => *from = after.seq + 1,
                std::cmp::Ordering::Greater => *since_ms = Some(after.ms),
            },
            Part::Chunks(chunks) => {
                // Times never decrease along a stream.
                while chunks.get(1).is_some_and(|next| next.base_ms < after.ms) {
                    chunks.pop_front();
                }
            }
            Part::Over => {}
        }
    }

    /// The place of the next event.
    fn next_place(
        &mut self,
        view: View<'_>,
        ids: &HashSet<Name>,
        after: Option<&Place>,
    ) -> Result<Option<Place>> {
        while self.ready.is_empty() && !matches!(self.part, Part::Over) {
            self.read(view, ids, after)?;
        }
        let next = self.ready.front();
        Ok(next.map(|event| Place::of(&self.stream, event)))
    }

    fn read(&mut self, view: View<'_>, ids: &HashSet<Name>, after: Option<&Place>) -> Result<()> {
        match &mut self.part {
            Part::Whole { from, since_ms } => {
                let query = EventQuery {
                    since_ms: since_ms.take(),
                    ..EventQuery::forward(*from, AT_A_TIME)
                };
                let found = events::events(view, &self.stream, &query)?;
                match found.last() {
                    Some(last) => *from = last.id.seq + 1,
                    None => self.part = Part::Over,
                }
                self.ready.extend(found);
            }
            Part::Chunks(chunks) => {
                let Some(place) = chunks.pop_front() else {
                    self.part = Part::Over;
                    return Ok(());
                };
                let sql = format!(
                    "SELECT {COLUMNS} FROM chunks c {OWNERS} WHERE c.stream = ?1 AND c.first = ?2"
                );
                let mut statement = view.conn.prepare_cached(&sql).map_err(translate)?;
                let mut rows = statement
                    .query((place.stream, place.first))
                    .map_err(translate)?;
                while let Some(row) = rows.next().map_err(translate)? {
                    let (stream, context) = whose(view, row)?;
                    let chunk = chunk(row)?;
                    for (seq, draft) in (chunk.first..).zip(chunk.drafts) {
                        let is_part = draft
                            .correlation_id
                            .as_ref()
                            .is_some_and(|id| ids.contains(id));
                        let ms = draft.ms;
                        let event = draft.at(seq, ms, &context);
                        if is_part && after.is_none_or(|after| Place::of(&stream, &event) > *after)
                        {
                            self.ready.push_back(event);
                        }
                    }
                }
            }
            Part::Over => {}
        }
        Ok(())
    }
}
