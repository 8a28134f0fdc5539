//! The names that a definition may use: handlers, and this server's current processes and flows.

use riverrun_contract::KnownNames;
use riverrun_engine::{Catalog, SchemaIssue, meant};
use riverrun_types::Millis;
use serde_json::Value;

use super::{Flows, handlers::Handlers};

/// The handlers of a runtime, its processes and its flows.
pub(super) struct KnownHere<'a> {
    flows: &'a Flows,
    handlers: &'a Handlers,
}

impl<'a> KnownHere<'a> {
    pub fn of(flows: &'a Flows) -> Self {
        Self {
            handlers: flows.handlers(),
            flows,
        }
    }
}

impl Catalog for KnownHere<'_> {
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
        self.flows.processes().is_known(name)
    }

    fn unknown_names(&self, handler: &str, config: &Value, flow: &str) -> Vec<SchemaIssue> {
        let names = Names { here: self, flow };
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
    here: &'a KnownHere<'a>,
    /// The flow itself: it may start itself.
    flow: &'a str,
}

impl KnownNames for Names<'_> {
    fn unknown_process(&self, id: &str) -> Option<String> {
        if self.here.flows.processes().is_known(id) {
            return None;
        }
        let all = self.here.flows.processes().all();
        let all: Vec<&str> = all.iter().map(|process| &*process.id).collect();
        Some(format!(
            "there is no process {id:?} yet{}; until there is one, the step waits",
            meant(id, &all)
        ))
    }

    fn unknown_flow(&self, id: &str, version: Option<&str>) -> Option<String> {
        let flows = self.here.flows;
        if id == self.flow && version.is_none() || flows.get(id, version).is_some() {
            return None;
        }
        let known = flows.get(id, None);
        Some(match (known, version) {
            (Some(_), Some(version)) => {
                format!("flow {id:?} has no version {version:?} yet; until it has, the step fails")
            }
            _ => {
                let all = flows.latest();
                let all: Vec<&str> = all.iter().map(|flow| &*flow.id).collect();
                format!(
                    "there is no flow {id:?} yet{}; until there is one, the step fails",
                    meant(id, &all)
                )
            }
        })
    }
}
