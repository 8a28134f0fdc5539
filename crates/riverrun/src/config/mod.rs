//! The configuration: one typed struct per component, and how its layers come together.
//!
//! Defaults are here and nowhere else. Layers, later ones winning: defaults, `riverrun.toml`,
//! `RIVERRUN_*` environment variables, flags. The names of the keys are the names of the fields.

mod check;
mod keys;
mod layers;
#[cfg(test)]
mod limits_page;
#[cfg(test)]
mod settings_page;
mod time;

use std::{net::SocketAddr, path::PathBuf};

use riverrun_types::Namespace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use layers::{Flags, Settings, Source, load};
pub use time::{Keep, Span, parse_duration, show_duration};

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the server listens: `host:port`, port 0 for any free one. Default `127.0.0.1:4600`.
    pub listen: String,
    /// Lets the server listen on other addresses than loopback although nobody has to prove who
    /// they are. Default false.
    pub allow_unauthenticated: bool,
    /// Names under which the server answers beside `localhost` and loopback addresses, such as the
    /// one that a proxy passes on; `*.example.org` stands for every name below. Default none: a
    /// server on loopback answers to no others, a server elsewhere to all.
    pub allowed_hosts: Vec<String>,
    /// Where others reach the server, such as `https://flows.example.org`: what the links that
    /// steps hand out begin with. Its name is one of `allowed_hosts`. Default the address on which
    /// the server listens.
    pub public_url: Option<String>,
    /// The folder of the embedded store. Default `.riverrun`, in the project's folder where there
    /// is one. In a file it is relative to that file.
    pub data: PathBuf,
    /// The store: `sqlite://` (in `data`), `sqlite:///folder` or `memory:`. Default `sqlite://`.
    pub store: String,
    /// Bytes on the disk of the embedded store that are kept for deletes, cancels and checkpoints on
    /// the day on which it is full; at most a sixteenth of the disk. Default 16777216 (16 MiB); 0
    /// keeps none.
    pub disk_reserve_bytes: u64,
    /// What the full names of streams begin with, as in `nq:flow:<runId>`. Default `nq`.
    pub namespace: Namespace,
    /// The folder whose `flows/**`, `processes/**` and `triggers/**` are served. Default none.
    pub project: Option<PathBuf>,
    /// How log lines look: `text` or `json`. Default `text`.
    pub log_format: LogFormat,
    /// Which log lines there are: `error`, `warn`, `info`, `debug`, `trace`, `off`, or a filter
    /// such as `info,riverrun_runtime=debug`. Default `info`.
    pub log: String,
    /// How long a run is safe from other servers without a sign of life. Default `30s`.
    pub lease: Span,
    /// How long a remote worker whose connection closed may take to come back before what it ran is
    /// given to others. Default `5s`.
    pub worker_reconnect: Span,
    /// Runs driven at once, 1 to 1000000; further ones wait in the store. Default 1024.
    pub max_drivers: usize,
    /// How long one attempt of a step may take where the step says nothing. Default `30s`.
    pub attempt_timeout: Span,
    /// Runs one after the other, each started by an event that the one before led to: an event of
    /// the last starts no more, so a flow that starts itself ends. 0 lets no event of such a run
    /// start another. Default 100.
    pub max_chain: u32,
    /// Reduced runs kept in memory; 0 keeps none. Default 1000.
    pub cached_runs: u64,
    /// How long a shutdown waits for attempts that run. Default `5s`; `0s` does not wait.
    pub grace: Span,
    pub retention: Retention,
    pub limits: Limits,
    pub http: Http,
    pub expr: Expr,
    pub runners: Runners,
    pub dev: Dev,
}

/// How long ended runs are kept, each a duration or `off`, which keeps for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Default `7d`.
    pub completed: Keep,
    /// Default `30d`.
    pub failed: Keep,
    /// Default `30d`.
    pub cancelled: Keep,
    /// Emitted events, for awaits that look back; in their streams they stay as long as those do.
    /// Default `7d`.
    pub emitted: Keep,
}

