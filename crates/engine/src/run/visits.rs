//! The visits of a run that have not ended, found by their key and walked in their order.

use std::collections::{BTreeMap, HashMap, btree_map::Values};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Visit, VisitKey};

/// As many are looked through faster than they are looked up.
const FEW: usize = 8;

/// Visits in the order in which they were entered. Finding or removing one costs the same however
/// many there are; a snapshot has them as a plain list.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    in_order: BTreeMap<u64, Visit>,
    /// Where each stands. Empty until there have been more than a few, and whole from then on.
    places: HashMap<VisitKey, u64>,
    /// The place of the next.
    next: u64,
}

impl Visits {
    pub fn len(&self) -> usize {
        self.in_order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    pub fn iter(&self) -> Values<'_, u64, Visit> {
        self.in_order.values()
    }

    /// Where the next one will stand: see `since`.
    pub(crate) fn mark(&self) -> u64 {
        self.next
    }

    /// Those that were entered since a mark was taken.
    pub(crate) fn since(&self, mark: u64) -> impl Iterator<Item = &Visit> {
        self.in_order.range(mark..).map(|(_, visit)| visit)
    }

    /// The one that was entered last.
    pub fn last(&self) -> Option<&Visit> {
        self.iter().next_back()
    }

    pub fn get(&self, key: &VisitKey) -> Option<&Visit> {
        self.in_order.get(&self.place(key)?)
    }

    pub(super) fn get_mut(&mut self, key: &VisitKey) -> Option<&mut Visit> {
        self.in_order.get_mut(&self.place(key)?)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Visit> {
        self.in_order.values_mut()
    }

    pub(super) fn push(&mut self, visit: Visit) {
        if !self.places.is_empty() {
            self.places.insert(visit.key.clone(), self.next);
        }
        self.in_order.insert(self.next, visit);
        self.next += 1;
        if self.places.is_empty() && self.in_order.len() > FEW {
            let places = self.in_order.iter();
            self.places = places.map(|(at, visit)| (visit.key.clone(), *at)).collect();
        }
    }

    pub(super) fn remove(&mut self, key: &VisitKey) -> Option<Visit> {
        let place = self.place(key)?;
        self.places.remove(key);
        self.in_order.remove(&place)
    }

    pub(super) fn clear(&mut self) {
        *self = Self {
            next: self.next,
            ..Self::default()
        };
    }

    fn place(&self, key: &VisitKey) -> Option<u64> {
        if !self.places.is_empty() {
            return self.places.get(key).copied();
        }
        let is = |visit: &Visit| visit.key.visit == key.visit && visit.key.step == key.step;
        let mut places = self.in_order.iter();
        places.find_map(|(at, visit)| is(visit).then_some(*at))
    }
}

impl FromIterator<Visit> for Visits {
    fn from_iter<I: IntoIterator<Item = Visit>>(visits: I) -> Self {
        let mut all = Self::default();
        visits.into_iter().for_each(|visit| all.push(visit));
        all
    }
}

impl<'a> IntoIterator for &'a Visits {
    type Item = &'a Visit;
    type IntoIter = Values<'a, u64, Visit>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Equal when the same visits stand in the same order, whatever stood between them before.
impl PartialEq for Visits {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl Serialize for Visits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de> Deserialize<'de> for Visits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().collect())
    }
}
