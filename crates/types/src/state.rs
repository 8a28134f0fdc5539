//! The JSON object that a run's stream reduces to, each top-level value kept as its own text.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::{Json, Path};

/// A run's state. A copy costs nothing until one of the two is written to; values are shared text,
/// so even then it is a copy of pointers.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct State {
    entries: Arc<IndexMap<String, Json>>,
}

impl State {
    /// The state that a run begins with: an object is the state itself; any other value, but for
    /// null, is found under `input`.
    pub fn from_input(input: &Json) -> Self {
        match input.members() {
            Some(members) => members.into_iter().collect(),
            None if input.is_null() => Self::default(),
            None => [("input".to_owned(), input.clone())].into_iter().collect(),
        }
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries.get(key)
    }

    pub fn path(&self, path: &Path) -> Option<Json> {
        self.entries.get(path.head())?.within(path.tail())
    }

    /// Writes at a path. Missing parents become objects; a parent that is not an object (or an
    /// array, indexed within its length) gives way to one.
    pub fn set(&mut self, path: &Path, value: Json) {
        let head = path.head().to_owned();
        let value = match path.tail() {
            [] => value,
            tail => put(self.entries.get(&head), tail, value),
        };
        Arc::make_mut(&mut self.entries).insert(head, value);
    }

    /// Removes the value at a path, if any.
    pub fn delete(&mut self, path: &Path) {
        if path.tail().is_empty() {
            if self.entries.contains_key(path.head()) {
                Arc::make_mut(&mut self.entries).shift_remove(path.head());
            }
        } else if let Some(head) = self.entries.get(path.head())
            && let Some(changed) = remove(head, path.tail())
        {
            Arc::make_mut(&mut self.entries).insert(path.head().to_owned(), changed);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The size of the state as JSON text, to within a few bytes.
    pub fn bytes(&self) -> usize {
        self.entries
            .iter()
            .map(|(key, value)| key.len() + value.bytes() + 4)
            .sum()
    }

    pub fn json(&self) -> Json {
        Json::of(&*self.entries)
    }
}

impl FromIterator<(String, Json)> for State {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(iter: I) -> Self {
        Self {
            entries: Arc::new(iter.into_iter().collect()),
        }
    }
}

fn put(parent: Option<&Json>, path: &[String], value: Json) -> Json {
    let Some((key, rest)) = path.split_first() else {
        return value;
    };
    if let (Some(items), Ok(index)) = (parent.and_then(Json::items), key.parse::<usize>())
        && index <= items.len()
    {
        let mut items = items;
        let old = items.get(index).cloned();
        let new = put(old.as_ref(), rest, value);
        if index == items.len() {
            items.push(new)
        } else {
            items[index] = new
        }
        return Json::of(&items);
    }
    let mut members: IndexMap<String, Json> = parent
        .and_then(Json::members)
        .unwrap_or_default()
        .into_iter()
        .collect();
    let new = put(members.get(key), rest, value);
    members.insert(key.clone(), new);
    Json::of(&members)
}

fn remove(parent: &Json, path: &[String]) -> Option<Json> {
    let (key, rest) = path.split_first()?;
    let mut members: IndexMap<String, Json> = parent.members()?.into_iter().collect();
    if rest.is_empty() {
        members.shift_remove(key)?;
    } else {
        let changed = remove(members.get(key)?, rest)?;
        members.insert(key.clone(), changed);
    }
    Some(Json::of(&members))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse_text(text.to_owned()).unwrap()
    }

    fn check(before: &str, edit: impl Fn(&mut State), after: &str) {
        let mut state = State::from_input(&json(before));
        edit(&mut state);
        assert_eq!(state.json().as_str(), after);
    }

    #[test]
    fn writes_make_missing_parents_and_keep_the_rest_as_it_was() {
        check(
            "{}",
            |s| s.set(&Path::new("a.b.c"), json("1")),
            r#"{"a":{"b":{"c":1}}}"#,
        );
        check(
            r#"{"a":{"big":12345678901234567890123},"z":1.10}"#,
            |s| s.set(&Path::new("a.b"), json("true")),
            r#"{"a":{"big":12345678901234567890123,"b":true},"z":1.10}"#,
        );
        check(
            r#"{"a":[1,2]}"#,
            |s| s.set(&Path::new("a.1"), json("9")),
            r#"{"a":[1,9]}"#,
        );
        check(
            r#"{"a":[1]}"#,
            |s| s.set(&Path::new("a.1.x"), json("9")),
            r#"{"a":[1,{"x":9}]}"#,
        );
        check(
            r#"{"a":5}"#,
            |s| s.set(&Path::new("a.b"), json("1")),
            r#"{"a":{"b":1}}"#,
        );
    }

    #[test]
    fn deletes_reach_into_objects() {
        check(
            r#"{"a":{"b":1,"c":2}}"#,
            |s| s.delete(&Path::new("a.b")),
            r#"{"a":{"c":2}}"#,
        );
        check(r#"{"a":1}"#, |s| s.delete(&Path::new("a")), "{}");
        check(
            r#"{"a":1}"#,
            |s| s.delete(&Path::new("a.b.c")),
            r#"{"a":1}"#,
        );
    }

    #[test]
    fn a_copy_keeps_what_it_was_when_the_other_changes() {
        let mut state = State::from_input(&json(r#"{"a":{"b":1},"c":2}"#));
        let copy = state.clone();
        assert!(Arc::ptr_eq(&state.entries, &copy.entries));
        state.set(&Path::new("a.b"), json("3"));
        state.delete(&Path::new("c"));
        assert_eq!(copy.json().as_str(), r#"{"a":{"b":1},"c":2}"#);
        assert_eq!(state.json().as_str(), r#"{"a":{"b":3}}"#);
    }

    #[test]
    fn input_that_is_no_object_is_found_under_input() {
        check("[1]", |_| {}, r#"{"input":[1]}"#);
        check("null", |_| {}, "{}");
    }

    proptest::proptest! {
        /// Sets and deletes of plain keys, in any order, give what a map would hold.
        #[test]
        fn writes_and_deletes_give_what_a_map_would_hold(
            ops in proptest::collection::vec(("[a-e]", proptest::option::of(0..100u32)), 0..40),
        ) {
            let mut state = State::from_input(&json("{}"));
            let mut map = std::collections::BTreeMap::new();
            for (key, value) in ops {
                match value {
                    Some(value) => {
                        state.set(&Path::new(&key), json(&value.to_string()));
                        map.insert(key, value);
                    }
                    None => {
                        state.delete(&Path::new(&key));
                        map.remove(&key);
                    }
                }
            }
            let held: std::collections::BTreeMap<String, u32> = state.json().read().unwrap();
            proptest::prop_assert_eq!(held, map);
        }
    }
}
