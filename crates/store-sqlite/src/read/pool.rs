//! A few read-only connections, opened on first use.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use riverrun_store::{Error, Result};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::View;
use crate::{connection, error::translate, files::Files, names::Names};

/// Reads at a time. More would only take turns on the cores.
const READERS: usize = 4;

pub(crate) struct Pool {
    path: PathBuf,
    names: Arc<Names>,
    files: Arc<Files>,
    turns: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(crate) fn new(path: PathBuf, names: Arc<Names>, files: Arc<Files>) -> Self {
        Self {
            path,
            names,
            files,
            turns: Arc::new(Semaphore::new(READERS)),
            idle: Mutex::default(),
        }
    }

    /// Reads in a thread of its own.
    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(View<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let turn = self.turns.clone().acquire_owned().await;
        let turn = turn.map_err(|_| Error::Closed)?;
        let pool = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            pool.read_now(read)
        });
        done.await
            .map_err(|error| Error::Unavailable(error.to_string()))?
    }

    /// Reads a few rows in the calling thread: a switch to another thread takes several times as
    /// long as the read.
    pub(crate) async fn glance<T>(&self, read: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
        let _turn = self.turns.acquire().await.map_err(|_| Error::Closed)?;
        self.read_now(read)
    }

    /// Reads by one statement in the calling thread: that sees one moment without a transaction of
    /// its own, which would cost more than the read.
    pub(crate) async fn find<T>(&self, read: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
        let _turn = self.turns.acquire().await.map_err(|_| Error::Closed)?;
        let conn = self.connection()?;
        let done = read(View {
            conn: &conn,
            names: &self.names,
        });
        self.give_back(conn);
        done
    }

    fn read_now<T>(&self, read: impl FnOnce(View<'_>) -> Result<T>) -> Result<T> {
        let conn = self.connection()?;
        // One moment for the whole read.
        let snapshot = conn.unchecked_transaction().map_err(translate)?;
        let done = read(View {
            conn: &snapshot,
            names: &self.names,
        });
        drop(snapshot);
        self.give_back(conn);
        done
    }

    /// Waits for the running reads and rejects all later ones.
    pub(crate) async fn close(&self) {
        // The error means that another caller has closed it.
        if let Ok(all) = self.turns.acquire_many(READERS as u32).await {
            self.turns.close();
            drop(all);
        }
        self.idle().clear();
    }

    fn connection(&self) -> Result<Connection> {
        self.files.known()?;
        if let Some(idle) = self.idle().pop() {
            return Ok(idle);
        }
        // Another file under this name must not be read.
        self.files.look()?;
        connection::reader(&self.path)
    }

    fn give_back(&self, conn: Connection) {
        self.idle().push(conn);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
