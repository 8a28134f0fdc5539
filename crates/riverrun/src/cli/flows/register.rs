//! `riverrun flows register`.

use clap::Args;

use crate::{
    cli::{Global, definitions::Files},
    failure::{Exit, Result},
};

#[derive(Args, Debug)]
pub struct Register {
    #[command(flatten)]
    files: Files,
}

impl Register {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let line = |flow: &serde_json::Value| {
            let text = |key: &str| flow[key].as_str().unwrap_or_default();
            let news = match flow["created"] == true {
                true => "registered",
                false => "was registered before",
            };
            format!("{}@{} {news}", text("id"), text("version"))
        };
        self.files.send(global, "flows", line).await
    }
}
