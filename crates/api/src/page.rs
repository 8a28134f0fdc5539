//! Pages of lists: rows, and the cursor of the next page.

use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

pub(crate) use crate::extract::PAGE;
use crate::extract::page_limit;

/// Which page of a list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(default = "default_limit", deserialize_with = "page_limit")]
    #[param(value_type = Option<u32>)]
    pub limit: usize,
    /// `nextCursor` of the previous page.
    pub cursor: Option<String>,
}

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
