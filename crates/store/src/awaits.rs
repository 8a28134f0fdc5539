//! Awaits and emitted events.
//!
//! A visit of a run waits for an event, or for a callback to be resumed from outside. An await is a
//! row, so a million may be open; an event finds matching awaits by index ([`crate::equality`]), in
//! the commit that holds the event. If an await has an expression, the event goes into the outbox,
//! and the runtime asks the store for the [candidates](crate::adapter::AwaitStore::candidates),
//! judges them and fires those that match.
//!
//! The runtime decides when an await times out. The store rejects firing it after that.

use std::collections::HashMap;

use riverrun_types::{Json, Millis, Name, Path, RunId, StreamName, event, time};

use crate::{CommitIds, Error, Placed, equality};

/// A new await.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAwait {
    /// A caller that knows it may fire it. Unique among all known awaits.
    pub id: Name,
    /// The run that is woken.
    pub run: RunId,
    pub step: Name,
    pub visit: u32,
    /// An event of another tenant does not fire it. Without a tenant it takes events of all
    /// tenants, and an event without one is for all.
    pub tenant: Option<Name>,
    pub created_ms: Millis,
    /// Nothing fires it after this time.
    pub expires_ms: Option<Millis>,
    pub what: Awaited,
    /// The events that the run has consumed, whole or as their references. Looking back passes over
    /// one for each, and over all before a time that is in the list ([`event::before`]).
    pub given: Vec<Json>,
}

/// The events that a look back passes over: events with the same reference, as often as they were
/// consumed, and all before a time.
pub struct Given {
    times: HashMap<String, usize>,
    before_ms: Option<Millis>,
}

impl Given {
    pub fn of(events: &[Json]) -> Self {
        let mut times = HashMap::new();
        let before_ms = events.iter().filter_map(event::before_ms).max();
        for event in events {
            if event::before_ms(event).is_none() {
                let reference = event::reference(event);
                *times.entry(reference.as_str().to_owned()).or_default() += 1;
            }
        }
        Self { times, before_ms }
    }

    /// Whether an event, the next in their order, was consumed already.
    pub fn has(&mut self, event: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let Ok(event) = Json::stored(event.to_owned()) else {
            return false;
        };
        let reference = event::reference(&event);
        let times = event::reference_ms(&reference).zip(self.before_ms);
        if times.is_some_and(|(ms, before_ms)| ms < before_ms) {
            return true;
        }
        match self.times.get_mut(reference.as_str()) {
            Some(left @ 1..) => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// The time from which a look back to `from_ms` has to read. An event may have been stored a
    /// little later than its id says.
    pub fn from_ms(&self, from_ms: Millis) -> Millis {
        const SLACK_MS: Millis = 3_600_000;
        let before_ms = self.before_ms.map(|ms| ms.saturating_sub(SLACK_MS));
        before_ms.unwrap_or(Millis::MIN).max(from_ms)
    }

    /// How many events are to be passed over one by one.
    pub fn len(&self) -> usize {
        self.times.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.times.is_empty() && self.before_ms.is_none()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Awaited {
    /// An emitted event of this kind.
    Event {
        kind: Name,
        matcher: Matcher,
        /// Events of this many earlier milliseconds count too, as far as they are kept.
        lookback_ms: Option<Millis>,
    },
    /// A caller that knows the id.
    Callback {
        /// Data that the await's owner stores with it: its type, page content, a secret for
        /// signatures.
        callback: Json,
        /// May be opened again and again, up to [`AwaitRecord::MAX_VALUES`] times.
        many: bool,
    },
}

/// Which events of the kind match.
#[derive(Clone, Debug, PartialEq)]
pub enum Matcher {
    Any,
    /// Events that have these values at these paths, which lead into the event: `data.orderId`.
    /// [`crate::equality`] defines equality; an event that lacks a path does not match.
    Equal(Vec<(Path, Json)>),
    /// An expression has to decide; the store does not evaluate it. Events that do not have the
    /// values are not candidates.
    Filter {
        equal: Vec<(Path, Json)>,
        filter: Json,
    },
}

impl Matcher {
    /// The part that an index finds.
    pub fn equal(&self) -> &[(Path, Json)] {
        match self {
            Self::Any => &[],
            Self::Equal(equal) | Self::Filter { equal, .. } => equal,
        }
    }

    /// The part that an expression has to judge.
    pub fn filter(&self) -> Option<&Json> {
        match self {
            Self::Any | Self::Equal(_) => None,
            Self::Filter { filter, .. } => Some(filter),
        }
    }
}

/// The state of an await.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AwaitState {
    Open,
    /// Has its value, or its first one; the run has yet to read it.
    Fired,
    /// Ended, and kept only so that late requests get an answer. Only callbacks are kept like this.
    Closed,
}

impl AwaitState {
    pub const ALL: [Self; 3] = [Self::Open, Self::Fired, Self::Closed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Fired => "fired",
            Self::Closed => "closed",
        }
    }
}

/// A stored await.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitRecord {
    pub id: Name,
    pub run: RunId,
    pub step: Name,
    pub visit: u32,
    pub tenant: Option<Name>,
    pub state: AwaitState,
    pub created_ms: Millis,
    pub expires_ms: Option<Millis>,
    /// When it was fired last.
    pub fired_ms: Option<Millis>,
    /// How often it was fired.
    pub fired: u32,
    /// The values that it was fired with, in order. Empty in lists, which may be long.
    pub values: Vec<Json>,
    pub what: Awaited,
}

impl AwaitRecord {
    /// How often a callback may be resumed before its run reads that.
    pub const MAX_VALUES: u32 = 1_000;

