//! What a definition may name: handlers, and the processes and flows that this server has now.

use riverrun_contract::KnownNames;
use riverrun_engine::{Catalog, Issue, SchemaIssue, meant};
use riverrun_types::Millis;
use serde_json::Value;

use super::handlers::Handlers;
use crate::runtime::Runtime;

/// The handlers of a runtime, its processes and its flows.
pub(crate) struct Registry<'a> {
    runtime: &'a Runtime,
    handlers: &'a Handlers,
}

impl<'a> Registry<'a> {
    pub fn of(runtime: &'a Runtime) -> Self {
        Self {
            handlers: runtime.handlers(),
            runtime,
        }
    }
}

impl Catalog for Registry<'_> {
    fn is_known(&self, handler: &str) -> bool {
        self.handlers.is_known(handler)
    }

    fn known(&self) -> Vec<String> {
        self.handlers.known()
    }

    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue> {
        self.handlers.config_issues(handler, config)
    }

    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)> {
        self.handlers.targets(handler, config)
    }

    fn is_process(&self, name: &str) -> bool {
        self.runtime.has_process(name)
    }

    fn unknown_names(&self, handler: &str, config: &Value, flow: &str) -> Vec<SchemaIssue> {
        let names = Names {
            registry: self,
            flow,
        };
        let handler = self.handlers.get(handler);
        handler.map_or_else(Vec::new, |handler| handler.unknown_names(config, &names))
    }

    fn chooses(&self, handler: &str) -> bool {
        self.handlers.chooses(handler)
    }

    fn kept_ms(&self) -> Option<Millis> {
        self.handlers.kept_ms()
    }

    fn expression_issue(&self, source: &str) -> Option<String> {
        self.handlers.expression_issue(source)
    }
}

/// The names that are known while a flow is looked at.
struct Names<'a> {
    registry: &'a Registry<'a>,
    /// The flow itself: it may start itself.
    flow: &'a str,
}

impl KnownNames for Names<'_> {
    fn unknown_process(&self, id: &str) -> Option<String> {
        if self.registry.runtime.has_process(id) {
            return None;
        }
        let all = self.registry.runtime.processes().all();
        let all: Vec<&str> = all.iter().map(|process| &*process.id).collect();
        Some(format!(
            "there is no process {id:?} yet{}; until there is one, the step waits",
            meant(id, &all)
        ))
    }

    fn unknown_flow(&self, id: &str, version: Option<&str>) -> Option<String> {
        let runtime = self.registry.runtime;
        if id == self.flow && version.is_none() || runtime.flow(id, version).is_some() {
            return None;
        }
        let known = runtime.flow(id, None);
        Some(match (known, version) {
            (Some(_), Some(version)) => {
                format!("flow {id:?} has no version {version:?} yet; until it has, the step fails")
            }
            _ => {
                let all = runtime.flows();
                let all: Vec<&str> = all.iter().map(|flow| &*flow.id).collect();
                format!(
                    "there is no flow {id:?} yet{}; until there is one, the step fails",
                    meant(id, &all)
                )
            }
        })
    }
}

impl Runtime {
    /// What is wrong with a definition, as far as this server knows now. A large one takes a while.
    pub(crate) fn definition_issues(&self, definition: &Value) -> Vec<Issue> {
        super::validate_in_time(
            definition,
            &Registry::of(self),
            self.options().max_flow_steps,
        )
    }
}
