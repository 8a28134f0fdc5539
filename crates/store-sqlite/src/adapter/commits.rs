//! Applying commits, and the clock of leases and limits.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_store::{Commit, Error, GroupId, Receipt, Result, adapter::CommitStore};

use crate::{SqliteStore, apply, core, reserve};

#[async_trait]
impl CommitStore for SqliteStore {
    /// The group's id is not stored: no answer of this store is lost without the process.
    async fn commit(&self, _id: GroupId, group: Arc<[Commit]>) -> Vec<Result<Receipt>> {
        let (count, each) = (group.len(), group.clone());
        let done = self.writer.write(move |core| apply::group(core, &group));
        match done.await {
            Ok(results) => results,
            // One of them met a damaged page: the others must not fail for it.
            Err(Error::Corrupt(_)) if count > 1 => self.one_by_one(&each).await,
            // The reserve was released, so there is room for commits that delete.
            Err(Error::Full(_)) if each.iter().any(reserve::relieves) => {
                self.one_by_one(&each).await
            }
            Err(error) => vec![Err(error); count],
        }
    }

    fn commit_here(&self, commit: &Commit) -> Option<Result<Receipt>> {
        let group = std::slice::from_ref(commit);
        let write = || self.writer.write_here(|core| apply::group(core, group));
        let mut done = write()?;
        // The reserve was released, so there is room for commits that delete.
        if matches!(done, Err(Error::Full(_))) && reserve::relieves(commit) {
            done = write()?;
        }
        Some(done.and_then(|mut results| results.pop().unwrap_or_else(|| Err(core::lost()))))
    }
}
