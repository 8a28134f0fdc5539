//! Triggers come, change and go.

use std::collections::HashMap;

use riverrun_store::{Error, NewTrigger, NextDue};
use riverrun_types::{Millis, Name};
use rusqlite::{OptionalExtension, params};

use crate::{
    columns::Sealed,
    core::Core,
    error::{Failure, Worked},
};

/// What judging needs of a trigger.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) version: u64,
    pub(super) due_ms: Option<Millis>,
    pub(super) is_there: bool,
}

/// Triggers and routes as the earlier changes of a commit leave them.
#[derive(Default)]
pub(crate) struct Foreseen {
    rows: HashMap<Name, Row>,
    routes: HashMap<Name, Option<Name>>,
}

impl Foreseen {
    pub(super) fn row(&mut self, core: &Core, id: &Name) -> Worked<Row> {
        if let Some(row) = self.rows.get(id) {
            return Ok(row.clone());
        }
        let row = load(core, id)?;
        self.rows.insert(id.clone(), row.clone());
        Ok(row)
    }

    pub(super) fn set(&mut self, id: &Name, row: Row) {
        self.rows.insert(id.clone(), row);
    }

    fn route_of(&mut self, core: &Core, route: &Name) -> Worked<Option<Name>> {
        if let Some(owner) = self.routes.get(route) {
            return Ok(owner.clone());
        }
        let owner = core
            .conn
            .prepare_cached("SELECT id FROM triggers WHERE route = ?1")?
            .query_row([&**route], |row| row.get::<_, Name>(0))
            .optional()?;
        Ok(owner)
    }
}

fn load(core: &Core, id: &str) -> Worked<Row> {
    let row = core
        .conn
        .prepare_cached("SELECT version, due_ms, removed_ms IS NULL FROM triggers WHERE id = ?1")?
        .query_row([id], |row| {
            Ok(Row {
                version: row.get(0)?,
                due_ms: row.get(1)?,
                is_there: row.get(2)?,
            })
        })
        .optional()?;
    Ok(row.unwrap_or_default())
}

/// Judges a change and notes what it leaves.
pub(crate) fn judge_put(core: &Core, seen: &mut Foreseen, new: &NewTrigger) -> Worked<()> {
    let row = seen.row(core, &new.id)?;
    if row.version + 1 != new.version {
        return Err(Failure::Refused(Error::TriggerMoved(new.id.clone())));
    }
    if let Some(route) = &new.route {
        match seen.route_of(core, route)? {
            Some(trigger) if trigger != new.id => {
                return Err(Failure::Refused(Error::RouteTaken {
                    route: route.clone(),
                    trigger,
                }));
            }
            _ => seen.routes.insert(route.clone(), Some(new.id.clone())),
        };
    }
    let due_ms = match new.due {
        NextDue::Keep => row.due_ms,
        NextDue::At(due_ms) => due_ms,
    };
    seen.set(
        &new.id,
        Row {
            version: new.version,
            due_ms,
            is_there: true,
        },
    );
    Ok(())
}

pub(crate) fn put(core: &Core, new: &NewTrigger) -> Worked<()> {
    let keeps = new.due == NextDue::Keep;
    let due_ms = match new.due {
        NextDue::Keep => None,
        NextDue::At(due_ms) => due_ms,
    };
    core.conn
        .prepare_cached(
            "INSERT INTO triggers (id, version, kind, enabled, definition, route, created_ms,
                                   updated_ms, due_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8)
             ON CONFLICT (id) DO UPDATE SET
                 version = ?2, kind = ?3, enabled = ?4, definition = ?5, route = ?6,
                 created_ms = iif(removed_ms IS NULL, created_ms, ?7), updated_ms = ?7,
                 removed_ms = NULL, due_ms = iif(?9, due_ms, ?8)",
        )?
        .execute(params![
            &*new.id,
            new.version,
            &*new.kind,
            new.enabled,
            Sealed::json(&new.definition),
            new.route.as_deref(),
            new.now_ms,
            due_ms,
            keeps,
        ])?;
    Ok(())
}

pub(crate) fn judge_removal(
    core: &Core,
    seen: &mut Foreseen,
    id: &Name,
    version: u64,
) -> Worked<()> {
    let row = seen.row(core, id)?;
    if !row.is_there {
        return Err(Failure::Refused(Error::TriggerNotFound(id.clone())));
    }
    if row.version != version {
        return Err(Failure::Refused(Error::TriggerMoved(id.clone())));
    }
    for owner in seen.routes.values_mut() {
        owner.take_if(|owner| owner == id);
    }
    seen.set(
        id,
        Row {
            version,
            due_ms: None,
            is_there: false,
        },
    );
    Ok(())
}

pub(crate) fn remove(core: &Core, id: &str, now_ms: Millis) -> Worked<()> {
    core.conn
        .prepare_cached(
            "UPDATE triggers SET removed_ms = ?2, route = NULL, due_ms = NULL, enabled = 0
             WHERE id = ?1",
        )?
        .execute((id, now_ms))?;
    Ok(())
}
