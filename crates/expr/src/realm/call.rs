//! One evaluation inside a context: compile or recall, bind the arguments, call, and turn the
//! value or the exception into an answer.

use rquickjs::function::Args;
use rquickjs::{Ctx, Function, Persistent, Value};

use super::Text;
use super::cache::Cache;
use crate::expr::Arg;
use crate::older_names::{OLDER, READABLE_BY_OLDER, TODAYS};
use crate::{Error, Expr, Limits, syntax};

/// Enough of a thrown message to understand it.
const MAX_MESSAGE_CHARS: usize = 1000;

pub(super) fn evaluate<'js>(
    ctx: &Ctx<'js>,
    functions: &mut Cache,
    expr: &Expr,
    args: &[Arg<'_>],
    limits: &Limits,
) -> Text {
    let scope = Scope { ctx, expr, limits };
    let function = scope.function(functions, expr, args)?;
    let mut bound = Bound::new(args);
    // A document that the source does not name is not parsed, unless a function asks for all.
    // An escape could spell any name.
    let source = expr.source();
    for (index, arg) in args.iter().enumerate() {
        if source.contains(arg.name) || source.contains('\\') {
            bound.parse(&scope, index)?;
        }
    }
    let mut value = scope.call(&function, &bound.values(ctx))?;
    if let Some(function) = value.as_function() {
        for index in 0..args.len() {
            bound.parse(&scope, index)?;
        }
        value = scope.call(function, &bound.values(ctx))?;
    }
    scope.answer(value)
}

struct Scope<'a, 'js> {
    ctx: &'a Ctx<'js>,
    expr: &'a Expr,
    limits: &'a Limits,
}

/// The arguments as JavaScript values. Each document is parsed once, so that a value seen by name
/// and by position is the same object.
struct Bound<'a, 'js> {
    args: &'a [Arg<'a>],
    values: Vec<Option<Value<'js>>>,
}

impl<'a, 'js> Bound<'a, 'js> {
    fn new(args: &'a [Arg<'a>]) -> Self {
        let values = args.iter().map(|_| None).collect();
        Bound { args, values }
    }

    fn parse(&mut self, scope: &Scope<'_, 'js>, index: usize) -> Result<(), Error> {
        if self.values[index].is_none() {
            let Arg { name, json } = self.args[index];
            self.values[index] = Some(scope.parse(name, json)?);
        }
        Ok(())
    }

    fn values(&self, ctx: &Ctx<'js>) -> Vec<Value<'js>> {
        let undefined = || Value::new_undefined(ctx.clone());
        let values = self.values.iter().cloned();
        values
            .map(|value| value.unwrap_or_else(undefined))
            .collect()
    }
}

impl<'js> Scope<'_, 'js> {
    fn function(
        &self,
        functions: &mut Cache,
        expr: &Expr,
        args: &[Arg<'_>],
    ) -> Result<Function<'js>, Error> {
        if let Some(function) = functions.get(expr, args) {
            return function.restore(self.ctx).map_err(|e| self.failed(e));
        }
        let names: Vec<&str> = args.iter().map(|arg| arg.name).collect();
        // A name becomes source, and nothing but a name may.
        if let Some(name) = names.iter().find(|name| !is_identifier(name)) {
            let message = format!("SyntaxError: argument `{name}` is not named by an identifier");
            return Err(Error::thrown(message));
        }
        let function: Function<'js> = self
            .ctx
            .eval(syntax::wrap(&names, expr.source()))
            .map_err(|e| self.failed(e))?;
        functions.put(expr, args, Persistent::save(self.ctx, function.clone()));
        Ok(function)
    }

    fn parse(&self, name: &str, json: &str) -> Result<Value<'js>, Error> {
        // One byte to spare for the terminator that C wants.
        let mut text = Vec::with_capacity(json.len() + 1);
        text.extend_from_slice(json.as_bytes());
        let value = self
            .ctx
            .json_parse(text)
            .map_err(|error| match self.failed(error) {
                Error::Memory { bytes } => Error::Memory { bytes },
                _ => Error::bad_argument(name),
            })?;
        match self.expr.source().contains(OLDER) && json.contains(TODAYS) {
            true => self.readable_by_older(value),
            false => Ok(value),
        }
    }

    fn readable_by_older(&self, value: Value<'js>) -> Result<Value<'js>, Error> {
        let function: Function<'js> = self
            .ctx
            .eval(READABLE_BY_OLDER)
            .map_err(|error| self.failed(error))?;
        self.call(&function, &[value])
    }

    fn call(&self, function: &Function<'js>, values: &[Value<'js>]) -> Result<Value<'js>, Error> {
        let mut args = Args::new(self.ctx.clone(), values.len());
        args.push_args(values)
            .and_then(|()| function.call_arg(args))
            .map_err(|error| self.failed(error))
    }

    fn answer(&self, value: Value<'js>) -> Text {
        let not_json = |message: &str| {
            Err(Error::NotJson {
                message: message.to_owned(),
            })
        };
        if value.is_undefined() {
            return Ok(None);
        } else if value.is_promise() {
            return Err(Error::Async);
        } else if value.is_function() {
            return not_json("it is a function");
        } else if value.is_symbol() {
            return not_json("it is a symbol");
        } else if value.is_big_int() {
            return not_json("it is a bigint");
        }
        let json = self.ctx.json_stringify(value);
        match json.and_then(|json| json.map(|json| json.to_string()).transpose()) {
            Ok(None) => Ok(None),
            Ok(Some(json)) => self.checked(json),
            Err(error) => match self.failed(error) {
                Error::Thrown { message } => not_json(&message),
                other => Err(other),
            },
        }
    }

    fn checked(&self, json: String) -> Text {
        if json.len() > self.limits.output_bytes {
            return Err(Error::TooLarge {
                what: "result",
                bytes: json.len(),
                limit_bytes: self.limits.output_bytes,
            });
        }
        Ok(Some(json))
    }

    fn failed(&self, error: rquickjs::Error) -> Error {
        let memory = Error::Memory {
            bytes: self.limits.memory_bytes,
        };
        match error {
            rquickjs::Error::Exception => {
                let thrown = self.ctx.catch();
                // Too little memory even for an error object: the engine throws null instead.
                if thrown.is_null() && !self.expr.source().contains("throw") {
                    return memory;
                }
                let message = describe(&thrown);
                if message == "InternalError: out of memory" {
                    return memory;
                }
                Error::Thrown { message }
            }
            rquickjs::Error::Allocation => memory,
            other => Error::thrown(format!("InternalError: {other}")),
        }
    }
}

fn is_identifier(name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    !name.is_empty() && name.chars().all(part)
}

/// `TypeError: text` for an error, the text of a thrown string, JSON for what has it.
fn describe(thrown: &Value<'_>) -> String {
    let message = if let Some(text) = thrown.as_string() {
        text.to_string().ok()
    } else if let Some(error) = thrown.as_object().filter(|object| object.is_error()) {
        // Reading these may run the expression's own getters, and so may fail.
        let name = error.get::<_, String>("name");
        let text = error.get::<_, String>("message");
        let (name, text) = (
            name.unwrap_or_else(|_| "Error".into()),
            text.unwrap_or_default(),
        );
        Some(if text.is_empty() {
            name
        } else {
            format!("{name}: {text}")
        })
    } else {
        let json = thrown.ctx().json_stringify(thrown.clone());
        json.ok().flatten().and_then(|json| json.to_string().ok())
    };
    // A getter that threw leaves its exception behind.
    drop(thrown.ctx().catch());
    let message = message.unwrap_or_else(|| thrown.type_name().to_owned());
    match message.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message,
    }
}