    /// Why it cannot be fired at this time.
    pub fn refusal(&self, now_ms: Millis) -> Option<Error> {
        let many = matches!(self.what, Awaited::Callback { many: true, .. });
        let id = || self.id.clone();
        let is_late = is_expired(self.expires_ms, now_ms);
        match self.state {
            // It may have been closed just when it could still be fired. A callback for many that
            // was resumed before its timeout is not used up by that.
            AwaitState::Closed
                if (self.fired == 0 || many)
                    && self.expires_ms.is_some_and(|until| now_ms >= until) =>
            {
                Some(Error::AwaitExpired(id()))
            }
            AwaitState::Closed if self.fired == 0 => Some(Error::AwaitClosed(id())),
            AwaitState::Closed => Some(Error::AwaitUsed(id())),
            AwaitState::Fired if !many => Some(Error::AwaitUsed(id())),
            _ if is_late => Some(Error::AwaitExpired(id())),
            _ if self.fired >= Self::MAX_VALUES => Some(Error::AwaitFull(id())),
            _ => None,
        }
    }

    /// Why this value cannot fire it.
    pub fn refusal_of(&self, fire: &Fire) -> Option<Error> {
        let is_used_up = fire.most.is_some_and(|most| self.fired >= most);
        match self.state {
            // It was closed before all values had arrived.
            AwaitState::Closed if fire.most.is_some() && !is_used_up => {
                let is_over = self.expires_ms.is_some_and(|until| fire.now_ms >= until);
                Some(match is_over {
                    true => Error::AwaitExpired(self.id.clone()),
                    false => Error::AwaitClosed(self.id.clone()),
                })
            }
            _ if is_used_up => Some(Error::AwaitUsed(self.id.clone())),
            _ => self.refusal(fire.now_ms),
        }
    }

