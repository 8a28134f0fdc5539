//! Applies an action to several ids, one after the other. A failure does not stop the others.

use riverrun::Json;

use crate::{
    cli::Global,
    failure::{Exit, Failure, Result},
    output::{self, Format},
};

/// What became of one of them.
pub struct Done {
    /// For people.
    pub line: String,
    /// As JSON.
    pub document: String,
}

/// Does it to each, and says what became of it: of one thing as it is, of several as a list. Fails
/// at the end if it could not be done to all.
pub async fn each(
    global: &Global,
    ids: &[String],
    act: impl AsyncFn(&str) -> Result<Done>,
) -> Result<Exit> {
    let mut documents = Vec::new();
    let mut failures: Vec<(&str, Failure)> = Vec::new();
    for id in ids {
        match (act(id).await, global.output) {
            (Ok(done), Format::Table) => output::data(&done.line),
            (Ok(done), Format::Json) if ids.len() > 1 => {
                documents.extend(Json::parse_text(done.document).ok());
            }
            (Ok(done), format) => output::json_text(format, &done.document),
            (Err(failure), _) if ids.len() == 1 => return Err(failure),
            (Err(failure), _) => {
                let is_away = failure.exit == Exit::Unreachable;
                failures.push((id, failure));
                // Nor will it be there for the others.
                if is_away {
                    break;
                }
            }
        }
    }
    if global.output == Format::Json && ids.len() > 1 {
        output::json(Format::Json, &documents);
    }
    let Some((_, first)) = failures.first() else {
        return Ok(Exit::Ok);
    };
    let named: Vec<&str> = failures.iter().map(|(id, _)| *id).collect();
    let message = format!(
        "{} of {} could not be done: {}",
        named.len(),
        ids.len(),
        named.join(", ")
    );
    let mut all = Failure::new(first.code.clone(), message).exit(first.exit);
    for (_, failure) in &failures {
        all = all.note(format!("{}: {}", failure.code, failure.message));
    }
    Err(all)
}
