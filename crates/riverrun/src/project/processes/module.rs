//! Processes in modules of Node and Python: each export with a handler is one.

use riverrun_protocol::WorkError;
use riverrun_providers::Runners;
use riverrun_runtime::Process;

use super::{
    find::ProcessFile,
    process::{process, source},
};
use crate::failure::{Failure, Result};

pub(super) async fn load_module(runners: &Runners, file: &ProcessFile) -> Result<Vec<Process>> {
    let path = file.path.to_string_lossy();
    let loaded = runners.load(&path, 1).await;
    let loaded = loaded.map_err(|error| refused(&path, &error))?;
    let runners = loaded.runners;
    loaded
        .processes
        .into_iter()
        .map(|found| {
            let export = found
                .export
                .as_deref()
                .filter(|export| *export != "default");
            let id = match export {
                None => file.id.clone(),
                Some(export) => format!("{}.{export}", file.id),
            };
            let provider = runners.provider(&path, found.export.as_deref(), 1);
            let source = source(file, found.export.clone());
            process(id, found.config, provider, source, &file.path)
        })
        .collect()
}

/// That a module does not load: what is wrong, with its path once, and what the stack adds to it.
fn refused(path: &str, error: &WorkError) -> Failure {
    let message = match error.message.contains(path) {
        true => error.message.clone(),
        false => format!("{path}: {}", error.message),
    };
    let is_new = |line: &&str| {
        let said = line.split_once(": ").map_or(*line, |(_, said)| said);
        !said.trim().is_empty() && !message.contains(line.trim()) && !message.contains(said.trim())
    };
    let stack: Vec<&str> = error.stack.as_deref().unwrap_or_default().lines().collect();
    let news: Vec<&str> = stack.into_iter().filter(is_new).collect();
    let failure = Failure::new(error.code.clone(), message.clone());
    let failure = match missing_package(&message) {
        Some(package) => failure.next(format!("npm install {package}")),
        None => failure,
    };
    match news.is_empty() {
        true => failure,
        false => failure.note(news.join("\n")),
    }
}

/// The package that a module of Node imports and that is not installed.
fn missing_package(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("Cannot find package '")?;
    rest.split('\'').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_does_not_load_is_reported_without_repetition() {
        for (message, stack, notes) in [
            ("/p/a.ts is TypeScript", None, &[][..]),
            ("must be an object", None, &[]),
            (
                "/p/a.ts: no database",
                Some("Error: no database\n    at file:///p/a.ts:2:7"),
                &["    at file:///p/a.ts:2:7"],
            ),
            (
                "/p/a.ts:3:5: Unexpected token",
                Some("/p/a.ts:3:5\nlet => 2\n    ^^"),
                &["let => 2\n    ^^"],
            ),
        ] {
            let error = WorkError {
                stack: stack.map(Into::into),
                ..WorkError::new("MODULE_ERROR", message)
            };
            let failure = refused("/p/a.ts", &error);
            assert_eq!(failure.message.matches("/p/a.ts").count(), 1, "{message}");
            assert_eq!(failure.notes, notes, "{message}");
        }
    }
}
