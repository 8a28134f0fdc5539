//! Signals of events to the awaits of their kind, in any run, and to listeners.
//!
//! The store itself finds awaits with equalities, in the commit that holds the event. Awaits that
//! need an expression go through the store's outbox (`awaits`).
//!
//! Events of the engine are delivered to listeners alone, and only if some exist: most runs end
//! without one.

use riverrun_engine::Fact;
use riverrun_store::{Change, Signal};
use riverrun_types::{Draft, EventType, Json, Millis, Name, StreamName, event::EventContext};

use super::{Streams, emission::Emission};

/// A stream to which a commit appends events, and their envelope.
pub(crate) struct SignalSource<'a> {
    pub stream: &'a StreamName,
    pub context: &'a EventContext,
    /// The story of the run, for events that name none.
    pub correlation: Option<&'a Name>,
    /// How many events started a run on the way to their emitter.
    pub chain: u32,
}

impl SignalSource<'_> {
    /// The signals that a commit with events must send to awaits of such events. `from` is the
    /// place of the first among those that the commit appends, `has_subscriber` returns whether
    /// steps of the run that holds them react to a kind.
    pub fn signals(
        &self,
        drafts: &[Draft],
        from: usize,
        now: Millis,
        has_subscriber: impl Fn(&str) -> bool,
    ) -> Vec<Change> {
        let signal = |(index, draft): (usize, &Draft)| {
            let (kind, payload) = Fact::emitted(draft)?;
            // A job's own events are not sent to all.
            if kind.starts_with("job.") {
                return None;
            }
            let mut signal = self.signal(draft, &kind, &payload, from + index, now);
            signal.has_subscriber = has_subscriber(&kind);
            Some(Change::Signal(Box::new(signal)))
        };
        drafts.iter().enumerate().filter_map(signal).collect()
    }

    fn signal(
        &self,
        draft: &Draft,
        kind: &Name,
        payload: &Json,
        place: usize,
        now_ms: Millis,
    ) -> Signal {
        let mut emission = Emission::of(draft, kind, payload, self.context);
        let correlation = self.correlation.map(|story| &**story);
        emission.correlation_id = emission.correlation_id.or(correlation);
        emission.chain = self.chain;
        Signal {
            event: Json::of(&emission),
            place: Some(place),
            kind: kind.clone(),
            tenant: self.context.tenant_of(draft).cloned(),
            now_ms,
            stream: self.stream.clone(),
            has_subscriber: true,
        }
    }
}

impl Streams {
    /// The signals that a commit with a run's events must send to listeners to the engine's events.
    pub(crate) fn engine_signals(
        &self,
        source: &SignalSource<'_>,
        drafts: &[Draft],
    ) -> Vec<Change> {
        let kinds = self.engine_kinds();
        if kinds.is_empty() {
            return Vec::new();
        }
        let is_wanted = |kind: &EventType| kind.is_engines_own() && kinds.contains(kind);
        let wanted = drafts.iter().enumerate();
        let wanted = wanted.filter(|(_, draft)| is_wanted(&draft.kind));
        let signal = |(place, draft): (usize, &Draft)| {
            let kind = Name::from(draft.kind.as_str());
            let data = draft.data.clone().unwrap_or_else(Json::null);
            let signal = source.signal(draft, &kind, &data, place, draft.ms);
            Change::Signal(Box::new(signal))
        };
        wanted.map(signal).collect()
    }
}
