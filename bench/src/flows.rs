//! The flows that are measured, and a runtime to run them through the library.

use std::{path::Path, sync::Arc};

use riverrun_expr::{Limits, Sandbox};
use riverrun_runtime::{Options, Runtime};
use riverrun_store_sqlite::SqliteStore;
use serde_json::{Value, json};

use crate::Result;

/// Three steps that are executed in process and have no effects.
pub fn three_steps() -> Value {
    json!({
        "id": "three", "version": "1.0.0", "initialStepId": "first",
        "steps": {
            "first": {"type": "set", "config": {"value": {"ok": true}}, "outputKey": "first", "transitions": {"onSuccess": "second"}},
            "second": {"type": "transform", "config": {"transform": "input.ok"}, "input": {"type": "key", "key": "first"}, "outputKey": "second", "transitions": {"onSuccess": "third"}},
            "third": {"type": "set", "config": {"value": {"n": "${n}"}}, "outputKey": "third"},
        },
    })
}

/// A flow that waits for as long as anybody measures.
pub fn waiting() -> Value {
    json!({
        "id": "waiting", "version": "1.0.0", "initialStepId": "wait",
        "steps": {"wait": {"type": "delay", "config": {"ms": "1 day"}}},
    })
}

/// A flow that goes round until the limit of steps ends it: two events a step.
pub fn turning(id: &str, events: usize) -> Value {
    json!({
        "id": id, "version": "1.0.0", "initialStepId": "turn",
        "limits": {"maxSteps": events / 2},
        "steps": {"turn": {"type": "set", "config": {"value": {"ok": true}}, "outputKey": "last", "transitions": {"onSuccess": "turn"}}},
    })
}

/// A runtime with the defaults on a folder.
pub async fn open(data: &Path) -> Result<Runtime> {
    let store = SqliteStore::open(riverrun_store_sqlite::Options::new(data))?;
    let sandbox = Arc::new(Sandbox::new(Limits::default())?);
    let handlers = riverrun_handlers::all(riverrun_handlers::Options::default());
    Ok(Runtime::open(store, sandbox, handlers, Options::default()).await?)
}
