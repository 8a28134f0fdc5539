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
    /// Accept requests from other machines without authentication. Without it the server only listens
    /// on loopback addresses. Default false.
    pub allow_unauthenticated: bool,
    /// Host names that the server accepts beside `localhost` and loopback addresses, such as the name
    /// that a proxy passes on; `*.example.org` matches every name below it. Default none: a server on
    /// a loopback address accepts no other names, any other server accepts all.
    pub allowed_hosts: Vec<String>,
    /// The URL under which others reach the server, such as `https://flows.example.org`, used in links
    /// such as callback URLs. Its host is added to `allowed_hosts`. Default: the listen address.
    pub public_url: Option<String>,
    /// The data folder of the embedded store. In a file it is relative to that file. Default
    /// `.riverrun` in the folder of the project, else in the current folder.
    pub data: PathBuf,
    /// The store: `sqlite://` (in `data`), `sqlite:///folder` or `memory:`. Default `sqlite://`.
    pub store: String,
    /// Bytes that the embedded store reserves for deletes, cancels and checkpoints when the disk is
    /// full; at most a sixteenth of the disk. 0: no reserve. Default 67108864 (64 MiB).
    pub disk_reserve_bytes: u64,
    /// The prefix of full stream names, as in `nq:flow:<runId>`. Default `nq`.
    pub namespace: Namespace,
    /// The folder of the project with `flows/**`, `processes/**` and `triggers/**`. Default none.
    pub project: Option<PathBuf>,
    /// The format of log lines: `text` or `json`. Default `text`.
    pub log_format: LogFormat,
    /// The log level: `error`, `warn`, `info`, `debug`, `trace`, `off`, or a filter such as
    /// `info,riverrun_runtime=debug`. Default `info`.
    pub log: String,
    /// How long a lease is valid without a heartbeat before other servers may take the work over.
    /// Default `30s`.
    pub lease: Span,
    /// How long a remote worker may take to reconnect after its connection closed before its work is
    /// given to others. Default `5s`.
    pub worker_reconnect: Span,
    /// The most runs that the server advances at the same time, 1 to 1000000; others wait in the
    /// store. Default 1024.
    pub max_drivers: usize,
    /// The default timeout of one attempt of a step. Default `30s`.
    pub attempt_timeout: Span,
    /// The longest chain of runs in which each is started by an event of the previous one, so that a
    /// flow that triggers itself stops. 0: events of runs that an event started start no runs.
    /// Default 100.
    pub max_chain: u32,
    /// The most run states cached in memory. 0: no cache. Default 1000.
    pub cached_runs: u64,
    /// How long a shutdown waits for running attempts. `0s`: do not wait. Default `5s`.
    pub grace: Span,
    pub retention: Retention,
    pub limits: Limits,
    pub http: Http,
    pub expr: Expr,
    pub runners: Runners,
    pub dev: Dev,
}

/// How long ended runs are kept: durations, or `off` to keep them for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Default `7d`.
    pub completed: Keep,
    /// Default `30d`.
    pub failed: Keep,
    /// Default `30d`.
    pub cancelled: Keep,
    /// Emitted events for awaits that look back, and idempotency keys of events. In their own streams
    /// events are kept as long as the stream. Default `7d`.
    pub emitted: Keep,
}

/// Limits of requests and definitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The most bytes of a request body. Default 16777216 (16 MiB).
    pub body_bytes: usize,
    /// The most bytes of the bodies of all requests together, those up to 64 KiB aside; others wait.
    /// Default 268435456 (256 MiB).
    pub bodies_total_bytes: usize,
    /// How long a request may take, except live streams and `?wait=`. Default `30s`.
    pub request_timeout: Span,
    /// The longest `?wait=` for the end of a run. Default `5m`.
    pub max_wait: Span,
    /// How long a client may read nothing before it is disconnected. Default `1m`.
    pub stall_timeout: Span,
    /// The most bytes buffered for one reader of a live stream. Default 262144 (256 KiB).
    pub live_reader_bytes: usize,
    /// The most bytes buffered for all readers of live streams and large answers together; beyond it,
    /// readers that do not read are disconnected. Default 67108864 (64 MiB).
    pub live_total_bytes: usize,
    /// The most steps of a flow definition, 1 to 100000. Default 5000.
    pub flow_steps: usize,
}

/// Permissions of the `http` step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Http {
    /// Addresses that are not public and may be called nevertheless: host names, IP addresses or
    /// networks, each with or without a port. Default none.
    pub allow: Vec<String>,
}

/// Limits of expressions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expr {
    /// The most bytes that an expression may allocate. Default 33554432 (32 MiB).
    pub memory_bytes: usize,
    /// How long an expression may run. Default `250ms`.
    pub time: Span,
    /// The most bytes of the JSON result of an expression. Default 1048576 (1 MiB).
    pub output_bytes: usize,
    /// The most child processes that evaluate expressions, 1 to 1024; they start on demand. Default 2.
    pub threads: usize,
}

/// The runners of the processes of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Runners {
    /// The Node.js program: a path, or a name on `PATH`. Default `node`.
    pub node: Option<String>,
    /// The Python program: a path, or a name on `PATH`. Default `python3`.
    pub python: Option<String>,
    /// The number of child processes for JavaScript and TypeScript. Each runs many jobs at once; more
    /// of them only help handlers that compute. Default 1.
    pub node_processes: usize,
    /// The number of child processes for Python. Default 1.
    pub python_processes: usize,
    /// Environment variables of the server that are passed to processes beside the usual ones, such as
    /// `DATABASE_URL`. Default none.
    pub env: Vec<String>,
    /// The memory of a child process, in bytes. A child process that uses more is replaced when its
    /// current work has ended; at twice as much it is killed, and so is an executable with its process
    /// group. Default 1073741824 (1 GiB).
    pub memory_bytes: u64,
    /// How long a module may take to load. Other processes run meanwhile. Default `60s`.
    pub load_timeout: Span,
    /// How long a busy child process may leave heartbeats unanswered before it is killed and replaced,
    /// because it is stopped or a handler blocks it. `off`: never. Default `60s`.
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

/// Settings of `riverrun dev`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dev {
    /// The flow to start when the server is ready. Default none.
    pub run: Option<String>,
    /// The input of this flow. Default an empty object.
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
            disk_reserve_bytes: 64 << 20,
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
            bodies_total_bytes: options.max_bodies_bytes,
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

    /// The settings of runners; the files of the SDKs are kept in the data folder.
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
