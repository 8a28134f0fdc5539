//! State that every handler shares, and the options of the API.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use riverrun_providers::remote::{Workers, WorkersOptions};
use riverrun_runtime::Runtime;
use riverrun_triggers::Triggers;
use riverrun_types::Namespace;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{document::document, extract::BodyRoom, hosts::Hosts, live::LiveReaders};

#[derive(Clone, Debug)]
pub struct ApiOptions {
    /// Bytes that a request's body may have; more is TOO_LARGE. Default 16 MiB.
    pub max_body_bytes: usize,
    /// Bytes that the bodies of all requests together may have, those up to 64 KiB aside; others
    /// wait. Default 256 MiB.
    pub max_bodies_bytes: usize,
    /// How long a request may take before it is answered REQUEST_TIMEOUT. Live streams and the
    /// time that `?wait=` asks for come on top. Default 30 s.
    pub request_timeout: Duration,
    /// The longest time that `?wait=` may ask for. Default 300 s.
    pub max_wait: Duration,
    /// The names under which the server answers; others are FORBIDDEN_HOST. Default any.
    pub hosts: Hosts,
    /// How often a silent live stream says that it is alive. Default 15 s.
    pub heartbeat: Duration,
    /// How long a client may take nothing of what it is sent before it is disconnected. Default
    /// 60 s.
    pub stall_timeout: Duration,
    /// What the full names of streams begin with. Default `nq`.
    pub namespace: Namespace,
    /// Cancel it to end live streams and waits, so that a graceful stop is not held up by them.
    /// They end with the runtime as well.
    pub closing: CancellationToken,
    /// The workers that connect to `/api/workers/ws`. Their connections end when the list is
    /// closed; the code that stops the server closes it.
    pub workers: Workers,
    /// Every open WebSocket: wait for it to know that all have received why they ended.
    pub sockets: TaskTracker,
}

impl Default for ApiOptions {
    fn default() -> Self {
        Self {
            max_body_bytes: 16 << 20,
            max_bodies_bytes: 256 << 20,
            request_timeout: Duration::from_secs(30),
            max_wait: Duration::from_secs(300),
            hosts: Hosts::any(),
            heartbeat: Duration::from_secs(15),
            stall_timeout: Duration::from_secs(60),
            namespace: Namespace::default(),
            closing: CancellationToken::new(),
            workers: Workers::new(WorkersOptions::default()),
            sockets: TaskTracker::new(),
        }
    }
}

/// The state of the router; clones share it.
#[derive(Clone)]
pub(crate) struct Api {
    inner: Arc<Inner>,
}

struct Inner {
    runtime: Runtime,
    triggers: Triggers,
    options: ApiOptions,
    live: Arc<LiveReaders>,
    body_room: BodyRoom,
    document: OnceLock<Bytes>,
}

impl Api {
    pub fn new(runtime: Runtime, triggers: Triggers, options: ApiOptions) -> Self {
        let body_room = BodyRoom::new(options.max_bodies_bytes);
        let live = LiveReaders::new(runtime.base().options().live_total_bytes);
        Self {
            inner: Arc::new(Inner {
                runtime,
                triggers,
                options,
                live,
                body_room,
                document: OnceLock::new(),
            }),
        }
    }

    pub fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    /// The memory for bodies of requests.
    pub fn body_room(&self) -> &BodyRoom {
        &self.inner.body_room
    }

    pub fn triggers(&self) -> &Triggers {
        &self.inner.triggers
    }

    pub fn options(&self) -> &ApiOptions {
        &self.inner.options
    }

    /// The OpenAPI document, made when it is first asked for.
    pub fn document(&self) -> Bytes {
        let make = || {
            let max_wait = self.options().max_wait.as_millis();
            let max_wait = u64::try_from(max_wait).unwrap_or(u64::MAX);
            let document = document(max_wait, self.namespace().as_str());
            Bytes::from(serde_json::to_vec(&document).unwrap_or_default())
        };
        self.inner.document.get_or_init(make).clone()
    }

    /// Those who read live streams.
    pub fn live(&self) -> &Arc<LiveReaders> {
        &self.inner.live
    }

    pub fn namespace(&self) -> &Namespace {
        &self.options().namespace
    }

    pub fn is_closing(&self) -> bool {
        self.inner.options.closing.is_cancelled() || self.inner.runtime.base().is_stopping()
    }

    /// Resolves when the server stops.
    pub async fn closing(&self) {
        tokio::select! {
            () = self.inner.options.closing.cancelled() => {}
            () = self.inner.runtime.base().stopping() => {}
        }
    }
}
