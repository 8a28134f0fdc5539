//! The expressions of awaits, which tell whether an event is meant.
//!
//! One that throws, or takes too long, means no event; the run that waits is told once, since nobody
//! else would ever wonder why it does not go on.

use quick_cache::{Weighter, sync::Cache};
use riverrun_expr::Expr;
use riverrun_store::{
    AwaitRecord, Awaited, Change, Commit, Direction, Error as StoreError, EventQuery, Fire,
    Matcher, SignalRecord, Store,
};
use riverrun_types::{Draft, Event, EventType, Json, Millis, Name, RunId, StepRef, StreamName};
use serde::{Deserialize, Serialize};

use super::{
    awaits::Filter,
    rules::{evaluate, is_true},
};
use crate::{Error, Result, Runtime, streams::Guard};

/// Candidates that are looked at at a time.
const BATCH: usize = 100;

/// Sources whose compiled form is kept, and their bytes.
const MAX_SOURCES: usize = 10_000;
const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// Awaits of which it is remembered that their run was told.
const MAX_TOLD: usize = 10_000;

/// The latest warnings of a run among which one about an await is looked for.
const MAX_WARNINGS: usize = 100;

pub(super) struct Filters<'a> {
    runtime: &'a Runtime,
    compiled: Cache<String, Expr, Length>,
    told: Cache<Name, ()>,
}

#[derive(Clone)]
struct Length;

impl Weighter<String, Expr> for Length {
    fn weight(&self, source: &String, _: &Expr) -> u64 {
        source.len().max(1) as u64
    }
}

impl<'a> Filters<'a> {
    pub fn new(runtime: &'a Runtime) -> Self {
        Self {
            runtime,
            compiled: Cache::with_weighter(MAX_SOURCES, MAX_SOURCE_BYTES, Length),
            told: Cache::new(MAX_TOLD),
        }
    }

    /// Fires the awaits that a signal means.
    pub async fn judge(&self, signal: &SignalRecord) -> Result<()> {
        let mut cursor: Option<String> = None;
        loop {
            let store = self.runtime.store();
            let page = store.candidates(signal, BATCH, cursor.as_deref()).await?;
            for record in &page.items {
                let Awaited::Event { matcher, .. } = &record.what else {
                    continue;
                };
                match self.holds(matcher, &signal.emit.event).await {
                    Ok(true) => self.fire(&record.id, signal.emit.event.clone()).await?,
                    Ok(false) => {}
                    // It may be the end of this server that keeps it from being judged.
                    Err(_) if self.runtime.is_stopping() => return Err(Error::ShuttingDown),
                    Err(error) => self.tell(record, &signal.emit.kind, &error).await?,
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether the part of a matcher holds that only an expression can judge.
    async fn holds(&self, matcher: &Matcher, event: &Json) -> std::result::Result<bool, String> {
        let Matcher::Filter { filter, .. } = matcher else {
            return Ok(true);
        };
        let filter: Filter = filter.read().map_err(|error| error.to_string())?;
        let expr = match self.compiled.get(&filter.source) {
            Some(expr) => expr,
            None => {
                let expr = Expr::compile(&filter.source).map_err(|error| error.to_string())?;
                self.compiled.insert(filter.source, expr.clone());
                expr
            }
        };
        let found = evaluate(self.runtime.services(), &expr, event, &filter.ctx).await?;
        Ok(found.is_some_and(|found| is_true(&found)))
    }

    /// Fires an await, unless somebody was faster.
    async fn fire(&self, id: &Name, value: Json) -> Result<()> {
        let fire = Fire {
            id: id.clone(),
            value,
            now_ms: self.runtime.now_ms(),
        };
        let fire = Commit::of(Change::Fire(Box::new(fire)));
        match self.runtime.commit(fire).await {
            Ok(_)
            | Err(
                StoreError::AwaitUsed(_)
                | StoreError::AwaitClosed(_)
                | StoreError::AwaitNotFound(_)
                | StoreError::AwaitExpired(_),
            ) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells the run that waits that its expression cannot be judged, the first time.
    async fn tell(&self, record: &AwaitRecord, kind: &str, error: &str) -> Result<()> {
        if self.told.contains_key(&record.id) {
            return Ok(());
        }
        let (run, id) = (&record.run, &record.id);
        tracing::warn!(%run, await_id = %id, error, "the where of an await cannot be judged; the event is passed over");
        let store = self.runtime.store();
        if !troubles(store, run).await?.iter().any(|it| it.id == *id) {
            let step = StepRef {
                name: record.step.clone(),
                visit: record.visit,
                attempt: 0,
            };
            let warning = Draft::new(self.runtime.now_ms(), EventType::LogWarn)
                .step(step)
                .data(Warning {
                    message: format!("the where of the await of event {kind}: {error}"),
                    code: "EXPRESSION_ERROR".to_owned(),
                    await_id: id.clone(),
                });
            let drafts = [warning].into();
            let told = self.runtime.append_to_run(run, drafts, Guard::default());
            match told.await {
                // Whoever waited waits no more.
                Ok(_) | Err(Error::Store(StoreError::RunNotFound(_) | StoreError::RunEnded(_))) => {
                }
                Err(error) => return Err(error),
            }
        }
        self.told.insert(id.clone(), ());
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Warning {
    message: String,
    code: String,
    await_id: Name,
}

/// That the expression of an await could not be judged.
#[derive(Clone)]
pub(crate) struct Trouble {
    pub id: Name,
    pub ms: Millis,
    pub code: String,
    pub message: String,
}

/// What a run was told about its awaits lately.
pub(crate) async fn troubles(store: &dyn Store, run: &RunId) -> Result<Vec<Trouble>> {
    let query = EventQuery {
        direction: Direction::Backward,
        from: None,
        types: vec![EventType::LogWarn],
        ..EventQuery::forward(0, MAX_WARNINGS)
    };
    let events = store.events(&StreamName::flow(run), &query).await?;
    let trouble = |event: Event| {
        let warning: Warning = event.data?.read().ok()?;
        Some(Trouble {
            id: warning.await_id,
            ms: event.id.ms,
            code: warning.code,
            message: warning.message,
        })
    };
    Ok(events.into_iter().filter_map(trouble).collect())
}
