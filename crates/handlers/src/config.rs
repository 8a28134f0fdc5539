//! Reads a step's config and collects all of its issues.

use std::sync::Arc;

use riverrun_contract::Action;
use riverrun_engine::{SchemaIssue, Template};
use riverrun_types::Path;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::script::Script;

/// The config as a struct. It has passed the schema, so this fails only where the two disagree.
pub(crate) fn read<T: DeserializeOwned>(config: &Value) -> Result<T, Vec<SchemaIssue>> {
    T::deserialize(config).map_err(|error| {
        let mut issues = Issues::default();
        issues.add("", "config", error.to_string());
        issues.0
    })
}

/// A string member of a config that may not have passed the schema, with its path: a target.
pub(crate) fn target(at: String, value: Option<&Value>) -> Option<(String, String)> {
    Some((at, value?.as_str()?.to_owned()))
}

/// What a schema cannot say about a config.
#[derive(Default)]
pub(crate) struct Issues(Vec<SchemaIssue>);

impl Issues {
    pub fn add(&mut self, path: &str, rule: &str, message: impl Into<String>) {
        self.0.push(SchemaIssue {
            path: path.to_owned(),
            rule: rule.to_owned(),
            message: message.into(),
        });
    }

    pub fn path(&mut self, at: &str, text: &str) -> Option<Path> {
        let path = Path::new(text);
        if path.is_valid() {
            return Some(path);
        }
        let message = format!("{text:?} is not a dot path: a part is empty");
        self.add(at, "path", message);
        None
    }

    pub fn script(&mut self, at: &str, source: &str) -> Option<Script> {
        Script::compile(source)
            .map_err(|error| self.add(at, "expression", error.to_string()))
            .ok()
    }

    /// A template; each string in it that does not parse is an issue of its own.
    pub fn template(&mut self, at: &str, value: &Value) -> Option<Template> {
        let before = self.0.len();
        self.strings(at, value);
        if self.0.len() > before {
            return None;
        }
        Template::parse(value)
            .map_err(|error| self.add(at, "template", error.to_string()))
            .ok()
    }

    fn strings(&mut self, at: &str, value: &Value) {
        match value {
            Value::String(text) => {
                if let Err(error) = Template::parse_text(text) {
                    self.add(at, "template", error.to_string());
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.strings(&format!("{at}.{index}"), item);
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.strings(&format!("{at}.{key}"), member);
                }
            }
            _ => {}
        }
    }

    /// The action, unless something was wrong.
    pub fn finish<A: Action>(
        mut self,
        action: Option<A>,
    ) -> Result<Arc<dyn Action>, Vec<SchemaIssue>> {
        match action {
            Some(action) if self.0.is_empty() => Ok(Arc::new(action)),
            _ => {
                if self.0.is_empty() {
                    self.add("", "config", "the config cannot be used");
                }
                Err(self.0)
            }
        }
    }
}
