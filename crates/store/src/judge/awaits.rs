//! Awaits: which of them may begin, be fired and expire.

use std::ops::ControlFlow;

use foldhash::HashMap;
use riverrun_types::{Json, Millis, Name, RunId};

use super::{Judging, Read, Rows, Write, refuse};
use crate::{
    AwaitRecord, AwaitState, Awaited, Change, Error, Fire, Given, NewAwait, Signal, same_tenant,
};

/// The rows of awaits and emitted events.
pub trait AwaitRows: Read {
    /// An await, without the values that it was fired with.
    fn await_by(&mut self, id: &Name) -> Result<Option<AwaitRecord>, Self::Error>;

    /// Whether the outbox has signals above the number `judged` for an open await
    /// ([`SignalsOf::Await`](crate::SignalsOf::Await)).
    fn has_unjudged(&mut self, id: &Name, judged: u64) -> Result<bool, Self::Error>;

    /// Visits the tenant and the text of every kept event of a kind from a time on, in their order.
    fn each_emitted(
        &mut self,
        kind: &Name,
        from_ms: Millis,
        visit: impl FnMut(Option<Name>, Json) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;
}

/// The awaits that a commit has read, as its changes have left them so far.
#[derive(Default)]
pub(super) struct Changed {
    /// None is an await that does not exist, or was deleted.
    awaits: HashMap<Name, Option<AwaitRecord>>,
    signals: Vec<Signal>,
    /// The runs that the commit has deleted.
    deleted: Vec<RunId>,
}

impl Changed {
    pub(super) fn delete(&mut self, run: &RunId) {
        for slot in self.awaits.values_mut() {
            slot.take_if(|found| found.run == *run);
        }
        self.deleted.push(run.clone());
    }
}

/// The effect of an await's end: settled, timed out or cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitEnd {
    /// It had ended before.
    Nothing,
    /// A callback is kept as closed until its run is deleted, so that late requests get an answer.
    Closes,
    Removed,
}

impl AwaitEnd {
    pub fn of(is_callback: bool, state: AwaitState) -> Self {
        match (is_callback, state) {
            (true, AwaitState::Closed) => Self::Nothing,
            (true, AwaitState::Open | AwaitState::Fired) => Self::Closes,
            (false, _) => Self::Removed,
        }
    }
}

impl AwaitRecord {
    /// The effect of firing. The value is kept behind the earlier ones, and the run is woken
    /// ([`super::RunTask::wake`]).
    pub fn fire(&mut self, now_ms: Millis) {
        self.state = AwaitState::Fired;
        self.fired += 1;
        self.fired_ms = Some(now_ms);
    }
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    pub(super) fn add_await(&mut self, new: &'a NewAwait) -> Result<(), R::Error> {
        let Some(run) = self.run(&new.run)? else {
            return refuse(Error::RunNotFound(new.run.clone()));
        };
        if self.find_await(&new.id)?.is_some() {
            return refuse(Error::AwaitExists(new.id.clone()));
        }
        if self.is_followed() {
            let fires = |change: &Change| matches!(change, Change::Fire(fire) if fire.id == new.id);
            let mut record = opened(new);
            // The events on which it looks back matter only to a change that fires it as well.
            if self.later.iter().any(fires) && self.looks_back_on_one(new)? {
                record.state = AwaitState::Fired;
            }
            let awaits = &mut self.changed.awaits.awaits;
            awaits.insert(new.id.clone(), Some(record));
        }
        let place = run.place;
        self.write(Write::AddAwait { new, place })
    }

    pub(super) fn end_await(&mut self, id: &'a Name) -> Result<(), R::Error> {
        if self.is_followed() {
            self.find_await(id)?;
            if let Some(slot) = self.changed.awaits.awaits.get_mut(id) {
                let is_callback =
                    |found: &AwaitRecord| matches!(found.what, Awaited::Callback { .. });
                if let Some(found) = slot {
                    match AwaitEnd::of(is_callback(found), found.state) {
                        AwaitEnd::Nothing => {}
                        AwaitEnd::Closes => found.state = AwaitState::Closed,
                        AwaitEnd::Removed => *slot = None,
                    }
                }
            }
        }
        self.write(Write::EndAwait(id))
    }

