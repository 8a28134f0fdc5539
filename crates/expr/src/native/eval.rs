//! Evaluates a native form against JSON text, with JavaScript's meaning.

use serde_json::value::RawValue;

use super::document::{code_units, element, member};
use super::{Literal, Native, Operand, Path, Root, Step};
use crate::expr::{Arg, Evaluated};
use crate::Error;

impl Native {
    /// `None` if a loose comparison needs JavaScript's conversions.
    pub(crate) fn eval(&self, args: &[Arg<'_>]) -> Option<Evaluated> {
        match self {
            Native::Value(operand) => Some(operand.find(args).and_then(Found::into_json)),
            Native::Equality {
                left,
                right,
                strict,
                negated,
            } => {
                let both = left
                    .find(args)
                    .and_then(|left| Ok((left, right.find(args)?)));
                let (left, right) = match both {
                    Ok(both) => both,
                    Err(error) => return Some(Err(error)),
                };
                let equal = left.equals(&right, *strict)?;
                let json = if equal != *negated {
                    RawValue::TRUE
                } else {
                    RawValue::FALSE
                };
                Some(Ok(Some(json.to_owned())))
            }
        }
    }
}

/// A JavaScript value where it was found.
enum Found<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(&'a str),
    String(Text<'a>),
    /// An object or array is equal only to itself: the same text of the same argument.
    Object {
        arg: usize,
        json: &'a str,
    },
}

enum Text<'a> {
    /// As written in a document, with quotes.
    Json(&'a str),
    /// As written in the expression, without.
    Plain(&'a str),
    /// One character of a string.
    Unit(u16),
}

impl Operand {
    fn find<'a>(&'a self, args: &[Arg<'a>]) -> Result<Found<'a>, Error> {
        match self {
            Operand::Path(path) => path.find(args),
            Operand::Literal(literal) => Ok(match literal {
                Literal::Undefined => Found::Undefined,
                Literal::Null => Found::Null,
                Literal::Bool(value) => Found::Bool(*value),
                Literal::Number(text) => Found::Number(text),
                Literal::String(text) => Found::String(Text::Plain(text)),
            }),
        }
    }
}

impl Path {
    fn find<'a>(&self, args: &[Arg<'a>]) -> Result<Found<'a>, Error> {
        let arg = match &self.root {
            Root::Position(position) if *position < args.len() => *position,
            Root::Position(_) => return self.walk(Found::Undefined, args),
            Root::Name(name) => args
                .iter()
                .position(|arg| arg.name == &**name)
                .ok_or_else(|| {
                    Error::thrown(format!("ReferenceError: {name} is not defined"))
                })?,
        };
        let root = Found::from_json(arg, args[arg].json)
            .ok_or_else(|| Error::bad_argument(args[arg].name))?;
        self.walk(root, args)
    }

    fn walk<'a>(&self, root: Found<'a>, args: &[Arg<'a>]) -> Result<Found<'a>, Error> {
        let mut found = root;
        for step in &self.steps {
            if step.optional && matches!(found, Found::Undefined | Found::Null) {
                return Ok(Found::Undefined);
            }
            found = found.step(step, args)?;
        }
        Ok(found)
    }
}

impl<'a> Found<'a> {
    fn from_json(arg: usize, json: &'a str) -> Option<Found<'a>> {
        let json = json.trim_matches([' ', '\t', '\n', '\r']);
        Some(match json.as_bytes().first()? {
            b'{' | b'[' => Found::Object { arg, json },
            b'"' if json.len() > 1 && json.ends_with('"') => Found::String(Text::Json(json)),
            b'-' | b'0'..=b'9' => Found::Number(json),
            _ => match json {
                "null" => Found::Null,
                "true" => Found::Bool(true),
                "false" => Found::Bool(false),
                _ => return None,
            },
        })
    }

    fn step(self, step: &Step, args: &[Arg<'a>]) -> Result<Found<'a>, Error> {
        let missing = |of| {
            let key = &step.key;
            Error::thrown(format!("TypeError: cannot read property '{key}' of {of}"))
        };
        match self {
            Found::Undefined => Err(missing("undefined")),
            Found::Null => Err(missing("null")),
            Found::Bool(_) | Found::Number(_) => Ok(Found::Undefined),
            Found::String(text) => {
                let unit = step.index.and_then(|index| text.unit(index));
                Ok(unit.map_or(Found::Undefined, |unit| Found::String(Text::Unit(unit))))
            }
            Found::Object { arg, json } => {
                let value = match step.index {
                    Some(index) if json.starts_with('[') => element(json, index),
                    None if json.starts_with('[') => Ok(None),
                    _ => member(json, &step.key),
                };
                let bad = || Error::bad_argument(args[arg].name);
                match value.map_err(|_| bad())? {
                    None => Ok(Found::Undefined),
                    Some(value) => Found::from_json(arg, value).ok_or_else(bad),
                }
            }
        }
    }

    /// `None` where `==` would have to convert.
    fn equals(&self, other: &Found<'_>, strict: bool) -> Option<bool> {
        use Found::{Bool, Null, Number, Object, String, Undefined};
        match (self, other) {
            (Undefined, Undefined) | (Null, Null) => Some(true),
            (Bool(a), Bool(b)) => Some(a == b),
            (Number(a), Number(b)) => Some(a.parse::<f64>().ok()? == b.parse::<f64>().ok()?),
            (String(a), String(b)) => Some(a.same(b)),
            (Object { arg, json }, Object { arg: arg2, json: json2 }) => {
                Some(arg == arg2 && std::ptr::eq(*json, *json2))
            }
            (Undefined | Null, Undefined | Null) => Some(!strict),
            (Undefined | Null, _) | (_, Undefined | Null) => Some(false),
            _ => strict.then_some(false),
        }
    }

    fn into_json(self) -> Evaluated {
        let json = match self {
            Found::Undefined => return Ok(None),
            Found::Null => return Ok(Some(RawValue::NULL.to_owned())),
            Found::Bool(true) => return Ok(Some(RawValue::TRUE.to_owned())),
            Found::Bool(false) => return Ok(Some(RawValue::FALSE.to_owned())),
            Found::Number(json) | Found::Object { json, .. } => json.to_owned(),
            Found::String(Text::Json(json)) => json.to_owned(),
            Found::String(Text::Plain(text)) => serde_json::Value::from(text).to_string(),
            Found::String(Text::Unit(unit)) => match char::from_u32(unit.into()) {
                Some(c) => serde_json::Value::from(c.to_string()).to_string(),
                None => format!("\"\\u{unit:04x}\""),
            },
        };
        RawValue::from_string(json)
            .map(Some)
            .map_err(|error| Error::thrown(format!("SyntaxError: argument is not JSON: {error}")))
    }
}

impl Text<'_> {
    fn units(&self) -> Vec<u16> {
        match self {
            Text::Json(json) => code_units(json),
            Text::Plain(text) => text.encode_utf16().collect(),
            Text::Unit(unit) => vec![*unit],
        }
    }

    fn unit(&self, index: usize) -> Option<u16> {
        self.units().get(index).copied()
    }

    fn same(&self, other: &Text<'_>) -> bool {
        match (self.verbatim(), other.verbatim()) {
            (Some(a), Some(b)) => a == b,
            _ => self.units() == other.units(),
        }
    }

    /// The characters, if they stand in the source as they are.
    fn verbatim(&self) -> Option<&str> {
        match self {
            Text::Json(json) if !json.contains('\\') => json.get(1..json.len() - 1),
            Text::Plain(text) => Some(text),
            _ => None,
        }
    }
}
