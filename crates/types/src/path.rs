//! Dot paths: `user.address.0.city`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A dot path, split once. An array is indexed by a decimal part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    parts: Vec<String>,
}

impl Path {
    pub fn new(text: &str) -> Self {
        Self {
            parts: text.split('.').map(str::to_owned).collect(),
        }
    }

    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// The first part: a key of the state.
    pub fn head(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    pub fn tail(&self) -> &[String] {
        self.parts.get(1..).unwrap_or_default()
    }

    /// The most parts of a path: a write at a path nests as deep as the path is long.
    pub const MAX_PARTS: usize = 64;

    /// A path with an empty part (`a..b`, the empty text) can name nothing, and one with too many
    /// parts is refused before it nests too deep.
    pub fn is_valid(&self) -> bool {
        self.parts.len() <= Self::MAX_PARTS && self.parts.iter().all(|part| !part.is_empty())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.join("."))
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}
