//! Input selectors, compiled once per flow.

use indexmap::IndexMap;
use riverrun_types::{Json, Path, Selector};

use crate::{Template, TemplateError, TemplateTooLarge, View};

/// A selector ready for use.
#[derive(Clone, Debug, PartialEq)]
pub enum Select {
    Key(String),
    Keys(Vec<String>),
    Path(Path),
    Template(Template),
    Full,
    Static(Json),
}

impl Select {
    pub fn compile(selector: &Selector) -> Result<Self, TemplateError> {
        Ok(match selector {
            Selector::Key(key) => Self::Key(key.clone()),
            Selector::Keys(keys) => Self::Keys(keys.clone()),
            Selector::Path(path) => Self::Path(Path::new(path)),
            Selector::Template(template) => Self::Template(Template::parse(template)?),
            Selector::Full => Self::Full,
            Selector::Static(value) => Self::Static(Json::of(value)),
        })
    }

    /// The input of the step; a missing value is null. The result of a template has at most
    /// `max_bytes`; every other result is a part of the state.
    pub fn resolve(&self, view: &View<'_>, max_bytes: usize) -> Result<Json, TemplateTooLarge> {
        let found = match self {
            Self::Key(key) => view.get(key).cloned(),
            Self::Keys(keys) => {
                let present = keys.iter().filter_map(|key| Some((key, view.get(key)?)));
                Some(Json::of(&present.collect::<IndexMap<_, _>>()))
            }
            Self::Path(path) => view.path(path),
            Self::Template(template) => template.resolve(view, max_bytes)?,
            Self::Full => Some(view.full()),
            Self::Static(value) => Some(value.clone()),
        };
        Ok(found.unwrap_or_else(Json::null))
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::State;
    use serde_json::{Value, json};

    use super::*;

    fn check(selector: Value, expected: &str) {
        let state = State::from_input(&Json::of(&json!({"a": {"b": [1, 2]}, "c": "x"})));
        let scope = State::from_input(&Json::of(&json!({"item": 7})));
        let select = Select::compile(&Selector::from_value(&selector).unwrap()).unwrap();
        assert_eq!(
            select
                .resolve(&View::of(&state).inside(&scope), 1 << 20)
                .unwrap()
                .as_str(),
            expected
        );
    }

    #[test]
    fn every_selector() {
        check(json!({"type": "key", "key": "c"}), "\"x\"");
        check(json!({"type": "key", "key": "a.b"}), "null");
        check(
            json!({"type": "keys", "keys": ["c", "gone", "item"]}),
            r#"{"c":"x","item":7}"#,
        );
        check(json!({"type": "path", "path": "a.b.1"}), "2");
        check(json!({"type": "path", "path": "gone.b"}), "null");
        check(
            json!({"type": "template", "template": {"n": "${item}"}}),
            r#"{"n":7}"#,
        );
        check(
            json!({"type": "full"}),
            r#"{"a":{"b":[1,2]},"c":"x","item":7}"#,
        );
        check(json!({"type": "static", "value": [1]}), "[1]");
    }

    proptest::proptest! {
        /// Every selector is either rejected or gives JSON, whatever the state holds.
        #[test]
        fn no_selector_makes_it_panic(
            kind in "(key|keys|path|template|full|static|x)",
            text in "[${}ab.0 \\PC]{0,20}",
            state in "(\\{\\}|null|\\[1\\]|\\{\"a\":\\{\"b\":\\[1,\\{\"a\":null\\}\\]\\}\\})",
        ) {
            let written = json!({"type": kind, "key": text, "keys": [text], "path": text,
                "template": {"a": [text]}, "value": text});
            let state = State::from_input(&Json::parse_text(state).unwrap());
            let select = Selector::from_value(&written).ok().map(|read| Select::compile(&read));
            if let Some(Ok(select)) = select {
                select.resolve(&View::of(&state), 1 << 20).unwrap().value();
            }
        }
    }
}
