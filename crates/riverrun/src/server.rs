//! The server: listener, store, runtime and routes, and its stop.

use riverrun_types::ErrorCode;
use std::{io::ErrorKind, net::SocketAddr, sync::Arc, time::Duration};

use riverrun::{ExprIsolation, Riverrun};
use riverrun_api::{ApiOptions, Hosts};
use riverrun_providers::remote::Workers;
use tokio::{net::TcpListener, sync::Mutex, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    config::{Config, Settings},
    failure::{Exit, Failure, Result},
    project::Processes,
};

/// How long a start waits for the port and the lock of a server that was just killed. The system
/// releases them a moment after the kill, so an immediate restart succeeds.
const DYING: Duration = Duration::from_secs(1);

/// How long the clients of WebSockets may take to receive the close frame when the server stops.
const FAREWELL: Duration = Duration::from_secs(2);

pub struct Server {
    pub river: Riverrun,
    pub url: String,
    /// Where the data is, as shown to people.
    pub data: String,
    /// Of the project, if there is one.
    pub processes: Option<Arc<Mutex<Processes>>>,
    listener: TcpListener,
    options: ApiOptions,
}

impl Server {
    /// Binds the address first: nothing is opened or created if that fails.
    pub async fn open(settings: &Settings) -> Result<Self> {
        let config = &settings.config;
        let listener = bind(config).await?;
        let address = listener
            .local_addr()
            .map_err(|error| refused(&config.listen, &error))?;
        let river = open_river(config, address).await?;
        let options = ApiOptions {
            max_body_bytes: config.limits.body_bytes,
            max_bodies_bytes: config.limits.bodies_total_bytes,
            request_timeout: config.limits.request_timeout.0,
            max_wait: config.limits.max_wait.0,
            stall_timeout: config.limits.stall_timeout.0,
            namespace: config.namespace.clone(),
            hosts: hosts(config, address),
            closing: CancellationToken::new(),
            workers: Workers::new(config.workers_options()),
            ..ApiOptions::default()
        };
        Ok(Self {
            url: format!("http://{address}"),
            data: data_place(config),
            processes: config.project.as_deref().map(|project| {
                let processes = Processes::new(river.clone(), project, config.process_settings());
                Arc::new(Mutex::new(processes))
            }),
            river,
            listener,
            options,
        })
    }

    /// Answers requests until `stop` resolves or the data is gone. Then it stops in this order: new
    /// requests are refused, live streams closed, requests under way answered, leases returned,
    /// workers disconnected, the store closed.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let closing = self.options.closing.clone();
        let (workers, sockets) = (self.options.workers.clone(), self.options.sockets.clone());
        let (runtime, stall_timeout) = (self.river.runtime(), self.options.stall_timeout);
        let router =
            riverrun_api::router(runtime.clone(), self.river.triggers().clone(), self.options);
        let stop = async {
            tokio::select! {
                () = stop => {}
                error = runtime.base().store().gone() => tracing::error!(%error, "stopping"),
            }
            closing.cancel();
        };
        riverrun_api::serve(self.listener, router, stall_timeout, stop)
            .await
            .map_err(|error| Failure::new(ErrorCode::ServerFailed, error.to_string()))?;
        // Workers are needed until what they run has ended. Then the close code asks them to
        // reconnect.
        let stopped = self.river.shutdown().await;
        workers.close();
        sockets.close();
        let _ = tokio::time::timeout(FAREWELL, sockets.wait()).await;
        if let Some(processes) = self.processes {
            processes.lock().await.end().await;
        }
        stopped?;
        tracing::info!("stopped");
        Ok(())
    }
}

async fn bind(config: &Config) -> Result<TcpListener> {
    let listen = &config.listen;
    let found = tokio::net::lookup_host(listen).await;
    let addresses: Vec<SocketAddr> = found.map_err(|error| refused(listen, &error))?.collect();
    let open = addresses.iter().find(|address| !address.ip().is_loopback());
    if let (Some(address), false) = (open, config.allow_unauthenticated) {
        let message =
            format!("{address} accepts requests from other machines without authentication");
        return Err(Failure::usage(ErrorCode::ListenUnauthenticated, message)
            .note("anyone who can reach the server can start, read and delete every run")
            .note("put an authenticating proxy in front of it, or accept the risk with --allow-unauthenticated")
            .next(format!("--listen 127.0.0.1:{}", address.port())));
    }
    let deadline = Instant::now() + DYING;
    loop {
        match TcpListener::bind(&addresses[..]).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            bound => return bound.map_err(|error| refused(listen, &error)),
        }
    }
}

/// The host names to answer to. On loopback every caller is trusted, so requests of web pages whose
/// host name resolves to this machine must be rejected. Elsewhere the operator configures the names.
fn hosts(config: &Config, address: SocketAddr) -> Hosts {
    if !address.ip().is_loopback() && config.allowed_hosts.is_empty() {
        return Hosts::any();
    }
    let listen = config.listen.rsplit_once(':').map(|(name, _)| name);
    let names = listen.into_iter().map(str::to_owned);
    let public = config.public_url.as_deref();
    let public = public.and_then(|url| Some(url::Url::parse(url).ok()?.host_str()?.to_owned()));
    let allowed = config.allowed_hosts.iter().cloned();
    Hosts::local_and(names.chain(allowed).chain(public))
}

/// Opens the store and continues its runs. A server that was just killed may still hold the lock.
async fn open_river(config: &Config, address: SocketAddr) -> Result<Riverrun> {
    let deadline = Instant::now() + DYING;
    loop {
        let opened = Riverrun::builder()
            .store(&config.store)
            .data(&config.data)
            .disk_reserve_bytes(config.disk_reserve_bytes)
            .built_in(config.handler_options())
            .options(config.runtime_options(address))
            .expr(config.expr_limits())
            .isolate_expr(ExprIsolation::processes())
            .open()
            .await;
        match opened {
            Err(error) if error.code() == ErrorCode::StoreLocked && Instant::now() < deadline => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            opened => return Ok(opened?),
        }
    }
}

fn refused(listen: &str, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AddrInUse => Failure::new(ErrorCode::PortInUse, format!("{listen} is in use"))
            .note("another server listens there: perhaps a riverrun that you started before")
            .next("riverrun doctor")
            .next("--listen 127.0.0.1:0 for any free port"),
        ErrorKind::PermissionDenied => Failure::new(
            ErrorCode::ListenFailed,
            format!("{listen} may not be used: {error}"),
        )
        .note("ports below 1024 need administrator rights")
        .next("--listen 127.0.0.1:4600"),
        _ => Failure::new(
            ErrorCode::ListenFailed,
            format!("cannot listen on {listen}: {error}"),
        )
        .exit(Exit::Usage)
        .next("--listen 127.0.0.1:4600"),
    }
}

fn data_place(config: &Config) -> String {
    match config.store.split(':').next() {
        Some("memory") => "in memory: gone when the server stops".to_owned(),
        _ => {
            let path = config
                .store
                .strip_prefix("sqlite://")
                .filter(|path| !path.is_empty());
            let path = path.map_or(config.data.as_path(), std::path::Path::new);
            let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            full.display().to_string()
        }
    }
}
