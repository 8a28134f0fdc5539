//! The awaits that a commit speaks of, as its earlier changes will leave them, so that it can be
//! refused before anything is changed.

use std::{collections::HashMap, ops::ControlFlow};

use riverrun_store::{
    AwaitRecord, AwaitState, Awaited, Error, Fire, Given, NewAwait, Signal, same_tenant,
};
use riverrun_types::{Json, Name, RunId};

use super::{COLUMNS, TABLES, lookback, record, unjudged::has_unjudged};
use crate::{
    core::Core,
    error::{Failure, Worked},
};

#[derive(Default)]
pub(crate) struct Foreseen {
    /// Those that were asked for. None is an await that there is not, or not any more.
    awaits: HashMap<Name, Option<AwaitRecord>>,
    /// Told so far by the commit.
    signals: Vec<Signal>,
    /// Deleted so far by the commit.
    gone: Vec<RunId>,
}

impl Foreseen {
    pub(crate) fn judge_new(&mut self, core: &Core, new: &NewAwait) -> Worked<()> {
        match self.find(core, &new.id)? {
            None => Ok(()),
            Some(_) => Err(Failure::Refused(Error::AwaitExists(new.id.clone()))),
        }
    }

    pub(crate) fn judge_fire(&mut self, core: &Core, fire: &Fire) -> Worked<()> {
        let refusal = match self.find(core, &fire.id)? {
            None => Some(Error::AwaitNotFound(fire.id.clone())),
            Some(found) => found.refusal_of(fire),
        };
        refusal.map_or(Ok(()), |error| Err(Failure::Refused(error)))
    }

    /// `fired` and `judged`: what the run knows of.
    pub(crate) fn judge_expiry(
        &mut self,
        core: &Core,
        id: &Name,
        fired: u32,
        judged: u64,
    ) -> Worked<()> {
        let Some(found) = self.find(core, id)? else {
            return Ok(());
        };
        let is_early = match found.state {
            AwaitState::Fired => found.fired > fired,
            AwaitState::Open => has_unjudged(&core.conn, id, judged)?,
            AwaitState::Closed => false,
        };
        match is_early {
            true => Err(Failure::Refused(Error::Conflict(found.run.clone()))),
            false => Ok(()),
        }
    }

    /// `is_fired_later`: whether the commit goes on to fire this one, so that what it is fired by
    /// before has to be known.
    pub(crate) fn add(&mut self, core: &Core, new: &NewAwait, is_fired_later: bool) -> Worked<()> {
        let mut record = AwaitRecord {
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
        };
        if is_fired_later && self.looks_back_on_one(core, new)? {
            record.state = AwaitState::Fired;
        }
        self.awaits.insert(new.id.clone(), Some(record));
        Ok(())
    }

    fn looks_back_on_one(&self, core: &Core, new: &NewAwait) -> Worked<bool> {
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
        let mut is_one = |of: Option<&Name>, kind: &str, event: &Json| {
            same_tenant(new.tenant.as_ref(), of)
                && new.what.means(kind, event)
                && !given.has(event.as_str())
        };
        let mut found = false;
        lookback::each(&core.conn, kind, from_ms, i64::MAX, |_, _, of, event| {
            found = is_one(of.map(Name::from).as_ref(), kind, &event);
            Ok(if found {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        let mut told = self.signals.iter().filter(|it| it.now_ms >= from_ms);
        Ok(found || told.any(|it| is_one(it.tenant.as_ref(), &it.kind, &it.event)))
    }

    pub(crate) fn fire(&mut self, id: &Name) {
        if let Some(Some(found)) = self.awaits.get_mut(id) {
            found.state = AwaitState::Fired;
            found.fired += 1;
        }
    }

    pub(crate) fn end(&mut self, core: &Core, id: &Name) -> Worked<()> {
        self.find(core, id)?;
        if let Some(slot) = self.awaits.get_mut(id) {
            match slot {
                Some(found) if matches!(found.what, Awaited::Door { .. }) => {
                    found.state = AwaitState::Closed;
                }
                _ => *slot = None,
            }
        }
        Ok(())
    }

    pub(crate) fn tell(&mut self, signal: &Signal) {
        for found in self.awaits.values_mut().flatten() {
            if found.is_fired_by(signal) {
                found.state = AwaitState::Fired;
                found.fired += 1;
            }
        }
        self.signals.push(signal.clone());
    }

    pub(crate) fn delete(&mut self, run: &RunId) {
        for slot in self.awaits.values_mut() {
            if slot.as_ref().is_some_and(|found| found.run == *run) {
                *slot = None;
            }
        }
        self.gone.push(run.clone());
    }

    fn find(&mut self, core: &Core, id: &Name) -> Worked<Option<&AwaitRecord>> {
        if !self.awaits.contains_key(id) {
            let mut stored = load(core, id)?;
            if let Some(found) = &mut stored
                && self.signals.iter().any(|signal| found.is_fired_by(signal))
            {
                found.state = AwaitState::Fired;
                found.fired += 1;
            }
            let stored = stored.filter(|found| !self.gone.contains(&found.run));
            self.awaits.insert(id.clone(), stored);
        }
        Ok(self.awaits.get(id).and_then(Option::as_ref))
    }
}

fn load(core: &Core, id: &Name) -> Worked<Option<AwaitRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE a.id = ?1");
    let mut statement = core.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([&**id])?;
    match rows.next()? {
        Some(row) => Ok(Some(record(row).map_err(Failure::Refused)?.1)),
        None => Ok(None),
    }
}
