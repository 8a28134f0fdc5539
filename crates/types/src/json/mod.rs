//! JSON kept as its original text. A payload that is not inspected is never parsed, and a 64-bit id
//! or a long decimal is never rounded on its way through.

mod check;
mod compact;
pub mod strict;
mod unique;

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

pub use unique::{UniqueMembers, check_unique, is_repeated_member};

/// One JSON value as text, cheap to clone.
///
/// Every `Json` can be parsed: text that matches the JSON grammar but cannot be read (half a
/// surrogate pair, a number beyond all machine types, brackets nested too deep) never becomes a
/// `Json`. The check is a fast scan over the bytes unless they look suspicious, so it runs wherever
/// text or another's `RawValue` becomes a `Json`, deserialising included. It is skipped for values
/// that were checked before: parts of a `Json`, output of [`Json::of`], and values from a store
/// ([`Json::stored`]).
#[derive(Clone)]
pub struct Json(Arc<RawValue>);

impl Json {
    /// How deep it may nest. A parser goes a little deeper, which leaves room for the envelope on
    /// the wire.
    pub const MAX_DEPTH: usize = 120;

    /// How deep a value may nest at its place in a run: as input, in the state, as the output of a
    /// step. The rest of [`Json::MAX_DEPTH`] is for the events and answers that carry it.
    pub const MAX_VALUE_DEPTH: usize = 100;

    pub fn null() -> Self {
        Self::trusted(RawValue::NULL.to_owned())
    }

    /// Checks that `text` is one JSON value and keeps it.
    pub fn parse_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text)?.try_into()
    }

    /// Text that was a `Json` before it was stored.
    pub fn stored(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::trusted)
    }

    /// Serialises anything whose serialisation cannot fail: maps with string keys, plain structs.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        match serde_json::value::to_raw_value(value) {
            Ok(raw) => Self::trusted(raw),
            Err(error) => Self::of_text(&format!("unserialisable value: {error}")),
        }
    }

    /// Serialises a value of another crate, which may fail.
    pub fn try_of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value)?.try_into()
    }

    pub(crate) fn trusted(raw: Box<RawValue>) -> Self {
        Self(Arc::from(raw))
    }

    fn of_text(text: &str) -> Self {
        Self::of(&Value::String(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    pub fn bytes(&self) -> usize {
        self.as_str().len()
    }

    /// The parsed form, of a type that derives its shape (see [`strict`]).
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        strict::from_str(self.as_str())
    }

    /// Whether it nests deeper than a number of levels.
    pub fn is_deeper(&self, levels: usize) -> bool {
        check::is_deeper(self.as_str(), levels)
    }

    /// Whether it holds more values and names of members than a number. The estimate may be a
    /// little high: empty arrays and objects count twice.
    pub fn has_more_values(&self, most: usize) -> bool {
        check::has_more_values(self.as_str(), most)
    }

    /// The parsed form. A number beyond 64 bits is rounded.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or(Value::Null)
    }

    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    pub fn is_array(&self) -> bool {
        self.as_str().starts_with('[')
    }

    /// The members of an object in their order, or `None` if this is not an object.
    pub fn members(&self) -> Option<Vec<(String, Json)>> {
        if !self.is_object() {
            return None;
        }
        let map: indexmap::IndexMap<String, Json> = serde_json::from_str(self.as_str()).ok()?;
        Some(map.into_iter().collect())
    }

    /// The items of an array, or `None` if this is not an array.
    pub fn items(&self) -> Option<Vec<Json>> {
        if !self.is_array() {
            return None;
        }
        serde_json::from_str(self.as_str()).ok()
    }

    /// One member of an object or one item of an array (by decimal index), as its own text.
    pub fn get(&self, key: &str) -> Option<Json> {
        pick(&self.0, key).map(|raw| Self::trusted(raw.to_owned()))
    }

    /// The value at a dot path; a missing parent gives `None`.
    pub fn path(&self, path: &crate::Path) -> Option<Json> {
        pick_path(&self.0, path.parts()).map(|raw| Self::trusted(raw.to_owned()))
    }

    /// The value at the end of these parts of a path; the value itself without parts.
    pub fn within(&self, parts: &[String]) -> Option<Json> {
        match parts.is_empty() {
            true => Some(self.clone()),
            false => pick_path(&self.0, parts).map(|raw| Self::trusted(raw.to_owned())),
        }
    }

    /// How the value reads inside a text: strings without quotes, everything else as compact JSON,
    /// however its sender spaced it.
    pub fn as_text(&self) -> Cow<'_, str> {
        raw_text(self.raw())
    }

    /// The value as JSON without white space between its tokens.
    pub fn compact(&self) -> Cow<'_, str> {
        compact::compact(self.as_str())
    }

    /// The items of an array in place, or `None` if this is not an array.
    pub fn raw_items(&self) -> Option<Vec<&RawValue>> {
        if !self.is_array() {
            return None;
        }
        serde_json::from_str(self.as_str()).ok()
    }

    /// How many items an array has, without a copy of any; `None` if this is not an array.
    pub fn count_items(&self) -> Option<usize> {
        if !self.is_array() {
            return None;
        }
        let mut deserializer = serde_json::Deserializer::from_str(self.as_str());
        serde::de::Deserializer::deserialize_seq(&mut deserializer, Count).ok()
    }

    /// Serialises a value whose serialisation may fail, for instance because it counts its bytes,
    /// and whose parts have been checked before.
    pub fn written<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::trusted)
    }

    /// A copy of a part of another `Json`.
    pub fn part(raw: &RawValue) -> Self {
        Self::trusted(raw.to_owned())
    }
}

