//! Composes a riverrun: store, sandbox, handlers, runtime.

use std::{path::PathBuf, sync::Arc};

use riverrun_expr::{Isolation, Limits, Sandbox};
use riverrun_runtime::{Handler, Options, Runtime, SimulatedClock};
use riverrun_triggers::Triggers;

use crate::{Error, HandlerOptions, Result, Riverrun, store};

/// What a [`Riverrun`] is made of. Every part has a default.
pub struct Builder {
    store: String,
    data: PathBuf,
    disk_reserve_bytes: u64,
    handlers: Vec<Arc<dyn Handler>>,
    built_in: HandlerOptions,
    options: Options,
    expr: Limits,
    isolation: Isolation,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            store: "sqlite://".to_owned(),
            data: PathBuf::from(".riverrun"),
            disk_reserve_bytes: 64 << 20,
            handlers: Vec::new(),
            built_in: HandlerOptions::default(),
            options: Options::default(),
            expr: Limits::default(),
            isolation: Isolation::default(),
        }
    }
}

impl Builder {
    /// Keeps the data in this folder, which has one owner at a time. Default `.riverrun`.
    pub fn data(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data = folder.into();
        self
    }

    /// Keeps so many bytes on the disk for deletes and cancels on the day on which it is full. Default
    /// 64 MiB; 0 keeps none.
    pub fn disk_reserve_bytes(mut self, bytes: u64) -> Self {
        self.disk_reserve_bytes = bytes;
        self
    }

    /// Keeps everything in memory: for tests and trials.
    pub fn memory(self) -> Self {
        self.store("memory:")
    }

    /// Chooses the store by URL: `sqlite://` (the default), `sqlite:///folder`, `memory:`.
    pub fn store(mut self, url: impl Into<String>) -> Self {
        self.store = url.into();
        self
    }

    /// Adds a kind of step. One of the same kind as a built-in one replaces it.
    pub fn handler(mut self, handler: Arc<dyn Handler>) -> Self {
        self.handlers.push(handler);
        self
    }

    /// What the built-in handlers may do, such as where `http` may connect to.
    pub fn built_in(mut self, options: HandlerOptions) -> Self {
        self.built_in = options;
        self
    }

    /// Leases, limits, retention and the clock.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Goes by a clock that a test moves: waits, schedules, retries, timeouts, leases and limits.
    ///
    /// ```
    /// use std::time::Duration;
    /// use riverrun::{Riverrun, SimulatedClock, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> riverrun::Result<()> {
    /// let clock = SimulatedClock::default();
    /// let river = Riverrun::builder().memory().clock(&clock).open().await?;
    /// river.register(json!({
    ///     "id": "remind", "version": "1.0.0", "initialStepId": "wait",
    ///     "steps": {
    ///         "wait": { "type": "delay", "config": { "ms": "30 days" },
    ///                   "transitions": { "onSuccess": "remind" } },
    ///         "remind": { "type": "set", "config": { "value": "it is time" } },
    ///     },
    /// })).await?;
    /// let run = river.start("remind", json!({})).await?;
    /// clock.advance(Duration::from_secs(30 * 86_400)).await?;
    /// assert_eq!(river.get(&run).await?.result, Some(json!("it is time")));
    /// river.shutdown().await
    /// # }
    /// ```
    pub fn clock(mut self, clock: &SimulatedClock) -> Self {
        self.options.clock = clock.into();
        self
    }

    /// What an expression may use.
    pub fn expr(mut self, limits: Limits) -> Self {
        self.expr = limits;
        self
    }

    /// Where expressions are evaluated that need JavaScript. Default: on threads of this program,
    /// where one that spins inside a built-in keeps its thread for ever. Processes are killed
    /// instead: use them where others write the expressions.
    ///
    /// ```no_run
    /// use riverrun::{ExprIsolation, Riverrun};
    ///
    /// #[tokio::main]
    /// async fn main() -> riverrun::Result<()> {
    ///     // First of all: a child of this program goes no further than this.
    ///     let isolation = ExprIsolation::processes();
    ///     let river = Riverrun::builder().isolate_expr(isolation).open().await?;
    ///     river.shutdown().await
    /// }
    /// ```
    pub fn isolate_expr(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Opens the store and takes up the runs that were under way.
    pub async fn open(self) -> Result<Riverrun> {
        let store = store::open(&self.store, &self.data, self.disk_reserve_bytes)?;
        let sandbox = Sandbox::isolated(self.expr, self.isolation).map_err(Error::Sandbox)?;
        let sandbox = Arc::new(sandbox);
        let handlers = riverrun_handlers::all(self.built_in)
            .into_iter()
            .chain(self.handlers);
        let options = Options {
            has_listener: true,
            ..self.options
        };
        let runtime = Runtime::open(store, sandbox, handlers, options).await?;
        let triggers = Triggers::open(&runtime).await?;
        Ok(Riverrun::new(runtime, triggers))
    }
}
