//! The handlers of this server, for the runtime and validation.

use std::{collections::BTreeMap, sync::Arc};

use riverrun_contract::Handler;
use riverrun_engine::{Catalog, Schema, SchemaError, SchemaIssue};
use riverrun_expr::Expr;
use riverrun_types::Millis;
use serde_json::Value;

use super::process_step::ProcessStep;

/// Handlers by their type. A later one replaces an earlier one of the same type.
#[derive(Default)]
pub struct Handlers {
    known: BTreeMap<String, HandlerEntry>,
    /// How long emitted events are kept, if a server is known.
    kept_ms: Option<Millis>,
}

struct HandlerEntry {
    handler: Arc<dyn Handler>,
    schema: Result<Schema, SchemaError>,
}

impl Handlers {
    /// These, and the one for steps that processes run.
    pub fn new(handlers: impl IntoIterator<Item = Arc<dyn Handler>>) -> Self {
        let with_schema = |handler: Arc<dyn Handler>| {
            let schema = Schema::compile(&handler.schema());
            (handler.kind().to_owned(), HandlerEntry { handler, schema })
        };
        let process: Arc<dyn Handler> = Arc::new(ProcessStep);
        let handlers = handlers.into_iter().chain([process]);
        Self {
            known: handlers.map(with_schema).collect(),
            kept_ms: None,
        }
    }

    /// The same on a server that keeps emitted events this long.
    pub(crate) fn keeping(mut self, kept_ms: Option<Millis>) -> Self {
        self.kept_ms = kept_ms;
        self
    }

    pub fn get(&self, kind: &str) -> Option<&Arc<dyn Handler>> {
        self.known.get(kind).map(|known| &known.handler)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Handler>> {
        self.known.values().map(|known| &known.handler)
    }
}

impl Catalog for Handlers {
    fn is_known(&self, handler: &str) -> bool {
        self.known.contains_key(handler)
    }

    fn known(&self) -> Vec<String> {
        self.known.keys().cloned().collect()
    }

    fn kept_ms(&self) -> Option<Millis> {
        self.kept_ms
    }

    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue> {
        let Some(HandlerEntry { handler, schema }) = self.known.get(handler) else {
            return Vec::new();
        };
        let issues = match schema {
            Ok(schema) => schema.issues(config),
            Err(error) => vec![SchemaIssue {
                path: String::new(),
                rule: "schema".to_owned(),
                message: format!("the handler's own schema is broken: {error}"),
            }],
        };
        if issues.is_empty() {
            handler.prepare(config).err().unwrap_or_default()
        } else {
            issues
        }
    }

    fn chooses(&self, handler: &str) -> bool {
        let known = self.known.get(handler);
        known.is_some_and(|known| known.handler.chooses())
    }

    fn expression_issue(&self, source: &str) -> Option<String> {
        Expr::compile(source).err().map(|error| error.to_string())
    }

    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)> {
        self.get(handler)
            .map(|handler| handler.targets(config))
            .unwrap_or_default()
    }
}
