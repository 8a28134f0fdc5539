//! What `${path}` in a config sees.

use riverrun_engine::View;
use riverrun_runtime::Call;
use riverrun_types::State;

/// The step's input as a scope: its members if it is an object, else `input`.
pub(crate) fn members(call: &Call<'_>) -> State {
    State::from_input(&call.input)
}

/// The step's input as a scope with the one name `input`.
pub(crate) fn named(call: &Call<'_>) -> State {
    [("input".to_owned(), call.input.clone())]
        .into_iter()
        .collect()
}

/// The state, with `input` in sight where the state has no such key of its own.
pub(crate) fn beside_state<'a>(call: &Call<'a>, named: &'a State) -> View<'a> {
    if call.view.get("input").is_some() {
        call.view.clone()
    } else {
        call.view.clone().inside(named)
    }
}
