//! One owner per data folder: a lock on the file `lock`, held for the store's life. The system
//! releases it when the process dies, in whatever way.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use riverrun_store::{Error, Result};

/// The name of the file in the data folder.
pub(crate) const FILE: &str = "lock";

/// Holds the folder until it is dropped.
pub(crate) struct FolderLock {
    _file: File,
}

pub(crate) fn lock(folder: &Path) -> Result<FolderLock> {
    let path = folder.join(FILE);
    let failed = |error: std::io::Error| unusable(&path, &error);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(Error::Locked(taken(folder, &mut file))),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // The pid is for people only: a process that cannot write it still holds the lock.
    let note = || -> std::io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    }();
    if let Err(error) = note {
        tracing::debug!(path = %path.display(), %error, "could not write the owner's pid");
    }
    Ok(FolderLock { _file: file })
}

fn taken(folder: &Path, file: &mut File) -> String {
    let mut text = String::new();
    let pid = match file.read_to_string(&mut text) {
        Ok(_) if !text.trim().is_empty() => format!("process {}", text.trim()),
        _ => "another process".to_owned(),
    };
    format!(
        "the data folder {} is in use by {pid}: stop it, or give this server another folder",
        folder.display()
    )
}

/// The error for a folder that cannot be used, with the caller's next step.
pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> Error {
    use std::io::ErrorKind;
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(text),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full(text),
        _ => Error::Unavailable(text),
    }
}
