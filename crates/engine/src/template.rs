//! Templates: any JSON whose strings may hold `${path}`.

use std::cell::RefCell;

use indexmap::IndexMap;
use riverrun_types::{
    ErrorCode, Json, Path,
    json::{push_plain, push_text},
};
use serde::{
    Serialize, Serializer,
    ser::{self, SerializeMap},
};
use serde_json::{Value, value::RawValue};

use crate::{Failure, Finder, View};

/// A template, parsed once. `$${` stands for a literal `${`.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    Literal(Json),
    /// A string that is exactly `${a.b}`: the value with its type.
    Whole(Path),
    /// Text with values in it, stringified; a missing value is empty.
    Text(Vec<Part>),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    Path(Path),
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TemplateError {
    #[error("${{ is never closed in {0:?}")]
    Unclosed(String),
    #[error("${{{path}}} in {text:?} is not a path")]
    NotAPath { text: String, path: String },
}

/// The result of a template would exceed its limit. It was not built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "the template gives more than {max_bytes} bytes, the most that the flow's limits.maxValueBytes allows"
)]
pub struct TemplateTooLarge {
    pub max_bytes: usize,
}

impl From<TemplateTooLarge> for Failure {
    fn from(error: TemplateTooLarge) -> Self {
        Failure::new(ErrorCode::ValueTooLarge, error.to_string()).permanent()
    }
}

impl Template {
    pub fn parse(value: &Value) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(text) => Self::parse_text(text)?,
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(Self::parse).collect::<Result<_, _>>()?;
                match items.iter().map(Self::literal).collect::<Option<Vec<_>>>() {
                    Some(literals) => Self::Literal(Json::of(&literals)),
                    None => Self::List(items),
                }
            }
            Value::Object(members) => {
                let parse =
                    |(key, value): (&String, &Value)| Ok((key.clone(), Self::parse(value)?));
                let members: Vec<_> = members.iter().map(parse).collect::<Result<_, _>>()?;
                let literal =
                    |(key, member): &(String, Self)| Some((key.clone(), member.literal()?.clone()));
                match members
                    .iter()
                    .map(literal)
                    .collect::<Option<IndexMap<_, _>>>()
                {
                    Some(literals) => Self::Literal(Json::of(&literals)),
                    None => Self::Object(members),
                }
            }
            scalar => Self::Literal(Json::of(scalar)),
        })
    }

    pub fn parse_text(text: &str) -> Result<Self, TemplateError> {
        let parts = parts(text)?;
        Ok(match <[Part; 1]>::try_from(parts) {
            Ok([Part::Path(path)]) => Self::Whole(path),
            Ok([Part::Text(text)]) => Self::Literal(Json::from(text.as_str())),
            Err(parts) if parts.is_empty() => Self::Literal(Json::from("")),
            Err(parts) => Self::Text(parts),
        })
    }

    /// The value for a view. A lone `${path}` gives the value at the path, however large, or
    /// `None`; any other result is built anew and has at most `max_bytes` as JSON.
    pub fn resolve(
        &self,
        view: &View<'_>,
        max_bytes: usize,
    ) -> Result<Option<Json>, TemplateTooLarge> {
        match self {
            Self::Literal(json) => Ok(Some(json.clone())),
            Self::Whole(path) => Ok(view.path(path)),
            _ => {
                let render = RefCell::new(Render {
                    finder: Finder::new(view),
                    left: max_bytes,
                });
                let node = Node {
                    template: self,
                    render: &render,
                };
                // Only the count can fail: the parts are JSON already.
                let written = Json::written(&node).map_err(|_| TemplateTooLarge { max_bytes })?;
                Ok(Some(written))
            }
        }
    }

    /// The text of a template, cut at `max_bytes`, and whether it was cut. Other values than
    /// strings are stringified.
    pub fn resolve_text(&self, view: &View<'_>, max_bytes: usize) -> (String, bool) {
        let mut text = String::new();
        let fits = match self {
            Self::Text(parts) => push_parts(parts, &mut Finder::new(view), &mut text, max_bytes),
            Self::Literal(json) => push_text(json.raw(), &mut text, max_bytes),
            Self::Whole(path) => match Finder::new(view).find(path) {
                Some(found) => push_text(found, &mut text, max_bytes),
                None => true,
            },
            Self::List(_) | Self::Object(_) => match self.resolve(view, max_bytes) {
                Ok(json) => json.is_none_or(|json| push_text(json.raw(), &mut text, max_bytes)),
                Err(_) => false,
            },
        };
        (text, !fits)
    }

    fn literal(&self) -> Option<&Json> {
        match self {
            Self::Literal(json) => Some(json),
            _ => None,
        }
    }
}

