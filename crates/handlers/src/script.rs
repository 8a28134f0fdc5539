//! Expressions in configs: JavaScript over the step's input and the state.

use riverrun_contract::Call;
use riverrun_engine::Failure;
use riverrun_expr::{Arg, Error, Expr};
use riverrun_types::{ErrorCode, Json};
use serde::Serialize;
use serde_json::json;

/// An expression over `input`, `state` and `awaited` (what the step's await brought), or a function
/// of `(input, {state, input, awaited})`, compiled once. The second argument of the function is also
/// in sight as `ctx`.
pub(crate) struct Script {
    expr: Expr,
    /// Whether the source may look at the state. The text of a state can be long, and most
    /// expressions need only their input.
    state: bool,
    context: bool,
}

impl Script {
    pub fn compile(source: &str) -> Result<Self, Error> {
        let expr = Expr::compile(source)?;
        // An escape could spell any name.
        let escape = source.contains('\\');
        Ok(Self {
            expr,
            state: escape || source.contains("state"),
            context: escape || source.contains("ctx") || takes_two(source),
        })
    }

    /// The value; JavaScript's `undefined` is null.
    pub async fn run(&self, call: &Call<'_>) -> Result<Json, Error> {
        let state = if self.state || self.context {
            call.view.full()
        } else {
            Json::null()
        };
        let awaited = call.view.get("awaited");
        let context = if self.context {
            Json::of(&Context {
                state: &state,
                input: &call.input,
                awaited,
            })
        } else {
            Json::null()
        };
        let args = [
            Arg::new("input", call.input.as_str()),
            Arg::new("ctx", context.as_str()),
            Arg::new("state", state.as_str()),
            Arg::new("awaited", awaited.map_or("null", Json::as_str)),
        ];
        let value = call.services.sandbox.eval(&self.expr, &args).await?;
        // JavaScript's texts may hold half a character, and its arrays nest without end.
        match value.map(Json::try_from) {
            None => Ok(Json::null()),
            Some(Ok(value)) => Ok(value),
            Some(Err(error)) => Err(Error::NotJson {
                message: error.to_string(),
            }),
        }
    }
}

/// The second argument of a function.
#[derive(Serialize)]
struct Context<'a> {
    state: &'a Json,
    input: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    awaited: Option<&'a Json>,
}

/// Whether the source may be a function that looks at its second argument.
fn takes_two(source: &str) -> bool {
    let head = match source.split_once("=>") {
        Some((head, _)) => head,
        None => source.split('{').next().unwrap_or_default(),
    };
    let head = head.trim_start();
    let function = head.starts_with('(') || head.starts_with("function");
    (function && (head.contains(',') || head.contains("..."))) || source.contains("arguments")
}

/// What an expression's error says of a step. A sandbox that is closing or has no engine to spare may
/// do better next time.
pub(crate) fn failure(code: ErrorCode, error: &Error) -> Failure {
    let mut failure = Failure::new(code, error.to_string()).details(json!({"code": error.code()}));
    failure.retriable = Some(error.is_retriable());
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    async fn check(source: &str, expected: Result<&str, &str>) {
        let bench = Bench::new(json!({"limit": 10, "name": "n"}));
        let script = Script::compile(source).unwrap();
        let value = script.run(&bench.call(json!({"n": 5}))).await;
        let value = value
            .as_ref()
            .map(Json::as_str)
            .map_err(|error| error.code().as_str());
        assert_eq!(value, expected, "{source}");
    }

    #[tokio::test]
    async fn numbers_beyond_64_bits_do_no_harm() {
        let bench = Bench::new(json!({}));
        let input = || Json::parse_text("[1e300, 12345678901234567890123]".to_owned()).unwrap();
        for (source, expected) in [
            ("(i, ctx) => ctx.input[1]", "12345678901234567890123"),
            ("(i, ctx) => ctx.input[0] > 1", "true"),
        ] {
            let script = Script::compile(source).unwrap();
            let value = script.run(&bench.call(input())).await.unwrap();
            assert_eq!(value.as_str(), expected, "{source}");
        }
    }

    #[tokio::test]
    async fn what_the_step_has_waited_for_is_in_sight() {
        let bench = Bench::new(json!({"awaited": {"data": {"by": "card"}}}));
        for source in [
            "awaited.data.by",
            "(input, { awaited }) => awaited.data.by",
            "ctx.awaited.data.by",
            "state.awaited.data.by",
        ] {
            let script = Script::compile(source).unwrap();
            let value = script.run(&bench.call(json!(1))).await.unwrap();
            assert_eq!(value.as_str(), "\"card\"", "{source}");
        }
    }

    #[tokio::test]
    async fn input_state_and_functions_of_both() {
        check("input.n", Ok("5")).await;
        check("input.n * 2", Ok("10")).await;
        check("input.n < state.limit", Ok("true")).await;
        check("st\\u0061te.limit", Ok("10")).await;
        check("input => input.n + 1", Ok("6")).await;
        check("(i, { state }) => state.limit + i.n", Ok("15")).await;
        check("(i, c) => Object.keys(c).join()", Ok("\"state,input\"")).await;
        check("(i, c) => c['st' + 'ate'].limit", Ok("10")).await;
        check("(...all) => all[1].input.n", Ok("5")).await;
        check("function (i, c) { return c.input.n }", Ok("5")).await;
        check("ctx.state.limit", Ok("10")).await;
        check("awaited", Ok("null")).await;
        check("input.gone", Ok("null")).await;
        check("'\\ud83d\\ude00'", Ok("\"\u{1f600}\"")).await;
        check("'\\ud83d'", Err("EXPR_NOT_JSON")).await;
        check("({['\\udc00']: 1})", Err("EXPR_NOT_JSON")).await;
        let deep = "() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a }";
        check(deep, Err("EXPR_NOT_JSON")).await;
        check("input.gone.deeper", Err("EXPR_THROWN")).await;
        check("() => { while (true) {} }", Err("EXPR_TIMEOUT")).await;
    }
}
