//! Appending to any stream: drafts become chunks.

use riverrun_store::{Placed, codec, judge::last_ms};
use riverrun_types::{Draft, Json};

use crate::{
    core::Core,
    error::Worked,
    log::{Chunk, Marks},
};

/// A chunk is read whole, so it is kept small enough to be read for one event of it.
const MAX_EVENTS: usize = 256;
const MAX_PAYLOAD_BYTES: usize = 64 << 10;

/// Writes the chunks.
pub(super) fn write(core: &Core, stream: i64, placed: &Placed, drafts: &[Draft]) -> Worked<()> {
    if drafts.is_empty() {
        return Ok(());
    }
    let mut insert = core.conn.prepare_cached(
        "INSERT INTO chunks (seq, stream, first, count, base_ms, marks, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut rest = drafts;
    let mut first = placed.first;
    let mut floor_ms = placed.floor_ms;
    while let Some(draft) = rest.first() {
        let (chunk, later) = rest.split_at(fitting(rest));
        let base_ms = draft.ms.max(floor_ms);
        let body = codec::encode(chunk, first, base_ms);
        let seq = core.take_numbers(chunk.len() as u64);
        let marks = Marks::of(chunk);
        let is_marked = !marks.are_none();
        insert.execute((seq, stream, first, chunk.len(), base_ms, is_marked, body))?;
        if is_marked {
            let chunk = Chunk { seq, stream, first };
            marks.put(&core.conn, chunk)?;
        }
        first += chunk.len() as u64;
        floor_ms = last_ms(floor_ms, chunk);
        rest = later;
    }
    Ok(())
}

/// How many of the drafts form the next chunk: at least one.
fn fitting(drafts: &[Draft]) -> usize {
    let mut bytes = 0;
    let full = drafts.iter().take(MAX_EVENTS).position(|draft| {
        bytes += draft.data.as_ref().map_or(0, Json::bytes);
        bytes > MAX_PAYLOAD_BYTES
    });
    full.unwrap_or_else(|| drafts.len().min(MAX_EVENTS)).max(1)
}

#[cfg(test)]
mod tests {
    use riverrun_types::EventType;

    use super::*;

    #[test]
    fn chunks_are_bounded_by_count_and_bytes() {
        let plain = Draft::new(1, EventType::Emit);
        let large = plain.clone().data("x".repeat(40 << 10));
        let check = |drafts: &[Draft], expected: usize| assert_eq!(fitting(drafts), expected);
        check(std::slice::from_ref(&plain), 1);
        check(&vec![plain.clone(); 300], 256);
        check(&vec![large.clone(); 3], 1);
        check(&[plain.clone(), large.clone(), large], 2);
        check(&[plain.data("x".repeat(100 << 10))], 1);
    }
}
