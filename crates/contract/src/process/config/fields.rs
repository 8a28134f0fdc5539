//! Reads a config setting by setting, and reports all issues at once, each with its path; an
//! unknown setting gets the name of a similar one.

use riverrun_engine::meant;
use riverrun_types::words::plain;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::ConfigIssue;

pub(super) struct Fields {
    left: Map<String, Value>,
    asked: Vec<&'static str>,
    pub issues: Vec<ConfigIssue>,
}

impl Fields {
    pub fn new(left: Map<String, Value>) -> Self {
        Self {
            left,
            asked: Vec::new(),
            issues: Vec::new(),
        }
    }

    /// Takes a setting; one that is not there, is null or does not fit is none.
    pub fn take<T: DeserializeOwned>(&mut self, key: &'static str) -> Option<T> {
        self.asked.push(key);
        let value = self
            .left
            .shift_remove(key)
            .filter(|value| !value.is_null())?;
        match serde_path_to_error::deserialize(value) {
            Ok(read) => Some(read),
            Err(error) => {
                let path = match error.path().to_string() {
                    below if below == "." => key.to_owned(),
                    below if below.starts_with('[') => format!("{key}{below}"),
                    below => format!("{key}.{below}"),
                };
                let message = meant_within(&error.inner().to_string());
                self.issues.push(ConfigIssue { path, message });
                None
            }
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.left.contains_key(key)
    }

    /// Takes a setting that has settings of its own, each of which is reported if it does not fit.
    pub fn within<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        if !self.left.get(key).is_some_and(Value::is_object) {
            return self.take(key);
        }
        self.asked.push(key);
        let Some(Value::Object(settings)) = self.left.shift_remove(key) else {
            return None;
        };
        let mut within = Self::new(settings);
        let read = read(&mut within);
        let issues = within.end(&[]).into_iter().map(|issue| ConfigIssue {
            path: format!("{key}.{}", issue.path),
            ..issue
        });
        self.issues.extend(issues);
        Some(read)
    }

    /// Whatever is left must be one of the words that others read.
    pub fn end(mut self, others: &[&'static str]) -> Vec<ConfigIssue> {
        let known: Vec<&str> = self.asked.iter().chain(others).copied().collect();
        for key in self.left.keys() {
            if !others.contains(&key.as_str()) {
                let message = format!("is not a setting{}", meant(key, &known));
                self.issues.push(ConfigIssue {
                    path: key.clone(),
                    message,
                });
            }
        }
        self.issues
    }
}

/// In plain words, and adds it to a message of the form "unknown field `a`, expected one of `b`, `c`".
pub fn meant_within(message: &str) -> String {
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match &words[..] {
        [word, known @ ..] if message.starts_with("unknown ") => {
            format!("{}{}", plain(message), meant(word, known))
        }
        _ => plain(message),
    }
}
