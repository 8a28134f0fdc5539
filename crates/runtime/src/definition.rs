//! Definitions as text: JSON, or YAML, which says the same with fewer quotes.

use serde_json::Value;

use crate::{Error, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Yaml,
}

impl Format {
    /// By the ending of a file's name.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "json" => Some(Self::Json),
            "yaml" | "yml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

pub fn parse_definition(text: &str, format: Format) -> Result<Value> {
    let refuse = |error: String| Error::BadDefinition(error);
    match format {
        Format::Json => serde_json::from_str(text)
            .map_err(|error| refuse(format!("the definition is not JSON: {error}"))),
        // The parser bounds aliases, depth and size, so a small text cannot become a large value.
        Format::Yaml => serde_saphyr::from_str(text)
            .map_err(|error| refuse(format!("the definition is not YAML: {error}"))),
    }
}
