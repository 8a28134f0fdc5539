//! The triggers of a project's files: the server has exactly these triggers of the project.

use std::collections::{BTreeMap, BTreeSet};

use riverrun_store::Error as StoreError;
use riverrun_types::Name;
use serde_json::Value;

use crate::{Definition, Error, Origin, Result, Trigger, Triggers, change::next_due};

/// What became of a trigger that a file keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synced {
    Same,
    Changed,
    Removed,
}

impl Triggers {
    /// Brings the triggers that files of the project keep to what the files say. Answers with the
    /// ids of those that were made or changed, and of those that went.
    pub async fn sync_project(&self, files: Vec<Value>) -> Vec<(String, Result<Synced>)> {
        let mut outcomes = Vec::new();
        let refused = self.twice(&files).await;
        let ids: BTreeSet<String> = files.iter().map(named).collect();
        for (at, definition) in files.into_iter().enumerate() {
            let id = named(&definition);
            if refused.contains(&at) {
                outcomes.push((id.clone(), Err(Error::Exists(id.into()))));
                continue;
            }
            let put = self.put(definition, Origin::Project).await;
            let synced = put.map(|put| match put.changed {
                true => Synced::Changed,
                false => Synced::Same,
            });
            outcomes.push((id, synced));
        }
        let known = self.known();
        let gone = known.kept.of_project().into_iter();
        for id in gone.filter(|id| !ids.contains(&**id)) {
            let removed = self.remove(&id).await;
            outcomes.push((id.to_string(), removed.map(|()| Synced::Removed)));
        }
        outcomes
    }

    /// The places of those that give an id which is another's. The one that is there stays; where
    /// there is none yet the first one gets it.
    async fn twice(&self, files: &[Value]) -> BTreeSet<usize> {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, definition) in files.iter().enumerate() {
            places.entry(named(definition)).or_default().push(at);
        }
        let mut refused = BTreeSet::new();
        for (id, places) in places.into_iter().filter(|(_, places)| places.len() > 1) {
            if id.is_empty() {
                continue;
            }
            let there = self
                .runtime()
                .base()
                .store()
                .trigger(&id)
                .await
                .ok()
                .flatten();
            let there = there.map(|record| record.definition.read::<Definition>().ok());
            let is_there = |at: &&usize| match (&there, Definition::read(files[**at].clone())) {
                (None, _) => true,
                (Some(Some(there)), Ok((given, _))) => there.is_same(&given),
                _ => false,
            };
            let keeper = places.iter().find(is_there).copied();
            refused.extend(places.into_iter().filter(|at| Some(*at) != keeper));
        }
        refused
    }

    /// Whether a server that has no triggers would take these, all together, and what it would
    /// refuse. Makes none. Secrets in the environment are those of where they will run, so they are
    /// not looked for.
    pub fn check_project(&self, files: Vec<Value>) -> Vec<(String, Result<()>)> {
        let mut ids = BTreeSet::new();
        let mut routes = BTreeMap::new();
        let check = |definition: Value| {
            let id = named(&definition);
            let checked = match ids.insert(id.clone()) {
                true => self.check(definition, &mut routes),
                false => Err(Error::Exists(Name::from(id.as_str()))),
            };
            (id, checked)
        };
        files.into_iter().map(check).collect()
    }

    fn check(&self, definition: Value, routes: &mut BTreeMap<Name, Name>) -> Result<()> {
        let (definition, _) = Definition::read(definition)?;
        let now_ms = self.runtime().base().now_ms();
        let trigger = Trigger::elsewhere(definition, now_ms)?;
        self.check_flow(&trigger)?;
        next_due(&trigger, None, now_ms)?;
        let Some(route) = trigger.route() else {
            return Ok(());
        };
        match routes.insert(route, trigger.id.clone()) {
            None => Ok(()),
            Some(owner) => Err(StoreError::RouteTaken {
                route: trigger.shown_route(),
                trigger: owner,
            }
            .into()),
        }
    }
}

fn named(definition: &Value) -> String {
    definition["id"].as_str().unwrap_or_default().to_owned()
}
