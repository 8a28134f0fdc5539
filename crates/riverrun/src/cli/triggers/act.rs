//! `riverrun triggers enable|disable|rm`.

use clap::Args;

use crate::{
    cli::{
        Global,
        each::{Done, each},
    },
    failure::{Exit, Result},
    output::{self, paint, paint::paint},
};

#[derive(Args, Debug)]
pub struct Act {
    /// The ids of the triggers.
    #[arg(required = true, value_name = "TRIGGER")]
    triggers: Vec<String>,
}

impl Act {
    pub async fn switch(self, global: &Global, verb: &str) -> Result<Exit> {
        let client = global.client()?;
        each(global, &self.triggers, async |id| {
            let answer = client.post(&["api", "triggers", id, verb], None).await?;
            let state = match answer.value()["enabled"].as_bool() {
                Some(true) => paint(paint::GOOD, "enabled"),
                _ => paint(paint::WARN, "disabled"),
            };
            Ok(Done {
                line: format!("{} {state}", output::visible(id)),
                document: answer.text,
            })
        })
        .await
    }

    pub async fn remove(self, global: &Global) -> Result<Exit> {
        let client = global.client()?;
        each(global, &self.triggers, async |id| {
            let answer = client.delete(&["api", "triggers", id]).await?;
            Ok(Done {
                line: format!("{} removed", output::visible(id)),
                document: answer.text,
            })
        })
        .await
    }
}
