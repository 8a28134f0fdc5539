//! What a step can see: the run's state and, inside a map, what belongs to its item.

use riverrun_types::{Json, Path, State};

/// The state as one visit sees it: inner scopes hide outer ones.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// From the outermost, the run's state, to the innermost.
    scopes: Vec<&'a State>,
}

impl<'a> View<'a> {
    pub fn of(state: &'a State) -> Self {
        Self {
            scopes: vec![state],
        }
    }

    /// The view from inside a scope.
    pub fn inside(mut self, scope: &'a State) -> Self {
        self.scopes.push(scope);
        self
    }

    pub fn get(&self, key: &str) -> Option<&'a Json> {
        self.scopes.iter().rev().find_map(|scope| scope.get(key))
    }

    pub fn path(&self, path: &Path) -> Option<Json> {
        let scope = self
            .scopes
            .iter()
            .rev()
            .find(|scope| scope.get(path.head()).is_some())?;
        scope.path(path)
    }

    /// Everything in sight as one object.
    pub fn full(&self) -> Json {
        match self.scopes.as_slice() {
            [state] => state.json(),
            scopes => {
                let members = scopes.iter().flat_map(|scope| scope.iter());
                let merged: State = members
                    .map(|(key, value)| (key.to_owned(), value.clone()))
                    .collect();
                merged.json()
            }
        }
    }

    /// A copy that outlives the run's state, for handlers that run on their own.
    pub fn to_state(&self) -> State {
        let members = self.scopes.iter().flat_map(|scope| scope.iter());
        members
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect()
    }
}
