//! The identity of a group of commits.

use std::fmt;

use riverrun_types::{Name, RunId};

/// Identifies one group for ever: the writer that made it, and its number there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupId {
    pub writer: Name,
    pub no: u64,
}

impl GroupId {
    /// The first id of a writer; no other writer has it.
    pub fn first() -> Self {
        Self {
            writer: Name::from(RunId::fresh().as_str()),
            no: 1,
        }
    }

    /// The id of the writer's next group.
    pub fn next(&self) -> Self {
        Self {
            writer: self.writer.clone(),
            no: self.no + 1,
        }
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.writer, self.no)
    }
}
