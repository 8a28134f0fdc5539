//! The code of an error that may come from outside: from a handler, a worker, a stored event.

use std::{fmt, ops::Deref};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Disposition, ErrorCode};

/// One of riverrun's codes, or the text that a handler of a user, an older version or a remote
/// worker gave. Serialised as the plain text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Code(Kind);

/// `Other` never holds the text of a known code: only [`Code::from`] makes one.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Kind {
    Known(ErrorCode),
    Other(Box<str>),
}

impl Code {
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Known(code) => code.as_str(),
            Kind::Other(text) => text,
        }
    }

    /// To match on. A code of a user's own is none of them.
    pub fn known(&self) -> Option<ErrorCode> {
        match self.0 {
            Kind::Known(code) => Some(code),
            Kind::Other(_) => None,
        }
    }

    /// Errors with a code of a user's own are tried again.
    pub fn disposition(&self) -> Disposition {
        self.known()
            .map_or(Disposition::Retry, ErrorCode::disposition)
    }
}

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        Self(Kind::Known(code))
    }
}

impl From<&str> for Code {
    fn from(text: &str) -> Self {
        Self(ErrorCode::parse(text).map_or_else(|| Kind::Other(text.into()), Kind::Known))
    }
}

impl From<String> for Code {
    fn from(text: String) -> Self {
        Self(ErrorCode::parse(&text).map_or_else(|| Kind::Other(text.into()), Kind::Known))
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        match code.0 {
            Kind::Known(code) => code.into(),
            Kind::Other(text) => text.into(),
        }
    }
}

/// No code at all: an empty text.
impl Default for Code {
    fn default() -> Self {
        Self(Kind::Other(Box::default()))
    }
}

impl PartialEq<ErrorCode> for Code {
    fn eq(&self, other: &ErrorCode) -> bool {
        self.known() == Some(*other)
    }
}

/// Tests and clients compare the text on the wire.
impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Deref for Code {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
