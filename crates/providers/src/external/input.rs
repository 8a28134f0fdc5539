//! How an executable is told what its job is.

use std::{collections::BTreeMap, ffi::OsString, io::Write, path::PathBuf};

use riverrun_protocol::Invoke;
use riverrun_types::Json;
use tempfile::NamedTempFile;

use super::ExternalOptions;

pub(super) struct Input {
    pub text: String,
    pub variables: BTreeMap<OsString, OsString>,
    /// Removed when it is dropped.
    _file: Option<NamedTempFile>,
}

impl Input {
    pub async fn of(invoke: &Invoke, options: &ExternalOptions) -> std::io::Result<Self> {
        let json = match (&invoke.job.input, invoke.jobs.is_empty()) {
            (_, false) => Json::of(&invoke.jobs),
            (Some(input), true) => input.clone(),
            (None, true) => Json::null(),
        };
        let text = json.as_str().to_owned();
        let mut variables = options.environment.variables(std::env::vars_os());
        let mut set = |name: &str, value: OsString| variables.insert(name.into(), value);
        set(
            "RIVERRUN_JOB_ID",
            invoke.job.job_id.clone().unwrap_or_default().into(),
        );
        set("RIVERRUN_HANDLER", invoke.process.clone().into());
        set("RIVERRUN_ATTEMPT", invoke.job.attempt.to_string().into());
        let file = if text.len() <= options.variable_bytes {
            set("RIVERRUN_INPUT", text.clone().into());
            None
        } else {
            let file = write(text.clone(), options.input_folder.clone()).await?;
            set("RIVERRUN_INPUT_FILE", file.path().into());
            Some(file)
        };
        Ok(Self {
            text,
            variables,
            _file: file,
        })
    }
}

async fn write(text: String, folder: PathBuf) -> std::io::Result<NamedTempFile> {
    let written = tokio::task::spawn_blocking(move || {
        let mut file = tempfile::Builder::new()
            .prefix("riverrun-input-")
            .suffix(".json")
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        Ok(file)
    });
    written.await.map_err(std::io::Error::other)?
}
