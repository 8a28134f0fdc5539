//! All triggers in memory: the usable ones, the broken ones, and the paths of both.

use std::{collections::BTreeMap, sync::Arc};

use riverrun_store::{Error as StoreError, TriggerRecord};
use riverrun_types::Name;
use serde_json::{Map, Value};

use crate::{
    Error, Origin, Result, Trigger,
    http::place,
    route::{Pattern, Routes},
    trigger::Rule,
};

#[derive(Default)]
pub(crate) struct TriggerIndex {
    pub kept: Kept,
    pub routes: Routes,
}

/// All triggers by their ids, each in one of the two.
#[derive(Clone, Default)]
pub(crate) struct Kept {
    pub usable: BTreeMap<Name, Arc<Trigger>>,
    pub broken: BTreeMap<Name, Arc<Broken>>,
}

/// A trigger that is kept and cannot be used as it stands: the secret that it needs is not in the
/// environment any more, or this version of the server reads its definition in another way. It
/// starts nothing, holds its path, and can be looked at, changed, disabled and removed.
pub(crate) struct Broken {
    pub id: Name,
    pub version: u64,
    pub origin: Origin,
    place: Option<(&'static str, Pattern)>,
    reason: String,
}

impl TriggerIndex {
    pub fn new(kept: Kept) -> Self {
        let usable = kept.usable.values();
        let usable = usable.filter_map(|trigger| match &trigger.rule {
            Rule::Http(rule) => Some((rule.method, rule.pattern.form(), trigger.id.clone())),
            _ => None,
        });
        let broken = kept.broken.values();
        let broken = broken.filter_map(|broken| {
            let (method, pattern) = broken.place.as_ref()?;
            Some((*method, pattern.form(), broken.id.clone()))
        });
        Self {
            routes: Routes::new(usable.chain(broken)),
            kept,
        }
    }
}

impl Kept {
    pub fn len(&self) -> usize {
        self.usable.len() + self.broken.len()
    }

    /// The ids of all, in order.
    pub fn ids(&self) -> Vec<String> {
        let ids = self.usable.keys().chain(self.broken.keys());
        let mut ids: Vec<String> = ids.map(ToString::to_string).collect();
        ids.sort_unstable();
        ids
    }

    pub fn has(&self, id: &str) -> bool {
        self.usable.contains_key(id) || self.broken.contains_key(id)
    }

    pub fn get(&self, id: &str) -> Result<Arc<Trigger>> {
        match (self.usable.get(id), self.broken.get(id)) {
            (Some(trigger), _) => Ok(trigger.clone()),
            (None, Some(broken)) => Err(broken.refusal()),
            (None, None) => Err(missing(id)),
        }
    }

    pub fn put(&mut self, trigger: Arc<Trigger>) {
        self.broken.remove(&trigger.id);
        self.usable.insert(trigger.id.clone(), trigger);
    }

    pub fn put_broken(&mut self, broken: Broken) {
        self.usable.remove(&broken.id);
        self.broken.insert(broken.id.clone(), Arc::new(broken));
    }

    pub fn remove(&mut self, id: &str) {
        self.usable.remove(id);
        self.broken.remove(id);
    }

    /// The ids of those that files of the project keep.
    pub fn of_project(&self) -> Vec<Name> {
        let usable = self.usable.values();
        let usable = usable.map(|trigger| (&trigger.id, trigger.definition.origin));
        let broken = self.broken.values();
        let broken = broken.map(|broken| (&broken.id, broken.origin));
        let all = usable.chain(broken);
        let of_project = all.filter(|(_, origin)| *origin == Origin::Project);
        of_project.map(|(id, _)| id.clone()).collect()
    }
}

impl Broken {
    pub fn new(record: &TriggerRecord, error: &Error) -> Self {
        Self {
            id: record.id.clone(),
            version: record.version,
            origin: origin(record),
            place: record_place(record),
            reason: error.to_string(),
        }
    }

    pub fn refusal(&self) -> Error {
        Error::Broken {
            id: self.id.clone(),
            reason: self.reason.clone(),
        }
    }
}

/// Who keeps a trigger, whatever else its definition says.
pub(crate) fn origin(record: &TriggerRecord) -> Origin {
    let given = record.definition.get("origin");
    given
        .and_then(|given| given.read().ok())
        .unwrap_or_default()
}

/// Where its requests would go.
pub(crate) fn record_place(record: &TriggerRecord) -> Option<(&'static str, Pattern)> {
    let config = record.definition.get("config")?;
    let config: Map<String, Value> = config.read().ok()?;
    place(&config).filter(|_| &*record.kind == "http")
}

pub(crate) fn missing(id: &str) -> Error {
    let id: String = id.chars().take(128).collect();
    StoreError::TriggerNotFound(id.into()).into()
}
