//! Triggers: their versions, routes and due times.

use foldhash::{HashMap, HashSet};
use riverrun_types::{Millis, Name};

use super::{Judging, Read, Rows, Write, refuse};
use crate::{Error, Firing, NewTrigger, NextDue};

/// The part of a trigger's row that the rules read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TriggerRow {
    /// 0 for a trigger that never existed.
    pub version: u64,
    pub due_ms: Option<Millis>,
    /// False for a removed trigger.
    pub exists: bool,
}

/// The rows of triggers.
pub trait TriggerRows: Read {
    /// The default for a trigger that never existed.
    fn trigger(&mut self, id: &Name) -> Result<TriggerRow, Self::Error>;

    /// The trigger that has a route.
    fn trigger_of_route(&mut self, route: &Name) -> Result<Option<Name>, Self::Error>;
}

/// The triggers that a commit has changed so far.
#[derive(Default)]
pub(super) struct Changed {
    rows: HashMap<Name, TriggerRow>,
    /// The routes that it has taken, and for which triggers.
    routes: HashMap<Name, Name>,
    /// The triggers that do not have their stored routes any more.
    moved: HashSet<Name>,
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    fn trigger(&mut self, id: &Name) -> Result<TriggerRow, R::Error> {
        match self.changed.triggers.rows.get(id) {
            Some(row) => Ok(*row),
            None => self.rows.trigger(id),
        }
    }

    fn trigger_of_route(&mut self, route: &Name) -> Result<Option<Name>, R::Error> {
        let changed = &self.changed.triggers;
        if let Some(owner) = changed.routes.get(route) {
            return Ok(Some(owner.clone()));
        }
        let owner = self.rows.trigger_of_route(route)?;
        Ok(owner.filter(|owner| !changed.moved.contains(owner)))
    }

    /// Records the result of a change. The routes of the trigger are free.
    fn set_trigger(&mut self, id: &Name, row: TriggerRow) {
        let changed = &mut self.changed.triggers;
        changed.rows.insert(id.clone(), row);
        changed.routes.retain(|_, owner| owner != id);
        changed.moved.insert(id.clone());
    }

    pub(super) fn put_trigger(&mut self, new: &'a NewTrigger) -> Result<(), R::Error> {
        let row = self.trigger(&new.id)?;
        if row.version + 1 != new.version {
            return refuse(Error::TriggerMoved(new.id.clone()));
        }
        if let Some(route) = &new.route
            && let Some(trigger) = self.trigger_of_route(route)?
            && trigger != new.id
        {
            let route = route.clone();
            return refuse(Error::RouteTaken { route, trigger });
        }
        let row = TriggerRow {
            version: new.version,
            due_ms: match new.due {
                NextDue::Keep => row.due_ms,
                NextDue::At(due_ms) => due_ms,
            },
            exists: true,
        };
        self.set_trigger(&new.id, row);
        if let Some(route) = &new.route {
            let routes = &mut self.changed.triggers.routes;
            routes.insert(route.clone(), new.id.clone());
        }
        self.write(Write::PutTrigger(new))
    }

    pub(super) fn remove_trigger(
        &mut self,
        id: &'a Name,
        version: u64,
        now_ms: Millis,
    ) -> Result<(), R::Error> {
        let row = self.trigger(id)?;
        if !row.exists {
            return refuse(Error::TriggerNotFound(id.clone()));
        }
        if row.version != version {
            return refuse(Error::TriggerMoved(id.clone()));
        }
        let row = TriggerRow {
            version,
            due_ms: None,
            exists: false,
        };
        self.set_trigger(id, row);
        self.write(Write::RemoveTrigger { id, now_ms })
    }

    pub(super) fn fire_trigger(&mut self, firing: &'a Firing) -> Result<(), R::Error> {
        let id = &firing.trigger;
        let row = self.trigger(id)?;
        if !row.exists {
            return refuse(Error::TriggerNotFound(id.clone()));
        }
        if let Some(take) = firing.due {
            if row.version != take.version || row.due_ms != Some(take.from_ms) {
                return refuse(Error::TriggerMoved(id.clone()));
            }
            let due_ms = take.to_ms;
            let rows = &mut self.changed.triggers.rows;
            rows.insert(id.clone(), TriggerRow { due_ms, ..row });
        }
        self.write(Write::FireTrigger(firing))
    }
}
