//! Flows that change during development: the next version of a registered one.

use riverrun_engine::Severity;
use riverrun_types::{Json, Name, flow::canonical_definition};
use serde_json::{Value, json};

use super::{Flows, RegisteredFlow};
use crate::base::Result;

impl Flows {
    /// Registers a definition; one that has changed under its version gets `<version>+dev.N`.
    pub async fn register_changed(&self, definition: &Value) -> Result<RegisteredFlow> {
        let definition = &canonical_definition(definition.clone());
        let text = |key: &str| definition[key].as_str().unwrap_or_default();
        let (id, version) = (text("id"), text("version"));
        let known: Vec<(String, Json)> = self
            .versions(id)
            .into_iter()
            .map(|entry| (entry.version.to_string(), entry.definition))
            .collect();
        match next_version(version, definition, &known) {
            Next::Same(version) => {
                let mut issues = self.validate(definition);
                issues.retain(|issue| issue.severity == Severity::Warning);
                Ok(RegisteredFlow {
                    id: Name::from(id),
                    version: Name::from(version),
                    created: false,
                    issues,
                })
            }
            Next::New(version) => {
                let mut definition = definition.clone();
                definition["version"] = json!(version);
                self.register(&definition).await
            }
        }
    }
}

#[derive(Debug, PartialEq)]
enum Next {
    /// The newest of this version is the same definition.
    Same(String),
    New(String),
}

/// The version under which a definition with version `version` is registered, given all known
/// versions, newest first.
fn next_version(version: &str, definition: &Value, known: &[(String, Json)]) -> Next {
    let Some((name, registered)) = newest(version, known) else {
        return Next::New(version.to_owned());
    };
    let number = dev_number(version, name).unwrap_or_default();
    let mut registered = registered.value();
    registered["version"] = json!(version);
    if &registered == definition {
        Next::Same(name.clone())
    } else {
        Next::New(dev_version(version, number + 1))
    }
}

/// The newest form of a version, among all known ones.
pub(crate) fn newest<'a>(
    version: &str,
    known: &'a [(String, Json)],
) -> Option<(&'a String, &'a Json)> {
    let number = |candidate: &str| match candidate == version {
        true => Some(0),
        false => dev_number(version, candidate),
    };
    let forms = known.iter();
    let forms = forms.filter_map(|(name, definition)| Some((number(name)?, name, definition)));
    let newest = forms.max_by_key(|(number, ..)| *number);
    newest.map(|(_, name, definition)| (name, definition))
}

/// `1.0.0+dev.3`; build metadata needs all three numbers before it.
fn dev_version(version: &str, number: u64) -> String {
    if version.contains('+') {
        return format!("{version}.dev.{number}");
    }
    let plain = version.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let zeroes = match version.matches('.').count() {
        0 if plain => ".0.0",
        1 if plain => ".0",
        _ => "",
    };
    format!("{version}{zeroes}+dev.{number}")
}

fn dev_number(version: &str, candidate: &str) -> Option<u64> {
    let (_, number) = candidate.rsplit_once("dev.")?;
    let number = number.parse().ok()?;
    (dev_version(version, number) == candidate).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(version: &str, name: &str) -> Value {
        json!({"id": "f", "version": version, "name": name})
    }

    fn check(definition: Value, known: &[(&str, &str)], expected: Next) {
        let known: Vec<(String, Json)> = known
            .iter()
            .map(|(version, name)| ((*version).to_owned(), Json::of(&flow(version, name))))
            .collect();
        let version = definition["version"].as_str().unwrap();
        assert_eq!(next_version(version, &definition, &known), expected);
    }

    #[test]
    fn versions_count_up_as_a_flow_is_edited() {
        let new = |version: &str| Next::New(version.to_owned());
        let same = |version: &str| Next::Same(version.to_owned());
        check(flow("1.0.0", "a"), &[], new("1.0.0"));
        check(flow("1.0.0", "a"), &[("1.0.0", "a")], same("1.0.0"));
        check(flow("1.0.0", "b"), &[("1.0.0", "a")], new("1.0.0+dev.1"));
        check(
            flow("1.0.0", "b"),
            &[("1.0.0+dev.1", "b"), ("1.0.0", "a")],
            same("1.0.0+dev.1"),
        );
        // A definition that returns to an earlier one is newer than those between.
        check(
            flow("1.0.0", "a"),
            &[("1.0.0+dev.1", "b"), ("1.0.0", "a")],
            new("1.0.0+dev.2"),
        );
        check(
            flow("1.0.0", "c"),
            &[("1.0.0+dev.9", "b"), ("1.0.0+dev.10", "d"), ("1.0.0", "a")],
            new("1.0.0+dev.11"),
        );
        check(flow("2.0.0", "a"), &[("1.0.0", "a")], new("2.0.0"));
        check(flow("1", "b"), &[("1", "a")], new("1.0.0+dev.1"));
        check(
            flow("1.0.0+x", "b"),
            &[("1.0.0+x", "a")],
            new("1.0.0+x.dev.1"),
        );
    }
}
