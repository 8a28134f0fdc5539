//! Warns about files under `processes` that look like a process or its settings and are not used.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use riverrun::Json;
use riverrun_runtime::ProcessConfig;

use super::{
    executable::{config_path, read_config},
    find::{Kind, ProcessFile},
};

/// A file, and what is said of it.
#[derive(Debug, PartialEq)]
pub struct IgnoredFile {
    pub path: PathBuf,
    pub warning: String,
}

impl IgnoredFile {
    /// A link whose file is not there, or cannot be seen.
    pub fn broken_link(path: PathBuf, project: &Path, error: &std::io::Error) -> Self {
        let shown = shown(&path, project);
        let warning = format!("{shown} is a broken link: {error}");
        Self { path, warning }
    }
}

pub fn is_executable(meta: &std::fs::Metadata) -> bool {
    meta.permissions().mode() & 0o111 != 0
}

/// Those among files that are no processes.
pub fn find_ignored(
    project: &Path,
    others: Vec<PathBuf>,
    processes: &[ProcessFile],
) -> Vec<IgnoredFile> {
    let to_ignored = |path: PathBuf| {
        let shown = shown(&path, project);
        let warning = match unread(&path, processes, project) {
            Some(why) => format!("{shown} has settings that are not used: {why}"),
            None if is_jsx(&path) => format!(
                "{shown} is not loaded: files with JSX are not supported; rename it to .ts or .js if \
                 it has no JSX, or begin its name with _ if it is no process"
            ),
            None if is_script(&path) => format!(
                "{shown} is a script without the executable bit and is not loaded; try: chmod +x {shown}"
            ),
            None => return None,
        };
        Some(IgnoredFile { path, warning })
    };
    others.into_iter().filter_map(to_ignored).collect()
}

/// What is said of a module without a handler.
pub fn no_handler(path: &Path, project: &Path) -> String {
    format!(
        "{} exports no handler and is not loaded; export one, or begin its name with _ if it is no process",
        shown(path, project)
    )
}

fn is_jsx(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let is_test = name.contains(".test.") || name.contains(".spec.");
    !is_test && (name.ends_with(".tsx") || name.ends_with(".jsx"))
}

/// Its first line names its interpreter.
fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && &start == b"#!"
}

/// Why a file with settings is ignored: only executables have their settings in a file of the same
/// name. `None` for other files, and for data of the same format.
fn unread(path: &Path, processes: &[ProcessFile], project: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    if !["yaml", "yml", "json"].contains(&ending) || !has_settings(path) {
        return None;
    }
    let beside = |file: &&ProcessFile| file.path.with_extension("") == path.with_extension("");
    let mut beside = processes.iter().filter(beside);
    let Some(process) = beside.next() else {
        let name = path.file_stem()?.to_str()?;
        return Some(format!("there is no executable {name} beside it"));
    };
    let theirs = shown(&process.path, project);
    match config_path(&process.path).filter(|_| process.kind == Kind::Executable) {
        None => Some(format!("{theirs} has its own, in `config`")),
        Some(read) if read == path => None,
        Some(read) => Some(format!(
            "those of {theirs} are in {}",
            shown(&read, project)
        )),
    }
}

fn has_settings(path: &Path) -> bool {
    read_config(path).is_ok_and(|value| {
        let has_members = value.as_object().is_some_and(|members| !members.is_empty());
        has_members && ProcessConfig::read(&Json::of(&value), "name").is_ok()
    })
}

fn shown(path: &Path, project: &Path) -> String {
    let below = path.strip_prefix(project).unwrap_or(path);
    below.display().to_string()
}
