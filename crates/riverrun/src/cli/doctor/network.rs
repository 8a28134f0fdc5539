//! The port, and the server if there is one.

use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;

use super::Check;
use crate::{cli::Global, client::Client, config::Config, failure::Result};

pub async fn checks(config: &Config, global: &Global) -> Result<Vec<Check>> {
    let here = format!("http://{}", config.listen);
    let client = Client::new(global.url.as_deref().or(Some(&here)), Duration::ZERO)?;
    let version = client.get(&["api", "version"], &Vec::new()).await;
    let server = version.as_ref().ok().map(|answer| answer.value());
    let mut checks = Vec::new();
    if global.url.is_none() {
        checks.push(port(&config.listen, server.as_ref()).await);
    }
    match (server, version.err()) {
        (Some(server), _) => {
            checks.push(match client.get(&["readyz"], &Vec::new()).await {
                Ok(_) => Check::good("server", format!("{} is ready", client.url())),
                Err(failure) => Check::of("server", &failure),
            });
            checks.push(versions(&server));
        }
        // A free port is a problem only if the user named a server.
        (None, Some(failure)) if global.url.is_some() => checks.push(Check::of("server", &failure)),
        _ => {}
    }
    Ok(checks)
}

async fn port(listen: &str, server: Option<&Value>) -> Check {
    match (TcpListener::bind(listen).await, server) {
        (Ok(_), _) => Check::good("port", format!("{listen} is free: no server runs")),
        (Err(_), Some(_)) => Check::good("port", format!("a riverrun server listens on {listen}")),
        (Err(error), None) => Check::bad(
            "port",
            format!("{listen} cannot be used, and no riverrun answers there: {error}"),
            "--listen 127.0.0.1:0 for any free port",
        ),
    }
}

fn versions(server: &Value) -> Check {
    let (ours, theirs) = (
        env!("CARGO_PKG_VERSION"),
        server["version"].as_str().unwrap_or("unknown"),
    );
    if ours == theirs {
        return Check::good("version", format!("{ours} on both sides"));
    }
    Check::bad(
        "version",
        format!("this is {ours}, the server is {theirs}"),
        "the same version on both sides",
    )
}
