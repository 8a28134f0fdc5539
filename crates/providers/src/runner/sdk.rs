//! The SDKs that this program carries, written to disk for the interpreters.

use riverrun_types::ErrorCode;
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use riverrun_protocol::WorkError;

use super::Language;

/// A file of an SDK: its path in the SDK's folder and its content.
type File = (&'static str, &'static [u8]);

// `NODE` and `PYTHON`: what build.rs found under `sdks/`.
include!(concat!(env!("OUT_DIR"), "/sdks.rs"));

/// The folder of a language's SDK below `folder`, written if it is not there yet or not whole.
///
/// Its name is made of its content: programs of different versions can share `folder`. It is synced
/// before it gets that name, and compared with what this program carries whenever it is used, so that
/// neither a power loss nor a damaged disk leaves a runner with half of it.
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
        return Err(WorkError::new(ErrorCode::RuntimeMissing, message));
    }
    write(language, files, folder).map_err(|error| {
        let message = format!("the {language} SDK cannot be written to {folder:?}: {error}");
        WorkError::new(ErrorCode::RunnerStart, message)
    })
}

/// The SDKs of this program below a folder that are there and not whole. A runner writes them anew
/// when it starts.
pub fn damaged_sdks(folder: &Path) -> Vec<PathBuf> {
    let sdks = [(Language::Node, NODE), (Language::Python, PYTHON)];
    let places = sdks.map(|(language, files)| (place(language, files, folder), files));
    let damaged = places
        .into_iter()
        .filter(|(place, files)| place.exists() && !is_whole(files, place));
    damaged.map(|(place, _)| place).collect()
}

fn place(language: Language, files: &[File], folder: &Path) -> PathBuf {
    folder.join(format!("{language}-{:016x}", fingerprint(files)))
}

fn write(language: Language, files: &[File], folder: &Path) -> io::Result<PathBuf> {
    let place = place(language, files, folder);
    if is_whole(files, &place) {
        return Ok(place);
    }
    own_folder().create(folder)?;
    let unfinished = tempfile::Builder::new()
        .prefix(".sdk-")
        .tempdir_in(folder)?;
    for (name, content) in files {
        let path = unfinished.path().join(name);
        if let Some(parent) = path.parent() {
            own_folder().create(parent)?;
        }
        let mut file = own_file().open(&path)?;
        file.write_all(content)?;
        file.sync_all()?;
    }
    for inner in folders(files) {
        sync(&unfinished.path().join(inner))?;
    }
    sync(unfinished.path())?;
    if place.exists() {
        tracing::warn!(path = %place.display(), "the {language} SDK is damaged; it is written anew");
        // Renamed first, so that no runner finds half of it; running ones keep their open files.
        let damaged = tempfile::Builder::new()
            .prefix(".damaged-")
            .tempdir_in(folder)?;
        // Another process may be faster; its copy is the same.
        let _ = fs::rename(&place, damaged.path().join("sdk"));
    }
    match fs::rename(unfinished.path(), &place) {
        Ok(()) => drop(unfinished.keep()),
        // Somebody else was quicker; theirs is the same.
        Err(_) if is_whole(files, &place) => {}
        Err(error) => return Err(error),
    }
    sync(folder)?;
    Ok(place)
}

/// Creates folders that only the server's user can read.
fn own_folder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Creates files that only the server's user can read.
fn own_file() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Whether a folder holds these files, byte for byte.
fn is_whole(files: &[File], place: &Path) -> bool {
    let is_there =
        |(name, content): &File| fs::read(place.join(name)).is_ok_and(|found| found == *content);
    place.is_dir() && files.iter().all(is_there)
}

/// The folders inside an SDK, inner ones first.
fn folders(files: &[File]) -> Vec<&'static Path> {
    let names = files.iter().map(|(name, _)| *name);
    let mut folders: Vec<&Path> = names
        .flat_map(|name| Path::new(name).ancestors().skip(1))
        .collect();
    folders.retain(|path| !path.as_os_str().is_empty());
    folders.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
    folders.dedup();
    folders
}

/// Makes the entries of a folder durable.
fn sync(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// FNV-1a. It distinguishes versions of our own files and is no protection against attackers.
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
        #[cfg(unix)]
        for (path, mode) in [("b", 0o700), ("b/c.py", 0o600)] {
            use std::os::unix::fs::PermissionsExt;
            let found = fs::metadata(place.join(path)).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode, "{path}");
        }
        let made = fs::metadata(place.join("a.py"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(write(Language::Python, one, folder.path()).unwrap(), place);
        let same = fs::metadata(place.join("a.py"))
            .unwrap()
            .modified()
            .unwrap();
        assert_eq!(made, same, "what is whole is left alone");
        assert_ne!(
            write(Language::Python, other, folder.path()).unwrap(),
            place
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    /// As a power loss leaves files that were not synced, and a disk that forgets.
    #[test]
    fn an_sdk_that_is_not_whole_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let files: &[File] = &[("a.py", b"first"), ("b/c.py", b"second")];
        let damages: [fn(&Path); 4] = [
            |place| fs::write(place.join("a.py"), "").unwrap(),
            |place| fs::write(place.join("b/c.py"), "sfcond").unwrap(),
            |place| fs::remove_file(place.join("a.py")).unwrap(),
            |place| fs::remove_dir_all(place.join("b")).unwrap(),
        ];
        for damage in damages {
            let place = write(Language::Python, files, folder.path()).unwrap();
            damage(&place);
            assert_eq!(
                write(Language::Python, files, folder.path()).unwrap(),
                place
            );
            assert_eq!(fs::read(place.join("a.py")).unwrap(), b"first");
            assert_eq!(fs::read(place.join("b/c.py")).unwrap(), b"second");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
