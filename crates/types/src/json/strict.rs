//! JSON read as its schema describes it. What serde derives is more lenient in one way and stricter
//! in another: it takes a list for a struct, whose fields it then fills in their order, it takes
//! `{"name": null}` for the name of a variant, and it does not take `1.0` for a whole number.

use std::fmt;

use serde::{
    Deserializer,
    de::{
        DeserializeOwned, DeserializeSeed, EnumAccess, Error, IntoDeserializer, MapAccess,
        SeqAccess, Unexpected, VariantAccess, Visitor,
        value::{MapAccessDeserializer, StrDeserializer},
    },
};
use serde_json::Value;

use super::check::Readable;

/// Integers up to this size are exact in a number that is written with a point or an exponent.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Reads text: a struct only from an object, a unit variant only from its name, and a whole number
/// however it is written.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    let mut text = serde_json::Deserializer::from_str(text);
    let read = T::deserialize(Strict::new(&mut text))?;
    text.end()?;
    Ok(read)
}

/// Reads what should be text by the same rules as [`from_str`].
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    match std::str::from_utf8(bytes) {
        // Checked once, and not again for each of its strings.
        Ok(text) => from_str(text),
        Err(_) => not_text(bytes),
    }
}

/// Says where it stops to be text, or JSON. Nothing that is read is kept.
#[cold]
fn not_text<T>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice::<Readable>(bytes)?;
    Err(serde_json::Error::custom("the text is not UTF-8"))
}

/// Reads a value by the same rules as [`from_str`].
pub fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    T::deserialize(Strict::new(value))
}

/// A deserializer that holds what it reads to the rules of [`from_str`], at any depth. What serde
/// buffers before it knows the type (`untagged`, `flatten`) does not pass through it.
pub struct Strict<D>(D);

impl<D> Strict<D> {
    pub fn new(inner: D) -> Self {
        Self(inner)
    }
}

macro_rules! pass_on {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        }
    )*};
}

macro_rules! look_within {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Within(visitor))
        }
    )*};
}

macro_rules! whole_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(Whole(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    pass_on! {
        deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier deserialize_ignored_any
    }

    look_within! { deserialize_any deserialize_option deserialize_seq deserialize_map }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, Within(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(len, Within(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, len, Within(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Object(visitor))
    }

    /// By what is there, and not by `deserialize_enum`: that does not tell how a variant is written.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Enum(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

/// Passes on what is there, and looks into what it holds.
struct Within<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool) visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128)
        visit_f32(f32) visit_f64(f64) visit_char(char)
        visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
        visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(seq))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Strict(variant))
    }
}

/// Takes an object, and nothing else.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Object<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(map))
    }
}

/// Takes a whole number, also as `1.0` or `1e3`.
struct Whole<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Whole<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128)
        visit_bool(bool) visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        if number.fract() != 0.0 || number.abs() > MAX_EXACT {
            return self.0.visit_f64(number);
        }
        match number < 0.0 {
            true => self.0.visit_i64(number as i64),
            false => self.0.visit_u64(number as u64),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }
}

/// Takes a variant: by its name if it holds nothing, and as an object with one member if it does.
struct Enum<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Enum<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<V::Value, E> {
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        self.0.visit_enum(name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Strict(MapAccessDeserializer::new(map)))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strict(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, variant) = self.0.variant_seed(seed)?;
        Ok((name, Strict(variant)))
    }
}

