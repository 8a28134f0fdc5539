//! Pages of lists: rows and the way to the next ones.

use serde::Serialize;

pub(crate) use crate::extract::PAGE;

/// What every list answers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Items<T> {
    pub items: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Items<T> {
    /// Everything there is.
    pub fn all(items: Vec<T>) -> Self {
        Self {
            items,
            next_cursor: None,
        }
    }
}

pub(crate) fn default_limit() -> usize {
    PAGE
}
