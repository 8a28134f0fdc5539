//! `riverrun version`.

use serde_json::json;

use super::Global;
use crate::{
    failure::{Exit, Result},
    output::{self, Format},
};

pub fn run(global: &Global) -> Result<Exit> {
    let version = env!("CARGO_PKG_VERSION");
    match global.output {
        Format::Table => output::data(&format!("riverrun {version}")),
        format => output::json(
            format,
            &json!({"version": version, "os": std::env::consts::OS, "arch": std::env::consts::ARCH}),
        ),
    }
    Ok(Exit::Ok)
}
