//! `riverrun handlers`: from the built-in table, or from a server that `--url` names.

use clap::{Args, Subcommand};
use riverrun_types::ErrorCode;
use serde_json::{Value, json};

use super::{Global, flows::built_in};
use crate::{
    failure::{Exit, Failure, Result},
    output::{self, Format, Row, Table, paint},
};

#[derive(Args, Debug)]
pub struct Handlers {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the step types.
    #[command(before_help = "Example: riverrun handlers ls")]
    Ls,
    /// Show a step type: what it does and the schema of its config.
    #[command(before_help = "Example: riverrun handlers show http")]
    Show {
        /// The type, as written in steps.
        kind: String,
    },
}

impl Handlers {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        match self.command.unwrap_or(Command::Ls) {
            Command::Ls => list(global).await,
            Command::Show { kind } => show(global, &kind).await,
        }
    }
}

async fn list(global: &Global) -> Result<Exit> {
    let items: Vec<Value> = match &global.url {
        Some(_) => {
            let answer = global
                .client()?
                .get(&["api", "handlers"], &Vec::new())
                .await?;
            answer.value()["items"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        }
        None => built_in().iter().map(|handler| info(&**handler)).collect(),
    };
    output::list(global.output, &items, || {
        let mut table = Table::new(["type", "about"]);
        for item in &items {
            let text = |key: &str| item[key].as_str().unwrap_or_default();
            table.push(
                Row::default()
                    .styled(text("type"), paint::NAME)
                    .cell(text("about")),
            );
        }
        table.print();
    });
    Ok(Exit::Ok)
}

async fn show(global: &Global, kind: &str) -> Result<Exit> {
    let found = match &global.url {
        Some(_) => global
            .client()?
            .get(&["api", "handlers", kind], &Vec::new())
            .await?
            .value(),
        None => {
            let handlers = built_in();
            let handler = handlers.get(kind).ok_or_else(|| missing(kind))?;
            let mut found = info(&**handler);
            found["schema"] = handler.schema();
            found
        }
    };
    match global.output {
        Format::Table => {
            let text = |key: &str| found[key].as_str().unwrap_or_default();
            output::talk(&format!("{}: {}", text("type"), text("about")));
            output::json(Format::Json, &found["schema"]);
        }
        format => output::json(format, &found),
    }
    Ok(Exit::Ok)
}

fn info(handler: &dyn riverrun::Handler) -> Value {
    let effects = match handler.effects() {
        riverrun::Effects::None => "none",
        riverrun::Effects::Some => "some",
    };
    json!({"type": handler.kind(), "about": handler.about(), "effects": effects})
}

fn missing(kind: &str) -> Failure {
    Failure::usage(
        ErrorCode::HandlerNotFound,
        format!("there is no handler {kind:?} built in"),
    )
    .next("riverrun handlers ls")
}
