//! The names that definitions of a project may use before the project is loaded.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use riverrun::Riverrun;
use riverrun_engine::{Catalog, SchemaIssue, meant};
use riverrun_runtime::{Handlers, KnownNames};
use serde_json::Value;

use super::{flow_files, processes::process_files, read};
use crate::failure::Result;

/// Announces the processes that are about to be loaded, so that flows may name them.
pub fn expect_processes(river: &Riverrun, project: &Path) -> Result<()> {
    let files = process_files(project)?.files;
    let ids = files.into_iter().map(|file| file.id);
    river.runtime().processes().expect(ids);
    Ok(())
}

/// The handlers that every server has, and the processes and flows of the project that a file is
/// in.
pub struct ProjectNames {
    handlers: Handlers,
    processes: HashSet<String>,
    flows: HashSet<String>,
}

impl ProjectNames {
    /// The project is the nearest folder above the file that has `processes` or `flows` in it.
    pub fn around(file: &Path, handlers: Handlers) -> Self {
        let project = std::path::absolute(file).ok().and_then(project_of);
        let processes = project.as_deref().and_then(|at| process_files(at).ok());
        let processes = processes.map_or_else(Vec::new, |found| found.files);
        let flows = project.as_deref().and_then(|at| flow_files(at).ok());
        let flows = flows.unwrap_or_default().into_iter().filter_map(|path| {
            let file = read("the flow", &path).ok()?;
            Some(file.definition["id"].as_str()?.to_owned())
        });
        Self {
            handlers,
            processes: processes.into_iter().map(|file| file.id).collect(),
            flows: flows.collect(),
        }
    }
}

fn project_of(file: PathBuf) -> Option<PathBuf> {
    let has = |folder: &Path, name: &str| folder.join(name).is_dir();
    let is_project = |folder: &&Path| has(folder, "processes") || has(folder, "flows");
    file.ancestors()
        .skip(1)
        .find(is_project)
        .map(Path::to_owned)
}

impl Catalog for ProjectNames {
    fn is_known(&self, handler: &str) -> bool {
        self.handlers.is_known(handler)
    }

    fn known(&self) -> Vec<String> {
        self.handlers.known()
    }

    fn config_issues(&self, handler: &str, config: &Value) -> Vec<SchemaIssue> {
        self.handlers.config_issues(handler, config)
    }

    fn targets(&self, handler: &str, config: &Value) -> Vec<(String, String)> {
        self.handlers.targets(handler, config)
    }

    fn chooses(&self, handler: &str) -> bool {
        self.handlers.chooses(handler)
    }

    fn expression_issue(&self, source: &str) -> Option<String> {
        self.handlers.expression_issue(source)
    }

    fn is_process(&self, name: &str) -> bool {
        let file = name.rsplit_once('.').map_or(name, |(file, _)| file);
        self.processes.contains(name) || self.processes.contains(file)
    }

    fn unknown_names(&self, handler: &str, config: &Value, flow: &str) -> Vec<SchemaIssue> {
        let known = FlowNames { names: self, flow };
        let handler = self.handlers.get(handler);
        handler.map_or_else(Vec::new, |handler| handler.unknown_names(config, &known))
    }
}

struct FlowNames<'a> {
    names: &'a ProjectNames,
    flow: &'a str,
}

impl KnownNames for FlowNames<'_> {
    fn unknown_process(&self, id: &str) -> Option<String> {
        let all: Vec<&String> = self.names.processes.iter().collect();
        let message = || {
            format!(
                "the project has no process {id:?}{}; unless a worker brings it, the step waits",
                meant(id, &all)
            )
        };
        (!self.names.is_process(id)).then(message)
    }

    fn unknown_flow(&self, id: &str, _version: Option<&str>) -> Option<String> {
        let all: Vec<&String> = self.names.flows.iter().collect();
        let message = || {
            format!(
                "the project has no flow {id:?}{}; unless it is registered otherwise, the step fails",
                meant(id, &all)
            )
        };
        let is_known = id == self.flow || self.names.flows.contains(id);
        (!is_known).then(message)
    }
}
