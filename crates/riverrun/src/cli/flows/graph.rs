//! `riverrun flows graph`.

use std::path::Path;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::{show::definition, validate::built_in};
use crate::{
    cli::Global,
    failure::{Exit, Result},
    graph, output,
    output::Format,
    project,
};

#[derive(Args, Debug)]
pub struct Graph {
    /// A file, or a flow that the server knows: its id, or id@version.
    #[arg(value_name = "FLOW|FILE")]
    flow: String,
    /// How to draw it.
    #[arg(long, value_enum, default_value_t)]
    format: Drawing,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Drawing {
    /// With characters, for a terminal.
    #[default]
    Text,
    /// In Mermaid's language, for documents.
    Mermaid,
}

impl Graph {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let graph = graph::Graph::of(&self.definition(global).await?, &built_in());
        match (global.output, self.format) {
            (Format::Table, Drawing::Text) => output::data(&graph::text(&graph)),
            (Format::Table, Drawing::Mermaid) => output::data(&graph::mermaid(&graph)),
            (format, _) => output::json(format, &graph.to_json()),
        }
        Ok(Exit::Ok)
    }

    async fn definition(&self, global: &Global) -> Result<Value> {
        let path = Path::new(&self.flow);
        if path.is_file() || project::format_of(path).is_some() {
            return Ok(project::read(path)?.definition);
        }
        Ok(definition(&global.client()?, &self.flow).await?.value())
    }
}
