//! Expressions of triggers, and the value that becomes a run's input.

use riverrun_expr::{Arg, Expr};
use riverrun_runtime::{Runtime, TRIGGER_KEYS, compile_expr};
use riverrun_types::{Json, Path, RunId, label};

use crate::{Error, Result};

/// The expressions of a trigger, compiled once.
pub(crate) struct Expressions {
    pub input_map: Option<Expr>,
    pub idempotency_key: Option<Expr>,
    pub context_key: Option<Path>,
}

impl Expressions {
    pub fn compile(
        input_map: Option<&str>,
        idempotency_key: Option<&str>,
        context_key: Option<&str>,
    ) -> Result<Self> {
        let context_key = context_key.map(Path::new);
        if context_key.as_ref().is_some_and(|path| !path.is_valid()) {
            return Err(Error::invalid(
                "contextKey",
                "it must be a path such as order.body",
            ));
        }
        Ok(Self {
            input_map: compile("inputMap", input_map)?,
            idempotency_key: compile("idempotencyKey", idempotency_key)?,
            context_key,
        })
    }
}

pub(crate) fn compile(field: &str, source: Option<&str>) -> Result<Option<Expr>> {
    let compiled = source.map(compile_expr).transpose();
    compiled.map_err(|error| Error::invalid(field, error.to_string()))
}

/// What an expression is given.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    /// What it is called: `request`, `event`, `tick`.
    pub name: &'static str,
    pub what: &'a Json,
    pub trigger: &'a Json,
}

impl Given<'_> {
    /// What an expression gives; nothing for `undefined`.
    pub async fn eval(
        &self,
        runtime: &Runtime,
        field: &'static str,
        expr: &Expr,
    ) -> Result<Option<Json>> {
        let args = [
            Arg::new(self.name, self.what.as_str()),
            Arg::new("trigger", self.trigger.as_str()),
        ];
        let found = runtime.flows().services().sandbox.eval(expr, &args).await;
        let found = found.map_err(|error| Error::Expression { field, error })?;
        let refuse = |error: serde_json::Error| Error::Expression {
            field,
            error: riverrun_expr::Error::NotJson {
                message: error.to_string(),
            },
        };
        found.map(Json::try_from).transpose().map_err(refuse)
    }
}

/// Puts a value where it is to land in a run's input.
pub(crate) fn land(value: Json, path: Option<&Path>) -> Json {
    let Some(path) = path else {
        return value;
    };
    let mut state = riverrun_types::State::from_input(&Json::of(&serde_json::json!({})));
    state.set(path, value);
    state.json()
}

/// The idempotency key of a run that a trigger starts; a key that would be too long is hashed. Keys
/// with this prefix are reserved for triggers.
pub(crate) fn key(trigger: &str, given: &str) -> String {
    let key = format!("{TRIGGER_KEYS}{trigger}:{given}");
    match label::is_valid(&key) {
        true => key,
        false => {
            let content = RunId::of_content(given.as_bytes());
            format!("{TRIGGER_KEYS}{trigger}:{content}")
        }
    }
}

/// What JavaScript takes for true.
pub(crate) fn is_true(json: &Json) -> bool {
    !matches!(
        json.as_str(),
        "false" | "null" | "0" | "-0" | "0.0" | "\"\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lands_at_its_path() {
        let value = Json::of(&serde_json::json!({"n": 1}));
        assert_eq!(land(value.clone(), None), value);
        let landed = land(value, Some(&Path::new("order.body")));
        assert_eq!(landed.as_str(), r#"{"order":{"body":{"n":1}}}"#);
    }

    #[test]
    fn keys_are_a_triggers_own_and_short() {
        assert_eq!(key("t", "42"), "trigger:t:42");
        let long = key("t", &"x".repeat(1_000));
        assert!(label::is_valid(&long) && long.starts_with("trigger:t:"));
        assert_ne!(long, key("t", &"x".repeat(1_001)));
        assert!(label::is_valid(&key("t", "a\nb")));
    }
}