/// Reads a member that may be absent, for `deserialize_with`: a null is a value.
pub fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(input).map(Some)
}

/// The same for any other type: a null means that the value is missing.
pub fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    input: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

fn raw_text(raw: &RawValue) -> Cow<'_, str> {
    if raw.get().starts_with('"')
        && let Ok(Key(text)) = serde_json::from_str(raw.get())
    {
        return text;
    }
    compact::compact(raw.get())
}

/// Appends a value as it reads inside a text (see [`Json::as_text`]) until the whole has `max`
/// bytes. Returns whether everything fitted; if not, as much as fits was appended.
pub fn push_text(raw: &RawValue, text: &mut String, max: usize) -> bool {
    match raw.get().starts_with('"') {
        true => push_plain(&raw_text(raw), text, max),
        false => compact::compact_into(raw.get(), text, max),
    }
}

/// Appends as much of a text as fits into `max` bytes, and returns whether all of it did.
pub fn push_plain(more: &str, text: &mut String, max: usize) -> bool {
    let room = max.saturating_sub(text.len());
    let fitting = more.floor_char_boundary(room);
    text.push_str(&more[..fitting]);
    fitting == more.len()
}

struct Count;

impl<'de> serde::de::Visitor<'de> for Count {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut count = 0;
        while seq.next_element::<serde::de::IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

/// Rejects text that matches the JSON grammar, but cannot be read or nests deeper than a [`Json`].
pub fn readable(text: &str) -> Result<(), serde_json::Error> {
    check::check(text, Json::MAX_DEPTH)
}

/// Walks raw text by keys without parsing values beside the path.
pub fn pick_path<'a>(raw: &'a RawValue, parts: &[String]) -> Option<&'a RawValue> {
    parts.iter().try_fold(raw, |raw, part| pick(raw, part))
}

/// One member of an object or one item of an array.
pub fn pick<'a>(raw: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let text = raw.get();
    match text.as_bytes().first()? {
        b'{' => {
            let visitor = Member { key };
            serde::de::Deserializer::deserialize_map(
                &mut serde_json::Deserializer::from_str(text),
                visitor,
            )
            .ok()
            .flatten()
        }
        b'[' => {
            let index: usize = key.parse().ok()?;
            serde::de::Deserializer::deserialize_seq(
                &mut serde_json::Deserializer::from_str(text),
                Item { index },
            )
            .ok()
            .flatten()
        }
        _ => None,
    }
}

/// Finds one member; the last of equal keys wins, as in every JSON parser.
struct Member<'k> {
    key: &'k str,
}

