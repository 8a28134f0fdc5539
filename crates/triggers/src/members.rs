//! The members of a struct, as serde reads them.

use serde::{
    Deserializer,
    de::{DeserializeOwned, Error as _, Visitor, value::Error},
    forward_to_deserialize_any,
};

/// The names under which the members of a struct may be written.
pub(crate) fn members_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut members: &[&str] = &[];
    // It always fails: the names are known before a value is asked for.
    drop(T::deserialize(Names(&mut members)));
    members
}

struct Names<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Names<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("it is no struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        Err(Error::custom("its members are known"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definition;

    #[test]
    fn the_members_of_a_struct_have_their_written_names() {
        let members = members_of::<Definition>();
        for name in ["id", "type", "flowVersion", "inputMap", "metadata"] {
            assert!(members.contains(&name), "{name} in {members:?}");
        }
        assert!(!members.contains(&"kind"));
        assert_eq!(members_of::<String>(), &[""; 0]);
    }
}
