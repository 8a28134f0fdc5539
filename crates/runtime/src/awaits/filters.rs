//! The expressions of awaits, which decide whether an event matches.
//!
//! An expression that throws, or takes too long, matches no event; the waiting run logs a warning
//! once, since nothing else would show why it does not go on.

use quick_cache::{Weighter, sync::Cache};
use riverrun_contract::compile_expr;
use riverrun_expr::Expr;
use riverrun_store::{
    AwaitRecord, Awaited, Change, Commit, Direction, Error as StoreError, EventQuery, Expect, Fire,
    Matcher, SignalRecord, SignalsOf, Store, equality,
};
use riverrun_types::{
    Code, Draft, ErrorCode, Event, EventType, Json, Millis, Name, RunId, StepRef, StreamName,
    event::EventContext,
};
use serde::{Deserialize, Serialize};

use super::{Awaits, register::Filter};
use crate::{
    base::{Error, Result, is_true},
    streams::Guard,
};

/// Candidates that are read at a time.
const BATCH: usize = 100;

/// Sources whose compiled form is kept, and their bytes.
const MAX_SOURCES: usize = 10_000;
const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// Awaits for which it is remembered that their run has the warning.
const MAX_WARNED: usize = 10_000;

/// The latest warnings of a run that are searched for one about an await.
const MAX_WARNINGS: usize = 100;

/// Cached data about the expressions of awaits.
pub(crate) struct Filters {
    compiled: Cache<String, Expr, Length>,
    warned: Cache<Name, ()>,
}

#[derive(Clone)]
struct Length;

impl Weighter<String, Expr> for Length {
    fn weight(&self, source: &String, _: &Expr) -> u64 {
        source.len().max(1) as u64
    }
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            compiled: Cache::with_weighter(MAX_SOURCES, MAX_SOURCE_BYTES, Length),
            warned: Cache::new(MAX_WARNED),
        }
    }
}

impl Awaits {
    /// Fires the awaits that a signal matches.
    pub(crate) async fn judge_signal(&self, signal: &SignalRecord) -> Result<()> {
        let mut cursor: Option<String> = None;
        loop {
            let store = self.base().store();
            let page = store.candidates(signal, BATCH, cursor.as_deref()).await?;
            for record in &page.items {
                self.judge_pair(record, signal).await?;
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Judges the signals in the outbox for an open await whose time is over: an event that came
    /// before counts, however long the backlog. Returns the number of the last signal that does not
    /// match, or nothing if the await was fired.
    pub(crate) async fn judge_in_time(&self, record: &AwaitRecord) -> Result<Option<u64>> {
        let mut judged = 0;
        loop {
            let signals = self
                .base()
                .store()
                .signals(SignalsOf::Await(&record.id), judged, BATCH)
                .await?;
            let Some(last) = signals.last() else {
                return Ok(Some(judged));
            };
            for signal in &signals {
                if self.judge_pair(record, signal).await? {
                    return Ok(None);
                }
            }
            judged = last.no;
            // More signals for this await alone may follow.
            let is_own = |signal: &&SignalRecord| signal.only.as_ref() == Some(&record.id);
            let own = signals.iter().filter(is_own);
            let changes: Vec<Change> = own.map(|signal| Change::RemoveSignal(signal.no)).collect();
            if !changes.is_empty() {
                let removal = Commit {
                    changes,
                    ..Commit::default()
                };
                self.base().commit(removal).await?;
            }
        }
    }

    /// Fires an await if a signal matches it; returns whether it does.
    async fn judge_pair(&self, record: &AwaitRecord, signal: &SignalRecord) -> Result<bool> {
        let Awaited::Event { matcher, .. } = &record.what else {
            return Ok(false);
        };
        match self.holds(matcher, &signal.emit.event).await {
            Ok(true) => self.fire(record, signal).await.map(|()| true),
            Ok(false) => Ok(false),
            // The failure may be the shutdown of this server.
            Err(_) if self.base().is_stopping() => Err(Error::ShuttingDown),
            Err(error) => {
                self.tell(record, &signal.emit.kind, &error).await?;
                Ok(false)
            }
        }
    }

    async fn holds(&self, matcher: &Matcher, event: &Json) -> std::result::Result<bool, String> {
        if !equality::holds(matcher.equal(), event) {
            return Ok(false);
        }
        let Matcher::Filter { filter, .. } = matcher else {
            return Ok(true);
        };
        let filter: Filter = filter.read().map_err(|error| error.to_string())?;
        let compiled = &self.filters().compiled;
        let expr = match compiled.get(&filter.source) {
            Some(expr) => expr,
            None => {
                let expr = compile_expr(&filter.source).map_err(|error| error.to_string())?;
                compiled.insert(filter.source, expr.clone());
                expr
            }
        };
        let found = self
            .base()
            .evaluate_event(&expr, event, &filter.ctx)
            .await?;
        Ok(found.is_some_and(|found| is_true(&found)))
    }

    /// Fires an await, unless another instance was first. The time of the event counts, not the
    /// time at which it was judged.
    async fn fire(&self, record: &AwaitRecord, signal: &SignalRecord) -> Result<()> {
        let fire = Fire {
            id: record.id.clone(),
            value: signal.emit.event.clone(),
            now_ms: signal.emit.ms.max(record.created_ms),
            most: None,
        };
        let fire = Commit::of(Change::Fire(Box::new(fire)));
        match self.base().commit(fire).await {
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

    /// Warns the waiting run, the first time, that its expression cannot be judged.
    async fn tell(&self, record: &AwaitRecord, kind: &str, error: &str) -> Result<()> {
        let warned = &self.filters().warned;
        if warned.contains_key(&record.id) {
            return Ok(());
        }
        let (run, id) = (&record.run, &record.id);
        tracing::warn!(%run, await_id = %id, error, "the where of an await cannot be judged; the event is passed over");
        if !troubles(self.base().store(), run)
            .await?
            .iter()
            .any(|it| it.id == *id)
        {
            let step = StepRef {
                name: record.step.clone(),
                visit: record.visit,
                attempt: 0,
            };
            let warning = Draft::new(self.base().now_ms(), EventType::LogWarn)
                .step(step)
                .data(Warning {
                    message: format!("the where of the await of event {kind}: {error}"),
                    code: ErrorCode::ExpressionError.into(),
                    await_id: id.clone(),
                });
            self.warn(run, warning).await?;
        }
        warned.insert(id.clone(), ());
        Ok(())
    }

    /// Appends a warning to the stream of a run, unless the run does not wait any more.
    async fn warn(&self, run: &RunId, warning: Draft) -> Result<()> {
        let Some(record) = self.base().store().run(run).await? else {
            return Ok(());
        };
        let context = EventContext {
            run_id: Name::from(run.as_str()),
            flow_name: record.flow,
            tenant_id: record.tenant,
        };
        let (stream, guard) = (StreamName::flow(run), Guard::default());
        let drafts = [warning].into();
        let streams = self.streams();
        let placed = streams.place(&stream, context, Expect::Any, drafts, &guard);
        match placed.await {
            Ok(_) | Err(StoreError::RunNotFound(_) | StoreError::RunEnded(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Warning {
    message: String,
    code: Code,
    await_id: Name,
}

/// The warning that the expression of an await could not be judged.
#[derive(Clone)]
pub(crate) struct Trouble {
    pub id: Name,
    pub ms: Millis,
    pub code: Code,
    pub message: String,
}

/// The latest warnings of a run about its awaits.
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
