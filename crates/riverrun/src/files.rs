//! Files that people name: regular ones only, and read up to a size. A pipe without a writer would
//! block forever, and a device may have no end.

use riverrun_types::ErrorCode;
use std::{
    fs::File,
    io::{self, BufRead, ErrorKind, Read, Write},
    path::Path,
};

use crate::failure::{Failure, Result};

/// Reads a text whole. `what` says what it is, for messages: "the flow".
pub fn read_text(what: &str, path: &Path, limit: usize) -> Result<String> {
    read_from(open(what, path)?, what, path, limit)
}

/// Reads a text whole from what is open already, such as standard input.
pub fn read_from(from: impl Read, what: &str, path: &Path, limit: usize) -> Result<String> {
    let mut text = String::new();
    let mut from = from.take(limit as u64 + 1);
    from.read_to_string(&mut text)
        .map_err(|error| Failure::file(what, path, &error))?;
    if text.len() > limit {
        return Err(too_large(what, path, limit));
    }
    Ok(text)
}

/// Reads a line without its end; nothing when there is none left.
pub fn read_line(
    from: &mut impl BufRead,
    what: &str,
    path: &Path,
    limit: usize,
) -> Result<Option<String>> {
    let mut line = String::new();
    let read = from.by_ref().take(limit as u64 + 1).read_line(&mut line);
    match read.map_err(|error| Failure::file(what, path, &error))? {
        0 => return Ok(None),
        read if read > limit => return Err(too_large(what, path, limit)),
        _ => {}
    }
    let end = line.trim_end_matches(['\n', '\r']).len();
    line.truncate(end);
    Ok(Some(line))
}

/// Writes a file whole or not at all: a crash leaves the old one or the new one.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // What a link leads to is replaced, not the link.
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    let write = || -> io::Result<()> {
        let mut file = File::create(&partial)?;
        file.write_all(content)?;
        if let Ok(found) = std::fs::metadata(path) {
            file.set_permissions(found.permissions())?;
        }
        file.sync_all()?;
        std::fs::rename(&partial, path)?;
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        // Its entry is durable once the folder is.
        #[cfg(unix)]
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        #[cfg(not(unix))]
        let _ = parent;
        Ok(())
    };
    let written = write();
    if written.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    written
}

/// Opens a regular file; links are followed.
pub fn open(what: &str, path: &Path) -> Result<File> {
    let open = || -> io::Result<File> {
        // Before it is opened: opening a device can have effects.
        regular(&std::fs::metadata(path)?)?;
        let mut options = File::options();
        options.read(true);
        // It may have become a pipe since; opening that must not wait.
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        }
        let file = options.open(path)?;
        regular(&file.metadata()?)?;
        Ok(file)
    };
    open().map_err(|error| Failure::file(what, path, &error))
}

fn regular(found: &std::fs::Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let message = match found.is_dir() {
        true => "it is a folder",
        false => "it is a pipe or a device, not a regular file",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

fn too_large(what: &str, path: &Path, limit: usize) -> Failure {
    let message = format!("{what} {} has more than {limit} bytes", path.display());
    Failure::usage(ErrorCode::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(path: &Path, code: &str, says: &str) {
        let failure = read_text("the flow", path, 10).unwrap_err();
        assert_eq!(failure.code, code, "{failure}");
        assert!(failure.message.contains(says), "{failure}");
    }

    #[test]
    fn a_text_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_text("it", &path, 10).unwrap(), "0123456789");
        std::fs::write(&path, "0123456789a").unwrap();
        refused(&path, "TOO_LARGE", "more than 10 bytes");
        refused(&folder.path().join("b"), "FILE_UNUSABLE", "No such file");
        refused(folder.path(), "FILE_UNUSABLE", "folder");
    }

    #[test]
    fn a_file_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("none/b"), b"x").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_has_no_end_or_no_beginning_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, zero) = (folder.path().join("pipe"), folder.path().join("zero"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", &zero).unwrap();
        refused(&pipe, "FILE_UNUSABLE", "not a regular file");
        refused(&zero, "FILE_UNUSABLE", "not a regular file");
    }

    #[test]
    fn lines_are_read_one_by_one() {
        let mut from = io::Cursor::new("ab\r\n\ncd");
        let mut next = || read_line(&mut from, "it", Path::new("x"), 8).unwrap();
        assert_eq!(next().as_deref(), Some("ab"));
        assert_eq!(next().as_deref(), Some(""));
        assert_eq!(next().as_deref(), Some("cd"));
        assert_eq!(next(), None);
        let mut from = io::Cursor::new("0123456789");
        let failure = read_line(&mut from, "it", Path::new("x"), 8).unwrap_err();
        assert_eq!(failure.code, "TOO_LARGE");
    }
}