/// What one request may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a request's body. Default 16777216 (16 MiB).
    pub body_bytes: usize,
    /// How long a request may take; live streams and waits have their own time. Default `30s`.
    pub request_timeout: Span,
    /// The longest time that a request may wait for the end of a run. Default `5m`.
    pub max_wait: Span,
    /// How long a client may take nothing of what it is sent before it is disconnected. Default
    /// `1m`.
    pub stall_timeout: Span,
    /// Bytes that are read ahead, or wait to be sent, for one reader of a live stream. Default
    /// 262144 (256 KiB).
    pub live_reader_bytes: usize,
    /// Bytes that wait for all readers of live streams together; beyond that the ones that do not
    /// read are disconnected. Default 67108864 (64 MiB).
    pub live_total_bytes: usize,
    /// Steps that the definition of a flow may have, 1 to 100000. Default 5000.
    pub flow_steps: usize,
}

/// What the `http` handler may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Addresses that are not public and may be called all the same: host names, addresses,
    /// networks, each with a port or without. Default none.
    pub allow: Vec<String>,
}

/// What one expression may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expr {
    /// Bytes that it may allocate. Default 33554432 (32 MiB).
    pub memory_bytes: usize,
    /// How long it may run. Default `250ms`.
    pub time: Span,
    /// Bytes of JSON that it may answer with. Default 1048576 (1 MiB).
    pub output_bytes: usize,
    /// Processes that evaluate, 1 to 1024, started when they are needed. Default 2.
    pub threads: usize,
}

/// How the processes of a project are run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Runners {
    /// Node.js: a path, or a name to be found on `PATH`. Default `node`.
    pub node: Option<String>,
    /// Python: a path, or a name to be found on `PATH`. Default `python3`.
    pub python: Option<String>,
    /// Child processes for JavaScript and TypeScript; each takes many jobs at once, and only
    /// handlers that compute profit from more. Default 1.
    pub node_processes: usize,
    /// Child processes for Python. Default 1.
    pub python_processes: usize,
    /// Environment variables of the server that processes see beside the usual ones, such as
    /// `DATABASE_URL`. Default none.
    pub env: Vec<String>,
    /// A child process that holds more memory is replaced once it has ended what it runs; at
    /// twice as much it is ended at once, and so is an executable with its process group. Default
    /// 1073741824 (1 GiB).
    pub memory_bytes: u64,
    /// How long a module may take to load. Others work meanwhile. Default `60s`.
    pub load_timeout: Span,
    /// How long a child process that runs something may say nothing, though it is asked whether it
    /// lives, until it is ended and replaced: it is stopped, or a handler has blocked it all that
    /// time. Default `60s`; `off` turns it off.
    pub silent_timeout: Keep,
}

impl Default for Runners {
    fn default() -> Self {
        Self {
            node: None,
            python: None,
            node_processes: 1,
            python_processes: 1,
            env: Vec::new(),
            memory_bytes: 1 << 30,
            load_timeout: Span(std::time::Duration::from_secs(60)),
            silent_timeout: Keep(Some(std::time::Duration::from_secs(60))),
        }
    }
}

/// What `riverrun dev` does beside serving.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dev {
    /// The flow to start once the server is up. Default none.
    pub run: Option<String>,
    /// The input that it gets. Default an empty object.
    pub input: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

