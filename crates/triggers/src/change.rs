//! Changes of triggers, one at a time. Each change is the next version of a trigger, or removes it.

use std::sync::Arc;

use riverrun_store::{Change, Error as StoreError, NewTrigger, NextDue, TriggerRecord};
use riverrun_types::{Draft, EventType, Json, Millis, Name};
use serde_json::{Value, json};

use crate::{
    Definition, Error, Origin, Result, ShownTrigger, Trigger, Triggers,
    definition::lifted,
    fire::{all, tell},
    index::{Broken, origin, record_place},
    members::members_of,
    shown::{REDACTED, redact, secret},
    trigger::{is_setting, route},
};

/// The most triggers of a server: all of them are kept in memory.
const MAX_TRIGGERS: usize = 10_000;

/// Whether a trigger has such a member.
fn is_member(name: &str) -> bool {
    name == "version" || members_of::<Definition>().contains(&name)
}

/// A trigger that was put.
pub struct Put {
    pub trigger: ShownTrigger,
    /// It was not there before.
    pub created: bool,
    /// It is not as it was before.
    pub changed: bool,
}

impl Triggers {
    /// Makes a trigger, or changes the one of this id to what the definition says.
    pub async fn put(&self, definition: Value, origin: Origin) -> Result<Put> {
        let (definition, expected) = Definition::read(definition)?;
        self.keep(definition, expected, origin, false).await
    }

    /// Makes a trigger; one of this id must not be there.
    pub async fn create(&self, definition: Value) -> Result<Put> {
        let (definition, expected) = Definition::read(definition)?;
        if expected.is_some() {
            let message = "a new trigger has no version yet";
            return Err(Error::invalid("version", message));
        }
        self.keep(definition, None, Origin::Api, true).await
    }

    /// Changes some members of a trigger; those that are null are taken away.
    pub async fn patch(&self, id: &str, changes: Value) -> Result<Put> {
        let Value::Object(changes) = changes else {
            return Err(Error::invalid("(trigger)", "it must be an object"));
        };
        let record = self.record(id).await?;
        let mut merged = record.definition.value();
        if !merged.is_object() {
            // It is damaged: what it is to be must be said whole.
            merged = json!({ "id": &*record.id });
        }
        for (key, value) in changes {
            let key = match key.as_str() {
                "map" => "inputMap",
                "flowId" => "flow",
                key => key,
            };
            match (key, value) {
                ("id", value) if value != *id => {
                    return Err(Error::invalid("id", "the id of a trigger never changes"));
                }
                ("origin", value) if value != merged["origin"] => {
                    let message = "only the server says who keeps a trigger";
                    return Err(Error::invalid("origin", message));
                }
                // One that no trigger has is refused with its name when the whole is read.
                (key, Value::Null) if merged.get(key).is_some() || is_member(key) => {
                    merged.as_object_mut().map(|merged| merged.remove(key));
                }
                ("config", Value::Object(config)) if merged["config"].is_object() => {
                    for (key, value) in config {
                        if let Some(key) = lifted(&key) {
                            merged[key] = value;
                            continue;
                        }
                        match value {
                            Value::Null
                                if merged["config"].get(&key).is_some() || is_setting(&key) =>
                            {
                                let config = merged["config"].as_object_mut();
                                config.map(|config| config.remove(&key));
                            }
                            value => merged["config"][&key] = value,
                        }
                    }
                }
                (key, value) => merged[key] = value,
            }
        }
        let (definition, expected) = Definition::read(merged)?;
        // What it is merged with must still be there when it is written.
        let expected = expected.unwrap_or(record.version);
        self.keep(definition, Some(expected), origin(&record), false)
            .await
    }

    pub async fn enable(&self, id: &str, enabled: bool) -> Result<Put> {
        let _changing = self.changing().await;
        let record = self.record(id).await?;
        let before = match Trigger::of(&record) {
            Ok(before) => before,
            Err(_) if record.enabled == enabled => return Ok(unchanged(&record)),
            Err(error) if enabled => return Err(Broken::new(&record, &error).refusal()),
            Err(error) => return self.disable_broken(&record, &error).await,
        };
        if before.enabled == enabled {
            return Ok(unchanged(&record));
        }
        let mut definition = before.definition.clone();
        definition.enabled = Some(enabled);
        self.write(definition, Some((Some(before), record))).await
    }

