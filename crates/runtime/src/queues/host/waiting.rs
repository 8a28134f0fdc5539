//! The frames of a handler that are not stored yet. They are bounded, and so are the stored frames
//! of one attempt: dropped frames are counted, and the stream says how many were dropped.

use riverrun_contract::LogLimit;
use riverrun_engine::Fact;
use riverrun_types::{Draft, EventType, Json, Millis};
use serde_json::json;

/// Bytes of frames that wait to be stored; further frames are dropped and counted. The usual limit
/// of an attempt fits in, however fast its handler sends.
const MAX_WAITING: usize = 16 << 20;
/// The overhead of a line beside its text.
const LINE_BYTES: usize = 256;

pub(crate) struct Waiting {
    limit: LogLimit,
    drafts: Vec<Draft>,
    /// How many of them are emitted events, not lines: those are never dropped.
    emitted: usize,
    /// Their size in memory.
    held: usize,
    progress: Option<Json>,
    /// Of the whole attempt.
    lines: usize,
    bytes: usize,
    /// Dropped because they arrived faster than they can be stored, and not reported yet.
    flooded: usize,
    /// Dropped because the attempt has reached its limit.
    beyond: usize,
    /// A task will store them soon.
    pub is_flushing: bool,
    pub is_closed: bool,
}

impl Waiting {
    pub fn new(limit: LogLimit) -> Self {
        Self {
            limit,
            drafts: Vec::new(),
            emitted: 0,
            held: 0,
            progress: None,
            lines: 0,
            bytes: 0,
            flooded: 0,
            beyond: 0,
            is_flushing: false,
            is_closed: false,
        }
    }

    /// True if frames have to be stored now and no task will do so yet.
    pub fn say(&mut self, draft: Draft, progress: Option<Json>) -> bool {
        if self.is_closed {
            return false;
        }
        // The job's row has the latest progress, whether its line is kept or not.
        let has_progress = progress.is_some();
        self.progress = progress.or(self.progress.take());
        let bytes = draft.data.as_ref().map_or(0, Json::bytes);
        if self.lines >= self.limit.lines || self.bytes + bytes > self.limit.bytes {
            self.beyond += 1;
            // A shorter, later line would appear where others are missing.
            self.lines = self.limit.lines;
        } else if self.held + bytes + LINE_BYTES > MAX_WAITING {
            self.flooded += 1;
        } else {
            self.held += bytes + LINE_BYTES;
            self.lines += 1;
            self.bytes += bytes;
            self.drafts.push(draft);
        }
        let wants = has_progress || !self.drafts.is_empty();
        wants && !std::mem::replace(&mut self.is_flushing, true)
    }

    /// Adds an event that the handler emitted.
    pub fn emit(&mut self, event: Draft) {
        self.drafts.push(event);
        self.emitted += 1;
    }

    /// Adds changes that are stored with the next frames.
    pub fn add(&mut self, drafts: impl Iterator<Item = Draft>) {
        self.drafts.extend(drafts);
    }

    pub fn emitted(&self) -> usize {
        self.emitted
    }

    pub fn is_empty(&self) -> bool {
        self.drafts.is_empty() && self.progress.is_none()
    }

    /// Takes the waiting frames.
    pub fn take(&mut self, now_ms: Millis) -> (Vec<Draft>, Option<Json>) {
        (self.emitted, self.held) = (0, 0);
        match std::mem::take(&mut self.flooded) {
            0 => {}
            flooded => self.drafts.push(warning(
                now_ms,
                &format!("{flooded} lines were dropped: the handler said more than can be stored"),
            )),
        }
        (std::mem::take(&mut self.drafts), self.progress.take())
    }

    /// Takes the waiting frames, and last the number of dropped ones; later frames are dropped.
    pub fn close(&mut self, now_ms: Millis) -> (Vec<Draft>, Option<Json>) {
        self.is_closed = true;
        let (mut drafts, progress) = self.take(now_ms);
        if self.beyond > 0 {
            let LogLimit { lines, bytes } = self.limit;
            let dropped = std::mem::take(&mut self.beyond);
            drafts.push(warning(
                now_ms,
                &format!(
                    "{dropped} lines were dropped: of one attempt {lines} lines and {bytes} bytes \
                     are kept (logs: {{maxLines, maxBytes}})"
                ),
            ));
        }
        (drafts, progress)
    }

