//! Triggers, which start flows from outside, as data.
//!
//! A trigger is a row with a version that counts its changes. The row holds a schedule's next due
//! time, which moves in the commit that starts the run, so that of several instances that see it
//! due one wins, and a crash loses neither the run nor the time. The store does not interpret a
//! trigger's definition.

use riverrun_types::{Json, Millis, Name, RunId};
use serde_json::json;

use crate::Error;

/// A trigger that is new or changed.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTrigger {
    pub id: Name,
    /// One more than the current version; 1 for a new trigger. A removed trigger is remembered for
    /// a while, and so is its version.
    pub version: u64,
    /// `http`, `schedule`, `event` or `manual`.
    pub kind: Name,
    pub enabled: bool,
    pub definition: Json,
    /// Unique among triggers: the method and the path of an `http` trigger.
    pub route: Option<Name>,
    pub due: NextDue,
    pub now_ms: Millis,
}

/// When a changed schedule is due next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NextDue {
    /// Unchanged.
    Keep,
    /// At this time, or never again.
    At(Option<Millis>),
}

/// A trigger is used, successfully or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    pub trigger: Name,
    pub now_ms: Millis,
    pub outcome: Fired,
    /// Takes a due time of a schedule.
    pub due: Option<Take>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Fired {
    Run(RunId),
    /// `{code, message}` of why no run was started.
    Failed(Json),
    /// It started no run, as intended.
    Nothing,
}

/// Moves a schedule from one due time to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Take {
    /// The version that this was decided on.
    pub version: u64,
    pub from_ms: Millis,
    /// None if it is never due again.
    pub to_ms: Option<Millis>,
    /// How many due times are skipped.
    pub missed: u64,
}

/// A stored trigger.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerRecord {
    pub id: Name,
    pub version: u64,
    pub kind: Name,
    pub enabled: bool,
    pub definition: Json,
    pub created_ms: Millis,
    /// When this version was created.
    pub updated_ms: Millis,
    pub due_ms: Option<Millis>,
    pub stats: TriggerStats,
}

impl TriggerRecord {
    /// Replaces a definition that cannot be read, so that the trigger can still be listed and
    /// removed. No definition of a trigger has such a member.
    pub fn damaged(id: &Name, kind: &Name, error: &Error) -> Json {
        let damaged = format!("the stored definition is damaged: {error}");
        Json::from(json!({"id": id, "type": kind, "damaged": damaged}))
    }

    /// Why its definition cannot be read, if it cannot.
    pub fn damage(&self) -> Option<String> {
        let damage = self.definition.get("damaged")?;
        Some(damage.as_text().into_owned())
    }
}

/// The statistics of a trigger, over all its versions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriggerStats {
    pub fired: u64,
    pub failed: u64,
    pub missed: u64,
    pub last_fired_ms: Option<Millis>,
    pub last_run: Option<RunId>,
    pub last_failed_ms: Option<Millis>,
    /// `{code, message}`.
    pub last_error: Option<Json>,
}

/// The schedules that are due.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DueTriggers {
    /// Earliest first.
    pub due: Vec<TriggerRecord>,
    /// The earliest time after that.
    pub next_ms: Option<Millis>,
}
