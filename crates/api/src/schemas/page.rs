//! How a page of a list is asked for.

use serde::Deserialize;
use utoipa::IntoParams;

/// A page of a list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Rows a page, 1 to 1,000. Default 50.
    #[serde(
        default = "crate::page::default_limit",
        deserialize_with = "crate::extract::page_limit"
    )]
    #[param(value_type = Option<u32>)]
    pub limit: usize,
    /// `nextCursor` of the page before.
    pub cursor: Option<String>,
}
