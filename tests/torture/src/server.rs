//! The real server as a child process.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::process::{Child, Command};

use crate::tree::{self, Process};

/// What a server is started with, each time again.
pub struct Setting {
    pub binary: PathBuf,
    pub data: PathBuf,
    pub project: Option<PathBuf>,
}

pub struct Server {
    child: Child,
    port: u16,
    client: reqwest::Client,
}

impl Server {
    /// Starts the server on a folder and waits until it is ready.
    pub async fn start(setting: &Setting, port: Option<u16>) -> Result<Self, String> {
        let mut server = Self::spawn(setting, port)?;
        server.until_ready().await?;
        Ok(server)
    }

    /// Starts the server, which is not ready yet.
    pub fn spawn(setting: &Setting, port: Option<u16>) -> Result<Self, String> {
        let Setting {
            binary,
            data,
            project,
        } = setting;
        let port = match port {
            Some(port) => port,
            None => free_port()?,
        };
        let project = project
            .iter()
            .flat_map(|project| [Path::new("--project"), project.as_path()]);
        let child = Command::new(binary)
            .arg("serve")
            .args(project)
            .arg("--listen")
            .arg(format!("127.0.0.1:{port}"))
            .arg("--data")
            .arg(data)
            // What a killed worker ran is given to another when its lease is over.
            .env("RIVERRUN_LEASE", "4s")
            .env("RIVERRUN_HTTP_ALLOW", "127.0.0.0/8")
            // Lost attempts are what this is about; each would be a warning.
            .env("RIVERRUN_LOG", "error")
            .env("RIVERRUN_LOG_FORMAT", "json")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", binary.display()))?;
        let client = reqwest::Client::builder()
            .no_proxy()
            .build()
            .map_err(text)?;
        Ok(Self {
            child,
            port,
            client,
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    async fn until_ready(&mut self) -> Result<(), String> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().map_err(text)? {
                return Err(format!("the server ended by itself: {status}"));
            }
            let answer = self
                .client
                .get(format!("{}/readyz", self.url()))
                .send()
                .await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            if begun.elapsed() > Duration::from_secs(30) {
                return Err("the server is not ready after 30 s".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The processes that it has started and that run.
    pub fn children(&self) -> Vec<Process> {
        self.child.id().map(tree::children).unwrap_or_default()
    }

    /// SIGKILL: no goodbye.
    pub async fn kill(&mut self) -> Result<(), String> {
        self.child.kill().await.map_err(text)
    }

    pub async fn stop(mut self) -> Result<(), String> {
        self.kill().await
    }

    pub async fn get(&self, path: &str) -> Result<Value, String> {
        let answer = self
            .client
            .get(format!("{}{path}", self.url()))
            .send()
            .await
            .map_err(text)?;
        let status = answer.status();
        let body: Value = answer.json().await.map_err(text)?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(format!("GET {path}: {status} {body}"))
        }
    }

    /// All items of a list, page by page.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let separator = if path.contains('?') { '&' } else { '?' };
            let page = self.get(&format!("{path}{separator}{cursor}")).await?;
            all.extend(page["items"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = format!("cursor={next}"),
                None => return Ok(all),
            }
        }
    }

    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.client.post(format!("{}{path}", self.url())).json(body);
        let answer = request.send().await.map_err(text)?;
        let status = answer.status();
        let body: Value = answer.json().await.map_err(text)?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(format!("POST {path}: {status} {body}"))
        }
    }
}

fn free_port() -> Result<u16, String> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(text)?;
    Ok(listener.local_addr().map_err(text)?.port())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
