//! Values at many paths of one view, without reading a large value once for each of them.

use std::{borrow::Cow, collections::HashMap};

use riverrun_types::{Path, json::pick};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::View;

/// A value of fewer bytes is read again for each path that leads into it.
const INDEX_FROM_BYTES: usize = 4 << 10;

/// Finds values in a view. A large value that several paths lead into is read twice at most: the
/// second time its members are kept by their names.
pub struct Finder<'v, 'a> {
    view: &'v View<'a>,
    /// By the place of the value's text in memory.
    levels: HashMap<(usize, usize), Option<Level<'a>>>,
    read_bytes: usize,
}

/// The members of one large value.
enum Level<'a> {
    Object(HashMap<Cow<'a, str>, &'a RawValue>),
    List(Vec<&'a RawValue>),
    Scalar,
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'v, 'a> Finder<'v, 'a> {
    pub fn new(view: &'v View<'a>) -> Self {
        Self {
            view,
            levels: HashMap::new(),
            read_bytes: 0,
        }
    }

    pub fn find(&mut self, path: &Path) -> Option<&'a RawValue> {
        let head = self.view.get(path.head())?.raw();
        path.tail()
            .iter()
            .try_fold(head, |raw, part| self.member(raw, part))
    }

    fn member(&mut self, raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
        let text = raw.get();
        if text.len() < INDEX_FROM_BYTES {
            return pick(raw, name);
        }
        let place = (text.as_ptr() as usize, text.len());
        match self.levels.get_mut(&place) {
            None => {
                self.read_bytes += text.len();
                self.levels.insert(place, None);
                pick(raw, name)
            }
            Some(Some(level)) => level.get(name),
            Some(unread) => {
                let level = unread.insert(Level::read(raw));
                let found = level.get(name);
                self.read_bytes += text.len();
                found
            }
        }
    }

    /// How many bytes of large values were read so far.
    pub fn read_bytes(&self) -> usize {
        self.read_bytes
    }
}

impl<'a> Level<'a> {
    fn read(raw: &'a RawValue) -> Self {
        let text = raw.get();
        let level = match text.as_bytes().first() {
            Some(b'{') => serde_json::from_str::<HashMap<Key<'a>, &'a RawValue>>(text)
                .map(|members| members.into_iter().map(|(key, raw)| (key.0, raw)))
                .map(|members| Self::Object(members.collect())),
            Some(b'[') => serde_json::from_str(text).map(Self::List),
            _ => Ok(Self::Scalar),
        };
        level.unwrap_or(Self::Scalar)
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        match self {
            Self::Object(members) => members.get(name).copied(),
            Self::List(items) => items.get(name.parse::<usize>().ok()?).copied(),
            Self::Scalar => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use riverrun_types::{Json, State};
    use serde_json::json;

    use super::*;

    #[test]
    fn many_paths_into_a_large_value_read_it_a_few_times() {
        let large = "x".repeat(100_000);
        let list: Vec<usize> = (0..5_000).collect();
        let big = json!({"large": large, "k": {"a": 1, "pad": large}, "l": list, "n\"": 2});
        let state = State::from_input(&Json::of(&json!({ "big": big })));
        let view = View::of(&state);
        let mut finder = Finder::new(&view);
        let bytes = state.get("big").unwrap().bytes();
        for _ in 0..1_000 {
            for path in [
                "big.k.a",
                "big.l.4999",
                "big.l.5000",
                "big.gone.x",
                "big.n\"",
                "gone.x",
            ] {
                let path = Path::new(path);
                let found = finder.find(&path).map(RawValue::get);
                let expected = view.path(&path);
                assert_eq!(found, expected.as_ref().map(Json::as_str), "{path}");
            }
        }
        assert!(finder.read_bytes() <= 4 * bytes);
    }
}
