//! The meaning of the trait, against a file on disk and in memory.

#![allow(clippy::unwrap_used)]

use riverrun_store_conformance::Fixture;
use riverrun_store_sqlite::{Options, SqliteStore};

mod file {
    use super::*;

    async fn store() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(Options::new(folder.path())).unwrap();
        Fixture::from(store).keeping(folder)
    }

    riverrun_store_conformance::conformance_tests!(store);
}

mod memory {
    use super::*;

    async fn store() -> Fixture {
        Fixture::from(SqliteStore::memory().unwrap())
    }

    riverrun_store_conformance::conformance_tests!(store);

    #[tokio::test]
    async fn all_of_it_in_one_go() {
        riverrun_store_conformance::exercise(store).await;
    }
}
