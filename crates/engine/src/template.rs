//! Templates: any JSON whose strings may hold `${path}`.

use indexmap::IndexMap;
use riverrun_types::{Json, Path};
use serde_json::Value;

use crate::View;

/// A template, parsed once. `$${` stands for a literal `${`.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    Literal(Json),
    /// A string that is exactly `${a.b}`: the value with its type.
    Whole(Path),
    /// Text with values in it, stringified; what is missing is empty.
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

    /// The value for a context. A `${path}` that stands alone and finds nothing is `None`.
    pub fn resolve(&self, view: &View<'_>) -> Option<Json> {
        match self {
            Self::Literal(json) => Some(json.clone()),
            Self::Whole(path) => view.path(path),
            Self::Text(parts) => Some(Json::from(render(parts, view).as_str())),
            Self::List(items) => {
                let resolve = |item: &Template| item.resolve(view).unwrap_or_else(Json::null);
                Some(Json::of(&items.iter().map(resolve).collect::<Vec<_>>()))
            }
            // A member whose value is missing is left out, as in JSON.stringify.
            Self::Object(members) => {
                let mut object = IndexMap::with_capacity(members.len());
                for (key, member) in members {
                    if let Some(value) = member.resolve(view) {
                        object.insert(key.as_str(), value);
                    }
                }
                Some(Json::of(&object))
            }
        }
    }

    /// The text that a template gives; what is no string is stringified.
    pub fn resolve_text(&self, view: &View<'_>) -> String {
        match self {
            Self::Text(parts) => render(parts, view),
            other => other
                .resolve(view)
                .map_or_else(String::new, |json| json.as_text().into_owned()),
        }
    }

    fn literal(&self) -> Option<&Json> {
        match self {
            Self::Literal(json) => Some(json),
            _ => None,
        }
    }
}

fn render(parts: &[Part], view: &View<'_>) -> String {
    parts.iter().fold(String::new(), |mut text, part| {
        match part {
            Part::Text(plain) => text.push_str(plain),
            Part::Path(path) => text.push_str(
                &view
                    .path(path)
                    .map_or_else(String::new, |json| json.as_text().into_owned()),
            ),
        }
        text
    })
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
            .resolve(&View::of(&state));
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
    fn what_does_not_parse_is_refused() {
        for text in ["${", "a ${b", "${}", "${a..b}", "${ }"] {
            assert!(Template::parse(&json!({"deep": [text]})).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[${}a.\\PC]{0,40}") {
            if let Ok(template) = Template::parse_text(&text) {
                let _ = template.resolve(&View::of(&State::default()));
            }
        }

        #[test]
        fn text_without_dollars_is_itself(text in "[^$]{0,40}") {
            let value = Template::parse_text(&text).unwrap().resolve(&View::of(&State::default()));
            prop_assert_eq!(value.unwrap().read::<String>().unwrap(), text);
        }
    }
}
