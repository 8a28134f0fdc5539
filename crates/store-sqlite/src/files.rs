//! Checks that the open files are still those in the folder. A file that was deleted or moved away
//! can still be written, and those writes are lost.

use std::{
    fs::Metadata,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use riverrun_store::{Error, Result};

/// The files of a folder as they were when it was opened.
pub(crate) struct Files {
    files: Vec<(PathBuf, Identity)>,
    /// The missing file. The finding is final: a file that was put back is not the open one.
    gone: OnceLock<String>,
}

/// Distinguishes a file from another one under the same name.
type Identity = Option<(u64, u64)>;

impl Files {
    /// Those of `names` that exist.
    pub(crate) fn of(folder: &Path, names: &[&str]) -> Self {
        let path = |name: &&str| {
            // A relative path would lead elsewhere once the process changes its folder.
            let path = folder.join(name);
            std::path::absolute(&path).unwrap_or(path)
        };
        let files = names.iter().map(path).filter_map(|path| {
            let found = std::fs::metadata(&path).ok()?;
            Some((path, identity(&found)))
        });
        Self {
            files: files.collect(),
            gone: OnceLock::new(),
        }
    }

    /// The result so far.
    pub(crate) fn known(&self) -> Result<()> {
        match self.gone.get() {
            Some(what) => Err(Error::Gone(what.clone())),
            None => Ok(()),
        }
    }

    /// Looks at the folder.
    pub(crate) fn look(&self) -> Result<()> {
        self.known()?;
        let missing = self.files.iter().find_map(|(path, known)| {
            let what = match std::fs::metadata(path) {
                Ok(found) if identity(&found) == *known => return None,
                Ok(_) => "replaced",
                Err(error) if error.kind() == ErrorKind::NotFound => "deleted or moved",
                // A folder that cannot be read may still exist.
                Err(_) => return None,
            };
            Some(format!("{} was {what}", path.display()))
        });
        if let Some(what) = missing {
            tracing::error!(what, "the data was removed; the store rejects all writes");
            let _ = self.gone.set(what);
        }
        self.known()
    }
}

#[cfg(unix)]
fn identity(found: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    Some((found.dev(), found.ino()))
}

/// On systems where an open file cannot be deleted, its name is enough.
#[cfg(not(unix))]
fn identity(_found: &Metadata) -> Identity {
    None
}
