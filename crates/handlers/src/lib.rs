//! The built-in step handlers, one file each.
//!
//! A handler checks its config and compiles what it can when a flow is registered, so that a visit
//! only looks values up. No handler keeps state between visits. Only `http` sends requests, and
//! only to public addresses unless [`HttpOptions::allow`] allows more.

mod branch;
mod config;
mod delay;
mod http;
mod log;
mod map;
mod operator;
mod parallel;
mod scope;
mod script;
mod set;
mod sub_flow;
mod switch;
#[cfg(test)]
mod testing;
mod transform;

use std::sync::Arc;

use riverrun_contract::Handler;
use serde::Deserialize;

pub use http::{AllowRule, HttpOptions, InvalidAllowRule};

/// What the server's owner decides about the built-in handlers. The default is safe.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Options {
    pub http: HttpOptions,
}

/// Every built-in handler.
pub fn all(options: Options) -> Vec<Arc<dyn Handler>> {
    vec![
        Arc::new(http::Http::new(options.http)),
        Arc::new(delay::Delay),
        Arc::new(branch::Branch),
        Arc::new(switch::Switch),
        Arc::new(transform::Transform),
        Arc::new(set::Set),
        Arc::new(parallel::Parallel),
        Arc::new(map::Map),
        Arc::new(sub_flow::SubFlow),
        Arc::new(log::Log),
    ]
}

#[cfg(test)]
mod tests {
    use riverrun_engine::Schema;
    use serde_json::Value;

    use super::*;

    fn undescribed(at: &str, schema: &Value, found: &mut Vec<String>) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return;
        };
        for (name, property) in properties {
            let at = format!("{at}.{name}");
            if property
                .get("description")
                .and_then(Value::as_str)
                .is_none()
            {
                found.push(at.clone());
            }
            undescribed(&at, property, found);
            undescribed(&at, property.get("items").unwrap_or(&Value::Null), found);
        }
    }

    #[test]
    fn every_schema_is_strict_and_documented_and_its_examples_hold() {
        for handler in all(Options::default()) {
            let (kind, schema) = (handler.kind(), handler.schema());
            let compiled = Schema::compile(&schema).unwrap();
            assert_eq!(schema["additionalProperties"], false, "{kind}");
            assert!(handler.about().ends_with('.'), "{kind}");
            let mut found = Vec::new();
            undescribed(kind, &schema, &mut found);
            assert!(found.is_empty(), "no description: {found:?}");
            let examples = schema["examples"].as_array().unwrap();
            assert!(!examples.is_empty(), "{kind}");
            for example in examples {
                assert_eq!(compiled.issues(example), [], "{kind}: {example}");
                if let Err(issues) = handler.prepare(example) {
                    panic!("{kind}: {example}: {issues:#?}");
                }
            }
        }
    }

    #[test]
    fn the_schema_of_flows_and_their_page_name_every_type() {
        let schema = include_str!("../../engine/src/validate/flow.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let types = &schema["$defs"]["step"]["properties"]["type"];
        let description = types["description"].as_str().unwrap();
        let words: Vec<&str> = description.split([' ', ',', '(', ')']).collect();
        let examples = types["examples"].as_array().unwrap();
        let page = include_str!("../../../docs/reference/flows.md");
        let (_, sections) = page.split_once("\n## Step types\n").unwrap();
        let sections = sections.split("\n## ").next().unwrap();
        for handler in all(Options::default()) {
            let kind = handler.kind();
            assert!(words.contains(&kind), "the description lacks {kind}");
            assert!(examples.iter().any(|it| it == kind), "no example {kind}");
            let title = format!("### {kind}");
            let has_section = sections.lines().any(|line| line == title);
            assert!(has_section, "docs/reference/flows.md has no section {kind}");
        }
    }

    #[test]
    fn kinds_are_the_ones_that_flows_name() {
        let kinds: Vec<String> = all(Options::default())
            .iter()
            .map(|handler| handler.kind().to_owned())
            .collect();
        assert_eq!(
            kinds,
            [
                "http",
                "delay",
                "branch",
                "switch",
                "transform",
                "set",
                "parallel",
                "map",
                "sub-flow",
                "log"
            ]
        );
    }
}
