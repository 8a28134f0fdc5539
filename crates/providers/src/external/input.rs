//! Passes a job to an executable.

use std::{collections::BTreeMap, ffi::OsString, io::Write, path::PathBuf};

use riverrun_protocol::Invoke;
use riverrun_types::Json;
use tempfile::NamedTempFile;

use super::ExternalOptions;

pub(super) struct Input {
    pub text: String,
    pub variables: BTreeMap<OsString, OsString>,
    /// Removed when they are dropped.
    files: Vec<NamedTempFile>,
}

impl Input {
    pub async fn of(invoke: &Invoke, options: &ExternalOptions) -> std::io::Result<Self> {
        let json = match (&invoke.job.input, invoke.jobs.is_empty()) {
            (_, false) => Json::of(&invoke.jobs),
            (Some(input), true) => input.clone(),
            (None, true) => Json::null(),
        };
        let mut input = Self {
            text: json.as_str().to_owned(),
            variables: options.environment.variables(std::env::vars_os()),
            files: Vec::new(),
        };
        let job = invoke.job.job_id.clone().unwrap_or_default();
        input.set("RIVERRUN_JOB_ID", job);
        input.set("RIVERRUN_HANDLER", invoke.process.clone());
        input.set("RIVERRUN_ATTEMPT", invoke.job.attempt.to_string());
        input.give("RIVERRUN_INPUT", &json, options).await?;
        if let Some(awaited) = &invoke.awaited {
            input.give("RIVERRUN_AWAITED", awaited, options).await?;
        }
        if let Some(config) = &invoke.config {
            input.give("RIVERRUN_CONFIG", config, options).await?;
        }
        Ok(input)
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// Puts a value into a variable, or into a file that another variable names.
    async fn give(
        &mut self,
        name: &str,
        value: &Json,
        options: &ExternalOptions,
    ) -> std::io::Result<()> {
        let text = value.as_str().to_owned();
        if text.len() <= options.variable_bytes {
            self.set(name, text);
            return Ok(());
        }
        let file = write(text, options.input_folder.clone()).await?;
        self.set(&format!("{name}_FILE"), file.path());
        self.files.push(file);
        Ok(())
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
