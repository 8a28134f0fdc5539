//! Lists that come in pages.

use riverrun::Json;

use super::{Client, Query};
use crate::failure::Result;

/// Rows asked for at a time.
const PAGE: usize = 200;

impl Client {
    /// Reads a list page by page, each row as its own text.
    pub async fn rows(&self, path: &[&str], query: &Query, limit: usize) -> Result<Vec<Json>> {
        let mut found: Vec<Json> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let mut query = query.clone();
            query.push(("limit", (limit - found.len()).clamp(1, PAGE).to_string()));
            query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
            let page = self.get(path, &query).await?;
            found.extend(page.items());
            cursor = page
                .member("nextCursor")
                .map(|cursor| cursor.as_text().into_owned());
            if cursor.is_none() || found.len() >= limit {
                found.truncate(limit);
                return Ok(found);
            }
        }
    }
}
