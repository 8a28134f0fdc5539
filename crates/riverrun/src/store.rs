//! Selects the store by the scheme of its URL. A server names stores in no other file; commands
//! that work on the files of the embedded store (backup, verify, doctor) name its crate too.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use riverrun_store::Store;
use riverrun_store_sqlite::{Options, SqliteStore};

use crate::{Error, Result};

/// Opens the store that a URL names. `sqlite://` alone lies in `data`, with a path in that folder.
pub(crate) fn open(url: &str, data: &Path, reserve_bytes: u64) -> Result<Arc<dyn Store>> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "sqlite" => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            let folder = match path {
                "" => data.to_owned(),
                path => PathBuf::from(path),
            };
            let options = Options {
                reserve_bytes,
                ..Options::new(folder)
            };
            Ok(SqliteStore::open(options)?)
        }
        "memory" => Ok(SqliteStore::memory()?),
        "postgres" | "postgresql" | "redis" | "rediss" => Err(Error::StoreNotBuiltIn {
            scheme: scheme.to_owned(),
        }),
        // A URL may hold a password: only its beginning is shown.
        _ => Err(Error::UnknownStore {
            url: scheme.chars().take(32).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_chooses() {
        let folder = tempfile::tempdir().unwrap();
        assert!(open("memory:", folder.path(), 0).is_ok());
        for (url, code) in [
            ("postgres://u:secret@h/db", "STORE_NOT_BUILT_IN"),
            ("redis://h", "STORE_NOT_BUILT_IN"),
            ("mysql://u:secret@h", "STORE_UNKNOWN"),
            ("", "STORE_UNKNOWN"),
        ] {
            let error = open(url, folder.path(), 0).err().unwrap();
            assert_eq!(error.code(), code, "{url}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn sqlite_lies_in_the_data_folder_or_where_the_url_says() {
        let folder = tempfile::tempdir().unwrap();
        let (data, other) = (folder.path().join("data"), folder.path().join("other"));
        open("sqlite://", &data, 0).unwrap();
        assert!(data.join("riverrun.db").exists());
        open(&format!("sqlite://{}", other.display()), &data, 0).unwrap();
        assert!(other.join("riverrun.db").exists());
    }
}
