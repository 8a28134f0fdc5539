//! Definitions in files, sent to the server one after the other.

use riverrun_types::ErrorCode;
use std::path::Path;

use clap::Args;
use serde_json::Value;

use crate::{
    cli::{
        Global,
        each::{Done, each},
    },
    failure::{Exit, Result},
    project,
};

#[derive(Args, Debug)]
pub struct Files {
    /// JSON or YAML files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Files {
    /// Posts each to `/api/<kind>`, and shows what the server made of it in a line.
    pub async fn send(
        self,
        global: &Global,
        kind: &str,
        line: impl Fn(&Value) -> String,
    ) -> Result<Exit> {
        let client = global.client()?;
        each(global, &self.files, async |file| {
            let path = Path::new(file);
            let what = format!("the {}", kind.trim_end_matches('s'));
            let definition = project::read(&what, path)?.definition.to_string();
            let answer = client.post(&["api", kind], Some(definition)).await;
            let answer = answer.map_err(|failure| match failure.code.known() {
                Some(ErrorCode::Unreachable | ErrorCode::Timeout) => failure,
                _ => project::of_file(path, failure),
            })?;
            Ok(Done {
                line: line(&answer.value()),
                document: answer.text,
            })
        })
        .await
    }
}
