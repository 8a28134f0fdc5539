//! The SDKs that this program carries, written to disk for the interpreters.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use riverrun_protocol::WorkError;

use super::Language;

/// A file of an SDK: its path in the SDK's folder and its content.
type File = (&'static str, &'static [u8]);

// `NODE` and `PYTHON`: what build.rs found under `sdks/`.
include!(concat!(env!("OUT_DIR"), "/sdks.rs"));

/// The folder of a language's SDK below `folder`, written if it is not there yet.
///
/// Its name is made of its content: programs of different versions can share `folder`, and what
/// is there is complete, since it was renamed into place.
pub(super) fn unpack(language: Language, folder: &Path) -> Result<PathBuf, WorkError> {
    let files = match language {
        Language::Node => NODE,
        Language::Python => PYTHON,
    };
    if files.is_empty() {
        let message = format!(
            "this riverrun was built without its {language} SDK; build the SDKs first, or name a \
             runner in the configuration"
        );
        return Err(WorkError::new("RUNTIME_MISSING", message));
    }
    write(language, files, folder).map_err(|error| {
        let message = format!("the {language} SDK cannot be written to {folder:?}: {error}");
        WorkError::new("RUNNER_START", message)
    })
}

fn write(language: Language, files: &[File], folder: &Path) -> io::Result<PathBuf> {
    let place = folder.join(format!("{language}-{:016x}", fingerprint(files)));
    if place.is_dir() {
        return Ok(place);
    }
    fs::create_dir_all(folder)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".sdk-")
        .tempdir_in(folder)?;
    for (name, content) in files {
        let path = unfinished.path().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, content)?;
    }
    match fs::rename(unfinished.path(), &place) {
        Ok(()) => drop(unfinished.keep()),
        // Somebody else was quicker; theirs is the same.
        Err(_) if place.is_dir() => {}
        Err(error) => return Err(error),
    }
    Ok(place)
}

/// FNV-1a. It tells versions of our own files apart, not friend from foe.
fn fingerprint(files: &[File]) -> u64 {
    let bytes = files.iter().flat_map(|(name, content)| {
        let parts = [name.as_bytes(), &[0], content, &[0]];
        parts.into_iter().flatten().copied().collect::<Vec<u8>>()
    });
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_sdk_is_written_once_and_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let one: &[File] = &[("a.py", b"1"), ("b/c.py", b"2")];
        let other: &[File] = &[("a.py", b"12"), ("b/c.py", b"")];
        let place = write(Language::Python, one, folder.path()).unwrap();
        assert_eq!(fs::read(place.join("b/c.py")).unwrap(), b"2");
        fs::write(place.join("a.py"), "untouched").unwrap();
        assert_eq!(write(Language::Python, one, folder.path()).unwrap(), place);
        assert_eq!(fs::read(place.join("a.py")).unwrap(), b"untouched");
        assert_ne!(
            write(Language::Python, other, folder.path()).unwrap(),
            place
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
