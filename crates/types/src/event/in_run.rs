//! Writes that a step's code makes inside of a `ctx.run`.
//!
//! They are part of that run, which is recorded as a whole: the event is marked, and a replay skips
//! it.

use super::Draft;
use crate::Json;

const MARK: &str = "inRun";

/// Marks a write of state.
pub fn in_run(mut draft: Draft) -> Draft {
    // Payloads are text, and do not change: the mark is added after the last member.
    let marked = draft.data.as_ref().and_then(|data| {
        let members = data.as_str().strip_suffix('}')?;
        Json::parse_text(format!("{members},\"{MARK}\":true}}")).ok()
    });
    draft.data = marked.or(draft.data);
    draft
}

/// Whether it is marked as part of a `ctx.run`.
pub fn is_in_run(draft: &Draft) -> bool {
    let mark = draft.data.as_ref().and_then(|data| data.get(MARK));
    mark.is_some_and(|mark| mark.as_str() == "true")
}
