//! riverrun inside a program: one instance, the embedded store, a handler of its own.
//!
//! Give a folder to keep the data in; without one everything stays in memory.

use riverrun::{ExprIsolation, Riverrun, function, json};
use serde::Deserialize;

#[derive(Deserialize)]
struct Greet {
    name: String,
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is what an example does")]
async fn main() -> riverrun::Result<()> {
    // First of all: expressions run in child processes, which are this program started again.
    let isolation = ExprIsolation::processes();
    let store = match std::env::args().nth(1) {
        Some(folder) => Riverrun::builder().data(folder),
        None => Riverrun::builder().memory(),
    };

    // The built-in handlers are there already; this adds a kind of step called `greet`.
    let river = store
        .isolate_expr(isolation)
        .handler(function("greet", |input: Greet| async move {
            Ok(format!("Hello, {}!", input.name))
        }))
        .open()
        .await?;

    river
        .register(json!({
            "id": "hello-world",
            "version": "1.0.0",
            "initialStepId": "name",
            "steps": {
                "name": {
                    "type": "set",
                    "config": { "value": "World" },
                    "outputKey": "name",
                    "transitions": { "onSuccess": "greet" },
                },
                "greet": {
                    "type": "greet",
                    "input": { "type": "keys", "keys": ["name"] },
                    "outputKey": "message",
                },
            },
        }))
        .await?;

    let id = river.start("hello-world", json!({})).await?;
    let run = river.wait(&id, std::time::Duration::from_secs(10)).await?;
    println!("{}", run.state["message"].as_str().unwrap_or_default());
    for event in river.events(&id).await? {
        println!(
            "  {:<16} {}",
            event.kind,
            event.step.map_or_else(String::new, |s| s.name.to_string())
        );
    }
    river.shutdown().await
}
