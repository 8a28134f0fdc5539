//! Starts a child: from the options to a process that has answered `initialise`.

use riverrun_types::ErrorCode;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    path::Path,
    sync::Arc,
};

use riverrun_protocol::{Initialise, Initialised, LogLevel, Server, WorkError};
use tokio::net::UnixStream;

use super::{
    Language, Program, RunnerOptions, child::Child, interpreter::Interpreter, sdk, supervise,
};
use crate::{
    failure,
    link::Link,
    process::{Printed, SOCKET_FD, spawn},
};

/// A command and what it needs in its environment.
#[derive(Clone, Debug)]
pub(super) struct Start {
    command: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
}

impl Start {
    /// Finds out what is to be started. Looks at the disk and asks the interpreter.
    pub async fn find(language: Language, options: &RunnerOptions) -> Result<Self, WorkError> {
        let mut variables = options.environment.variables(std::env::vars_os());
        let interpreter = match &options.program {
            Program::Command(command) => {
                let command = command.clone();
                return Ok(Self { command, variables });
            }
            Program::Sdk { interpreter } => interpreter.as_deref(),
        };
        let interpreter = Interpreter::find(language, interpreter, &variables).await?;
        let folder = sdk::unpack(language, &options.sdk_folder)?;
        let mut command = vec![interpreter.path.clone().into_os_string()];
        command.extend(language.arguments().iter().map(OsString::from));
        match language {
            Language::Node => command.push(folder.join("runner.mjs").into()),
            Language::Python => {
                command.extend(["-m".into(), "riverrun.runner".into()]);
                python_path(&mut variables, &folder);
            }
        }
        Ok(Self { command, variables })
    }

    /// Starts a child and waits until it can be used.
    pub async fn start(
        mut self,
        name: String,
        options: &Arc<RunnerOptions>,
    ) -> Result<Arc<Child>, WorkError> {
        let shown = self
            .command
            .first()
            .map(|program| program.to_string_lossy().into_owned());
        let started = translation(options).and_then(|(socket, serving)| {
            if socket.is_some() {
                let fd = SOCKET_FD.to_string();
                self.variables
                    .insert("RIVERRUN_TYPESCRIPT_FD".into(), fd.into());
            }
            let folder = options.project.as_deref();
            let spawned = spawn(&self.command, folder, self.variables, socket)?;
            Ok((spawned, serving))
        });
        let (spawned, serving) = started.map_err(|error| {
            let message = format!("{} cannot be started: {error}", shown.unwrap_or_default());
            WorkError::new(ErrorCode::RunnerStart, message)
        })?;
        // It ends when the child has closed its side.
        serving.map(tokio::spawn);
        let link = Link::new(name, options.limits);
        let pid = spawned.child.id().unwrap_or_default();
        let child = Child::new(link, pid);
        let printed = printed(child.link.clone());
        tokio::spawn(supervise::supervise(
            child.clone(),
            spawned,
            printed,
            options.clone(),
        ));
        match tokio::time::timeout(options.start, initialise(&child.link, options)).await {
            Ok(Ok(())) => Ok(child),
            Ok(Err(error)) => Err(give_up(&child, error).await),
            Err(_) => {
                let message = format!(
                    "{} did not answer within {} ms of its start",
                    child.link.name,
                    options.start.as_millis()
                );
                Err(give_up(&child, WorkError::new(ErrorCode::RunnerStart, message)).await)
            }
        }
    }
}

/// The child's side of a socket on which it asks for the translation of TypeScript, and what answers
/// there.
fn translation(
    options: &RunnerOptions,
) -> io::Result<(
    Option<OwnedFd>,
    Option<impl Future<Output = ()> + Send + use<>>,
)> {
    let Some(translator) = options.typescript.clone() else {
        return Ok((None, None));
    };
    // The child's side blocks: its loader waits for the answer.
    let (own, childs) = StdStream::pair()?;
    own.set_nonblocking(true)?;
    let own = UnixStream::from_std(own)?;
    Ok((Some(childs.into()), Some(translator.serve(own))))
}

async fn give_up(child: &Child, error: WorkError) -> WorkError {
    child.condemn(error.clone());
    child.gone.cancelled().await;
    let message = format!("the runner could not be started: {}", error.message);
    let code = match error.code.known() {
        Some(ErrorCode::ProtocolVersion) => ErrorCode::ProtocolVersion,
        _ => ErrorCode::RunnerStart,
    };
    WorkError {
        message,
        code: code.into(),
        ..error
    }
}

async fn initialise(link: &Arc<Link>, options: &RunnerOptions) -> Result<(), WorkError> {
    let project = options.project.as_deref().map(Path::to_string_lossy);
    let initialise = Initialise {
        protocol: riverrun_protocol::PROTOCOL,
        server: Server {
            name: "riverrun".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        limits: options.limits,
        project: project.map(std::borrow::Cow::into_owned),
        reconnect_ms: None,
    };
    let answer = link.request("initialise", &initialise).await?;
    let initialised: Initialised = answer
        .read()
        .map_err(|error| failure::protocol(&link.name, format!("initialise: {error}")))?;
    if initialised.protocol != riverrun_protocol::PROTOCOL {
        let message = format!("{} speaks protocol {}", link.name, initialised.protocol);
        return Err(WorkError::new(ErrorCode::ProtocolVersion, message));
    }
    let runtime = initialised.runtime.unwrap_or_default();
    tracing::debug!(
        runner = link.name,
        sdk = initialised.sdk.version,
        runtime,
        "a runner is ready"
    );
    Ok(())
}

/// What the child prints belongs to the invocation that runs, or to the runner where several do.
fn printed(link: Arc<Link>) -> Printed {
    Arc::new(move |level, message| match (link.only(), level) {
        (Some(host), _) => host.frame(riverrun_protocol::Frame::Log {
            level,
            message,
            meta: None,
        }),
        (None, LogLevel::Warn) => tracing::warn!(runner = link.name, "{message}"),
        (None, _) => tracing::info!(runner = link.name, "{message}"),
    })
}

fn python_path(variables: &mut BTreeMap<OsString, OsString>, folder: &Path) {
    let name = OsString::from("PYTHONPATH");
    let mut path = OsString::from(folder);
    if let Some(before) = variables.get(&name).filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    variables.insert(name, path);
    // What is written for all versions of the program is not written into again.
    variables.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
}
