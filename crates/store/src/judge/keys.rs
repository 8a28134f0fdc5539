//! Keys that are used once: idempotency keys of runs, keys of events, versions of flows.

use foldhash::{HashMap, HashSet};
use riverrun_types::{EventId, Json, Name, RunId};

use super::{Judging, Read, Rows, RunKey, Write, refuse};
use crate::{Change, Error, FlowRecord, NewRun, Once, Placed};

/// The rows of keys.
pub trait KeyRows: Read {
    /// The run that was started with an idempotency key.
    fn run_with_key(&mut self, key: &RunKey<'_>) -> Result<Option<RunId>, Self::Error>;

    /// Whether events were appended under a key.
    fn has_event_key(&mut self, key: &Name) -> Result<bool, Self::Error>;

    /// The definition of a flow.
    fn flow(&mut self, id: &Name, version: &Name) -> Result<Option<Json>, Self::Error>;
}

/// The keys that a commit has used so far.
#[derive(Default)]
pub(super) struct Changed {
    runs: HashSet<(Name, Name, Option<Name>)>,
    events: HashSet<Name>,
    flows: HashMap<(Name, Name), Json>,
}

impl Once {
    /// The ids that are kept under the key, given where the events of the commit were placed.
    pub fn ids(&self, changes: &[Change], placed: &[Placed]) -> Vec<EventId> {
        let appended = changes.iter().find_map(Change::appends);
        let ids: Vec<EventId> = match (placed.first(), appended) {
            (Some(placed), Some((_, drafts))) => placed.ids(drafts).collect(),
            _ => Vec::new(),
        };
        let kept = self.places.iter().filter_map(|place| ids.get(*place));
        kept.copied().collect()
    }
}

impl<'a, R: Rows> Judging<'a, '_, R> {
    /// Rejects a run whose idempotency key is used.
    pub(super) fn claim_run_key(&mut self, new: &NewRun) -> Result<(), R::Error> {
        let Some(key) = RunKey::of(new) else {
            return Ok(());
        };
        if let Some(run) = self.rows.run_with_key(&key)?
            && !self.changed.runs.is_deleted(&run)
        {
            return refuse(Error::Duplicate(run));
        }
        if self.is_followed() || !self.changed.keys.runs.is_empty() {
            let tenant = key.tenant.cloned();
            let key = (key.key.clone(), key.flow.clone(), tenant);
            if !self.changed.keys.runs.insert(key) {
                // The other run is of the same commit, so neither is created; its id serves as
                // well.
                return refuse(Error::Duplicate(new.id.clone()));
            }
        }
        Ok(())
    }

    pub(super) fn once(&mut self, once: &'a Once) -> Result<(), R::Error> {
        let is_used = !self.changed.keys.events.insert(once.key.clone());
        if is_used || self.rows.has_event_key(&once.key)? {
            return refuse(Error::EventExists(once.key.clone()));
        }
        self.write(Write::InsertKey(once))
    }

    pub(super) fn register(&mut self, flow: &'a FlowRecord) -> Result<(), R::Error> {
        let known = self.rows.flow(&flow.id, &flow.version)?;
        let key = (flow.id.clone(), flow.version.clone());
        let flows = &mut self.changed.keys.flows;
        let known = known.or_else(|| flows.insert(key, flow.definition.clone()));
        let Some(known) = known else {
            return self.write(Write::InsertFlow(flow));
        };
        let (id, version) = (flow.id.to_string(), flow.version.to_string());
        refuse(match known == flow.definition {
            true => Error::FlowKept { id, version },
            false => Error::FlowExists { id, version },
        })
    }
}
