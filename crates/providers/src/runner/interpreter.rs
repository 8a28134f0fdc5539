//! Finds the interpreter of a language and checks that it is new enough.

use riverrun_types::ErrorCode;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use riverrun_protocol::WorkError;
use tokio::process::Command;

use super::{Program, RunnerOptions};
use crate::process::find_program;

/// How long an interpreter may take to say its version: some are scripts that look for another.
const ASK: Duration = Duration::from_secs(15);

type Variables = BTreeMap<OsString, OsString>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript and TypeScript.
    Node,
    Python,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node => "node",
            Self::Python => "python",
        })
    }
}

impl Language {
    fn title(self) -> &'static str {
        match self {
            Self::Node => "Node.js",
            Self::Python => "Python",
        }
    }

    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["node", "nodejs"],
            Self::Python => &["python3", "python"],
        }
    }

    /// The oldest version that will do.
    fn oldest(self) -> (u32, u32) {
        match self {
            Self::Node => (18, 19),
            Self::Python => (3, 10),
        }
    }

    /// The arguments of the interpreter before the program that it runs.
    pub(super) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Node => &[],
            // Prints come through at once.
            Self::Python => &["-u"],
        }
    }

    fn where_to_get(self) -> &'static str {
        match self {
            Self::Node => "https://nodejs.org",
            Self::Python => "https://www.python.org",
        }
    }

    /// Prints the version and, in a second line, the program itself, which may not be what was
    /// found: version managers put scripts on `PATH`.
    fn question(self) -> [&'static str; 2] {
        match self {
            Self::Node => [
                "-e",
                r#"console.log(process.versions.node + "\n" + process.execPath)"#,
            ],
            Self::Python => [
                "-c",
                "import sys; print('.'.join(map(str, sys.version_info[:3]))); print(sys.executable)",
            ],
        }
    }
}

/// An interpreter that will do.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interpreter {
    pub path: PathBuf,
    pub version: (u32, u32),
}

impl Interpreter {
    /// Looks for what the options name, else for the usual names on the `PATH` of `variables`.
    pub async fn find(
        language: Language,
        named: Option<&str>,
        variables: &Variables,
    ) -> Result<Self, WorkError> {
        let path = variables.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let named = named.map(|named| [named]);
        let names = named
            .as_ref()
            .map_or(language.names(), |named| named.as_slice());
        let found = names.iter().find_map(|name| find_program(name, path));
        let Some(found) = found else {
            let what = format!("there is no {} on PATH", names.join(" or "));
            return Err(missing(language, &what));
        };
        let said = ask(language, &found, variables).await;
        let interpreter = said.map_err(|what| missing(language, &what))?;
        let oldest = language.oldest();
        if interpreter.version < oldest {
            let (major, minor) = interpreter.version;
            let what = format!("{} is version {major}.{minor}", found.display());
            return Err(missing(language, &what));
        }
        Ok(interpreter)
    }
}

/// The interpreter that runners of a language would be started with.
#[derive(Clone, Debug)]
pub struct FoundInterpreter {
    pub path: PathBuf,
    /// Major and minor.
    pub version: (u32, u32),
}

/// Looks for it as the runners do, and checks that it is new enough.
pub async fn find_interpreter(
    language: Language,
    options: &RunnerOptions,
) -> Result<FoundInterpreter, WorkError> {
    let variables = options.environment.variables(std::env::vars_os());
    let named = match &options.program {
        Program::Sdk { interpreter } => interpreter.as_deref(),
        Program::Command(_) => None,
    };
    let Interpreter { path, version } = Interpreter::find(language, named, &variables).await?;
    Ok(FoundInterpreter { path, version })
}

async fn ask(
    language: Language,
    program: &Path,
    variables: &Variables,
) -> Result<Interpreter, String> {
    let shown = program.display();
    let asked = Command::new(program)
        .args(language.question())
        .env_clear()
        .envs(variables)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = match tokio::time::timeout(ASK, asked).await {
        Err(_) => {
            return Err(format!(
                "{shown} did not say its version within {} s",
                ASK.as_secs()
            ));
        }
        Ok(Err(error)) => return Err(format!("{shown} cannot be started: {error}")),
        Ok(Ok(output)) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let version = lines.next().and_then(read_version);
    let path = lines.next().filter(|path| !path.is_empty());
    version
        .map(|version| Interpreter {
            path: path.map_or_else(|| program.to_owned(), PathBuf::from),
            version,
        })
        .ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().last().unwrap_or("nothing").to_owned();
            format!("{shown} does not say its version but {said:?}")
        })
}

fn read_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn missing(language: Language, what: &str) -> WorkError {
    let (major, minor) = language.oldest();
    let message = format!(
        "{} {major}.{minor} or newer is needed, but {what}; install it from {} or name the program \
         in the configuration",
        language.title(),
        language.where_to_get()
    );
    WorkError::new(ErrorCode::RuntimeMissing, message)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn script(folder: &Path, name: &str, text: &str) -> String {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn variables() -> Variables {
        BTreeMap::from([("PATH".into(), "/nowhere".into())])
    }

    async fn refused(language: Language, named: Option<&str>) -> String {
        let found = Interpreter::find(language, named, &variables()).await;
        let error = found.unwrap_err();
        assert_eq!(error.code, "RUNTIME_MISSING");
        error.message
    }

    #[tokio::test]
    async fn a_missing_or_old_interpreter_is_named_with_what_to_install() {
        let missing = refused(Language::Node, None).await;
        assert!(missing.contains("Node.js 18.19 or newer") && missing.contains("nodejs.org"));
        let folder = tempfile::tempdir().unwrap();
        let old = script(
            folder.path(),
            "old",
            "#!/bin/sh\necho 3.8.1\necho /usr/bin/old\n",
        );
        let message = refused(Language::Python, Some(&old)).await;
        assert!(message.contains("Python 3.10 or newer") && message.contains("version 3.8"));
        let odd = script(
            folder.path(),
            "odd",
            "#!/bin/sh\necho no luck >&2\nexit 3\n",
        );
        assert!(
            refused(Language::Python, Some(&odd))
                .await
                .contains("no luck")
        );
    }

    #[tokio::test]
    async fn a_good_interpreter_is_the_one_behind_the_script() {
        let folder = tempfile::tempdir().unwrap();
        let shim = script(
            folder.path(),
            "shim",
            "#!/bin/sh\necho 22.7.0\necho /opt/node\n",
        );
        let found = Interpreter::find(Language::Node, Some(&shim), &variables())
            .await
            .unwrap();
        assert_eq!(found.path, PathBuf::from("/opt/node"));
    }
}
