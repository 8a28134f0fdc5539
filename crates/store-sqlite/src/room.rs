//! Whether the disk has room. SQLite's log keeps its allocated space, so a small write may succeed
//! long after the disk is full, while a larger one fails.

use std::{fs::File, io::Write, path::Path};

use riverrun_store::Result;

use crate::lock::unusable;

/// Room for a few hundred small commits.
const BYTES: usize = 256 << 10;

/// Writes a file as a commit would be written, and removes it.
pub(crate) fn prove(folder: &Path) -> Result<()> {
    let path = folder.join("room");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(&vec![0; BYTES])?;
        file.sync_data()
    };
    let written = write();
    // A file that remains is overwritten by the next check.
    let _ = std::fs::remove_file(&path);
    written.map_err(|error| unusable(&path, &error))
}