    /// They could not be stored: they wait again, before later ones.
    pub fn put_back(&mut self, drafts: Vec<Draft>, progress: Option<Json>) {
        let is_emitted = |draft: &&Draft| matches!(Fact::read(draft), Fact::Emitted { .. });
        self.emitted += drafts.iter().filter(is_emitted).count();
        let bytes = |draft: &Draft| draft.data.as_ref().map_or(0, Json::bytes) + LINE_BYTES;
        self.held += drafts.iter().map(bytes).sum::<usize>();
        let later = std::mem::replace(&mut self.drafts, drafts);
        self.drafts.extend(later);
        self.progress = self.progress.take().or(progress);
    }
}

fn warning(now_ms: Millis, message: &str) -> Draft {
    Draft::new(now_ms, EventType::LogWarn).data(json!({ "message": message }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Draft {
        Draft::new(0, EventType::LogInfo).data(json!({ "message": text }))
    }

    fn texts(drafts: &[Draft]) -> Vec<String> {
        let text = |draft: &Draft| draft.data.as_ref().unwrap().value()["message"].clone();
        drafts
            .iter()
            .map(|draft| text(draft).as_str().unwrap().to_owned())
            .collect()
    }

    fn waiting(lines: usize, bytes: usize) -> Waiting {
        Waiting::new(LogLimit { lines, bytes })
    }

    #[test]
    fn lines_beyond_the_limit_are_counted_and_said_once() {
        let mut waiting = waiting(2, 1_000);
        let wants: Vec<bool> = ["a", "b"].map(|text| waiting.say(line(text), None)).into();
        assert_eq!(wants, [true, false]);
        assert_eq!(texts(&waiting.take(0).0), ["a", "b"]);
        waiting.is_flushing = false;
        for _ in 0..5 {
            assert!(
                !waiting.say(line("c"), None),
                "there is nothing to be stored"
            );
        }
        assert!(waiting.take(0).0.is_empty(), "it is said at the end");
        let (last, _) = waiting.close(0);
        let said = texts(&last);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("5 lines were dropped"), "{said:?}");
        assert!(!waiting.say(line("d"), None));
        assert!(waiting.close(0).0.is_empty());
    }

    #[test]
    fn bytes_are_a_limit_too_and_nothing_stands_behind_a_gap() {
        let long = "x".repeat(80);
        let mut waiting = waiting(100, 100);
        waiting.say(line("short"), None);
        waiting.say(line(&long), None);
        waiting.say(line("short"), None);
        let said = texts(&waiting.close(0).0);
        assert_eq!(said.len(), 2);
        assert!(said[1].starts_with("2 lines were dropped"), "{said:?}");
    }

    #[test]
    fn progress_goes_on_when_its_lines_are_not_kept() {
        let mut waiting = waiting(0, 100);
        let progress = || Some(Json::of(&7));
        assert!(waiting.say(line("p"), progress()));
        let (drafts, latest) = waiting.take(0);
        assert!(drafts.is_empty());
        assert_eq!(latest, progress());
    }

    #[test]
    fn what_comes_too_fast_is_counted_when_there_is_room_again() {
        let mut waiting = waiting(10_000, 1 << 30);
        let long = "x".repeat(1 << 20);
        for _ in 0..18 {
            waiting.say(line(&long), None);
        }
        let (drafts, _) = waiting.take(0);
        assert_eq!(drafts.len(), 16);
        assert!(texts(&drafts[15..])[0].starts_with("3 lines"));
        assert!(waiting.say(line(&long), None) || waiting.is_flushing);
        assert_eq!(waiting.take(0).0.len(), 1);
    }

    #[test]
    fn whatever_an_attempt_may_say_it_may_say_at_once() {
        let LogLimit { lines, bytes } = LogLimit::default();
        let mut waiting = waiting(lines, bytes);
        for _ in 0..lines {
            waiting.say(line("x"), None);
        }
        assert_eq!(waiting.close(0).0.len(), lines);
    }
}
