//! `riverrun flows graph`.

use riverrun_types::ErrorCode;
use std::path::Path;

use clap::{Args, ValueEnum};
use riverrun_engine::{EdgeKind, FlowDiagram, Ink};

use super::validate::built_in;
use crate::{
    cli::Global,
    failure::{Exit, Failure, Result},
    output::{self, Format, paint},
    project,
};

#[derive(Args, Debug)]
pub struct Graph {
    /// A file, or a registered flow: its id, or id@version.
    #[arg(value_name = "FLOW|FILE")]
    flow: String,
    /// The format of the drawing.
    #[arg(long, value_enum, default_value_t)]
    format: Drawing,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Drawing {
    /// Characters, for a terminal.
    #[default]
    Text,
    /// Mermaid, for documents.
    Mermaid,
}

impl Graph {
    pub async fn run(self, global: &Global) -> Result<Exit> {
        let diagram = self.diagram(global).await?;
        match (global.output, self.format) {
            (Format::Table, Drawing::Text) => output::data(&diagram.draw(&painted)),
            (Format::Table, Drawing::Mermaid) => output::data(&diagram.mermaid()),
            (format, _) => output::json(format, &diagram),
        }
        Ok(Exit::Ok)
    }

    /// Of a file here; of a registered flow by the server, which alone knows all its handlers.
    async fn diagram(&self, global: &Global) -> Result<FlowDiagram> {
        let path = Path::new(&self.flow);
        if path.is_file() || project::format_of(path).is_some() {
            let definition = project::read("the flow", path)?.definition;
            return Ok(FlowDiagram::of(&definition, &built_in()));
        }
        let path = ["api", "flows", &self.flow, "diagram"];
        let answer = global.client()?.get(&path, &Vec::new()).await?;
        serde_json::from_str(&answer.text).map_err(|error| {
            Failure::new(
                ErrorCode::NotRiverrun,
                format!("the server's diagram cannot be read: {error}"),
            )
        })
    }
}

fn painted(ink: Ink, text: &str) -> String {
    let style = match ink {
        Ink::Title => paint::BOLD,
        Ink::Step => paint::NAME,
        Ink::Handler | Ink::Outside => paint::DIM,
        Ink::Edge(EdgeKind::Then | EdgeKind::Emit | EdgeKind::Await) => anstyle::Style::new(),
        Ink::Edge(EdgeKind::Choice | EdgeKind::Inside) => paint::WAIT,
        Ink::Edge(EdgeKind::Timeout | EdgeKind::Failure | EdgeKind::Compensation) => paint::BAD,
        Ink::Warning => paint::WARN,
    };
    paint::paint(style, text)
}
