//! The awaits of a run's visits: registered with the commit that suspends the visits, settled when
//! they were fired.

use riverrun_engine::{Input, VisitKey, Wait};
use riverrun_store::{AwaitRecord, AwaitState, Awaited, Change, NewAwait};
use riverrun_types::Json;

use super::drive::Driver;
use crate::{
    awaits::{register, resumed_times},
    base::Result,
};

impl Driver {
    /// The changes that register the awaits of visits, and the events that others may wait for, in
    /// the order of the stream: an event before an await settles it only if the await looks back.
    pub(crate) fn awaits_and_signals(&self) -> Vec<Change> {
        let waits = |new: &NewAwait| {
            let is_it =
                |wait: &Option<Wait>| matches!(wait, Some(Wait::Await(a)) if a.id == new.id);
            self.state.visits.iter().any(|visit| is_it(&visit.wait))
        };
        let public = self.runs.base().options().public_url.as_deref();
        let mut changes = Vec::new();
        let mut signals = self.signals.iter().enumerate().peekable();
        for (signalled, new) in self.awaits.iter().filter(|(_, new)| waits(new)) {
            while let Some((_, signal)) = signals.next_if(|(index, _)| index < signalled) {
                changes.push(signal.clone());
            }
            changes.extend(register(new.clone(), public));
        }
        changes.extend(signals.map(|(_, signal)| signal.clone()));
        changes
    }

    /// Settles the awaits that have been fired.
    pub(crate) async fn look_at_awaits(&mut self) -> Result<()> {
        let waits = |wait: &Option<Wait>| matches!(wait, Some(Wait::Await(awaiting)) if !awaiting.what.is_time());
        if !self.state.visits.iter().any(|visit| waits(&visit.wait)) {
            return Ok(());
        }
        let mut awaits = self.runs.base().store().awaits_of(&self.run).await?;
        if self.judge_late(&awaits).await? {
            awaits = self.runs.base().store().awaits_of(&self.run).await?;
        }
        for record in awaits {
            if record.state == AwaitState::Fired {
                self.settled(record);
            }
        }
        Ok(())
    }

    /// Judges the signals in the outbox for awaits whose time is over, and returns whether that
    /// fired one.
    async fn judge_late(&mut self, awaits: &[AwaitRecord]) -> Result<bool> {
        let now = self.runs.base().now_ms();
        let is_late = |record: &&AwaitRecord| {
            let is_event = matches!(record.what, Awaited::Event { .. });
            let is_over = record.expires_ms.is_some_and(|until| until <= now);
            is_event && is_over && record.state == AwaitState::Open
        };
        let mut is_fired = false;
        for record in awaits.iter().filter(is_late) {
            match self.runs.all_awaits().judge_in_time(record).await? {
                None => is_fired = true,
                Some(judged) => drop(self.judged.insert(record.id.clone(), judged)),
            }
        }
        Ok(is_fired)
    }

    /// Looks at the awaits before any of them times out: an await that was fired in time does not
    /// time out, however late its run reads that.
    pub(crate) async fn look_before_due(&mut self) {
        let now = self.runs.base().now_ms();
        let is_late = |wait: &Option<Wait>| matches!(wait, Some(Wait::Await(awaiting)) if awaiting.until_ms.is_some_and(|until| until <= now));
        if !self.state.visits.iter().any(|visit| is_late(&visit.wait)) {
            return;
        }
        // The store rejects the timeout of a fired await, which is then looked at again.
        if let Err(error) = Box::pin(self.look_at_awaits()).await {
            tracing::warn!(run = %self.run, %error, "could not read the run's awaits");
        }
    }

    fn settled(&mut self, record: AwaitRecord) {
        let reason = match &record.what {
            Awaited::Event { kind, .. } => format!("event {kind}"),
            Awaited::Callback { .. } => "trigger fired".to_owned(),
        };
        let visit = VisitKey {
            step: record.step.clone(),
            visit: record.visit,
        };
        // Each wait for a repeatable callback takes the next value.
        let taken = self.state.visit(&visit).map_or(0, |v| v.taken(&record.id));
        let value = match resumed_times(&record.what) {
            None => record.values.into_iter().nth(taken as usize),
            Some(count) if record.values.len() >= count => {
                Some(Json::of(&record.values[..count].to_vec()))
            }
            Some(_) => return self.opened_too_seldom(visit, record),
        };
        let Some(value) = value else {
            return;
        };
        self.judge(Input::Settled {
            visit,
            id: record.id,
            value,
            reason,
        });
    }

    /// A callback was resumed less often than its step waits for: it still times out, and the step
    /// that is entered on the timeout gets the values so far.
    fn opened_too_seldom(&mut self, visit: VisitKey, record: AwaitRecord) {
        self.opened.insert(record.id.clone(), record.fired);
        if record
            .expires_ms
            .is_some_and(|until| until <= self.runs.base().now_ms())
        {
            self.judge(Input::Late {
                visit,
                id: record.id,
                so_far: Json::of(&record.values),
            });
        }
    }
}
