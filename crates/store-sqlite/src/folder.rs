//! The data folder in the file system: only its owner may read it, and new entries in it survive a
//! power loss.

use std::{fs::File, io, path::Path};

use riverrun_store::Result;

use crate::{connection, lock::unusable};

/// Creates a folder, with all its parents, for its owner alone.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
    {
        std::fs::create_dir_all(parent)?;
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)?;
    // The entry of each new folder is in its parent. Which existed before is unknown, and a sync
    // without changes costs nothing.
    let full = std::path::absolute(folder)?;
    for above in full.ancestors().skip(1) {
        if sync(above).is_err() {
            // The folder of another user, which existed before.
            break;
        }
    }
    Ok(())
}

/// Makes the entries of a folder durable.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// Prepares the folder of a store. A folder that others may read is closed to them.
pub(crate) fn prepare(folder: &Path) -> Result<()> {
    make(folder).map_err(|error| unusable(folder, &error))?;
    #[cfg(unix)]
    tighten(folder, 0o700);
    Ok(())
}

/// Closes the files of the store to all users but their owner. The database is created here if it
/// is missing: SQLite would let others read it, and gives its other files the same rights.
pub(crate) fn prepare_files(folder: &Path) -> Result<()> {
    let database = folder.join(connection::FILE);
    if !database.exists() {
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        options
            .open(&database)
            .map_err(|error| unusable(&database, &error))?;
    }
    #[cfg(unix)]
    for name in connection::FILES {
        tighten(&folder.join(name), 0o600);
    }
    Ok(())
}

/// Removes the rights that a mode leaves out. A process that does not own the file cannot, and gets
/// the error.
#[cfg(unix)]
fn tighten(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(found) = std::fs::metadata(path) else {
        return;
    };
    let has = found.permissions().mode() & 0o7777;
    if has & !mode == 0 {
        return;
    }
    let wanted = std::fs::Permissions::from_mode(has & mode);
    match std::fs::set_permissions(path, wanted) {
        Ok(()) => tracing::info!(
            path = %path.display(),
            before = format_args!("{has:o}"),
            now = format_args!("{:o}", has & mode),
            "others could read the data; now only its owner can"
        ),
        Err(error) => tracing::warn!(
            path = %path.display(),
            mode = format_args!("{has:o}"),
            %error,
            "others can read the data, and it could not be changed"
        ),
    }
}
