//! Protection against stored work that kills the server whenever it runs.
//!
//! A marker in the store records whether the last server stopped cleanly, and how many in a row did
//! not. After two crashes in a row the work that was active runs one unit at a time: nothing else
//! begins until the unit has ended, waits, or has survived a short probation. The unit is recorded
//! before it begins. If the next start finds it there, it was alone when the server died, and it is
//! parked.
//!
//! The marker belongs to a store with one owner. A store that several servers share reclaims no
//! leases, so this protection does not apply: leases expire, and losses are counted instead.

mod alone;

pub(crate) use alone::{Alone, StartPermit};

use std::collections::HashSet;

use riverrun_store::{Reclaimed, Store};
use riverrun_types::{Json, RunId};
use serde::{Deserialize, Serialize};

use crate::base::Result;

/// The name of the marker.
const MARKER: &str = "starts";
/// After this many crashes in a row units run one at a time.
const CAREFUL: u32 = 2;

/// The record that one start leaves for the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Starts {
    /// The server has not stopped cleanly.
    pub running: bool,
    /// Starts before it, in a row, that did not stop cleanly and did not run long enough.
    pub crashes: u32,
    /// The units that ran alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<Unit>,
    /// Those units are being parked, before anything else has begun.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub parking: bool,
}

/// A unit of work: a run that is driven, or a job of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "id")]
pub(crate) enum Unit {
    Run(RunId),
    Job(RunId),
}

/// The mode of this start, derived from the last one.
pub(crate) struct Beginning {
    pub starts: Starts,
    /// The units that ran alone at the last crash, to be parked before anything begins.
    pub suspects: Vec<Unit>,
    /// Parking them has crashed the server as well: they are not even read.
    pub unread: bool,
}

impl Beginning {
    /// Reads the record of the last start, and writes this one's, before any work begins.
    pub async fn of(store: &dyn Store) -> Result<Self> {
        let before = store.marker(MARKER).await?;
        let before: Starts = before
            .and_then(|before| before.read().ok())
            .unwrap_or_default();
        let crashes = match before.running {
            true => before.crashes.saturating_add(1),
            false => 0,
        };
        let suspects = match before.running {
            true => before.alone,
            false => Vec::new(),
        };
        let starts = Starts {
            running: true,
            crashes,
            alone: suspects.clone(),
            parking: !suspects.is_empty(),
        };
        starts.store(store).await?;
        Ok(Self {
            starts,
            unread: before.parking && !suspects.is_empty(),
            suspects,
        })
    }

    /// The units that run one at a time; nothing if the last starts went well.
    pub fn careful_with(&self, reclaimed: Reclaimed) -> HashSet<RunId> {
        if self.starts.crashes < CAREFUL {
            return HashSet::new();
        }
        let Reclaimed { runs, jobs } = reclaimed;
        let suspects: HashSet<&RunId> = self.suspects.iter().map(Unit::id).collect();
        let active = runs.into_iter().chain(jobs);
        active.filter(|id| !suspects.contains(id)).collect()
    }
}

impl Starts {
    pub async fn store(&self, store: &dyn Store) -> Result<()> {
        Ok(store.set_marker(MARKER, Some(Json::of(self))).await?)
    }

    pub fn running(crashes: u32) -> Self {
        Self {
            running: true,
            crashes,
            ..Self::default()
        }
    }
}

impl Unit {
    pub fn id(&self) -> &RunId {
        match self {
            Self::Run(id) | Self::Job(id) => id,
        }
    }
}

/// Records that the server stops cleanly.
pub(crate) async fn stopped(store: &dyn Store) {
    if let Err(error) = Starts::default().store(store).await {
        tracing::warn!(%error, "the stop could not be recorded; the next start counts a crash");
    }
}
