//! The release binary as a child process, with its defaults.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{Bench, Result, load, process};

pub struct Server {
    child: Child,
    pub address: SocketAddr,
    /// From the start of the process to the first answer that it is ready.
    pub ready_ms: f64,
}

impl Server {
    pub async fn start(bench: &Bench, data: &Path) -> Result<Self> {
        Self::with(bench, data, None).await
    }

    /// With the processes of a project, whose folder has the data too.
    pub async fn of_project(bench: &Bench, project: &Path) -> Result<Self> {
        Self::with(bench, &project.join("data"), Some(project)).await
    }

    async fn with(bench: &Bench, data: &Path, project: Option<&Path>) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let begun = Instant::now();
        let mut command = Command::new(&bench.binary);
        command.args(["serve", "--listen", &address.to_string(), "--data"]);
        command.arg(data);
        if let Some(project) = project {
            command.arg("--project").arg(project);
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut server = Self {
            child,
            address,
            ready_ms: 0.0,
        };
        while !server.is_ready().await {
            if let Some(status) = server.child.try_wait()? {
                return Err(format!("the server ended by itself: {status}").into());
            }
            if begun.elapsed() > Duration::from_secs(60) {
                return Err("the server is not ready after 60 s".into());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.ready_ms = begun.elapsed().as_secs_f64() * 1e3;
        Ok(server)
    }

    async fn is_ready(&self) -> bool {
        match load::connect(self.address).await {
            Ok(mut connection) => load::get(&mut connection, "/readyz").await.is_ok(),
            Err(_) => false,
        }
    }

    /// Registers a flow.
    pub async fn register(&self, flow: &Value) -> Result<()> {
        self.post("/api/flows", flow).await.map(drop)
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let mut connection = load::connect(self.address).await?;
        let answer = load::post(&mut connection, path, body.to_string().into()).await?;
        match answer.status {
            200..300 => Ok(serde_json::from_slice(&answer.body)?),
            status => Err(format!("POST {path}: {status} {:?}", answer.body).into()),
        }
    }

    pub async fn read(&self, path: &str) -> Result<Value> {
        let mut connection = load::connect(self.address).await?;
        let body = load::get(&mut connection, path).await?;
        let body = http_body_util::BodyExt::collect(body).await?.to_bytes();
        Ok(serde_json::from_slice(&body)?)
    }

    pub fn cpu_ms(&self) -> f64 {
        process::cpu_ms(self.child.id())
    }

    pub fn resident_mb(&self) -> f64 {
        process::resident_mb(self.child.id())
    }

    pub fn own_mb(&self) -> f64 {
        process::own_mb(self.child.id())
    }
}

/// It is killed: whatever it has acknowledged is on disk.
impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
