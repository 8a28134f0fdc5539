//! The real server as a child process with a memory limit.

use std::{
    fs,
    path::Path,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use tokio::process::{Child, Command};

use crate::Options;

/// The server's own limit for a request, set for this run.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a start or a stop may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Server {
    child: Child,
    url: String,
    client: reqwest::Client,
    memory_mib: u64,
}

impl Server {
    pub async fn start(options: &Options, data: &Path) -> Result<Self, String> {
        let port = free_port()?;
        let binary = fs::canonicalize(&options.binary)
            .map_err(|error| format!("{}: {error}", options.binary.display()))?;
        // The limit covers private writable memory; a program over it fails to allocate and aborts.
        let limited = format!(
            "ulimit -d {} && exec \"$0\" \"$@\"",
            options.memory_mib << 10
        );
        let child = Command::new("sh")
            .args(["-c", &limited])
            .arg(binary)
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data"])
            .arg(data.join("data"))
            .env("RIVERRUN_LOG", "error")
            .env(
                "RIVERRUN_LIMITS_REQUEST_TIMEOUT",
                format!("{}s", REQUEST_TIMEOUT.as_secs()),
            )
            .current_dir(data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(text)?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .build()
            .map_err(text)?;
        let mut server = Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            client,
            memory_mib: options.memory_mib,
        };
        server.until_healthy().await?;
        Ok(server)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    async fn until_healthy(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            self.check()?;
            let answer = self
                .client
                .get(format!("{}/healthz", self.url))
                .send()
                .await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Err(format!(
            "the server is not healthy {} s after its start",
            PATIENCE.as_secs()
        ))
    }

    /// Whether the server still runs, within its memory.
    pub fn check(&mut self) -> Result<(), String> {
        if let Some(status) = self.child.try_wait().map_err(text)? {
            return Err(format!("the server ended: {status}"));
        }
        match self.peak_mib()? {
            peak if peak > self.memory_mib => Err(format!("the server used {peak} MiB")),
            _ => Ok(()),
        }
    }

    /// The most memory that the server has had.
    pub fn peak_mib(&self) -> Result<u64, String> {
        let pid = self.child.id().ok_or("the server has ended")?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).map_err(text)?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        Ok(kib.unwrap_or_default() >> 10)
    }

    /// Stops the server: with SIGTERM, which it must obey in time, or with SIGKILL.
    pub async fn stop(&mut self, gently: bool) -> Result<(), String> {
        if !gently {
            return self.child.kill().await.map_err(text);
        }
        let pid = self.child.id().ok_or("the server has ended")?;
        let sent = Command::new("kill")
            .args(["-TERM", &pid.to_string()])
            .status()
            .await;
        sent.map_err(text)?;
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        let status: ExitStatus = ended
            .map_err(|_| {
                format!(
                    "SIGTERM did not stop the server within {} s",
                    PATIENCE.as_secs()
                )
            })?
            .map_err(text)?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("the server ended with {status} on SIGTERM")),
        }
    }
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(text)?;
    Ok(listener.local_addr().map_err(text)?.port())
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
