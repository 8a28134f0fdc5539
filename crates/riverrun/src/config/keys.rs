//! The keys: how each is read from text, and the error for an unknown one.

use riverrun_types::ErrorCode;
use std::collections::BTreeMap;

use figment::value::{Dict, Value};
use serde_json::Value as Json;

use super::{Config, Source};
use crate::failure::{Failure, Result};

/// How the text of a variable or a flag becomes a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Text,
    Number,
    Bool,
    List,
    Json,
}

impl Kind {
    pub fn read(self, text: &str) -> std::result::Result<Value, String> {
        match self {
            Self::Text => Ok(Value::from(text)),
            Self::Number => text
                .parse::<u64>()
                .map(Value::from)
                .map_err(|_| format!("must be a whole number, not {text:?}")),
            Self::Bool => text
                .parse::<bool>()
                .map(Value::from)
                .map_err(|_| format!("must be true or false, not {text:?}")),
            Self::List => {
                let items = text
                    .split(',')
                    .map(str::trim)
                    .filter(|item| !item.is_empty());
                Ok(Value::from(items.collect::<Vec<_>>()))
            }
            Self::Json => {
                let json: Json =
                    serde_json::from_str(text).map_err(|error| format!("must be JSON: {error}"))?;
                Value::serialize(json).map_err(|error| error.to_string())
            }
        }
    }
}

/// Every key and how it is read, from the defaults themselves.
pub fn known() -> BTreeMap<String, Kind> {
    let defaults = serde_json::to_value(Config::default()).unwrap_or_default();
    leaves(&defaults, &[])
        .into_iter()
        .map(|(key, value)| {
            let kind = match value {
                Json::Number(_) => Kind::Number,
                Json::Bool(_) => Kind::Bool,
                Json::Array(_) => Kind::List,
                _ if key == "dev.input" => Kind::Json,
                _ => Kind::Text,
            };
            (key, kind)
        })
        .collect()
}

pub fn keys() -> Vec<String> {
    known().into_keys().collect()
}

/// The values at the ends of an object, by dot path; what is in `whole` is not opened.
pub fn leaves(value: &Json, whole: &[String]) -> Vec<(String, Json)> {
    fn walk(at: &str, value: &Json, whole: &[String], found: &mut Vec<(String, Json)>) {
        match value {
            Json::Object(object) if !whole.iter().any(|key| key == at) => {
                for (name, value) in object {
                    let at = if at.is_empty() {
                        name.clone()
                    } else {
                        format!("{at}.{name}")
                    };
                    walk(&at, value, whole, found);
                }
            }
            value => found.push((at.to_owned(), value.clone())),
        }
    }
    let mut found = Vec::new();
    walk("", value, whole, &mut found);
    found
}

pub fn check_keys(
    at: &str,
    dict: &Dict,
    known: &BTreeMap<String, Kind>,
    source: &Source,
) -> Result<()> {
    for (name, value) in dict {
        let key = if at.is_empty() {
            name.clone()
        } else {
            format!("{at}.{name}")
        };
        let section = known
            .keys()
            .any(|known| known.starts_with(&format!("{key}.")));
        match value {
            _ if known.contains_key(&key) => {}
            Value::Dict(_, inner) if section => check_keys(&key, inner, known, source)?,
            _ if section => return Err(invalid(&key, "must be a table", source)),
            _ => return Err(unknown_key(&key, known, source)),
        }
    }
    Ok(())
}

pub fn unknown_key(key: &str, known: &BTreeMap<String, Kind>, source: &Source) -> Failure {
    let near = known
        .keys()
        .max_by(|a, b| strsim::jaro_winkler(a, key).total_cmp(&strsim::jaro_winkler(b, key)));
    let failure = Failure::usage(
        ErrorCode::ConfigUnknownKey,
        format!("{key:?} is not a setting"),
    )
    .note(format!("from {source}"));
    match near {
        Some(near) => failure.note(format!("the nearest one is {near:?}")),
        None => failure,
    }
    .next("riverrun config")
}

pub fn invalid(key: &str, rule: &str, source: &Source) -> Failure {
    Failure::usage(ErrorCode::ConfigInvalid, format!("{key}: {rule}"))
        .note(format!("from {source}"))
}

pub fn env_name(key: &str) -> String {
    key.replace('.', "_").to_uppercase()
}
