//! `riverrun triggers add`.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::Global,
    failure::{Exit, Failure, Result},
    output::{self, Format},
    project,
};

#[derive(Args, Debug)]
pub struct Add {
    /// Files in JSON or YAML.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Add {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        for path in &self.files {
            let file = project::read(path)?;
            let answer = client
                .post(&["api", "triggers"], Some(file.definition.to_string()))
                .await;
            let answer = answer.map_err(|failure| match failure.code.as_ref() {
                "UNREACHABLE" | "TIMEOUT" => failure,
                _ => Failure {
                    message: format!("{}: {}", path.display(), failure.message),
                    ..failure
                },
            })?;
            let trigger = answer.value();
            match global.output {
                Format::Table => {
                    let id = trigger["id"].as_str().unwrap_or_default();
                    let place = match (trigger["path"].as_str(), trigger["nextDueAt"].as_str()) {
                        (Some(path), _) => format!(": {}{path}", client.url()),
                        (_, Some(due)) => format!(": due at {}", output::moment(Some(due))),
                        _ => String::new(),
                    };
                    output::data(&format!("{} made{place}", output::visible(id)));
                }
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }
}
