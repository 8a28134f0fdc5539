//! Reading and writing at a position of a file: one system call each where the system has one.

use std::{fs::File, io};

#[cfg(unix)]
pub(crate) fn read_exact(file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, position)
}

#[cfg(unix)]
pub(crate) fn write_all(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, position)
}

#[cfg(not(unix))]
pub(crate) fn read_exact(mut file: &File, bytes: &mut [u8], position: u64) -> io::Result<()> {
    use io::{Read, Seek};
    file.seek(io::SeekFrom::Start(position))?;
    file.read_exact(bytes)
}

#[cfg(not(unix))]
pub(crate) fn write_all(mut file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    use io::{Seek, Write};
    file.seek(io::SeekFrom::Start(position))?;
    file.write_all(bytes)
}