/// Of a variant that is written as an object.
impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        Err(A::Error::invalid_type(Unexpected::Map, &"a string"))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Strict(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Within(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Object(visitor))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(inner))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::Json;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Outer {
        count: Option<u32>,
        inner: Option<Inner>,
        list: Vec<Inner>,
        map: BTreeMap<String, Inner>,
        payload: Option<Json>,
        value: Value,
        choice: Option<Choice>,
        pair: Option<(Inner, i8)>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner {
        a: Option<String>,
        b: Option<u64>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Choice {
        None,
        One(Inner),
        Named { a: u8 },
    }

    fn both(value: &Value) -> Option<Outer> {
        let text = from_slice(value.to_string().as_bytes());
        let parsed = from_value(value.clone());
        assert_eq!(text.is_ok(), parsed.is_ok(), "{value}");
        if let (Ok(text), Ok(parsed)) = (&text, &parsed) {
            assert_eq!(text, parsed);
        }
        text.ok()
    }

    #[test]
    fn a_list_is_no_object_wherever_it_is() {
        for value in [
            json!([1]),
            json!([]),
            json!({"inner": [null, null]}),
            json!({"inner": []}),
            json!({"list": [{}, ["a", 1]]}),
            json!({"map": {"x": ["a"]}}),
            json!({"choice": {"one": ["a"]}}),
            json!({"choice": {"named": [1]}}),
            json!({"pair": [["a"], 1]}),
        ] {
            assert_eq!(both(&value), None, "{value}");
        }
        let inner = json!({"a": "x", "b": 7});
        for value in [
            json!({"inner": inner, "list": [inner, {}], "map": {"x": inner}, "pair": [inner, -1]}),
            json!({"payload": [[1], {"a": []}], "value": [[null], {"b": [1]}]}),
            json!({"inner": null, "payload": null, "choice": null}),
            json!({"choice": "none"}),
            json!({"choice": {"one": inner}}),
            json!({"choice": {"named": {"a": 1}}}),
        ] {
            assert!(both(&value).is_some(), "{value}");
        }
    }

    #[test]
    fn a_name_is_a_text() {
        for value in [
            json!({"choice": {"none": null}}),
            json!({"choice": ["none"]}),
            json!({"choice": {}}),
            json!({"choice": {"named": {"a": 1}, "none": null}}),
            json!({"choice": "one"}),
            json!({"choice": "other"}),
            json!({"choice": 0}),
        ] {
            assert_eq!(both(&value), None, "{value}");
        }
    }

    #[test]
    fn whole_numbers_may_have_a_point() {
        for text in ["7", "7.0", "70e-1", "0.7e1"] {
            let read: Outer = from_slice(format!(r#"{{"count":{text}}}"#).as_bytes()).unwrap();
            assert_eq!(read.count, Some(7), "{text}");
        }
        let read: Outer = from_slice(br#"{"pair":[{"b":18446744073709551615},-1.0]}"#).unwrap();
        let inner = Inner {
            a: None,
            b: Some(u64::MAX),
        };
        assert_eq!(read.pair, Some((inner, -1)));
        for text in [
            "7.5",
            "-1",
            "-1.0",
            "4294967296.0",
            "1e300",
            "\"7\"",
            "true",
        ] {
            let read = from_slice::<Outer>(format!(r#"{{"count":{text}}}"#).as_bytes());
            assert!(read.is_err(), "{text}");
        }
        // It may have been another one before it was rounded.
        let read = from_slice::<Outer>(br#"{"inner":{"b":9007199254740994.0}}"#);
        assert!(read.is_err());
    }

    #[test]
    fn what_is_kept_as_it_came_stays_so() {
        let text =
            br#"{"payload": {"n": 1.0, "big": 123456789012345678901234567890}, "value": 1.0}"#;
        let read: Outer = from_slice(text).unwrap();
        let payload = read.payload.unwrap();
        assert_eq!(payload.get("n").unwrap().as_str(), "1.0");
        assert_eq!(
            payload.get("big").unwrap().as_str(),
            "123456789012345678901234567890"
        );
        assert_eq!(read.value, json!(1.0));
        for bytes in [
            &b"{\"inner\":{\"a\":\"\xff\"}}"[..],
            b"{\"\xff\":1}",
            b"{}\xff",
        ] {
            let error = from_slice::<Outer>(bytes).unwrap_err();
            assert_eq!(error.classify(), serde_json::error::Category::Syntax);
            assert_eq!(error.line(), 1);
        }
        let error = from_slice::<Outer>(b"{} x").unwrap_err();
        assert_eq!(error.classify(), serde_json::error::Category::Syntax);
        let error = from_slice::<Outer>(b"{\"inner\":\n [1]}").unwrap_err();
        assert_eq!(error.line(), 2);
    }
}
