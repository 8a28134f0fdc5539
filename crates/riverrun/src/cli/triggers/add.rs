//! `riverrun triggers add`.

use clap::Args;

use crate::{
    cli::{Global, definitions::Files},
    failure::{Exit, Result},
    output,
};

#[derive(Args, Debug)]
pub struct Add {
    #[command(flatten)]
    files: Files,
}

impl Add {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        let line = |trigger: &serde_json::Value| {
            let id = trigger["id"].as_str().unwrap_or_default();
            let place = match (trigger["path"].as_str(), trigger["nextDueAt"].as_str()) {
                (Some(path), _) => format!(": {}{path}", client.url()),
                (_, Some(due)) => format!(": due at {}", output::moment(Some(due))),
                _ => String::new(),
            };
            format!("{} made{place}", output::visible(id))
        };
        self.files.send(global, "triggers", line).await
    }
}
