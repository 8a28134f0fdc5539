//! Expressions that decide what happens with an event.

use std::time::Duration;

use riverrun_expr::{Arg, Error, Evaluated, Expr};
use riverrun_types::Json;

use super::Base;

/// Pause between two tries. Each try itself waits for an engine.
const PAUSE: Duration = Duration::from_millis(200);

impl Base {
    /// Evaluates, and waits as long as no engine is free: a shortage in the server must not make it
    /// skip an event. `/readyz` reports the shortage.
    pub(crate) async fn evaluate(&self, expr: &Expr, args: &[Arg<'_>]) -> Evaluated {
        loop {
            match self.sandbox().eval(expr, args).await {
                Err(Error::Unavailable { .. }) if !self.is_stopping() => {
                    tokio::time::sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    /// The value of an expression over an event and a context.
    pub(crate) async fn evaluate_event(
        &self,
        expr: &Expr,
        event: &Json,
        context: &Json,
    ) -> std::result::Result<Option<Json>, String> {
        let args = [
            Arg::new("event", event.as_str()),
            Arg::new("ctx", context.as_str()),
        ];
        let found = self.evaluate(expr, &args).await;
        let found = found.map_err(|error| format!("{error} ({})", error.code()))?;
        let found = found.map(Json::try_from).transpose();
        found.map_err(|error| format!("it gave no JSON: {error}"))
    }
}

/// Whether JavaScript treats the value as true.
pub(crate) fn is_true(json: &Json) -> bool {
    !matches!(
        json.as_str(),
        "false" | "null" | "0" | "-0" | "0.0" | "\"\""
    )
}