    /// Whether the event fires it without an expression.
    pub fn is_fired_by(&self, signal: &Signal) -> bool {
        self.state == AwaitState::Open
            && !is_expired(self.expires_ms, signal.now_ms)
            && self.what.means(&signal.kind, &signal.event)
            && same_tenant(self.tenant.as_ref(), signal.tenant.as_ref())
    }
}

impl Awaited {
    /// Whether the event matches, as far as equality can decide.
    pub fn means(&self, event_kind: &str, event: &Json) -> bool {
        match self {
            Self::Event { kind, matcher, .. } => {
                **kind == *event_kind
                    && matcher.filter().is_none()
                    && equality::holds(matcher.equal(), event)
            }
            Self::Callback { .. } => false,
        }
    }
}

fn is_expired(expires_ms: Option<Millis>, now_ms: Millis) -> bool {
    expires_ms.is_some_and(|expires_ms| now_ms > expires_ms)
}

/// Whether an event of one tenant is for an await of the other. An event without a tenant is for
/// all.
pub fn same_tenant(one: Option<&Name>, other: Option<&Name>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// Settles an await from outside.
#[derive(Clone, Debug)]
pub struct Fire {
    pub id: Name,
    pub value: Json,
    pub now_ms: Millis,
    /// A callback that was resumed this often is used up.
    pub most: Option<u32>,
}

/// An event for all awaits of its kind.
#[derive(Clone, Debug)]
pub struct Signal {
    pub kind: Name,
    /// The whole event: the value for the awaits that it fires, and the value that paths lead into.
    pub event: Json,
    /// The index of the event among those that the same commit appends to the stream: the store
    /// assigns its id and its time, and adds them. Otherwise the event is complete.
    pub place: Option<usize>,
    pub tenant: Option<Name>,
    pub now_ms: Millis,
    /// The stream that holds the event.
    pub stream: StreamName,
    /// A step of its own run reacts to it. If no other subscriber does, it is counted as
    /// [unheard](crate::adapter::AwaitStore::unheard).
    pub has_subscriber: bool,
}

impl Signal {
    /// The most awaits that one signal fires by itself. Those beyond are
    /// [candidates](crate::adapter::AwaitStore::candidates), so that an event with very many awaits
    /// does not block all other commits.
    pub const MAX_FIRED: usize = 1_000;

    /// The event with the id that its commit gave it, whose events were `placed` by now.
    pub fn whole(&self, commit: &mut CommitIds<'_>, placed: &[Placed]) -> Json {
        let id = self.place;
        let id = id.and_then(|place| commit.id(&self.stream, place, placed));
        let (Some(id), Some(rest)) = (id, self.event.as_str().strip_prefix('{')) else {
            return self.event.clone();
        };
        let comma = if rest.starts_with('}') { "" } else { "," };
        let ts = time::iso(id.ms);
        Json::stored(format!(r#"{{"id":"{id}","ts":"{ts}"{comma}{rest}"#))
            .unwrap_or_else(|_| self.event.clone())
    }
}

/// An emitted event in the log of all emitted events.
#[derive(Clone, Debug, PartialEq)]
pub struct EmitRecord {
    /// Grows from event to event, over all kinds.
    pub seq: u64,
    pub kind: Name,
    pub ms: Millis,
    pub stream: StreamName,
    pub tenant: Option<Name>,
    pub event: Json,
}

/// A signal that waits in the outbox to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalRecord {
    /// Its number in the outbox, which grows.
    pub no: u64,
    pub emit: EmitRecord,
    /// The one await that it is for, if that looked back and has a filter.
    pub only: Option<Name>,
}

impl SignalRecord {
    pub fn lane(&self) -> SignalLane {
        SignalLane {
            kind: self.emit.kind.clone(),
            tenant: self.emit.tenant.clone(),
        }
    }
}

/// Which signals of the outbox to read.
#[derive(Clone, Copy, Debug)]
pub enum SignalsOf<'a> {
    All,
    Lane(&'a SignalLane),
    /// Signals that may match the open await of an id and were emitted in time. The caller checks
    /// the equalities.
    Await(&'a str),
}

/// Signals that are judged one after the other. Different lanes need not wait for each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SignalLane {
    pub kind: Name,
    pub tenant: Option<Name>,
}

/// Emitted events without a subscriber when they were emitted: no step, no await, no trigger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unheard {
    /// Of all kinds, since the store was created.
    pub total: u64,
    /// The latest kinds, up to [`Unheard::MAX_KINDS`]; a kind is removed if no such event was
    /// emitted for as long as emitted events are kept.
    pub kinds: Vec<UnheardKind>,
}

impl Unheard {
    pub const MAX_KINDS: usize = 1_000;
}

/// How many events of a kind had no subscriber.
#[derive(Clone, Debug, PartialEq)]
pub struct UnheardKind {
    pub kind: Name,
    pub count: u64,
    pub last_ms: Millis,
}

/// Which awaits to list, newest first. Every field narrows; the default lists all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AwaitFilter {
    /// Only awaits of events of this kind.
    pub kind: Option<Name>,
    /// Only callbacks.
    pub callbacks: bool,
    pub state: Option<AwaitState>,
    pub run: Option<RunId>,
    /// Rows a page: at least 1.
    pub limit: usize,
    pub cursor: Option<String>,
}

/// How many awaits are open.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AwaitStats {
    /// Awaits of events, of all kinds.
    pub events: u64,
    /// `doors` in the answers of the API.
    #[serde(rename = "doors")]
    pub callbacks: u64,
    /// Events in the outbox: an expression, or a listener, has to decide. Counted up to
    /// [`AwaitStats::MAX_JUDGING`].
    pub judging: u64,
    /// When the first of them came.
    #[serde(skip)]
    pub judging_since_ms: Option<Millis>,
    /// The kinds with the most awaits, up to [`AwaitStats::MAX_KINDS`], and those in the outbox.
    pub kinds: Vec<KindStats>,
}

impl AwaitStats {
    pub const MAX_KINDS: usize = 1_000;
    pub const MAX_JUDGING: usize = 10_000;
}

/// How many awaits wait for events of a kind.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindStats {
    pub kind: Name,
    pub open: u64,
    /// Those among them that have a filter.
    pub filters: u64,
    /// Its events in the outbox.
    pub judging: u64,
}
