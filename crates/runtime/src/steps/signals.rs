//! Emitted events on their way to whoever waits for their kind, in any run.
//!
//! Awaits that name values are found by the store itself, in the commit that holds the event.
//! What only an expression can judge goes through the store's outbox, which is read here: every
//! instance does it, an await fires once whoever is first, and a signal that was judged twice does
//! no harm.

use std::time::Duration;

use riverrun_engine::Fact;
use riverrun_expr::Expr;
use riverrun_store::{
    Awaited, Change, Commit, Error as StoreError, Fire, Matcher, Signal, SignalRecord,
};
use riverrun_types::{Draft, Json, Name, StreamName, event::EventContext};

use super::{
    awaits::Filter,
    rules::{Emission, evaluate, is_true},
};
use crate::{
    Result, Runtime,
    runtime::{pause, rest},
};

/// Signals judged at a time, and candidates looked at at a time.
const BATCH: usize = 100;

/// What a commit that holds events must tell those who wait for such. `is_heard` says whether steps of
/// the run that holds them react to a kind.
pub(crate) fn signals(
    stream: &StreamName,
    context: &EventContext,
    drafts: &[Draft],
    now: i64,
    is_heard: impl Fn(&str) -> bool,
) -> Vec<Change> {
    let is_run = stream.run().is_some();
    drafts
        .iter()
        .filter_map(|draft| {
            let Fact::Emitted { kind, payload, .. } = Fact::read(draft) else {
                return None;
            };
            // What a job says of itself is not news for everybody.
            if matches!(&*kind, kind if kind.starts_with("job.")) {
                return None;
            }
            let mut emission = Emission::of(draft, &kind, &payload);
            if is_run {
                emission.run_id = Some(&context.run_id);
                emission.flow_name = Some(&context.flow_name);
            }
            Some(Change::Signal(Box::new(Signal {
                event: Json::of(&emission),
                is_heard: is_heard(&kind),
                kind,
                tenant: context.tenant_id.clone(),
                now_ms: now,
                stream: stream.clone(),
            })))
        })
        .collect()
}

/// Judges what is in the outbox, whenever something is.
pub(crate) async fn read_outbox(runtime: Runtime) {
    let told = runtime.bus().signals();
    // What an earlier life left in the outbox would be told to nobody.
    tokio::select! {
        () = runtime.listened_to() => {}
        () = runtime.stopping() => return,
    }
    loop {
        match runtime.judge_signals().await {
            Ok(0) => {
                if !rest(&runtime, told.notified()).await {
                    return;
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(%error, "events could not be led to those who wait for them; trying again");
                if !pause(&runtime, Duration::from_millis(500)).await {
                    return;
                }
            }
        }
        if runtime.is_stopping() {
            return;
        }
    }
}

impl Runtime {
    /// Judges the oldest signals of the outbox; says how many there were.
    async fn judge_signals(&self) -> Result<usize> {
        let signals = self.store().signals(0, BATCH).await?;
        let count = signals.len();
        for signal in signals {
            self.judge_signal(&signal).await?;
            for listener in self.listeners() {
                listener.hear(&signal).await?;
            }
            self.commit(Commit::of(Change::Heard(signal.no))).await?;
        }
        Ok(count)
    }

    async fn judge_signal(&self, signal: &SignalRecord) -> Result<()> {
        let mut cursor: Option<String> = None;
        loop {
            let page = self
                .store()
                .candidates(signal, BATCH, cursor.as_deref())
                .await?;
            for record in &page.items {
                let Awaited::Event { matcher, .. } = &record.what else {
                    continue;
                };
                if self.holds(matcher, &signal.emit.event, &record.run).await {
                    self.fire(&record.id, signal.emit.event.clone()).await?;
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Whether the part of a matcher holds that only an expression can judge. One that throws
    /// does not, and says so.
    async fn holds(&self, matcher: &Matcher, event: &Json, run: &riverrun_types::RunId) -> bool {
        let Matcher::Filter { filter, .. } = matcher else {
            return true;
        };
        let Ok(filter) = filter.read::<Filter>() else {
            return false;
        };
        let expr = match Expr::compile(&filter.source) {
            Ok(expr) => expr,
            Err(error) => {
                tracing::warn!(%run, %error, "the where of an await does not compile");
                return false;
            }
        };
        match evaluate(self.services(), &expr, event, &filter.ctx).await {
            Ok(holds) => holds.is_some_and(|holds| is_true(&holds)),
            Err(error) => {
                tracing::warn!(%run, error, "the where of an await throws; the event is passed over");
                false
            }
        }
    }

    /// Fires an await, unless somebody was faster.
    async fn fire(&self, id: &Name, value: Json) -> Result<()> {
        let fire = Fire {
            id: id.clone(),
            value,
            now_ms: self.now_ms(),
        };
        match self.commit(Commit::of(Change::Fire(Box::new(fire)))).await {
            Ok(_)
            | Err(
                StoreError::AwaitUsed(_)
                | StoreError::AwaitNotFound(_)
                | StoreError::AwaitExpired(_),
            ) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
