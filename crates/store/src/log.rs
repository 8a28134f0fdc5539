//! The log of all events, of every stream, in the order of their commits.
//!
//! Every stored event has a number in it, which is never given twice and grows from commit to
//! commit; it is the cursor of readers across streams. The events of a job's life in its row are
//! not stored, so events of the family `job` are not in here.

use riverrun_types::{Event, EventType, Json, Name, StreamName};

/// Which kinds of events match: exact types, or families (`order` takes every `order.*`). An `emit`
/// event also has the kind in its `data.topic`. None means all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kinds(Vec<Name>);

impl Kinds {
    /// The most kinds that one reader may name.
    pub const MAX: usize = 32;

    pub fn new<T: AsRef<str>>(kinds: impl IntoIterator<Item = T>) -> Self {
        let mut kinds: Vec<Name> = kinds.into_iter().map(|kind| kind.as_ref().into()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        Self(kinds)
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|kind| &**kind)
    }

    pub fn take(&self, kind: &EventType, data: Option<&Json>) -> bool {
        self.names(kind.as_str()) || topic(kind, data).is_some_and(|topic| self.names(&topic))
    }

    fn names(&self, kind: &str) -> bool {
        let is_of = |wanted: &Name| {
            let rest = kind.strip_prefix(&**wanted);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        // Events that a row derives are in no log, even if some of them happen to be stored.
        !is_derived(kind) && (self.0.is_empty() || self.0.iter().any(is_of))
    }
}

/// Whether events of the kind are derived from rows, and so are in no log.
pub fn is_derived(kind: &str) -> bool {
    kind == "job" || kind.starts_with("job.")
}

/// The kind in the data of an `emit` event.
pub fn topic(kind: &EventType, data: Option<&Json>) -> Option<String> {
    let topic = data.filter(|_| *kind == EventType::Emit)?.get("topic")?;
    topic
        .as_str()
        .starts_with('"')
        .then(|| topic.as_text().into_owned())
}

/// An event in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// Its number in the log: the cursor of a reader that continues after it.
    pub no: u64,
    pub stream: StreamName,
    pub event: Event,
}

/// Selects a part of the log.
#[derive(Clone, Debug)]
pub struct LogQuery {
    /// Only events with greater numbers; 0 begins at the beginning.
    pub after: u64,
    pub kinds: Kinds,
    pub limit: usize,
    /// As in [`EventQuery::max_bytes`](crate::EventQuery::max_bytes).
    pub max_bytes: usize,
}

impl LogQuery {
    /// A page without events, which returns the end of the log.
    pub fn end() -> Self {
        Self {
            after: u64::MAX,
            kinds: Kinds::default(),
            limit: 1,
            max_bytes: 0,
        }
    }
}

/// A page of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPage {
    pub events: Vec<Logged>,
    /// Everything up to this number was read: the next page begins after it. It may be beyond the
    /// last event, so that a reader of rare events advances, and is never before `after`.
    pub next: u64,
    /// The end of the log was reached.
    pub is_end: bool,
    /// The number of the log's last event, whether it is still kept or not; 0 before the first.
    pub end: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_take_types_families_and_topics() {
        let check = |kinds: &[&str], kind: &str, data: Option<&str>, expected: bool| {
            let data = data.map(|text| Json::parse_text(text.to_owned()).unwrap());
            let taken = Kinds::new(kinds).take(&EventType::parse(kind), data.as_ref());
            assert_eq!(taken, expected, "{kinds:?} {kind} {data:?}");
        };
        check(&["order.paid"], "order.paid", None, true);
        check(&["order.paid"], "order.paid.late", None, true);
        check(&["order.paid"], "order.paidlate", None, false);
        check(&["order"], "order.paid", None, true);
        check(&["step", "flow.failed"], "flow.failed", None, true);
        check(&["step", "flow.failed"], "flow.started", None, false);
        check(&[], "flow.started", None, true);
        let said = Some(r#"{"topic":"order.paid","payload":{}}"#);
        check(&["order.paid"], "emit", said, true);
        check(&["emit"], "emit", said, true);
        check(&["order.paid"], "emit", Some(r#"{"topic":7}"#), false);
        check(&["order.paid"], "log.info", said, false);
        check(&[], "job.completed", None, false);
        check(&["job"], "job.completed", None, false);
    }
}
