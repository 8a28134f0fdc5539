//! Executables, and the files beside them that hold their configs.

use riverrun_types::ErrorCode;
use std::path::{Path, PathBuf};

use riverrun::Json;
use riverrun_runtime::{Format, parse_definition};

use crate::failure::{Failure, Result};

/// The most bytes of an executable's config.
const MAX_CONFIG: u64 = 1 << 20;

/// The file beside an executable that holds its config.
pub(super) fn config_path(path: &Path) -> Option<PathBuf> {
    ["yaml", "yml", "json"]
        .iter()
        .map(|ending| path.with_extension(ending))
        .find(|path| path.is_file())
}

pub(super) fn executable_config(path: &Path) -> Result<Json> {
    match config_path(path) {
        None => Ok(Json::null()),
        Some(config) => read_config(&config).map(|value| Json::of(&value)),
    }
}

pub(super) fn read_config(config: &Path) -> Result<serde_json::Value> {
    let file = |error: &std::io::Error| Failure::file("the config", config, error);
    let size = std::fs::metadata(config)
        .map_err(|error| file(&error))?
        .len();
    if size > MAX_CONFIG {
        let message = format!(
            "{} has {size} bytes; a config may have {MAX_CONFIG}",
            config.display()
        );
        return Err(Failure::new(ErrorCode::FileUnusable, message));
    }
    let text = std::fs::read_to_string(config).map_err(|error| file(&error))?;
    let format = config
        .extension()
        .and_then(|ending| Format::of_extension(ending.to_str()?))
        .unwrap_or(Format::Yaml);
    parse_definition(&text, format)
        .map_err(|error| Failure::new(error.code(), format!("{}: {error}", config.display())))
}
