//! Applying commits, and the clock of leases and limits.

use std::sync::Arc;

use async_trait::async_trait;
use riverrun_types::Millis;

use crate::{Commit, GroupId, Receipt, Result};

/// Applies commits, and has the clock of leases and limits.
#[async_trait]
pub trait CommitStore: Send + Sync + 'static {
    /// Applies each commit of the group whole or rejects it, in order, and makes all of them
    /// durable together before it answers. A rejection affects no other commit of the group; a
    /// failure of the disk fails the whole group. Called by the [`crate::Writer`] alone.
    ///
    /// Each group has an id of its own. A store behind a network stores it with the group, so that
    /// it can check after a lost answer whether the group was applied:
    /// [`crate::Error::Unavailable`] means that no part of it was.
    async fn commit(&self, id: GroupId, group: Arc<[Commit]>) -> Vec<Result<Receipt>>;

    /// The same for one commit without others that wait, in the calling thread, which blocks until
    /// it is durable. None if that cannot be done, now or ever. Called by the [`crate::Writer`]
    /// alone.
    fn commit_here(&self, _commit: &Commit) -> Option<Result<Receipt>> {
        None
    }

    /// Whether a group that is committed again under its id is not applied again, but answered as
    /// before. A store whose answers can be lost must check that; a store in this process need not,
    /// and judges the group anew.
    fn remembers_groups(&self) -> bool {
        false
    }

    /// The time by the store's clock when this machine's shows `local_ms`. Leases and limits go by
    /// it, so that instances whose clocks differ agree; it never goes back. A store on this machine
    /// has this machine's clock.
    fn now_ms(&self, local_ms: Millis) -> Millis {
        local_ms
    }
}