    /// `fired` and `judged`: the counts that the run knows.
    pub(super) fn expire(&mut self, id: &'a Name, fired: u32, judged: u64) -> Result<(), R::Error> {
        if let Some(found) = self.find_await(id)? {
            let (run, state) = (found.run.clone(), found.state);
            let is_early = match state {
                AwaitState::Fired => found.fired > fired,
                AwaitState::Open => self.rows.has_unjudged(id, judged)?,
                AwaitState::Closed => false,
            };
            if is_early {
                return refuse(Error::Conflict(run));
            }
        }
        self.end_await(id)
    }

    pub(super) fn fire(&mut self, fire: &'a Fire) -> Result<(), R::Error> {
        let refusal = match self.find_await(&fire.id)? {
            None => Some(Error::AwaitNotFound(fire.id.clone())),
            Some(found) => found.refusal_of(fire),
        };
        if let Some(error) = refusal {
            return refuse(error);
        }
        if let Some(Some(found)) = self.changed.awaits.awaits.get_mut(&fire.id) {
            found.fire(fire.now_ms);
        }
        self.write(Write::FireAwait(fire))
    }

    pub(super) fn signal(&mut self, signal: &'a Signal) -> Result<(), R::Error> {
        if self.is_followed() {
            let changed = &mut self.changed.awaits;
            for found in changed.awaits.values_mut().flatten() {
                if found.is_fired_by(signal) {
                    found.fire(signal.now_ms);
                }
            }
            changed.signals.push(signal.clone());
        }
        self.write(Write::Signal(signal))
    }

    /// The await as the commit has left it so far.
    fn find_await(&mut self, id: &Name) -> Result<Option<&AwaitRecord>, R::Error> {
        if !self.changed.awaits.awaits.contains_key(id) {
            let mut stored = self.rows.await_by(id)?;
            let changed = &mut self.changed.awaits;
            stored.take_if(|found| changed.deleted.contains(&found.run));
            if let Some(found) = &mut stored
                && let Some(signal) = changed.signals.iter().find(|it| found.is_fired_by(it))
            {
                found.fire(signal.now_ms);
            }
            changed.awaits.insert(id.clone(), stored);
        }
        Ok(self.changed.awaits.awaits.get(id).and_then(Option::as_ref))
    }

    /// Whether an await that begins is fired by an earlier event.
    fn looks_back_on_one(&mut self, new: &NewAwait) -> Result<bool, R::Error> {
        let Awaited::Event {
            kind,
            lookback_ms: Some(lookback_ms),
            ..
        } = &new.what
        else {
            return Ok(false);
        };
        let from_ms = new.created_ms.saturating_sub(*lookback_ms);
        let mut given = Given::of(&new.given);
        let from_ms = given.from_ms(from_ms);
        let mut is_one = |tenant: Option<&Name>, kind: &str, event: &Json| {
            same_tenant(new.tenant.as_ref(), tenant)
                && new.what.means(kind, event)
                && !given.has(event.as_str())
        };
        let mut is_found = false;
        self.rows.each_emitted(kind, from_ms, |tenant, event| {
            is_found = is_one(tenant.as_ref(), kind, &event);
            match is_found {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        let signals = self.changed.awaits.signals.iter();
        let mut signals = signals.filter(|signal| signal.now_ms >= from_ms);
        Ok(is_found || signals.any(|it| is_one(it.tenant.as_ref(), &it.kind, &it.event)))
    }
}

fn opened(new: &NewAwait) -> AwaitRecord {
    AwaitRecord {
        id: new.id.clone(),
        run: new.run.clone(),
        step: new.step.clone(),
        visit: new.visit,
        tenant: new.tenant.clone(),
        state: AwaitState::Open,
        created_ms: new.created_ms,
        expires_ms: new.expires_ms,
        fired_ms: None,
        fired: 0,
        values: Vec::new(),
        what: new.what.clone(),
    }
}
