//! Members of objects that stand there twice. Parsers disagree about which of the two counts, so an
//! object that the server itself reads may not have any.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// What the messages of serde begin with when a struct is given a member twice. The ones here
/// begin alike.
const REPEATED: &str = "duplicate field `";

/// Rejects text in which any object, at any depth, has a member twice.
pub fn check_unique(text: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Unique>(text).map(drop)
}

/// Whether an object was rejected because one of its members stands there twice.
pub fn is_repeated_member(error: &serde_json::Error) -> bool {
    error.to_string().starts_with(REPEATED)
}

fn repeated<E: serde::de::Error>(name: &str) -> E {
    let name: String = name.chars().take(64).collect();
    E::custom(format_args!("{REPEATED}{name}`"))
}

/// The members of an object, none of which stands there twice. What they hold is not looked into.
pub struct UniqueMembers(pub Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = UniqueMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Map::new();
                while let Some(name) = map.next_key::<String>()? {
                    if members.contains_key(&name) {
                        return Err(repeated(&name));
                    }
                    let value = map.next_value()?;
                    members.insert(name, value);
                }
                Ok(UniqueMembers(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Any value, of which nothing is kept.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Unique;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut names: HashSet<Cow<'de, str>> = HashSet::new();
        while let Some(super::Key(name)) = map.next_key()? {
            if names.contains(&name) {
                return Err(repeated(&name));
            }
            names.insert(name);
            map.next_value::<Unique>()?;
        }
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Unique, A::Error> {
        while seq.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_stands_there_twice_is_found_at_any_depth() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"[{"b":{"c":[1,{"d":1,"e":2,"d":3}]}}]"#,
        ] {
            let error = check_unique(text).unwrap_err();
            assert!(is_repeated_member(&error), "{text}: {error}");
        }
        for text in [
            r#"{"a":{"a":{"a":[]}},"b":[{"a":1},{"a":1}],"":1.5,"A":-1,"n":null,"t":true}"#,
            "[]",
            "1e3",
        ] {
            check_unique(text).unwrap();
        }
        assert!(!is_repeated_member(&check_unique("{").unwrap_err()));
    }

    #[test]
    fn members_are_looked_at_and_their_values_are_not() {
        let read = serde_json::from_str::<UniqueMembers>;
        assert!(read(r#"{"a":{"b":1,"b":2},"c":3}"#).is_ok());
        let error = read(r#"{"a":1,"c":3,"a":2}"#).err().unwrap();
        assert!(is_repeated_member(&error), "{error}");
    }
}