    /// Lets one that cannot be used be as it is, but for that it is not meant to be used.
    async fn disable_broken(&self, record: &TriggerRecord, error: &Error) -> Result<Put> {
        let now_ms = self.runtime().base().now_ms();
        let place = record_place(record);
        let version = record.version + 1;
        let new = NewTrigger {
            id: record.id.clone(),
            version,
            kind: record.kind.clone(),
            enabled: false,
            definition: record.definition.clone(),
            route: place.map(|(method, pattern)| route(method, &pattern)),
            due: NextDue::At(None),
            now_ms,
        };
        let data = json!({"version": version, "type": &*record.kind, "enabled": false});
        let event = Draft::new(now_ms, EventType::TriggerRegistered).data(data);
        let mut changes = vec![Change::Trigger(Box::new(new))];
        changes.extend(tell(&record.id, [event]));
        self.runtime().base().commit(all(changes)).await?;
        let record = self.record(&record.id).await?;
        self.adopt(|kept| kept.put_broken(Broken::new(&record, error)));
        Ok(Put {
            changed: true,
            ..unchanged(&record)
        })
    }

    /// Removes a trigger. What it has started goes on.
    pub async fn remove(&self, id: &str) -> Result<()> {
        let _changing = self.changing().await;
        let record = self.record(id).await?;
        let now_ms = self.runtime().base().now_ms();
        let mut changes = vec![Change::Untrigger {
            id: record.id.clone(),
            version: record.version,
            now_ms,
        }];
        let kind = Trigger::of(&record).ok();
        let kind = kind.and_then(|trigger| trigger.listens_to().cloned());
        changes.extend(kind.and_then(|kind| self.listen(&record.id, &kind, false)));
        let data = json!({"reason": "removed", "version": record.version});
        let event = Draft::new(now_ms, EventType::TriggerCancelled).data(data);
        changes.extend(tell(id, [event]));
        self.runtime().base().commit(all(changes)).await?;
        self.adopt(|kept| kept.remove(id));
        Ok(())
    }

    async fn keep(
        &self,
        mut definition: Definition,
        expected: Option<u64>,
        origin: Origin,
        new: bool,
    ) -> Result<Put> {
        definition.origin = origin;
        let _changing = self.changing().await;
        let before = self
            .runtime()
            .base()
            .store()
            .trigger(&definition.id)
            .await?;
        let found = before.as_ref().map_or(0, |record| record.version);
        let id = || Name::from(definition.id.as_str());
        if let Some(expected) = expected.filter(|expected| *expected != found) {
            return Err(Error::Changed {
                id: id(),
                expected,
                found,
            });
        }
        if new && before.is_some() {
            return Err(Error::Exists(id()));
        }
        let Some(record) = before else {
            return self.write(definition, None).await;
        };
        let before = Trigger::of(&record);
        keep_secret(&mut definition, &record);
        // One that a file keeps may lack its secret, and is no other for that.
        let is_kept = match &before {
            Ok(_) => true,
            Err(Error::Secret(_)) => origin == Origin::Project,
            Err(_) => false,
        };
        let stored: Option<Definition> = record.definition.read().ok();
        let is_same = stored.is_some_and(|stored| {
            stored.origin == definition.origin && stored.is_same(&definition)
        });
        let is_switched = definition.enabled.is_some_and(|it| it != record.enabled);
        if is_kept && is_same && !is_switched {
            return Ok(unchanged(&record));
        }
        let before = before.ok();
        // One that cannot be used any more is replaced by one that can.
        self.write(definition, Some((before, record))).await
    }