impl<'de> serde::de::Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if key.0 == self.key {
                found = Some(map.next_value::<&'de RawValue>()?);
            } else {
                map.next_value::<serde::de::IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// A member's name, borrowed unless it holds escapes.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

struct Item {
    index: usize,
}

impl<'de> serde::de::Visitor<'de> for Item {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut at = 0;
        let mut found = None;
        while let Some(raw) = seq.next_element::<&'de RawValue>()? {
            if at == self.index {
                found = Some(raw);
            }
            at += 1;
        }
        Ok(found)
    }
}

impl Default for Json {
    fn default() -> Self {
        Self::null()
    }
}

impl TryFrom<Box<RawValue>> for Json {
    type Error = serde_json::Error;

    fn try_from(raw: Box<RawValue>) -> Result<Self, Self::Error> {
        check::check(raw.get(), Self::MAX_DEPTH)?;
        Ok(Self::trusted(raw))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::of_text(text)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::try_from(raw).map_err(serde::de::Error::custom)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Equal when the parsed values are equal: white space and key order do not count.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str() || self.value() == other.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    fn json(text: &str) -> Json {
        Json::parse_text(text.to_owned()).unwrap()
    }

    #[test]
    fn paths_pick_text_as_it_came() {
        let doc = json(
            r#"{"a":{"id":12345678901234567890123,"l":[1.10,{"x":"y"}]},"a\u0062":2,"n":null}"#,
        );
        for (path, expected) in [
            ("a.id", Some("12345678901234567890123")),
            ("a.l.0", Some("1.10")),
            ("a.l.1.x", Some("\"y\"")),
            ("ab", Some("2")),
            ("n", Some("null")),
            ("n.x", None),
            ("a.l.2", None),
            ("a.l.x", None),
            ("missing.x", None),
        ] {
            let got = doc.path(&Path::new(path));
            assert_eq!(got.as_ref().map(Json::as_str), expected, "{path}");
        }
    }

    #[test]
    fn text_that_cannot_be_read_is_refused_wherever_it_comes_in() {
        let deep = "[".repeat(121) + &"]".repeat(121);
        for text in [r#"{"\ud800":1}"#, "1e999", &deep] {
            assert!(Json::parse_text(text.to_owned()).is_err(), "{text}");
            assert!(serde_json::from_str::<Json>(text).is_err(), "{text}");
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            assert!(Json::try_of(&[&raw]).is_err(), "{text}");
            assert!(Json::try_from(raw).is_err(), "{text}");
        }
    }

    #[test]
    fn text_does_not_depend_on_white_space() {
        for (text, expected) in [
            ("{ \"a b\" :\n[1.10,\t\"x y\"] }", r#"{"a b":[1.10,"x y"]}"#),
            (r#""x \u0041""#, "x A"),
            ("12", "12"),
        ] {
            assert_eq!(json(text).as_text(), expected);
            let mut cut = String::new();
            assert!(push_text(json(text).raw(), &mut cut, expected.len()));
            assert_eq!(cut, expected);
            cut.clear();
            assert!(!push_text(json(text).raw(), &mut cut, 1));
            assert_eq!(cut, expected[..1]);
        }
    }

    #[test]
    fn items_are_counted_without_a_copy() {
        assert_eq!(json("[1, [2, 3], {}]").count_items(), Some(3));
        assert_eq!(json("{}").count_items(), None);
        assert_eq!(json("[1, [2, 3]]").raw_items().unwrap()[1].get(), "[2, 3]");
    }

    #[test]
    fn values_and_names_are_counted_in_the_text() {
        for (text, count) in [
            ("1", 1),
            ("[1, 2, 3]", 4),
            (r#"{"a": 1, "b,[": ["x,y\",{"]}"#, 6),
            (r#""[,:{""#, 1),
        ] {
            assert!(json(text).has_more_values(count - 1), "{text}");
            assert!(!json(text).has_more_values(count), "{text}");
        }
    }

    #[test]
    fn the_last_of_equal_keys_wins() {
        assert_eq!(json(r#"{"a":1,"a":2}"#).get("a").unwrap().as_str(), "2");
    }
}
