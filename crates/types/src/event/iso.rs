//! Times in event data are ISO 8601, as in the envelope. Times beyond the calendar (past the year
//! 9999) are plain milliseconds, so that every time can be read back unchanged.

use crate::{Millis, time};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub fn serialize<S: Serializer>(ms: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    let text = time::iso(*ms);
    if time::parse(&text) == Some(*ms) {
        serializer.serialize_str(&text)
    } else {
        serializer.collect_str(ms)
    }
}

pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Millis, D::Error> {
    read(&String::deserialize(input)?)
}

fn read<E: Error>(text: &str) -> Result<Millis, E> {
    time::parse(text).ok_or_else(|| E::custom(format!("{text:?} is not a time")))
}

pub mod option {
    use super::*;

    pub fn serialize<S: Serializer>(ms: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
        match ms {
            Some(ms) => super::serialize(ms, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Millis>, D::Error> {
        let text = Option::<String>::deserialize(input)?;
        text.as_deref().map(read).transpose()
    }
}
