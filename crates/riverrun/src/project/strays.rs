//! Files beside the processes that were meant to be one, as it seems, and are none.

use std::{
    fs::File,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A script that may not be executed: its first line names its interpreter.
pub fn is_forgotten(path: &Path) -> bool {
    let mut start = [0; 2];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && &start == b"#!"
}

pub fn is_executable(meta: &std::fs::Metadata) -> bool {
    meta.permissions().mode() & 0o111 != 0
}

/// What is said of them.
pub fn warning(path: &Path, project: &Path) -> String {
    let path = path.strip_prefix(project).unwrap_or(path);
    format!(
        "{} is a script that may not be executed, so it is no process; try: chmod +x {}",
        path.display(),
        path.display()
    )
}

/// What is said of a module without a handler.
pub fn no_handler(path: &Path, project: &Path) -> String {
    let path: PathBuf = path.strip_prefix(project).unwrap_or(path).to_owned();
    format!(
        "{} has no handler, so it is no process; export one, or begin its name with _",
        path.display()
    )
}
