//! The store's handle: opening, closing, and statistics.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use riverrun_store::{Commit, Error, Receipt, Result};
use riverrun_types::Json;

use crate::{
    acknowledged, apply, connection,
    core::{Core, lost},
    error::translate,
    files::Files,
    folder,
    lock::{self, FolderLock},
    log_marks::Acknowledged,
    log_room, migrate,
    read::{Pool, View},
    reserve::{self, Reserve},
    room,
    thread::Handle,
};

/// How often a task that waits for the loss of the files checks them.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// Where and how to open.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data folder. It is created if it is missing; the file inside is `riverrun.db`.
    pub path: PathBuf,
    /// The most pages of 4 KiB that the file may have; a write beyond fails as on a full disk.
    /// None, the default, leaves the limit to the disk.
    pub max_pages: Option<u32>,
    /// Opens a folder that holds less than was acknowledged with the remaining data, and keeps the
    /// original files beside it. Default false: such a folder is rejected.
    pub accept_loss: bool,
    /// Bytes on the disk that are reserved for deletes and cancels on a full disk. Default 64 MiB;
    /// 0 reserves none.
    pub reserve_bytes: u64,
}

impl Options {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_pages: None,
            accept_loss: false,
            reserve_bytes: 64 << 20,
        }
    }
}

/// The embedded store.
pub struct SqliteStore {
    pub(crate) writer: Handle,
    /// None for a store in memory: there the writer's connection is the only one.
    readers: Option<Arc<Pool>>,
    folder: Option<PathBuf>,
    owned: Mutex<Owned>,
}

/// Released on closing, in this order.
struct Owned {
    thread: Option<std::thread::JoinHandle<()>>,
    lock: Option<FolderLock>,
}

impl SqliteStore {
    /// Opens the store in a folder, which no other process may have open.
    pub fn open(options: Options) -> Result<Arc<Self>> {
        let folder = options.path;
        folder::prepare(&folder)?;
        let lock = lock::lock(&folder)?;
        if let Some(loss) = acknowledged::check(&folder)? {
            if !options.accept_loss {
                return Err(acknowledged::refusal(&folder, &loss));
            }
            let kept = acknowledged::accept(&folder)?;
            tracing::warn!(loss = loss.0, kept = %kept.display(), "the loss is accepted");
        }
        folder::prepare_files(&folder)?;
        let file = folder.join(connection::FILE);
        let place = Some((&*folder, &*file));
        let reserve_bytes = reserve::size(&folder, options.reserve_bytes);
        let mut core = match core(place, options.max_pages, reserve_bytes) {
            // The server starts on a full disk, too: it releases the reserve first.
            Err(Error::Full(_)) if std::fs::remove_file(folder.join(reserve::FILE)).is_ok() => {
                core(place, options.max_pages, reserve_bytes)?
            }
            opened => opened?,
        };
        let reserve = Reserve::open(&folder, options.reserve_bytes);
        // All files exist: opening has written to them.
        let files = Arc::new(Files::of(&folder, &connection::FILES));
        core.watch(files.clone(), reserve);
        let readers = Pool::new(file, core.names.clone(), files);
        Self::start(core, Some(Arc::new(readers)), Some(folder), Some(lock))
    }

    /// A store in memory: for tests and trials, lost when it is dropped.
    pub fn memory() -> Result<Arc<Self>> {
        Self::start(core(None, None, 0)?, None, None, None)
    }

    fn start(
        core: Core,
        readers: Option<Arc<Pool>>,
        folder: Option<PathBuf>,
        lock: Option<FolderLock>,
    ) -> Result<Arc<Self>> {
        let (writer, thread) =
            Handle::spawn(core).map_err(|error| Error::Unavailable(error.to_string()))?;
        Ok(Arc::new(Self {
            writer,
            readers,
            folder,
            owned: Mutex::new(Owned {
                thread: Some(thread),
                lock,
            }),
        }))
    }

    /// Applies each commit in a transaction of its own.
    pub(crate) async fn one_by_one(&self, commits: &Arc<[Commit]>) -> Vec<Result<Receipt>> {
        let mut results = Vec::with_capacity(commits.len());
        for at in 0..commits.len() {
            let commits = commits.clone();
            let alone = move |core: &mut Core| apply::group(core, &commits[at..=at]);
            let done = self.writer.write(alone).await;
            results.push(done.and_then(|mut done| done.pop().unwrap_or_else(|| Err(lost()))));
        }
        results
    }

