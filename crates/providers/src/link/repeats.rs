//! Requests that a worker repeats because it cannot know whether they arrived.
//!
//! The answers that were lost with a connection are the newest ones, and a worker has a bounded
//! number of open requests. So only the newest answers have to be kept.

use std::collections::{HashSet, VecDeque};

use riverrun_protocol::Message;

/// As many as a worker may have open.
const KEPT: usize = 512;
const KEPT_BYTES: usize = 8 << 20;

#[derive(Default)]
pub(super) struct Repeats {
    open: HashSet<u64>,
    done: VecDeque<(u64, Message, usize)>,
    bytes: usize,
}

pub(super) enum Asked {
    New,
    /// It will be answered.
    Open,
    /// It was answered with this.
    Done(Message),
}

impl Repeats {
    pub fn begin(&mut self, id: u64) -> Asked {
        if let Some((_, message, _)) = self.done.iter().find(|(done, ..)| *done == id) {
            return Asked::Done(message.clone());
        }
        match self.open.insert(id) {
            true => Asked::New,
            false => Asked::Open,
        }
    }

    pub fn end(&mut self, id: u64, message: &Message) {
        self.open.remove(&id);
        let bytes = match message {
            Message::Response {
                outcome: Ok(json), ..
            } => json.bytes(),
            _ => 0,
        };
        self.bytes += bytes;
        self.done.push_back((id, message.clone(), bytes));
        while self.done.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((_, _, bytes)) = self.done.pop_front() else {
                return;
            };
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::Json;

    use super::*;

    #[test]
    fn a_question_is_done_once() {
        let mut repeats = Repeats::default();
        assert!(matches!(repeats.begin(1), Asked::New));
        assert!(matches!(repeats.begin(1), Asked::Open));
        let answer = Message::response(1, Ok(Json::null()));
        repeats.end(1, &answer);
        assert!(matches!(repeats.begin(1), Asked::Done(again) if again == answer));
        for id in 2..(KEPT as u64 + 3) {
            repeats.begin(id);
            repeats.end(id, &Message::response(id, Ok(Json::null())));
        }
        assert_eq!(repeats.done.len(), KEPT);
        assert!(matches!(repeats.begin(1), Asked::New));
    }
}
