//! The view of a step: the run's state and, inside a map, the values of its item.

use riverrun_types::{Json, Path, State};

/// The state as one visit sees it: inner scopes hide outer ones.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// From the outermost to the innermost. The first `fallbacks` of them are visible only if the
    /// run's state and the scopes inside of it have no value of that name.
    scopes: Vec<Scope<'a>>,
    fallbacks: usize,
}

#[derive(Clone, Copy, Debug)]
enum Scope<'a> {
    State(&'a State),
    /// One value with a name.
    Named(&'static str, &'a Json),
}

impl<'a> Scope<'a> {
    fn get(self, key: &str) -> Option<&'a Json> {
        match self {
            Self::State(state) => state.get(key),
            Self::Named(name, value) => (name == key).then_some(value),
        }
    }

    fn members(self) -> impl Iterator<Item = (&'a str, &'a Json)> {
        let (state, named) = match self {
            Self::State(state) => (Some(state), None),
            Self::Named(name, value) => (None, Some((name, value))),
        };
        state.into_iter().flat_map(State::iter).chain(named)
    }
}

impl<'a> View<'a> {
    pub fn of(state: &'a State) -> Self {
        Self {
            scopes: vec![Scope::State(state)],
            fallbacks: 0,
        }
    }

    /// The view from inside a scope.
    pub fn inside(mut self, scope: &'a State) -> Self {
        self.scopes.push(Scope::State(scope));
        self
    }

    /// The view with one value more, unless another has its name.
    pub fn over(mut self, name: &'static str, value: &'a Json) -> Self {
        self.scopes.insert(0, Scope::Named(name, value));
        self.fallbacks += 1;
        self
    }

    /// The view with values that are visible if the state has none of their name. Of several, the
    /// last one added is visible.
    pub(crate) fn with_fallback(mut self, values: &'a State) -> Self {
        self.scopes.insert(self.fallbacks, Scope::State(values));
        self.fallbacks += 1;
        self
    }

    /// The view with one value more, which hides others of its name.
    pub(crate) fn with(mut self, name: &'static str, value: &'a Json) -> Self {
        self.scopes.push(Scope::Named(name, value));
        self
    }

    pub fn get(&self, key: &str) -> Option<&'a Json> {
        self.scopes.iter().rev().find_map(|scope| scope.get(key))
    }

    pub fn path(&self, path: &Path) -> Option<Json> {
        self.get(path.head())?.within(path.tail())
    }

    /// All visible values as one object.
    pub fn full(&self) -> Json {
        match self.scopes.as_slice() {
            [Scope::State(state)] => state.json(),
            _ => self.to_state().json(),
        }
    }

    /// A copy that outlives the run's state, for handlers that run on their own.
    pub fn to_state(&self) -> State {
        let members = self.scopes.iter().flat_map(|scope| scope.members());
        members
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect()
    }
}