/// Appends the parts of a text until it has `max_bytes`, and returns whether all of them fitted.
fn push_parts(
    parts: &[Part],
    finder: &mut Finder<'_, '_>,
    text: &mut String,
    max_bytes: usize,
) -> bool {
    parts.iter().all(|part| match part {
        Part::Text(plain) => push_plain(plain, text, max_bytes),
        Part::Path(path) => match finder.find(path) {
            Some(found) => push_text(found, text, max_bytes),
            None => true,
        },
    })
}

/// The remaining bytes, counted before they are written.
struct Render<'v, 'a> {
    finder: Finder<'v, 'a>,
    left: usize,
}

impl Render<'_, '_> {
    fn take<E: ser::Error>(&mut self, bytes: usize) -> Result<(), E> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| E::custom("the value is too large"))?;
        Ok(())
    }
}

/// A part of a template, written as JSON.
struct Node<'t, 'r, 'v, 'a> {
    template: &'t Template,
    render: &'r RefCell<Render<'v, 'a>>,
}

impl Serialize for Node<'_, '_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let node = |template| Node {
            template,
            render: self.render,
        };
        match self.template {
            Template::Literal(json) => {
                self.render.borrow_mut().take(json.bytes())?;
                json.serialize(serializer)
            }
            Template::Whole(path) => {
                let found = {
                    let mut render = self.render.borrow_mut();
                    let found = render.finder.find(path).unwrap_or(RawValue::NULL);
                    render.take(found.get().len())?;
                    found
                };
                found.serialize(serializer)
            }
            Template::Text(parts) => {
                let mut text = String::new();
                {
                    let Render { finder, left } = &mut *self.render.borrow_mut();
                    if !push_parts(parts, finder, &mut text, *left) {
                        return Err(ser::Error::custom("the value is too large"));
                    }
                }
                self.render.borrow_mut().take(json_bytes(&text))?;
                serializer.serialize_str(&text)
            }
            Template::List(items) => {
                self.render.borrow_mut().take(2 + items.len())?;
                serializer.collect_seq(items.iter().map(node))
            }
            // A member whose value is missing is left out, as in JSON.stringify.
            Template::Object(members) => {
                self.render.borrow_mut().take(2)?;
                let mut object = serializer.serialize_map(None)?;
                for (key, member) in members {
                    if let Template::Whole(path) = member
                        && self.render.borrow_mut().finder.find(path).is_none()
                    {
                        continue;
                    }
                    self.render.borrow_mut().take(json_bytes(key) + 2)?;
                    object.serialize_entry(key, &node(member))?;
                }
                object.end()
            }
        }
    }
}

/// The bytes of a text as a JSON string.
fn json_bytes(text: &str) -> usize {
    let escapes = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    2 + text.len() + escapes.sum::<usize>()
}

fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            plain.push_str(&rest[..at - 1]);
            plain.push_str("${");
            rest = &rest[at + 2..];
            continue;
        }
        plain.push_str(&rest[..at]);
        let inner = &rest[at + 2..];
        let end = inner
            .find('}')
            .ok_or_else(|| TemplateError::Unclosed(text.to_owned()))?;
        let path = Path::new(inner[..end].trim());
        if !path.is_valid() {
            return Err(TemplateError::NotAPath {
                text: text.to_owned(),
                path: inner[..end].to_owned(),
            });
        }
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Path(path));
        rest = &inner[end + 1..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use riverrun_types::State;
    use serde_json::json;

    use super::*;

    fn check(template: Value, expected: Option<&str>) {
        let input = r#"{"a":{"b":12345678901234567890123},"s":"x\"y","l":[1,2],"n":null}"#;
        let state = State::from_input(&Json::parse_text(input.to_owned()).unwrap());
        let resolved = Template::parse(&template)
            .unwrap()
            .resolve(&View::of(&state), 1 << 20)
            .unwrap();
        assert_eq!(resolved.as_ref().map(Json::as_str), expected, "{template}");
    }

    #[test]
    fn values_keep_their_type_alone_and_are_text_inside_text() {
        check(json!("${a.b}"), Some("12345678901234567890123"));
        check(json!("id ${a.b}!"), Some("\"id 12345678901234567890123!\""));
        check(json!("${s}"), Some(r#""x\"y""#));
        check(json!("<${s}>"), Some(r#""<x\"y>""#));
        check(json!("${missing}"), None);
        check(json!("a${missing}b"), Some("\"ab\""));
        check(json!("${l}"), Some("[1,2]"));
        check(json!("${l.1}${n}"), Some("\"2null\""));
        check(json!("$${a.b}"), Some("\"${a.b}\""));
        check(json!("cost: $5"), Some("\"cost: $5\""));
        check(json!(""), Some("\"\""));
        check(
            json!([1, "${a.b}", {"k${s}": "${s}", "gone": "${missing}"}]),
            Some(r#"[1,12345678901234567890123,{"k${s}":"x\"y"}]"#),
        );
        check(json!(["${missing}"]), Some("[null]"));
        check(json!(["$${a}", 1]), Some(r#"["${a}",1]"#));
        check(json!({"k": {"l": "$${a}"}}), Some(r#"{"k":{"l":"${a}"}}"#));
    }

    #[test]
    fn objects_in_text_are_compact_however_they_were_sent() {
        let input = "{\"o\": { \"a b\" : [ 1,\n 2 ] }}";
        let state = State::from_input(&Json::parse_text(input.to_owned()).unwrap());
        let template = Template::parse(&json!("<${o}>")).unwrap();
        let value = template.resolve(&View::of(&state), 100).unwrap().unwrap();
        assert_eq!(value.read::<String>().unwrap(), r#"<{"a b":[1,2]}>"#);
    }

    /// Three thousand times a megabyte: nothing beyond the limit is ever built.
    #[test]
    fn a_small_template_cannot_become_a_large_value() {
        let state = State::from_input(&Json::of(&json!({"x": "y".repeat(1 << 20)})));
        let view = View::of(&state);
        let limit = 2 << 20;
        let too_large = Err(TemplateTooLarge { max_bytes: limit });
        let many = |one: Value| vec![one; 3_000];
        for template in [
            json!("${x}".repeat(3_000)),
            json!(many(json!("${x}"))),
            json!(many(json!("<${x}>"))),
            json!(many(json!({"a": ["${x}"]}))),
            json!({"a": "${x}", "b": {"c": ["${x}", "${x}"]}}),
        ] {
            let template = Template::parse(&template).unwrap();
            assert_eq!(template.resolve(&view, limit), too_large);
            let (text, is_cut) = template.resolve_text(&view, 100);
            assert!(is_cut && text.len() <= 100);
        }
        let alone = Template::parse(&json!("${x}")).unwrap();
        assert_eq!(
            alone.resolve(&view, 10).unwrap().unwrap().bytes(),
            (1 << 20) + 2
        );
    }

    #[test]
    fn the_limit_is_that_of_the_json_text() {
        let state = State::from_input(&Json::of(&json!({"s": "a\"\u{1}ä", "l": [1, 2]})));
        let view = View::of(&state);
        for template in [
            json!("<${s}${l}>"),
            json!(["${s}", "${gone}", 1, "${l}"]),
            json!({"k\"": "${s}", "l": ["-${l}"], "gone": "${gone}", "n": {"x": "${l}", "y": 1}}),
        ] {
            let template = Template::parse(&template).unwrap();
            let value = template.resolve(&view, 1_000).unwrap().unwrap();
            // Commas are counted once for each item, so a list may count one byte more.
            let fits = |limit: usize| template.resolve(&view, limit).is_ok();
            assert!(fits(value.bytes() + 4), "{value:?}");
            assert!(!fits(value.bytes() - 1), "{value:?}");
        }
    }

    #[test]
    fn what_does_not_parse_is_refused() {
        for text in ["${", "a ${b", "${}", "${a..b}", "${ }"] {
            assert!(Template::parse(&json!({"deep": [text]})).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[${}a.\\PC]{0,40}") {
            if let Ok(template) = Template::parse_text(&text) {
                let _ = template.resolve(&View::of(&State::default()), 1 << 10);
            }
        }

        #[test]
        fn text_without_dollars_is_itself(text in "[^$]{0,40}") {
            let value = Template::parse_text(&text).unwrap().resolve(&View::of(&State::default()), 1 << 10);
            prop_assert_eq!(value.unwrap().unwrap().read::<String>().unwrap(), text);
        }
    }
}
