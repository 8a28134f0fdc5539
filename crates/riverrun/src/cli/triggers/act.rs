//! `riverrun triggers enable|disable|rm`.

use clap::Args;

use crate::{
    cli::Global,
    failure::{Exit, Result},
    output::{self, Format, paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The triggers' ids.
    #[arg(required = true, value_name = "TRIGGER")]
    triggers: Vec<String>,
}

impl Act {
    pub async fn switch(self, global: &Global, verb: &str) -> Result<Exit> {
        let client = global.client()?;
        for id in &self.triggers {
            let answer = client.post(&["api", "triggers", id, verb], None).await?;
            match global.output {
                Format::Table => {
                    let state = match answer.value()["enabled"].as_bool() {
                        Some(true) => paint(paint::GOOD, "enabled"),
                        _ => paint(paint::WARN, "disabled"),
                    };
                    output::data(&format!("{} {state}", output::visible(id)));
                }
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }

    pub async fn remove(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        for id in &self.triggers {
            let answer = client.delete(&["api", "triggers", id]).await?;
            match global.output {
                Format::Table => output::data(&format!("{} removed", output::visible(id))),
                format => output::json_text(format, &answer.text),
            }
        }
        Ok(Exit::Ok)
    }
}
