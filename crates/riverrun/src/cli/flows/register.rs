//! `riverrun flows register`.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::Global,
    failure::{Exit, Failure, Result},
    output::{self, Format},
    project,
};

#[derive(Args, Debug)]
pub struct Register {
    /// Files in JSON or YAML.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Register {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        for path in &self.files {
            let file = project::read(path)?;
            let answer = client
                .post(&["api", "flows"], Some(file.definition.to_string()))
                .await;
            let answer = answer.map_err(|failure| match failure.code.as_ref() {
                "UNREACHABLE" | "TIMEOUT" => failure,
                _ => Failure {
                    message: format!("{}: {}", path.display(), failure.message),
                    ..failure
                },
            })?;
            let flow = answer.value();
            match global.output {
                Format::Table => {
                    let text = |key: &str| flow[key].as_str().unwrap_or_default();
                    let news = if flow["created"] == true {
                        "registered"
                    } else {
                        "was registered before"
                    };
                    output::data(&format!("{}@{} {news}", text("id"), text("version")));
                }
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }
}
