//! The clock of schedules. It sleeps until the earliest due time in the store and is woken by
//! changes; it does not poll.

use std::time::Duration;

use futures::StreamExt;
use riverrun_store::{Error as StoreError, Fired, Firing, Take, TriggerRecord};
use riverrun_types::{Json, Millis, time::NEVER, time::iso};
use serde_json::json;
use tokio::sync::watch;

use crate::{
    Error, Result, Trigger, Triggers,
    fire::{Shot, Story, all, missed_event, tell},
    read::{Given, key, land},
};

/// Schedules that are served at a time.
const BATCH: usize = 64;
const AT_ONCE: usize = 16;

/// How long to wait after a failure of the store.
const RETRY: Duration = Duration::from_millis(500);

/// What ended a wait for the next due time.
enum Woken {
    Due,
    Changed,
    Stopping,
}

impl Triggers {
    /// Serves schedules until the runtime stops.
    pub(crate) async fn keep_time(self, mut changes: watch::Receiver<u64>) {
        let runtime = self.runtime().clone();
        while !runtime.base().is_stopping() {
            let next_ms = match self.serve_due().await {
                Ok(Served::Some) => continue,
                Ok(Served::NoneUntil(next_ms)) => Some(next_ms),
                Err(error) => {
                    tracing::warn!(%error, "schedules could not be served; trying again");
                    None
                }
            };
            let pause = async {
                match next_ms {
                    Some(next_ms) => runtime.base().clock().sleep_until(next_ms).await,
                    None => tokio::time::sleep(RETRY).await,
                }
            };
            let woken = async {
                tokio::select! {
                    () = pause => Woken::Due,
                    Ok(()) = changes.changed() => Woken::Changed,
                    () = runtime.base().stopping() => Woken::Stopping,
                }
            };
            match runtime.base().clock().rest(woken).await {
                Woken::Due => {}
                Woken::Changed => {
                    if let Err(error) = self.reload().await {
                        tracing::warn!(%error, "triggers could not be read");
                    }
                }
                Woken::Stopping => return,
            }
        }
    }

    async fn serve_due(&self) -> Result<Served> {
        let now = self.runtime().base().now_ms();
        let due = self
            .runtime()
            .base()
            .store()
            .due_triggers(now, BATCH)
            .await?;
        if due.due.is_empty() {
            return Ok(Served::NoneUntil(due.next_ms.unwrap_or(NEVER)));
        }
        let served = futures::stream::iter(due.due)
            .map(|record| async move { self.serve(&record, now).await })
            .buffer_unordered(AT_ONCE);
        let served: Vec<Result<()>> = served.collect().await;
        served.into_iter().collect::<Result<()>>()?;
        Ok(Served::Some)
    }

    /// One turn of a schedule that is due. Only a failure that will pass is one.
    async fn serve(&self, record: &TriggerRecord, now: Millis) -> Result<()> {
        let Some(due_ms) = record.due_ms else {
            return Ok(());
        };
        let served = match Trigger::of(record) {
            Ok(trigger) => self.take_turn(&trigger, due_ms, now).await,
            Err(error) => self.give_up(record, due_ms, &error).await,
        };
        match served {
            // Another instance was faster, or somebody changed it: look again.
            Err(Error::Runtime(riverrun_runtime::Error::Store(
                StoreError::TriggerMoved(_) | StoreError::TriggerNotFound(_),
            ))) => Ok(()),
            Err(error) if error.is_passing() => Err(error),
            Err(error) => {
                tracing::warn!(trigger = %record.id, %error, "a schedule started no run");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    async fn take_turn(&self, trigger: &Trigger, due_ms: Millis, now: Millis) -> Result<()> {
        let Some(schedule) = trigger.schedule() else {
            return Ok(());
        };
        let decision = schedule.decide(due_ms, now);
        let take = Take {
            version: trigger.version,
            from_ms: due_ms,
            to_ms: decision.next_ms,
            missed: decision.missed,
        };
        let Some(fire_ms) = decision.fire_ms else {
            let firing = firing(trigger, Fired::Nothing, take, now);
            let mut changes = vec![firing];
            changes.extend(tell(&trigger.id, [missed_event(trigger, &take, now)]));
            self.runtime().base().commit(all(changes)).await?;
            return Ok(());
        };
        let shot = Shot {
            take: Some(take),
            ..scheduled(trigger, schedule.source(), fire_ms, now)
        };
        let input = self.tick_input(trigger, fire_ms, now).await;
        self.shoot(shot, input).await.map(drop)
    }

    /// A schedule whose definition means nothing to this version is never due again.
    async fn give_up(&self, record: &TriggerRecord, due_ms: Millis, error: &Error) -> Result<()> {
        let failure = Json::of(&json!({"code": error.code(), "message": error.to_string()}));
        let take = Take {
            version: record.version,
            from_ms: due_ms,
            to_ms: None,
            missed: 0,
        };
        let firing = Firing {
            trigger: record.id.clone(),
            now_ms: self.runtime().base().now_ms(),
            outcome: Fired::Failed(failure),
            due: Some(take),
        };
        let commit = all(vec![riverrun_store::Change::Fired(Box::new(firing))]);
        self.runtime().base().commit(commit).await?;
        tracing::error!(trigger = %record.id, %error, "a schedule cannot be read and starts nothing");
        Ok(())
    }

    /// The input of a run for a due time.
    pub(crate) async fn tick_input(
        &self,
        trigger: &Trigger,
        due_ms: Millis,
        now: Millis,
    ) -> Result<Json> {
        let expressions = &trigger.expressions;
        let input = trigger.default_input();
        let Some(expr) = &expressions.input_map else {
            return Ok(land(input, expressions.context_key.as_ref()));
        };
        let tick = json!({
            "dueAt": iso(due_ms), "dueMs": due_ms, "firedAt": iso(now), "firedMs": now,
            "input": input,
        });
        let tick = Json::of(&tick);
        let given = Given {
            name: "tick",
            what: &tick,
            trigger: &trigger.about,
        };
        let mapped = given.eval(self.runtime(), "inputMap", expr).await?;
        let mapped = mapped.unwrap_or_else(Json::null);
        Ok(land(mapped, expressions.context_key.as_ref()))
    }
}

enum Served {
    Some,
    NoneUntil(Millis),
}

/// A run for a due time. Its key is that time: a repeated start returns the existing run.
pub(crate) fn scheduled<'a>(
    trigger: &'a Trigger,
    source: &'a str,
    due_ms: Millis,
    now: Millis,
) -> Shot<'a> {
    Shot {
        trigger,
        source,
        received_ms: now,
        request_id: None,
        key: Some(key(&trigger.id, &iso(due_ms))),
        due_ms: Some(due_ms),
        take: None,
        story: Story::default(),
    }
}

fn firing(trigger: &Trigger, outcome: Fired, take: Take, now: Millis) -> riverrun_store::Change {
    riverrun_store::Change::Fired(Box::new(Firing {
        trigger: trigger.id.clone(),
        now_ms: now,
        outcome,
        due: Some(take),
    }))
}
