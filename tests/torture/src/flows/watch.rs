//! Readers that follow streams live over every kill, reconnecting with the last id they saw.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use tokio::task::JoinHandle;

use super::load::Load;
use crate::Server;

/// What a reader saw of one run.
pub struct Watched {
    run: String,
    ids: Vec<String>,
}

pub fn spawn(load: &Arc<Load>, readers: usize) -> Vec<JoinHandle<Vec<Watched>>> {
    (0..readers)
        .map(|_| tokio::spawn(watch(load.clone())))
        .collect()
}

/// Compares what readers saw with what the streams hold.
pub async fn finish(
    readers: Vec<JoinHandle<Vec<Watched>>>,
    server: &Server,
) -> Result<usize, String> {
    let mut count = 0;
    for reader in readers {
        for Watched { run, ids } in reader.await.map_err(|error| error.to_string())? {
            let held = crate::runs::events(server, &run).await?;
            let held: Vec<&str> = held
                .iter()
                .filter_map(|event| event["id"].as_str())
                .collect();
            if held.len() < ids.len() || held[..ids.len()] != ids {
                return Err(format!(
                    "promise 3: a reader of run {run} saw {ids:?}, the stream holds {held:?}"
                ));
            }
            count += ids.len();
        }
    }
    Ok(count)
}

async fn watch(load: Arc<Load>) -> Vec<Watched> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .build()
        .unwrap_or_default();
    let mut all = Vec::new();
    while !load.is_stopped() {
        let Some(run) = load.any() else {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let mut watched = Watched {
            run,
            ids: Vec::new(),
        };
        // Until the run ended, over however many kills.
        while !follow(&client, load.url(), &mut watched).await && !load.is_stopped() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        all.push(watched);
    }
    all
}

/// Reads until the connection breaks; true when the stream said that the run had ended.
async fn follow(client: &reqwest::Client, url: &str, watched: &mut Watched) -> bool {
    let path = format!(
        "{url}/api/events/flow/{}/stream?follow=until-end",
        watched.run
    );
    let mut request = client.get(path);
    if let Some(last) = watched.ids.last() {
        request = request.header("last-event-id", last);
    }
    let Ok(answer) = request.send().await else {
        return false;
    };
    if !answer.status().is_success() {
        return false;
    }
    let mut body = answer.bytes_stream();
    let mut text = String::new();
    while let Some(Ok(part)) = body.next().await {
        text.push_str(&String::from_utf8_lossy(&part));
        while let Some(end) = text.find("\n\n") {
            let block: String = text.drain(..end + 2).collect();
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let Some(id) = field("id: ").or_else(|| field("id:")) {
                watched.ids.push(id.trim().to_owned());
            }
            let kind = field("event: ")
                .or_else(|| field("event:"))
                .unwrap_or_default();
            if matches!(
                kind.trim(),
                "flow.completed" | "flow.failed" | "flow.cancelled"
            ) {
                return true;
            }
        }
    }
    false
}
