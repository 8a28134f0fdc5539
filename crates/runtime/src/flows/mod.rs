//! Registered flows, compiled on first use.
//!
//! `registry` has their versions, `definition` reads them from text, `validate` finds the errors in
//! one, and `compiled` is one that is ready to run, with the actions of its steps (`handlers`) and
//! its expressions (`rules`).

mod changed;
mod compiled;
mod definition;
mod handlers;
mod named;
mod names;
mod process_step;
mod registry;
mod rules;
mod validate;

pub(crate) use changed::newest;
pub use compiled::Compiled;
pub use definition::{
    Format, NotRead, check_members, check_numbers, parse_definition, read_definition,
};
pub use handlers::Handlers;
pub use registry::{FlowEntry, FlowSummary, RegisteredFlow};
pub(crate) use rules::Subscription;

use std::sync::Arc;

use riverrun_contract::{Handler, Services, Work, compute};
use riverrun_types::flow::canonical_definition;
use serde_json::Value;

use registry::Registry;

use crate::{
    base::{Base, Result},
    processes::Processes,
    streams::Streams,
};

/// The registered flows and the handlers of their steps; clones share them.
#[derive(Clone)]
pub struct Flows {
    inner: Arc<Inner>,
}

struct Inner {
    base: Base,
    processes: Arc<Processes>,
    streams: Streams,
    handlers: Arc<Handlers>,
    registry: Arc<Registry>,
    services: Services,
}

impl Flows {
    /// Reads the flows that are registered in the store.
    pub(crate) async fn load(
        base: Base,
        processes: Arc<Processes>,
        streams: Streams,
        handlers: impl IntoIterator<Item = Arc<dyn Handler>>,
    ) -> Result<Self> {
        let handlers = Handlers::new(handlers).keeping(base.options().retention.emits_ms);
        let handlers = Arc::new(handlers);
        let registry = Arc::new(Registry::load(base.store(), handlers.clone()).await?);
        let services = Services {
            sandbox: base.sandbox().clone(),
            flows: registry.clone(),
        };
        Ok(Self {
            inner: Arc::new(Inner {
                base,
                processes,
                streams,
                handlers,
                registry,
                services,
            }),
        })
    }

    fn base(&self) -> &Base {
        &self.inner.base
    }

    fn processes(&self) -> &Processes {
        &self.inner.processes
    }

    fn streams(&self) -> &Streams {
        &self.inner.streams
    }

    pub fn handlers(&self) -> &Handlers {
        &self.inner.handlers
    }

    /// The handlers for the steps of flows.
    pub fn services(&self) -> &Services {
        &self.inner.services
    }

    /// Registers a definition for ever under its id and version.
    pub async fn register(&self, definition: &Value) -> Result<RegisteredFlow> {
        let (definition, issues) = compute(Work::Long, || {
            let issues = self.definition_issues(definition);
            (canonical_definition(definition.clone()), issues)
        });
        let registry = &self.inner.registry;
        let mut registered = registry.register(self.base(), &definition, issues).await?;
        registered.issues = self.without_taken(&definition, registered.issues);
        Ok(registered)
    }

    /// A registered version of a flow, the newest without one.
    pub fn get(&self, id: &str, version: Option<&str>) -> Option<FlowEntry> {
        self.inner.registry.get(id, version)
    }

    /// The newest version of every flow, by id.
    pub fn latest(&self) -> Vec<FlowEntry> {
        self.inner.registry.latest()
    }

    /// All versions of a flow, newest first.
    pub fn versions(&self, id: &str) -> Vec<FlowEntry> {
        self.inner.registry.versions(id)
    }

    /// A version ready to run, the newest without one.
    pub(crate) async fn compiled(&self, id: &str, version: Option<&str>) -> Result<Arc<Compiled>> {
        let registry = &self.inner.registry;
        let compiled = registry.compiled(self.base().store(), id, version).await;
        compiled.map_err(|error| self.processes().perhaps_not_made(error))
    }
}