impl Default for Config {
    fn default() -> Self {
        let options = riverrun::Options::default();
        let workers = riverrun_providers::remote::WorkersOptions::default();
        Self {
            listen: "127.0.0.1:4600".to_owned(),
            allow_unauthenticated: false,
            allowed_hosts: Vec::new(),
            public_url: None,
            data: PathBuf::from(".riverrun"),
            store: "sqlite://".to_owned(),
            disk_reserve_bytes: 16 << 20,
            namespace: Namespace::default(),
            project: None,
            log_format: LogFormat::Text,
            log: "info".to_owned(),
            lease: Span(options.lease),
            worker_reconnect: Span(workers.reconnect),
            max_drivers: options.max_drivers,
            attempt_timeout: Span(options.attempt_timeout),
            max_chain: options.max_chain,
            cached_runs: options.cached_runs,
            grace: Span(options.grace),
            retention: Retention::default(),
            limits: Limits::default(),
            http: Http::default(),
            expr: Expr::default(),
            runners: Runners::default(),
            dev: Dev::default(),
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        let defaults = riverrun::Retention::default();
        Self {
            completed: Keep::from_ms(defaults.completed_ms),
            failed: Keep::from_ms(defaults.failed_ms),
            cancelled: Keep::from_ms(defaults.cancelled_ms),
            emitted: Keep::from_ms(defaults.emits_ms),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let options = riverrun_api::ApiOptions::default();
        let runtime = riverrun::Options::default();
        Self {
            body_bytes: options.max_body_bytes,
            request_timeout: Span(options.request_timeout),
            max_wait: Span(options.max_wait),
            stall_timeout: Span(options.stall_timeout),
            live_reader_bytes: runtime.live_reader_bytes,
            live_total_bytes: runtime.live_total_bytes,
            flow_steps: riverrun::Options::default().max_flow_steps,
        }
    }
}

impl Default for Expr {
    fn default() -> Self {
        let limits = riverrun::ExprLimits::default();
        Self {
            memory_bytes: limits.memory_bytes,
            time: Span(std::time::Duration::from_millis(limits.time_ms)),
            output_bytes: limits.output_bytes,
            threads: limits.threads,
        }
    }
}

impl Config {
    /// `address`: where the server listens.
    pub fn runtime_options(&self, address: SocketAddr) -> riverrun::Options {
        let own = || format!("http://{address}");
        riverrun::Options {
            public_url: Some(self.public_url.clone().unwrap_or_else(own)),
            lease: self.lease.0,
            max_drivers: self.max_drivers,
            attempt_timeout: self.attempt_timeout.0,
            max_chain: self.max_chain,
            max_flow_steps: self.limits.flow_steps,
            cached_runs: self.cached_runs,
            live_reader_bytes: self.limits.live_reader_bytes,
            live_total_bytes: self.limits.live_total_bytes,
            grace: self.grace.0,
            retention: riverrun::Retention {
                completed_ms: self.retention.completed.as_ms(),
                failed_ms: self.retention.failed.as_ms(),
                cancelled_ms: self.retention.cancelled.as_ms(),
                emits_ms: self.retention.emitted.as_ms(),
            },
            ..riverrun::Options::default()
        }
    }

    pub fn workers_options(&self) -> riverrun_providers::remote::WorkersOptions {
        riverrun_providers::remote::WorkersOptions {
            reconnect: self.worker_reconnect.0,
            silent: self.lease.0,
            ..Default::default()
        }
    }

    pub fn expr_limits(&self) -> riverrun::ExprLimits {
        riverrun::ExprLimits {
            memory_bytes: self.expr.memory_bytes,
            time_ms: u64::try_from(self.expr.time.0.as_millis()).unwrap_or(u64::MAX),
            output_bytes: self.expr.output_bytes,
            threads: self.expr.threads,
            ..riverrun::ExprLimits::default()
        }
    }

    /// How processes are run; what their SDKs need is kept beside the data.
    pub fn process_settings(&self) -> crate::project::processes::Settings {
        let environment = riverrun_providers::Environment {
            pass: self.runners.env.clone(),
            ..Default::default()
        };
        let mut runner = riverrun_providers::RunnerOptions {
            environment: environment.clone(),
            memory_soft_bytes: self.runners.memory_bytes,
            memory_hard_bytes: self.runners.memory_bytes.saturating_mul(2),
            load: self.runners.load_timeout.0,
            silent: self.runners.silent_timeout.0,
            typescript: Some(crate::cli::translator()),
            ..Default::default()
        };
        if !self.store.starts_with("memory") {
            // Children run in the project's folder: what is relative would lead them elsewhere.
            let data = std::path::absolute(&self.data).unwrap_or_else(|_| self.data.clone());
            runner.sdk_folder = data.join("sdk");
        }
        let of = |interpreter: &Option<String>, size: usize| riverrun_providers::RunnerOptions {
            size,
            program: riverrun_providers::Program::Sdk {
                interpreter: interpreter.clone(),
            },
            ..runner.clone()
        };
        crate::project::processes::Settings {
            node: of(&self.runners.node, self.runners.node_processes),
            python: riverrun_providers::RunnerOptions {
                typescript: None,
                ..of(&self.runners.python, self.runners.python_processes)
            },
            external: riverrun_providers::ExternalOptions {
                environment,
                memory_bytes: self.runners.memory_bytes.saturating_mul(2),
                ..Default::default()
            },
        }
    }

    pub fn handler_options(&self) -> riverrun::HandlerOptions {
        // Each rule was checked with the rest of the configuration.
        let allow = self.http.allow.iter().filter_map(|rule| rule.parse().ok());
        riverrun::HandlerOptions {
            http: riverrun::HttpOptions {
                allow: allow.collect(),
            },
        }
    }
}
