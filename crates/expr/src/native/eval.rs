//! Evaluates a native form against JSON text, with JavaScript's meaning.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::document::{code_units, element, member};
use super::names::is_inherited_by_some;
use super::{Literal, Native, Operand, Path, Root, Step};
use crate::expr::{Arg, Evaluated};
use crate::{Error, older_names};

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
enum OperandRef<'a> {
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
    fn find<'a>(&'a self, args: &[Arg<'a>]) -> Result<OperandRef<'a>, Stop> {
        match self {
            Operand::Path(path) => path.find(args),
            Operand::Literal(literal) => Ok(match literal {
                Literal::Undefined => OperandRef::Undefined,
                Literal::Null => OperandRef::Null,
                Literal::Bool(value) => OperandRef::Bool(*value),
                Literal::Number(text) => OperandRef::Number(text),
                Literal::String(text) => OperandRef::String(Text::Plain(text)),
            }),
        }
    }
}

impl Path {
    fn find<'a>(&self, args: &[Arg<'a>]) -> Result<OperandRef<'a>, Stop> {
        let arg = match &self.root {
            Root::Position(position) if *position < args.len() => *position,
            Root::Position(_) => return self.walk(OperandRef::Undefined, args),
            Root::Name(name) => args
                .iter()
                .position(|arg| arg.name == &**name)
                .ok_or_else(|| Error::thrown(format!("ReferenceError: {name} is not defined")))?,
        };
        let Arg { name, json } = args[arg];
        let root = OperandRef::from_json(arg, json).ok_or_else(|| Error::bad_argument(name))?;
        // A step into an object or array checks its text; nothing else would.
        let stepped = matches!(root, OperandRef::Object { .. }) && !self.steps.is_empty();
        if !stepped && serde_json::from_str::<IgnoredAny>(json).is_err() {
            return Err(Error::bad_argument(name).into());
        }
        self.walk(root, args)
    }

    fn walk<'a>(&self, root: OperandRef<'a>, args: &[Arg<'a>]) -> Result<OperandRef<'a>, Stop> {
        let mut found = root;
        for step in &self.steps {
            if step.optional && matches!(found, OperandRef::Undefined | OperandRef::Null) {
                return Ok(OperandRef::Undefined);
            }
            found = found.step(step, args)?;
        }
        Ok(found)
    }
}

impl<'a> OperandRef<'a> {
    fn from_json(arg: usize, json: &'a str) -> Option<OperandRef<'a>> {
        let json = json.trim_matches([' ', '\t', '\n', '\r']);
        Some(match json.as_bytes().first()? {
            b'{' | b'[' => OperandRef::Object { arg, json },
            b'"' if json.len() > 1 && json.ends_with('"') => OperandRef::String(Text::Json(json)),
            b'-' | b'0'..=b'9' => OperandRef::Number(json),
            _ => match json {
                "null" => OperandRef::Null,
                "true" => OperandRef::Bool(true),
                "false" => OperandRef::Bool(false),
                _ => return None,
            },
        })
    }

    fn step(&self, step: &Step, args: &[Arg<'a>]) -> Result<OperandRef<'a>, Stop> {
        let missing = |of| {
            let key = &step.key;
            Error::thrown(format!("TypeError: cannot read property '{key}' of {of}"))
        };
        match self {
            OperandRef::Undefined => Err(missing("undefined").into()),
            OperandRef::Null => Err(missing("null").into()),
            OperandRef::Object { json, .. } if json.starts_with('{') => self.member(step, args),
            // Arrays and primitives have methods, and some a length.
            _ if is_inherited_by_some(&step.key) => Err(Stop::NeedsQuickJs),
            OperandRef::Bool(_) | OperandRef::Number(_) => Ok(OperandRef::Undefined),
            OperandRef::String(text) => {
                let unit = step.index.and_then(|index| text.unit(index));
                Ok(unit.map_or(OperandRef::Undefined, |unit| {
                    OperandRef::String(Text::Unit(unit))
                }))
            }
            OperandRef::Object { .. } => self.member(step, args),
        }
    }

    fn member(&self, step: &Step, args: &[Arg<'a>]) -> Result<OperandRef<'a>, Stop> {
        let OperandRef::Object { arg, json } = *self else {
            return Ok(OperandRef::Undefined);
        };
        let value = match step.index {
            Some(index) if json.starts_with('[') => element(json, index),
            None if json.starts_with('[') => Ok(None),
            _ => match member(json, &step.key) {
                Ok(None) if *step.key == *older_names::OLDER => member(json, older_names::TODAYS),
                found => found,
            },
        };
        let bad = || Error::bad_argument(args[arg].name);
        match value.map_err(|_| bad())? {
            None => Ok(OperandRef::Undefined),
            Some(value) => Ok(OperandRef::from_json(arg, value).ok_or_else(bad)?),
        }
    }

    /// `None` where `==` would have to convert.
    fn equals(&self, other: &OperandRef<'_>, strict: bool) -> Option<bool> {
        use OperandRef::{Bool, Null, Number, Object, String, Undefined};
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
            OperandRef::Undefined => return Ok(None),
            OperandRef::Null => return Ok(Some(RawValue::NULL.to_owned())),
            OperandRef::Bool(value) => return Ok(Some(boolean(value))),
            OperandRef::Number(json) | OperandRef::Object { json, .. } => json.to_owned(),
            OperandRef::String(Text::Json(json)) => json.to_owned(),
            OperandRef::String(Text::Plain(text)) => serde_json::Value::from(text).to_string(),
            OperandRef::String(Text::Unit(unit)) => match char::from_u32(unit.into()) {
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