    /// A read that may take long.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(View<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.readers {
            Some(readers) => readers.read(read).await,
            None => self.glance(read).await,
        }
    }

    /// A read of a few rows that an index finds.
    pub(crate) async fn glance<T: Send + 'static>(
        &self,
        read: impl FnOnce(View<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.readers {
            Some(readers) => readers.glance(read).await,
            None => {
                self.writer
                    .look(|core| {
                        read(View {
                            conn: &core.conn,
                            names: &core.names,
                        })
                    })
                    .await
            }
        }
    }

    /// A read of one row by one statement.
    pub(crate) async fn find<T: Send + 'static>(
        &self,
        read: impl FnOnce(View<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        match &self.readers {
            Some(readers) => readers.find(read).await,
            None => self.glance(read).await,
        }
    }

    /// Resolves when the files were removed.
    pub(crate) async fn watched(&self) -> Error {
        loop {
            tokio::time::sleep(WATCH_EVERY).await;
            match self.writer.look(|core| core.look()).await {
                Err(gone @ Error::Gone(_)) => return gone,
                Err(Error::Closed) => std::future::pending().await,
                _ => {}
            }
        }
    }

    /// Proves that more than the next small write fits on the disk.
    pub(crate) async fn room(&self) -> Result<()> {
        let Some(folder) = self.folder.clone() else {
            return Ok(());
        };
        tokio::task::spawn_blocking(move || room::prove(&folder))
            .await
            .map_err(|error| Error::Unavailable(error.to_string()))?
    }

    /// Lifts or sets [`Options::max_pages`] while the store is open.
    pub async fn limit_pages(&self, max_pages: Option<u32>) -> Result<()> {
        self.writer
            .look(move |core| limit_pages(&core.conn, max_pages))
            .await
    }

    pub(crate) async fn shut(&self) -> Result<()> {
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
        let closed = self.writer.close().await;
        self.release();
        closed
    }

    /// Bytes of the file and its log.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let folder = self.folder.as_ref()?;
        let bytes = |name: &str| std::fs::metadata(folder.join(name)).map(|meta| meta.len());
        let log = bytes(connection::LOG).unwrap_or(0);
        bytes(connection::FILE).ok().map(|bytes| bytes + log)
    }

    pub(crate) async fn facts(&self) -> Result<Json> {
        let names = ["page_count", "freelist_count", "synchronous"];
        let [pages, free, synchronous]: [u64; 3] = self
            .writer
            .look(move |core| {
                let mut facts = [0; 3];
                for (fact, name) in facts.iter_mut().zip(names) {
                    let read = core.conn.pragma_query_value(None, name, |row| row.get(0));
                    *fact = read.map_err(translate)?;
                }
                Ok(facts)
            })
            .await?;
        let path = self
            .folder
            .as_ref()
            .map(|folder| folder.display().to_string());
        Ok(Json::from(serde_json::json!({
            "adapter": if path.is_some() { "sqlite" } else { "memory" },
            "path": path,
            "sqlite": rusqlite::version(),
            "schema": migrate::SCHEMA,
            "synchronous": synchronous,
            "bytes": self.bytes(),
            "pages": pages,
            "freePages": free,
        })))
    }

    /// Waits for the thread to end, then releases the folder.
    fn release(&self) {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = owned.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer thread panicked");
        }
        owned.lock = None;
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The thread ends with the last handle; the next opener must find the folder free.
        self.writer = Handle::gone();
        self.release();
    }
}

fn core(place: Option<(&Path, &Path)>, max_pages: Option<u32>, reserve_bytes: u64) -> Result<Core> {
    let mut conn = connection::writer(place.map(|(_, file)| file))?;
    let mut acknowledged = None;
    let found_full = Arc::<AtomicBool>::default();
    if let Some((folder, _)) = place {
        // Before the first commit.
        let marks = Acknowledged::open(folder)?;
        let noter = marks.noter(folder);
        log_room::keep(&mut conn, folder, noter, reserve_bytes, found_full.clone())?;
        acknowledged = Some(marks);
    }
    migrate::migrate(&mut conn)?;
    limit_pages(&conn, max_pages)?;
    if let Some(acknowledged) = &acknowledged {
        acknowledged.load(&conn).map_err(translate)?;
    }
    Core::new(conn, acknowledged, found_full)
}

fn limit_pages(conn: &rusqlite::Connection, max_pages: Option<u32>) -> Result<()> {
    let pages = max_pages.unwrap_or(u32::MAX - 1);
    conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
        .map_err(translate)
}
