//! A handler as the SDKs have it: what its journal holds is given, the first thing that it does not
//! hold is done, and at a wait the execution ends.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use futures::future::BoxFuture;
use riverrun_protocol::{JournalEntry, Reply, WorkError};
use riverrun_runtime::{Invocation, Provider};
use riverrun_types::Json;
use serde_json::{Value, json};

use super::world::World;

pub type Script = for<'a> fn(&'a mut Code) -> BoxFuture<'a, Result<Value, Stop>>;

/// Why an execution ends before its handler does.
pub enum Stop {
    Waits(Value),
    Fails(WorkError),
}

impl From<WorkError> for Stop {
    fn from(error: WorkError) -> Self {
        Self::Fails(error)
    }
}

pub struct Code {
    call: Invocation,
    world: Arc<World>,
    used: HashMap<(String, String), usize>,
}

/// A process whose handler is code.
pub struct Coded {
    pub script: Script,
    pub world: Arc<World>,
}

#[async_trait]
impl Provider for Coded {
    async fn invoke(&self, call: Invocation) -> Result<Reply, WorkError> {
        let mut code = Code {
            call,
            world: self.world.clone(),
            used: HashMap::new(),
        };
        match (self.script)(&mut code).await {
            Ok(value) => Ok(Reply {
                value: Some(Json::of(&value)),
                ..Reply::default()
            }),
            Err(Stop::Waits(wait)) => Ok(Reply {
                suspended: Some(serde_json::from_value(wait).unwrap()),
                ..Reply::default()
            }),
            Err(Stop::Fails(error)) => Err(error),
        }
    }
}

impl Code {
    pub fn input(&self) -> Value {
        let input = self.call.invoke.job.input.as_ref();
        input.map_or(Value::Null, Json::value)
    }

    pub fn awaited(&self) -> Value {
        let awaited = self.call.invoke.awaited.as_ref();
        awaited.map_or(Value::Null, Json::value)
    }

    pub fn step(&self) -> String {
        self.call.invoke.step.clone().unwrap()
    }

    fn run_id(&self) -> String {
        self.call.invoke.run_id.clone().unwrap()
    }

    /// The record of what is done now, if it was done before: the n-th use has the n-th record.
    fn record(&mut self, op: &str, name: &str) -> Option<JournalEntry> {
        let key = (op.to_owned(), name.to_owned());
        let used = self.used.entry(key).or_default();
        let journal = self.call.invoke.job.journal.iter();
        let mut fitting = journal.filter(|entry| entry.op == op && entry.name == name);
        let found = fitting.nth(*used).cloned();
        *used += 1;
        found
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, WorkError> {
        let answer = self.call.host.ask(method, Json::of(&params)).await?;
        Ok(answer.value())
    }

    /// Does something to the world, once as far as that can be.
    pub async fn run(&mut self, name: &str) -> Result<(), Stop> {
        if self.record("memo", name).is_some() {
            return Ok(());
        }
        let run = self.run_id();
        self.world.does(&run, name);
        self.ask("memo", json!({"name": name, "value": true}))
            .await?;
        self.world.recorded(&run, name);
        Ok(())
    }

    pub async fn emit(&mut self, kind: &str, data: Value) -> Result<(), Stop> {
        if self.record("emit", kind).is_none() {
            self.ask("emit", json!({"type": kind, "data": data}))
                .await?;
        }
        Ok(())
    }

    /// A callback, by its id.
    pub async fn callback(&mut self, callback: Value) -> Result<String, Stop> {
        let known = self.record("trigger", callback["type"].as_str().unwrap());
        let callback = match known {
            Some(entry) => entry.value.unwrap().value(),
            None => self.ask("await.trigger", callback).await?,
        };
        Ok(callback["id"].as_str().unwrap().to_owned())
    }

    /// What came, or the code of the error.
    pub fn wait(&mut self, name: &str, wait: Value) -> Result<Result<Value, String>, Stop> {
        match self.record("await", name) {
            None => Err(Stop::Waits(wait)),
            Some(JournalEntry {
                error: Some(error), ..
            }) => Ok(Err(error.get("code").unwrap().as_text().into_owned())),
            Some(entry) => Ok(Ok(entry.value.map_or(Value::Null, |v| v.value()))),
        }
    }
}
