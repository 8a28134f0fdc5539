//! `riverrun config`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::{
    Global,
    server_flags::{ServerFlags, log_warnings, project_folder},
};
use crate::{
    config::Source,
    failure::{Exit, Result},
    output::{self, Format, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct ConfigCommand {
    /// The project whose riverrun.toml is read.
    #[arg(long, value_name = "FOLDER")]
    project: Option<PathBuf>,
    #[command(flatten)]
    flags: ServerFlags,
}

impl ConfigCommand {
    pub fn run(self, global: &Global) -> Result<Exit> {
        let project = self.project.as_deref().map(project_folder).transpose()?;
        let settings = self
            .flags
            .load(project.map(|folder| (folder, "--project")))?;
        log_warnings(&settings);
        let rows = settings.rows();
        let row = |(key, value, source): &(String, Value, Source)| json!({"key": key, "value": value, "source": source.to_string()});
        match global.output {
            Format::Json => output::json(Format::Json, &rows.iter().map(row).collect::<Vec<_>>()),
            Format::Jsonl => rows
                .iter()
                .for_each(|found| output::json(Format::Jsonl, &row(found))),
            Format::Table => {
                let mut table = Table::new(["key", "value", "source"]);
                for (key, value, source) in rows {
                    let style = match source {
                        Source::Default => paint::DIM,
                        _ => paint::GOOD,
                    };
                    let value = match value {
                        Value::String(text) => text,
                        Value::Null => "-".to_owned(),
                        other => other.to_string(),
                    };
                    table.push(
                        Row::default()
                            .cell(key)
                            .cell(value)
                            .styled(source.to_string(), style),
                    );
                }
                table.print();
            }
        }
        Ok(Exit::Ok)
    }
}
