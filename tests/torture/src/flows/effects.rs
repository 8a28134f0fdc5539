//! The world outside: a server that counts what the flows do to it.

use std::{collections::HashMap, net::SocketAddr, sync::Arc};

use axum::{Router, extract::Path, routing::post};
use parking_lot::Mutex;

pub struct Effects {
    pub address: SocketAddr,
    counts: Arc<Mutex<HashMap<String, usize>>>,
}

impl Effects {
    pub async fn serve() -> Result<Self, String> {
        let counts: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let counted = counts.clone();
        let count = move |Path(name): Path<String>| async move {
            let mut counts = counted.lock();
            let count = counts.entry(name).or_default();
            *count += 1;
            axum::Json(*count)
        };
        let app = Router::new().route("/effect/{name}", post(count));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .map_err(|e| e.to_string())?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        tokio::spawn(async move { axum::serve(listener, app).await });
        Ok(Self { address, counts })
    }

    pub fn count(&self, name: &str) -> usize {
        self.counts.lock().get(name).copied().unwrap_or_default()
    }
}
