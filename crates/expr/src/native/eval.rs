//! Evaluates a native form against JSON text, with JavaScript's meaning.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::document::{code_units, element, member};
use super::names::is_inherited_by_some;
use super::{Literal, Native, Operand, Path, Root, Step};
use crate::Error;
use crate::expr::{Arg, Evaluated};

impl Native {
    /// `None` if these documents need QuickJS after all.
    pub(crate) fn eval(&self, args: &[Arg<'_>]) -> Option<Evaluated> {
        match self.answer(args) {
            Ok(json) => Some(Ok(json)),
            Err(Stop::Failed(error)) => Some(Err(error)),
            Err(Stop::NeedsQuickJs) => None,
        }
    }

    fn answer(&self, args: &[Arg<'_>]) -> Result<Option<Box<RawValue>>, Stop> {
        match self {
            Native::Value(operand) => Ok(operand.find(args)?.into_json()?),
            Native::Equality {
                left,
                right,
                strict,
                negated,
            } => {
                let (left, right) = (left.find(args)?, right.find(args)?);
                let equal = left.equals(&right, *strict).ok_or(Stop::NeedsQuickJs)?;
                Ok(Some(boolean(equal != *negated)))
            }
        }
    }
}

/// Why a native evaluation has no value.
enum Stop {
    Failed(Error),
    NeedsQuickJs,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
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
    fn find<'a>(&'a self, args: &[Arg<'a>]) -> Result<Found<'a>, Stop> {
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
    fn find<'a>(&self, args: &[Arg<'a>]) -> Result<Found<'a>, Stop> {
        let arg = match &self.root {
            Root::Position(position) if *position < args.len() => *position,
            Root::Position(_) => return self.walk(Found::Undefined, args),
            Root::Name(name) => args
                .iter()
                .position(|arg| arg.name == &**name)
                .ok_or_else(|| Error::thrown(format!("ReferenceError: {name} is not defined")))?,
        };
        let Arg { name, json } = args[arg];
        let root = Found::from_json(arg, json).ok_or_else(|| Error::bad_argument(name))?;
        // A step into an object or array checks its text; nothing else would.
        let stepped = matches!(root, Found::Object { .. }) && !self.steps.is_empty();
        if !stepped && serde_json::from_str::<IgnoredAny>(json).is_err() {
            return Err(Error::bad_argument(name).into());
        }
        self.walk(root, args)
    }

    fn walk<'a>(&self, root: Found<'a>, args: &[Arg<'a>]) -> Result<Found<'a>, Stop> {
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

    fn step(&self, step: &Step, args: &[Arg<'a>]) -> Result<Found<'a>, Stop> {
        let missing = |of| {
            let key = &step.key;
            Error::thrown(format!("TypeError: cannot read property '{key}' of {of}"))
        };
        match self {
            Found::Undefined => Err(missing("undefined").into()),
            Found::Null => Err(missing("null").into()),
            Found::Object { json, .. } if json.starts_with('{') => self.member(step, args),
            // Arrays and primitives have methods, and some a length.
            _ if is_inherited_by_some(&step.key) => Err(Stop::NeedsQuickJs),
            Found::Bool(_) | Found::Number(_) => Ok(Found::Undefined),
            Found::String(text) => {
                let unit = step.index.and_then(|index| text.unit(index));
                Ok(unit.map_or(Found::Undefined, |unit| Found::String(Text::Unit(unit))))
            }
            Found::Object { .. } => self.member(step, args),
        }
    }

    fn member(&self, step: &Step, args: &[Arg<'a>]) -> Result<Found<'a>, Stop> {
        let Found::Object { arg, json } = *self else {
            return Ok(Found::Undefined);
        };
        let value = match step.index {
            Some(index) if json.starts_with('[') => element(json, index),
            None if json.starts_with('[') => Ok(None),
            _ => member(json, &step.key),
        };
        let bad = || Error::bad_argument(args[arg].name);
        match value.map_err(|_| bad())? {
            None => Ok(Found::Undefined),
            Some(value) => Ok(Found::from_json(arg, value).ok_or_else(bad)?),
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
            (
                Object { arg, json },
                Object {
                    arg: arg2,
                    json: json2,
                },
            ) => Some(arg == arg2 && std::ptr::eq(*json, *json2)),
            (Undefined | Null, Undefined | Null) => Some(!strict),
            (Undefined | Null, _) | (_, Undefined | Null) => Some(false),
            _ => strict.then_some(false),
        }
    }

    fn into_json(self) -> Evaluated {
        let json = match self {
            Found::Undefined => return Ok(None),
            Found::Null => return Ok(Some(RawValue::NULL.to_owned())),
            Found::Bool(value) => return Ok(Some(boolean(value))),
            Found::Number(json) | Found::Object { json, .. } => json.to_owned(),
            Found::String(Text::Json(json)) => json.to_owned(),
            Found::String(Text::Plain(text)) => serde_json::Value::from(text).to_string(),
            Found::String(Text::Unit(unit)) => match char::from_u32(unit.into()) {
                Some(c) => serde_json::Value::from(c.to_string()).to_string(),
                None => format!("\"\\u{unit:04x}\""),
            },
        };
        let json = RawValue::from_string(json);
        json.map(Some)
            .map_err(|error| Error::thrown(format!("SyntaxError: {error}")))
    }
}

fn boolean(value: bool) -> Box<RawValue> {
    let json = if value {
        RawValue::TRUE
    } else {
        RawValue::FALSE
    };
    json.to_owned()
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