    /// Writes what takes the place of a record, and of the trigger that this was.
    async fn write(
        &self,
        definition: Definition,
        before: Option<(Option<Trigger>, TriggerRecord)>,
    ) -> Result<Put> {
        let (before, record) = before.unzip();
        let before = before.flatten();
        let version = match &record {
            Some(record) => record.version,
            None => {
                let known = self.known().kept.len();
                if known >= MAX_TRIGGERS {
                    return Err(Error::TooMany(known));
                }
                let version = self
                    .runtime()
                    .base()
                    .store()
                    .trigger_version(&definition.id);
                version.await?.unwrap_or(0)
            }
        };
        let now_ms = self.runtime().base().now_ms();
        // The very moment that is stored: intervals are counted from it, now and after a restart.
        let created_ms = record.as_ref().map_or(now_ms, |record| record.created_ms);
        let kept = record.as_ref().is_none_or(|record| record.enabled);
        let enabled = definition.enabled.unwrap_or(kept);
        let of_file = (definition.origin == Origin::Project).then(|| definition.clone());
        let made = Trigger::new(definition, version + 1, enabled, created_ms);
        let (trigger, broken) = match (made, of_file) {
            // The files of a project are right wherever it runs: it is kept, and seen as broken.
            (Err(error @ Error::Secret(_)), Some(definition)) => {
                let trigger =
                    Trigger::without_secret(definition, version + 1, enabled, created_ms)?;
                (trigger, Some(error))
            }
            (made, _) => (made?, None),
        };
        self.check_flow(&trigger)?;
        let due = next_due(&trigger, before.as_ref(), now_ms)?;
        let new = NewTrigger {
            id: trigger.id.clone(),
            version: trigger.version,
            kind: Name::from(trigger.kind().as_str()),
            enabled,
            definition: Json::of(&trigger.definition),
            route: trigger.route(),
            due,
            now_ms,
        };
        let mut changes = vec![Change::Trigger(Box::new(new))];
        let listened = before.as_ref().and_then(Trigger::listens_to);
        let listens = trigger.listens_to().filter(|_| enabled);
        if let Some(kind) = listened.filter(|kind| listens != Some(kind)) {
            changes.extend(self.listen(&trigger.id, kind, false));
        }
        if let Some(kind) = listens {
            changes.extend(self.listen(&trigger.id, kind, true));
        }
        changes.extend(tell(&trigger.id, [registered(&trigger, now_ms)]));
        let written = self.runtime().base().commit(all(changes)).await;
        written.map_err(|error| as_written(error, &trigger))?;
        let is_new = record.is_none();
        let record = self.record(&trigger.id).await?;
        let put = |trigger| Put {
            trigger,
            created: is_new,
            changed: true,
        };
        if let Some(error) = broken {
            tracing::warn!(trigger = %record.id, %error, "a trigger cannot be used");
            self.adopt(|kept| kept.put_broken(Broken::new(&record, &error)));
            return Ok(put(ShownTrigger::of(&record)));
        }
        let shown = ShownTrigger::new(&trigger, &record);
        self.adopt(|kept| kept.put(Arc::new(trigger)));
        Ok(put(shown))
    }
}

fn unchanged(record: &TriggerRecord) -> Put {
    Put {
        trigger: ShownTrigger::of(record),
        created: false,
        changed: false,
    }
}

/// A path that is taken is shown as it was written, not in the form that paths are compared in.
fn as_written(error: StoreError, trigger: &Trigger) -> StoreError {
    match error {
        StoreError::RouteTaken { trigger: owner, .. } => StoreError::RouteTaken {
            route: trigger.shown_route(),
            trigger: owner,
        },
        error => error,
    }
}

/// A secret that was shown as a mark and comes back as one is the secret that is there.
fn keep_secret(definition: &mut Definition, before: &TriggerRecord) {
    let mut before = before.definition.value();
    let kept = before["config"].as_object_mut().and_then(secret);
    let Some(kept) = kept else {
        return;
    };
    if let Some(given) = secret(&mut definition.config).filter(|given| **given == REDACTED) {
        *given = kept.take();
    }
}

/// When a trigger that was made or changed is due.
pub(crate) fn next_due(
    trigger: &Trigger,
    before: Option<&Trigger>,
    now_ms: Millis,
) -> Result<NextDue> {
    let Some(schedule) = trigger.schedule().filter(|_| trigger.enabled) else {
        return Ok(NextDue::At(None));
    };
    // What was missed stays missed if only something else about it was changed.
    let same = before.is_some_and(|before| {
        before.enabled && before.definition.config == trigger.definition.config
    });
    if same {
        return Ok(NextDue::Keep);
    }
    // What would have been due while it was disabled was not missed; a time that had passed before
    // the schedule was created was.
    let is_unchanged = |before: &Trigger| before.definition.config == trigger.definition.config;
    let is_unchanged = before.is_some_and(is_unchanged);
    let passed = match is_unchanged {
        true => None,
        false => schedule.passed(now_ms),
    };
    let next = schedule.next_after(now_ms).or(passed);
    if next.is_none() && !is_unchanged && trigger.definition.config.contains_key("endAt") {
        let message = "the schedule ends before it would be due";
        return Err(Error::invalid("config.endAt", message));
    }
    let has = |key: &str| trigger.definition.config.contains_key(key);
    if next.is_none() && !is_unchanged && has("at") && has("startAt") {
        let message = "the schedule begins after it would be due";
        return Err(Error::invalid("config.startAt", message));
    }
    match trigger
        .definition
        .config
        .get("cron")
        .and_then(Value::as_str)
    {
        Some(cron) if next.is_none() && !trigger.definition.config.contains_key("endAt") => {
            Err(Error::Cron {
                cron: cron.to_owned(),
                message: "no time ever matches it".to_owned(),
            })
        }
        _ => Ok(NextDue::At(next)),
    }
}

fn registered(trigger: &Trigger, now_ms: Millis) -> Draft {
    let mut config = trigger.definition.config.clone();
    redact(&mut config);
    let data = json!({
        "version": trigger.version,
        "type": trigger.kind().as_str(),
        "flow": trigger.definition.flow,
        "enabled": trigger.enabled,
        "config": config,
    });
    Draft::new(now_ms, EventType::TriggerRegistered).data(data)
}
