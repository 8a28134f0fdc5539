//! The registered triggers: stored in the store, indexed in memory. `change` changes them.

use std::sync::Arc;

use riverrun_runtime::Runtime;
use riverrun_store::{Change, Page, TriggerRecord};
use riverrun_types::{EventType, Name};
use tokio::sync::{Mutex, MutexGuard, watch};

use crate::{
    Definition, Kind, Result, ShownTrigger, Trigger,
    index::{Broken, Kept, TriggerIndex, missing},
};

/// Rows read at a time.
const PAGE: usize = 500;

/// A handle to the triggers of a runtime; clones share them.
#[derive(Clone)]
pub struct Triggers {
    inner: Arc<Inner>,
}

struct Inner {
    runtime: Runtime,
    known: watch::Sender<Arc<TriggerIndex>>,
    /// Held by a change of triggers: the data that it decides on stays the same until it is written.
    changing: Mutex<()>,
}

impl Triggers {
    /// Reads the triggers of a runtime's store, listens for events and starts the clock.
    pub async fn open(runtime: &Runtime) -> Result<Self> {
        let triggers = Self {
            inner: Arc::new(Inner {
                runtime: runtime.clone(),
                known: watch::Sender::default(),
                changing: Mutex::default(),
            }),
        };
        // First, so that nothing is changed unseen between the two.
        let changes = runtime.base().hub().triggers();
        triggers.reload().await?;
        runtime.streams().add_listener(Arc::new(triggers.clone()));
        runtime.base().spawn(triggers.clone().keep_time(changes));
        Ok(triggers)
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.inner.runtime
    }

    pub(crate) fn known(&self) -> Arc<TriggerIndex> {
        self.inner.known.borrow().clone()
    }

    /// The ids of all triggers, in order.
    pub fn ids(&self) -> Vec<String> {
        self.known().kept.ids()
    }

    /// Whether there is a trigger of this id, usable or not.
    pub fn is_kept(&self, id: &str) -> bool {
        self.known().kept.has(id)
    }

    /// Resolves when a trigger is known here, or no longer known.
    pub async fn until_known(&self, id: &str, is_known: bool) {
        let mut news = self.inner.known.subscribe();
        let holds = |known: &Arc<TriggerIndex>| known.kept.usable.contains_key(id) == is_known;
        // The sender lives as long as this handle.
        let _ = news.wait_for(holds).await;
    }

    pub fn get(&self, id: &str) -> Result<Arc<Trigger>> {
        self.known().kept.get(id)
    }

    /// The enabled triggers that wait for events of a kind.
    pub(crate) fn listening(&self, kind: &str) -> Vec<Arc<Trigger>> {
        let known = self.known();
        let listens = |trigger: &&Arc<Trigger>| {
            trigger.enabled && trigger.listens_to().is_some_and(|known| **known == *kind)
        };
        known
            .kept
            .usable
            .values()
            .filter(listens)
            .cloned()
            .collect()
    }

    pub async fn show(&self, id: &str) -> Result<ShownTrigger> {
        Ok(ShownTrigger::of(&self.record(id).await?))
    }

    /// What became of a trigger so far.
    pub async fn stats(&self, id: &str) -> Result<crate::shown::Stats> {
        Ok(crate::shown::Stats::of(&self.record(id).await?))
    }

    /// A page of triggers, by id.
    pub async fn list(
        &self,
        kind: Option<Kind>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<Page<ShownTrigger>> {
        let limit = limit.max(1);
        let mut cursor = cursor.map(str::to_owned);
        let mut items = Vec::new();
        loop {
            let page = self
                .runtime()
                .base()
                .store()
                .list_triggers(PAGE, cursor.as_deref());
            let page = page.await?;
            for record in &page.items {
                if kind.is_some_and(|kind| kind.as_str() != &*record.kind) {
                    continue;
                }
                if items.len() == limit {
                    let next: Option<&ShownTrigger> = items.last();
                    let next = next.map(|last| last.id().to_owned());
                    return Ok(Page { items, next });
                }
                items.push(ShownTrigger::of(record));
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => return Ok(Page { items, next: None }),
            }
        }
    }

    pub(crate) async fn record(&self, id: &str) -> Result<TriggerRecord> {
        let found = self.runtime().base().store().trigger(id).await?;
        found.ok_or_else(|| missing(id))
    }

    pub(crate) fn check_flow(&self, trigger: &Trigger) -> Result<()> {
        let Definition {
            flow, flow_version, ..
        } = &trigger.definition;
        match self.runtime().flows().get(flow, flow_version.as_deref()) {
            Some(_) => Ok(()),
            None => Err(riverrun_runtime::Error::FlowNotFound {
                id: flow.clone(),
                version: flow_version.clone(),
            }
            .into()),
        }
    }

    /// The change that subscribes to events of a type, or unsubscribes if no other trigger needs
    /// them.
    pub(crate) fn listen(&self, id: &str, kind: &Name, on: bool) -> Option<Change> {
        let others = self.listening(kind);
        let is_wanted = others.iter().any(|other| *other.id != *id);
        (on || !is_wanted).then(|| Change::Listen {
            kind: kind.clone(),
            on,
        })
    }

    /// Subscribes to the engine's events that triggers wait for.
    fn listen_to_engine(&self) {
        let known = self.known();
        let usable = known.kept.usable.values();
        let enabled = usable.filter(|trigger| trigger.enabled);
        let kinds = enabled.filter_map(|trigger| Some(EventType::parse(trigger.listens_to()?)));
        let kinds = kinds.filter(EventType::is_engines_own).collect();
        self.runtime().streams().listen_to_engine(kinds);
    }

    pub(crate) fn adopt(&self, change: impl FnOnce(&mut Kept)) {
        self.inner.known.send_modify(|known| {
            let mut kept = known.kept.clone();
            change(&mut kept);
            *known = Arc::new(TriggerIndex::new(kept));
        });
        self.listen_to_engine();
    }

    /// The lock for changes of triggers in this process.
    pub(crate) async fn changing(&self) -> MutexGuard<'_, ()> {
        self.inner.changing.lock().await
    }

    /// Reads what changed elsewhere.
    pub(crate) async fn reload(&self) -> Result<()> {
        let _changing = self.changing().await;
        let before = self.known();
        let mut kept = Kept::default();
        let mut cursor: Option<String> = None;
        loop {
            let page = self
                .runtime()
                .base()
                .store()
                .list_triggers(PAGE, cursor.as_deref());
            let page = page.await?;
            for record in &page.items {
                let usable = before.kept.usable.get(&record.id);
                if let Some(same) = usable.filter(|usable| usable.version == record.version) {
                    kept.put(same.clone());
                    continue;
                }
                match Trigger::of(record) {
                    Ok(trigger) => kept.put(Arc::new(trigger)),
                    Err(error) => {
                        let broken = before.kept.broken.get(&record.id);
                        if broken.is_none_or(|broken| broken.version != record.version) {
                            tracing::warn!(trigger = %record.id, %error, "a trigger cannot be used");
                        }
                        kept.put_broken(Broken::new(record, &error));
                    }
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        self.inner
            .known
            .send_replace(Arc::new(TriggerIndex::new(kept)));
        self.listen_to_engine();
        Ok(())
    }
}
