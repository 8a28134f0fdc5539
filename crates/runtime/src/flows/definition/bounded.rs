//! Reads a definition into memory, and stops as soon as it turns out to be too large: a YAML text
//! can expand to many times its size, and a flow with too many steps is rejected anyway.

use std::{cell::Cell, fmt};

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Values and member names of a definition. In memory each takes up to a hundred times the two bytes
/// that it may have in a text.
pub const MAX_VALUES: usize = 500_000;

/// The limits of one reading, and whether it reached them.
pub struct Budget {
    bytes_left: Cell<usize>,
    values_left: Cell<usize>,
    max_steps: usize,
    has_too_many_steps: Cell<bool>,
}

impl Budget {
    /// `max_bytes` counts texts, names and eight bytes for each value.
    pub fn new(max_bytes: usize, max_steps: usize) -> Self {
        Self {
            bytes_left: Cell::new(max_bytes),
            values_left: Cell::new(MAX_VALUES),
            max_steps,
            has_too_many_steps: Cell::new(false),
        }
    }

    /// Whether reading was stopped because the definition has too many steps.
    pub fn has_too_many_steps(&self) -> bool {
        self.has_too_many_steps.get()
    }

    /// Whether reading was stopped because the definition has more than [`MAX_VALUES`].
    pub fn has_too_many_values(&self) -> bool {
        self.values_left.get() == 0
    }

    pub fn read<'de, D: Deserializer<'de>>(&self, deserializer: D) -> Result<Value, D::Error> {
        let node = Node {
            budget: self,
            place: Place::Flow,
        };
        node.deserialize(deserializer)
    }

    fn take<E: de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.values_left
            .set(self.values_left.get().saturating_sub(1));
        if self.has_too_many_values() {
            return Err(E::custom("it has too many values"));
        }
        let left = self.bytes_left.get().checked_sub(bytes.saturating_add(8));
        let too_large = || E::custom("its aliases repeat too much");
        self.bytes_left.set(left.ok_or_else(too_large)?);
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// The definition itself.
    Flow,
    /// Its member `steps`.
    Steps,
    Inside,
}

struct Node<'b> {
    budget: &'b Budget,
    place: Place,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        self.budget.take(0)?;
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        self.budget.take(0)?;
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        self.budget.take(0)?;
        Ok(Value::from(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        self.budget.take(0)?;
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        self.budget.take(value.len())?;
        Ok(Value::from(value))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        self.budget.take(value.len())?;
        Ok(Value::String(value))
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        self.budget.take(0)?;
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        self.budget.take(0)?;
        let mut items = Vec::new();
        let node = || Node {
            budget: self.budget,
            place: Place::Inside,
        };
        while let Some(item) = seq.next_element_seed(node())? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let budget = self.budget;
        budget.take(0)?;
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            budget.take(key.len())?;
            let place = match self.place {
                Place::Flow if key == "steps" => Place::Steps,
                _ => Place::Inside,
            };
            members.insert(key, map.next_value_seed(Node { budget, place })?);
            if self.place == Place::Steps && members.len() > budget.max_steps {
                budget.has_too_many_steps.set(true);
                return Err(de::Error::custom("it has too many steps"));
            }
        }
        Ok(Value::Object(members))
    }
}
