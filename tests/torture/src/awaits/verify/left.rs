//! What is left in the store when all runs have ended: no awaits, nothing due.

use std::{path::Path, sync::Arc};

use riverrun_store::{AwaitFilter, AwaitState, SignalsOf, Store};
use riverrun_store_sqlite::{Options, SqliteStore};

/// Looks into the folder of a server that does not run any more.
pub async fn nothing_is_left(data: &Path) -> Result<(), String> {
    let text = |error: riverrun_store::Error| error.to_string();
    let store: Arc<dyn Store> = SqliteStore::open(Options::new(data)).map_err(text)?;
    for state in [AwaitState::Open, AwaitState::Fired] {
        let filter = AwaitFilter {
            state: Some(state),
            limit: 10,
            ..AwaitFilter::default()
        };
        let left = store.list_awaits(&filter).await.map_err(text)?.items;
        if !left.is_empty() {
            return Err(format!(
                "all runs have ended, and awaits are left: {left:#?}"
            ));
        }
    }
    let stats = store.await_stats().await.map_err(text)?;
    if (stats.events, stats.callbacks) != (0, 0) {
        return Err(format!(
            "all runs have ended, but awaits are counted: {stats:?}"
        ));
    }
    if let Some(due) = store.next_due().await.map_err(text)? {
        return Err(format!("all runs have ended, and one is due at {due}"));
    }
    let signals = store.signals(SignalsOf::All, 0, 10).await.map_err(text)?;
    if !signals.is_empty() {
        return Err(format!(
            "all runs have ended, but signals are left: {signals:#?}"
        ));
    }
    let queues = store.queues(None).await.map_err(text)?;
    // Dead letters wait for whoever wants them.
    for queue in queues.iter().filter(|queue| !queue.name.ends_with("-dead")) {
        if queue.waiting + queue.delayed + queue.active > 0 {
            return Err(format!(
                "all runs have ended, and jobs are left: {queue:#?}"
            ));
        }
    }
    store.close().await.map_err(text)
}
