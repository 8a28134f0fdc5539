//! Registered versions of flows.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use parking_lot::RwLock;
use riverrun_contract::{FlowLookup, Work, compute};
use riverrun_engine::{Issue, Versions, errors};
use riverrun_store::{Append, Change, Commit, Error as StoreError, Expect, FlowRecord, Store};
use riverrun_types::{
    Draft, EventType, Flow, Json, Millis, Name, StreamName, event::EventContext, json::strict,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json};

use super::{
    compiled::{Compiled, compile},
    handlers::Handlers,
};
use crate::base::{Base, Error, Result};

/// A registered version.
#[derive(Clone)]
pub struct FlowEntry {
    pub id: Name,
    pub version: Name,
    pub definition: Json,
    pub created_ms: Millis,
    compiled: Arc<OnceLock<Arc<Compiled>>>,
    summary: Arc<OnceLock<FlowSummary>>,
}

/// The parts of a definition that lists show.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct FlowSummary {
    pub name: Option<Value>,
    pub description: Option<Value>,
    pub tags: Option<Value>,
    #[serde(deserialize_with = "count_members")]
    pub steps: usize,
}

impl FlowEntry {
    /// The listed parts of the definition. They are read once.
    pub fn summary(&self) -> &FlowSummary {
        self.summary.get_or_init(|| {
            let work = Work::on_text(self.definition.bytes());
            compute(work, || self.definition.read().unwrap_or_default())
        })
    }
}

fn count_members<'de, D: Deserializer<'de>>(input: D) -> std::result::Result<usize, D::Error> {
    let members = HashMap::<String, IgnoredAny>::deserialize(input)?;
    Ok(members.len())
}

/// The result of a registration.
pub struct RegisteredFlow {
    pub id: Name,
    pub version: Name,
    /// False if the same definition was registered already.
    pub created: bool,
    /// Warnings.
    pub issues: Vec<Issue>,
}

/// The registry: everything in it is in the store.
pub(super) struct Registry {
    handlers: Arc<Handlers>,
    known: RwLock<Versions<FlowEntry>>,
}

impl Registry {
    pub async fn load(store: &dyn Store, handlers: Arc<Handlers>) -> Result<Self> {
        let registry = Self {
            handlers,
            known: RwLock::default(),
        };
        for record in store.flows(None).await? {
            registry.remember(record);
        }
        Ok(registry)
    }

    /// Stores a definition for ever, and records that in the registry's stream. `issues` are the
    /// findings of its validation.
    pub async fn register(
        &self,
        base: &Base,
        definition: &Value,
        issues: Vec<Issue>,
    ) -> Result<RegisteredFlow> {
        // A registered definition stays: names in it may appear later, or may have been removed.
        if errors(&issues) && !self.has(definition) {
            return Err(Error::FlowInvalid(issues));
        }
        let flow: Flow = strict::from_value(definition.clone())
            .map_err(|error| Error::BadDefinition(error.to_string()))?;
        let record = FlowRecord {
            id: Name::from(flow.id.as_str()),
            version: Name::from(flow.version.as_str()),
            definition: Json::of(definition),
            created_ms: base.now_ms(),
        };
        let (id, version) = (record.id.clone(), record.version.clone());
        let commit =
            Commit::of(Change::Register(record.clone())).and(Change::Append(registration(&record)));
        let created = match base.commit(commit).await {
            Ok(_) => true,
            Err(StoreError::FlowKept { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        if self.get(&id, Some(&version)).is_none() {
            self.remember(record);
        }
        Ok(RegisteredFlow {
            id,
            version,
            created,
            issues,
        })
    }

    /// Whether exactly this definition is registered.
    fn has(&self, definition: &Value) -> bool {
        let text = |key: &str| definition[key].as_str();
        let (Some(id), Some(version)) = (text("id"), text("version")) else {
            return false;
        };
        let kept = self.get(id, Some(version));
        kept.is_some_and(|kept| kept.definition == Json::of(definition))
    }

    fn remember(&self, record: FlowRecord) {
        let FlowRecord {
            id,
            version,
            definition,
            created_ms,
        } = record;
        let entry = FlowEntry {
            id: id.clone(),
            version: version.clone(),
            definition,
            created_ms,
            compiled: Arc::default(),
            summary: Arc::default(),
        };
        self.known.write().insert(id, version, entry);
    }

    pub fn get(&self, id: &str, version: Option<&str>) -> Option<FlowEntry> {
        self.known
            .read()
            .get(id, version)
            .map(|(_, entry)| entry.clone())
    }

    /// The newest version of every flow.
    pub fn latest(&self) -> Vec<FlowEntry> {
        let known = self.known.read();
        known
            .ids()
            .filter_map(|id| known.get(id, None))
            .map(|(_, entry)| entry.clone())
            .collect()
    }

    /// All versions of a flow, newest first.
    pub fn versions(&self, id: &str) -> Vec<FlowEntry> {
        self.known
            .read()
            .versions(id)
            .iter()
            .map(|(_, entry)| entry.clone())
            .collect()
    }

    /// A version ready to run; one that another instance registered is fetched from the store.
    pub async fn compiled(
        &self,
        store: &dyn Store,
        id: &str,
        version: Option<&str>,
    ) -> Result<Arc<Compiled>> {
        let missing = || Error::FlowNotFound {
            id: id.chars().take(128).collect(),
            version: version.map(|version| version.chars().take(128).collect()),
        };
        let entry = match (self.get(id, version), version) {
            (Some(entry), _) => entry,
            (None, Some(wanted)) => {
                let record = store.flow(id, wanted).await?.ok_or_else(missing)?;
                self.remember(record);
                self.get(id, version).ok_or_else(missing)?
            }
            (None, None) => return Err(missing()),
        };
        if let Some(compiled) = entry.compiled.get() {
            return Ok(compiled.clone());
        }
        let work = Work::on_text(entry.definition.bytes());
        let compiled = Arc::new(compute(work, || compile(&self.handlers, &entry))?);
        Ok(entry.compiled.get_or_init(|| compiled).clone())
    }
}

impl FlowLookup for Registry {
    fn resolve(&self, flow: &str, version: Option<&str>) -> Option<Name> {
        self.get(flow, version).map(|entry| entry.version)
    }
}

/// The event in `nq:registry` that records a registration.
fn registration(record: &FlowRecord) -> Append {
    let FlowRecord { id, version, .. } = record;
    let event = Draft::new(record.created_ms, EventType::FlowRegistered)
        .data(json!({"id": id, "version": version}));
    Append {
        stream: StreamName::new("registry", "registry"),
        context: EventContext {
            run_id: Name::from("registry"),
            flow_name: Name::from("registry"),
            tenant_id: None,
        },
        expect: Expect::Any,
        events: Arc::from([event]),
    }
}
